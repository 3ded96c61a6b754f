//! The limits of the language: the last source that is accepted and the first
//! that is not.

use super::judge::{Answer, Question, judges};
use super::workspace::Workspace;

/// What every judge makes of a source over an empty workspace.
fn verdicts(v2: bool, source: &str) -> Vec<&'static str> {
    let workspace = Workspace::new(&[]);
    let question = Question {
        v2,
        source,
        root: workspace.root(),
        facts: &[],
    };
    let answers = judges().into_iter().map(|judge| judge.judge(question));
    answers.map(|answer| Answer::verdict(&answer)).collect()
}

fn accepted(v2: bool, source: &str) {
    for verdict in verdicts(v2, source) {
        assert_ne!(verdict, "invalid", "{} bytes", source.len());
    }
}

fn refused(v2: bool, source: &str) {
    for verdict in verdicts(v2, source) {
        assert_eq!(verdict, "invalid", "{} bytes", source.len());
    }
}

#[test]
fn primitives() {
    let chain = |length| vec![r#"exists("a")"#; length].join(" && ");
    accepted(false, &chain(256));
    refused(false, &chain(257));
    let chain = |length| vec![r#"grep(/x/,"a")>0"#; length].join("||");
    accepted(false, &chain(256));
    refused(false, &chain(257));
}

#[test]
fn negations() {
    let nested = |depth| "!".repeat(depth) + r#"exists("a")"#;
    accepted(false, &nested(128));
    refused(false, &nested(129));
    refused(false, &nested(60_000));
    let spread = |depth| format!("{0} && {0}", "! ".repeat(depth) + r#"exists("a")"#);
    accepted(false, &spread(128));
    refused(false, &spread(129));
}

#[test]
fn parentheses() {
    let nested = |depth| "(".repeat(depth) + r#"exists("a")"# + &")".repeat(depth);
    accepted(true, &nested(128));
    refused(true, &nested(129));
    refused(true, &nested(30_000));
    let both = |depth| "!(".repeat(depth) + r#"exists("a")"# + &")".repeat(depth);
    accepted(true, &both(128));
    refused(true, &both(129));
}

#[test]
fn bytes_of_a_source() {
    let padded = |length: usize| {
        let predicate = r#"exists("a")"#;
        predicate.to_owned() + &" ".repeat(length - predicate.len())
    };
    accepted(false, &padded(64 << 10));
    refused(false, &padded((64 << 10) + 1));
    refused(false, &padded(1 << 20));
}

#[test]
fn bytes_of_a_pattern() {
    let sought = |length| format!("grep(/{}/, \"a\") >= 1", "x".repeat(length));
    accepted(false, &sought(4 << 10));
    refused(false, &sought((4 << 10) + 1));
}

#[test]
fn long_flat_chains() {
    let constants = |operator| format!("exists(\"a\"){}", format!("{operator}true").repeat(9_000));
    accepted(false, &constants("&&"));
    refused(false, &constants("||"));
}

#[test]
fn floods_of_one_character() {
    for flood in [
        "!", "(", ")", "&&", "||", "[", "\"", "/", "\\", ".", "-", "1", "a", "#", "\0",
    ] {
        for v2 in [false, true] {
            refused(v2, &flood.repeat(30_000));
            refused(v2, &flood.repeat(1_000_000));
        }
    }
}
