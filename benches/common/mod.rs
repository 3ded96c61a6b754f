//! Inputs that the benches share, seeded: every run sees the same ones.

use std::fmt::Write as _;

/// A typical predicate: one pattern with a wildcard over a source directory.
pub(crate) const TYPICAL: &str =
    r#"grep(/WIRE_FRAME_OVERHEAD_RESERVED.*= 1024/, "crates/raft/src") >= 1"#;

/// xorshift64*: enough to spread inputs, the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.max(1))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % bound
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[usize::try_from(self.below(words.len() as u64)).unwrap_or(0)]
    }
}

pub(crate) const WORDS: &[&str] = &[
    "shard", "raft", "frame", "retry", "config", "tcp", "gateway", "chunk", "epoch", "mutex",
    "bucket", "tenant", "replica", "lease", "token", "cursor",
];

/// A predicate in the proportions of real claims: a third greps, half tests, the
/// rest commands and combinations. Equal numbers give equal predicates.
pub(crate) fn predicate(number: u64) -> String {
    let mut random = Random::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (one, two, dir) = (random.pick(WORDS), random.pick(WORDS), random.pick(WORDS));
    match random.below(12) {
        0..=2 => format!(r#"grep(/fn {one}_{two}_{number}/, "crates/{dir}/src") >= 1"#),
        3 => format!(r#"grep(/{one}.*= {number}/, "crates/{dir}/src/lib.rs") == 1"#),
        4..=8 => format!(r#"test("{one}_{two}_rejects_{number}").passed"#),
        9 => format!(r#"run("cargo test -p {dir}-{number}").stdout.contains("{number} passed")"#),
        10 => format!(r#"exists("crates/{dir}/{one}_{number}.rs")"#),
        _ => format!(
            r#"grep(/{one}|{two}_{number}/, "crates/") == 0 && test("{two}_{number}").passed"#
        ),
    }
}

/// A claim log in JSON Lines: `records` claims over `distinct` predicates.
pub(crate) fn claim_log(records: u64, distinct: u64) -> Vec<u8> {
    let mut random = Random::new(42);
    let mut log = String::new();
    for record in 0..records {
        let source = predicate(random.below(distinct));
        let digest = probity::Digest::of(source.as_bytes());
        let source = serde_json::Value::from(source);
        let id = format!("{record:064x}");
        let _ = writeln!(
            log,
            r#"{{"id":"cl_{id}","kind":"assertion","target":[],"assertion":{{"form":"predicate","expression":{{"language":"elench-predicate-v1","source":{source},"digest":"{digest}"}},"text":"claim number {record}"}},"origin":{{"kind":"agent-asserted","producer":{{"id":"agent-1"}}}},"anchor":{{"tree":"t","strategy":"multi"}},"timestamp":1700000000,"evidence":[],"dependsOn":[]}}"#
        );
    }
    log.into_bytes()
}
