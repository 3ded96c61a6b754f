//! Logs in SARIF 2.1.0, the form in which analysers tell of what they find.

mod shape;
mod uri;

use std::io::{self, Write};

use serde::Serialize;

use crate::report::block::Blocks;

pub(super) use shape::{
    Found, Invocation, Location, Notification, RuleShape, Suppression, fingerprint,
};
pub(super) use uri::of_web;

/// Where the schema is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes a log with one run. Results come first, so that nothing of them is kept; what
/// they refer to follows.
pub(super) struct Sarif<W> {
    out: Blocks<W>,
    empty: bool,
}

impl<W: Write> Sarif<W> {
    /// Begins a log.
    pub(super) fn new(out: W) -> Self {
        let mut out = Blocks::new(out);
        let head =
            format!("{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"results\":[");
        out.record().extend_from_slice(head.as_bytes());
        Self { out, empty: true }
    }

    /// Adds a result.
    pub(super) fn result(&mut self, found: &Found) -> io::Result<()> {
        let record = self.out.record();
        record.extend_from_slice(if self.empty { b"\n" } else { b",\n" });
        self.empty = false;
        serde_json::to_writer(record, found)?;
        self.out.end()
    }

    /// Ends the log with the rules that results go by, how the run went, and what else
    /// is known of it.
    pub(super) fn finish(
        &mut self,
        rules: &[RuleShape],
        invocation: &Invocation,
        properties: &impl Serialize,
    ) -> io::Result<()> {
        let tail = shape::Tail::new(rules, invocation);
        let record = self.out.record();
        record.extend_from_slice(if self.empty { b"]," } else { b"\n]," });
        // The tail is an object, of which the fields are wanted.
        let tail = serde_json::to_vec(&tail)?;
        record.extend_from_slice(
            tail.get(1..tail.len().saturating_sub(1))
                .unwrap_or_default(),
        );
        record.extend_from_slice(b",\"properties\":");
        serde_json::to_writer(&mut *record, properties)?;
        record.extend_from_slice(b"}]}\n");
        self.out.flush()
    }
}
