//! A host that knows the facts itself: a gate that judges a snapshot it holds in
//! memory, without a file system.
//!
//! `cargo run --example embed`

use std::collections::BTreeMap;
use std::sync::Arc;

use probity::batch::{ClaimResult, Settings, Verdict};
use probity::facts::{
    CancelToken, Demand, FactKey, FactSource, FactTable, FactValue, FetchStats, Fetched,
};
use probity::vm::{Truth, evaluate};
use probity::{ClaimInput, Engine, Language, Reason, ReasonCode, Watch};

/// A snapshot: paths and texts.
struct Snapshot(BTreeMap<&'static str, &'static str>);

impl Snapshot {
    fn value(&self, key: &FactKey) -> FactValue {
        match key {
            FactKey::Exists(path) => FactValue::Bool(self.0.contains_key(&*path.text)),
            // Plain words are enough for this host; a pattern it does not
            // understand is unknown, never a guess.
            FactKey::Grep(pattern, path) if pattern.text.chars().all(char::is_alphanumeric) => {
                match self.0.get(&*path.text) {
                    Some(text) => {
                        let lines = text.lines().filter(|line| line.contains(&*pattern.text));
                        FactValue::Count {
                            count: lines.count() as u64,
                            exact: true,
                        }
                    }
                    None => unknown(ReasonCode::PathNotFound, "not in the snapshot"),
                }
            }
            _ => unknown(
                ReasonCode::FactMissing,
                "this host does not know such facts",
            ),
        }
    }
}

fn unknown(code: ReasonCode, detail: &str) -> FactValue {
    FactValue::Unknown(Reason::new(code, detail))
}

impl FactSource for Snapshot {
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let answers = demands.iter().map(|demand| self.value(demand.key).into());
        (answers.collect(), FetchStats::default())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let snapshot = Snapshot(BTreeMap::from([
        ("src/lib.rs", "fn main() {}\nfn model() {}\n"),
        ("README.md", "# Snapshot\n"),
    ]));
    let engine = Engine::with_facts(Arc::new(snapshot)).build()?;

    // Streaming: claims in, results out, in order.
    let claims = [
        r#"grep(/model/, "src/lib.rs") == 1"#,
        r#"exists("README.md") && !exists("secrets.env")"#,
        r#"grep(/model/, "src/main.rs") == 0"#,
    ];
    let claims = claims.map(|source| ClaimInput {
        id: None,
        language: Language::ElenchV1,
        source: source.into(),
    });
    let mut sink = Watch(|result: &ClaimResult| {
        println!("{}: {}", result.index, result.verdict.name());
        Ok(())
    });
    let summary = engine.evaluate_batch(claims, Settings::default(), &mut sink)?;
    assert_eq!(summary.count(Verdict::Pass), 2);
    assert_eq!(summary.count(Verdict::Unevaluated), 1);

    // The hot path: a compiled program and a table that the host fills itself.
    // Nothing is allocated from here on.
    let program = engine.compile(Language::ElenchV1, r#"grep(/x/, "f") >= 2"#)?;
    let mut table = FactTable::with_len(program.facts().len());
    for count in 0..4 {
        table.set(0, FactValue::Count { count, exact: true });
        let holds = evaluate(&program, &table) == Truth::True;
        println!("{count} matches: {holds}");
        assert_eq!(holds, count >= 2);
    }
    Ok(())
}
