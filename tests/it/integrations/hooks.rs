//! The commands of the hooks, run as pre-commit runs them.

use std::path::Path;
use std::process::{Command, Output};

use super::{hooks, string};
use crate::bin::Bench;
use crate::changes::repository;
use crate::git::{commit_all, git};

const NO_MARKER: &str = r#"
@invariant
@deterministic
@archivist(evidence: ["https://example.org"], confidence: 0.9, source_date: "2026-05-01")
fn no_marker(slice, _ctx, _repo_at_base) {
  for file in slice.files {
    if file.path != "invariants.harn" && file.text.contains("MARKER") {
      return flow_invariant_block("marker", file.path)
    }
  }
  return flow_invariant_allow()
}
"#;

/// A repository with a predicate file, and one commit.
pub(super) fn guarded() -> Bench {
    let bench = repository();
    bench
        .file("invariants.harn", NO_MARKER)
        .file("a", "clean\n");
    commit_all(&bench.root(), "base");
    bench
}

/// The search path with the built program in front.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_probity"));
    let directory = program.parent().expect("a directory").display();
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{directory}:{path}")
}

/// Runs a hook: its entry is split like a line of a shell, and `args` come behind it.
fn hook(bench: &Bench, id: &str, args: &[&str], refs: &[(&str, &str)]) -> (i32, String) {
    let hooks = hooks();
    let hook = hooks.iter().find(|hook| string(hook, "id") == id);
    let entry = string(hook.expect("a hook"), "entry");
    let words = shlex::split(entry).expect("words");
    let output: Output = Command::new(&words[0])
        .args(&words[1..])
        .args(args)
        .current_dir(bench.root())
        .env("PATH", path())
        .envs(refs.iter().copied())
        .output()
        .expect("run");
    let said = [output.stdout, output.stderr].concat();
    let status = output.status.code().expect("a status");
    (status, String::from_utf8(said).expect("UTF-8"))
}

#[test]
fn what_is_staged_passes_or_is_held_back() {
    let bench = guarded();
    let root = bench.root();
    let commit = |args: &[&str]| hook(&bench, "probity-gate", args, &[]);
    let (status, said) = commit(&[]);
    assert_eq!(status, 3, "{said}");
    assert_eq!(commit(&["--allow-empty"]).0, 0);
    bench.file("b", "MARKER\n");
    git(&root, &["add", "b"]);
    bench.file("b", "clean\n");
    let (status, said) = commit(&[]);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("marker: b"), "{said}");
    git(&root, &["add", "b"]);
    let (status, said) = commit(&[]);
    assert_eq!(status, 0, "{said}");
    bench.file("invariants.harn", "fn p(");
    git(&root, &["add", "--all"]);
    let (status, said) = commit(&[]);
    assert_eq!(status, 3, "{said}");
}

#[test]
fn what_is_pushed_is_judged_from_what_the_remote_has() {
    let bench = guarded();
    let root = bench.root();
    let start = git(&root, &["rev-parse", "HEAD"]);
    bench.file("b", "clean\n");
    let clean = commit_all(&root, "clean");
    bench.file("c", "MARKER\n");
    let marked = commit_all(&root, "marked");
    let push = |from: &str, to: &str, args: &[&str]| {
        let refs = [("PRE_COMMIT_FROM_REF", from), ("PRE_COMMIT_TO_REF", to)];
        hook(&bench, "probity-gate-push", args, &refs)
    };
    let (status, said) = push(&start, &clean, &[]);
    assert_eq!(status, 0, "{said}");
    for from in [&start, &clean] {
        let (status, said) = push(from, &marked, &[]);
        assert_eq!(status, 1, "{said}");
    }
    let (status, said) = push(&marked, &marked, &[]);
    assert_eq!(status, 3, "{said}");
    let args = ["--allow-empty", "--approved-by=user:Jo O'Neill"];
    assert_eq!(push(&marked, &marked, &args).0, 0);
    // Neither is a command of the shell's.
    let odd = "$(touch made)`touch made`;touch made";
    assert_eq!(push(odd, &marked, &[odd]).0, 2);
    assert!(!root.join("made").exists());
    // Nothing to be compared with.
    for (from, to) in [("", &*marked), (&*start, "")] {
        let (status, said) = push(from, to, &[]);
        assert_ne!(status, 0, "{said}");
        assert!(said.contains("is not set"), "{said}");
    }
}
