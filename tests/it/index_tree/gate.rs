//! `probity gate --staged` judges by what is staged.

use crate::changes::repository;
use crate::git::{commit_all, git};

const NO_MARKER: &str = r#"
@invariant
@deterministic
@archivist(evidence: ["https://example.org"], confidence: 0.9, source_date: "2026-05-01")
fn no_marker(_slice, _ctx, _repo_at_base) {
  if grep("MARKER", "src") > 0 {
    return flow_invariant_block("marker", "a file below src holds the marker")
  }
  return flow_invariant_allow()
}
"#;

#[test]
fn the_gate_judges_what_is_staged_by_what_is_staged() {
    let bench = repository();
    let root = bench.root();
    bench.file("src/a", "clean\n").file("src/b", "clean\n");
    commit_all(&root, "base");
    let gate = |more: &[&str]| {
        let run = bench.run(&[&["gate", "--staged"], more].concat());
        (run.status, run.stdout + &run.stderr)
    };
    bench.file("invariants.harn", NO_MARKER);
    git(&root, &["add", "invariants.harn"]);
    // Neither the rules nor the files on disk play a part.
    bench
        .file("src/a", "MARKER\n")
        .file("invariants.harn", "no predicates");
    let (status, said) = gate(&[]);
    assert_eq!(status, 0, "{said}");
    git(&root, &["add", "src/a"]);
    bench.file("src/a", "clean\n");
    let (status, said) = gate(&[]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("a file below src"), "{said}");
}

#[test]
fn rules_of_a_base_that_was_never_committed_are_none() {
    let bench = repository();
    bench
        .file("invariants.harn", NO_MARKER)
        .file("src/a", "clean\n");
    git(&bench.root(), &["add", "--all"]);
    let run = bench.run(&["gate", "--staged"]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    // Those of the change itself are not taken for them.
    let run = bench.run(&["gate", "--staged", "--rules", "base"]);
    assert_eq!(run.status, 3, "{}", run.stdout);
}
