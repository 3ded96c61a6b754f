//! Claims as SARIF: a result for each claim that did not pass and for each warning.

use std::collections::BTreeSet;
use std::io::{self, Write};

use indexmap::IndexMap;
use serde_json::json;

use crate::batch::{ClaimResult, Sink};
use crate::report::claims::finding::{self, FALSE};
use crate::report::level::{At, Level};
use crate::report::sarif::{
    Found, Invocation, Location, Notification, RuleShape, Sarif, fingerprint,
};
use crate::report::{Job, Report, Totals};

/// The SARIF writer. Claims are found in their log; where their facts were found is
/// related.
pub struct SarifReport<W> {
    log: Sarif<W>,
    job: Job,
    /// The codes that were met, with what to do about each: there are only so many.
    rules: IndexMap<&'static str, Option<&'static str>>,
}

impl<W: Write + Send> SarifReport<W> {
    /// A writer.
    pub fn new(out: W, job: Job) -> Self {
        Self {
            log: Sarif::new(out),
            job,
            rules: IndexMap::new(),
        }
    }
}

impl<W: Write + Send> Sink for SarifReport<W> {
    fn result(&mut self, result: &ClaimResult) -> io::Result<()> {
        for finding in finding::findings(result, self.job) {
            let (rule, help) = self.rules.insert_full(finding.rule, finding.help);
            // The first that has one says what to do.
            if let (Some(Some(help)), Some(kept)) = (help, self.rules.get_mut(finding.rule)) {
                *kept = Some(help);
            }
            let digest = result.digest.map(|digest| digest.hex());
            let id = fingerprint(&[
                finding.rule,
                &finding::name(result),
                digest.as_deref().unwrap_or_default(),
            ]);
            let location = finding::at(&result.source).map(Location::named);
            let mut found =
                Found::new((finding.rule, rule), finding.level, &finding.message, id).at(location);
            let places: BTreeSet<_> = finding::places(result).collect();
            for place in places {
                let line = Some(place.line).filter(|line| *line > 0);
                if let Some(at) = At::inside(&place.path, line) {
                    found = found.related(Location::workspace(at).saying("found here"));
                }
            }
            self.log.result(&found)?;
        }
        Ok(())
    }
}

impl<W: Write + Send> Report for SarifReport<W> {
    fn finish(&mut self, totals: &Totals<'_>) -> io::Result<()> {
        let rules = self.rules.iter().map(|(code, help)| {
            let description = match *code {
                FALSE => String::from("a claim is false"),
                code => code.replace('_', " "),
            };
            RuleShape::new(code, &description).help(*help)
        });
        let rules: Vec<RuleShape> = rules.collect();
        let troubles = finding::troubles(totals);
        let notifications = troubles
            .iter()
            .map(|(code, text)| Notification::new(code, Level::Error, text, None));
        let invocation = Invocation {
            execution_successful: troubles.is_empty(),
            exit_code: None,
            notifications: notifications.collect(),
        };
        let properties = json!({ "summary": finding::summary(totals) });
        self.log.finish(&rules, &invocation, &properties)
    }
}
