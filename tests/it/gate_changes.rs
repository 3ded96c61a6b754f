//! `probity gate` over changes of every kind: renames, deletions, binary files, links,
//! submodules.

use std::fs;

use serde_json::{Value as Json, json};

use crate::bin::Bench;
use crate::changes::{everything, repository};
use crate::gate::rule;
use crate::git::{commit_all, git};

/// A repository with rules, a submodule and a change of each kind on disk.
fn changed() -> Bench {
    let bench = repository();
    let (root, other) = (bench.root(), bench.outside("other"));
    fs::create_dir(&other).expect("made");
    git(&other, &["init", "--quiet"]);
    fs::write(other.join("inside"), "x").expect("written");
    commit_all(&other, "other");
    let other = other.to_str().expect("a path");
    git(&root, &["submodule", "--quiet", "add", other, "module"]);
    let told = "  return {verdict: \"Warn\", rule: \"told\", findings: slice.files.map({ file ->\n    \
                {path: file.path, status: file.status, kind: file.kind, message: file.renamed_from}\n  })}";
    let kept = "  const left = slice.files.filter({ file -> (file.renamed_from ?? \"\").starts_with(\"old/\") })\n  \
                if left.none() { return flow_invariant_allow() }\n  \
                return {verdict: \"Block\", rule: \"kept\", remediation: \"leave it there\", findings: left.map({ file -> {path: file.path} })}";
    let readable = "  const binary = slice.files.filter({ file -> file.binary == true })\n  \
                    if binary.none() { return flow_invariant_allow() }\n  \
                  return flow_invariant_require_approval(\"role\", \"security\")";
    bench
        .file(
            "invariants.harn",
            rule("told", told) + &rule("readable", readable),
        )
        .file("old/invariants.harn", rule("kept", kept))
        .file(
            "new/invariants.harn",
            rule("kept", "  return flow_invariant_allow()"),
        );
    everything(&bench);
    let module = root.join("module");
    fs::write(module.join("inside"), "y").expect("written");
    commit_all(&module, "moved");
    bench
}

fn gate(bench: &Bench, args: &str) -> Json {
    let args: Vec<&str> = args.split(' ').collect();
    let run = bench.run(&[&["gate", "--format", "json", "--no-timings"], &args[..]].concat());
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).expect("a report")
}

fn record<'r>(report: &'r Json, name: &str) -> &'r Json {
    let mut records = report["records"].as_array().expect("records").iter();
    let is_it = |record: &&Json| record["name"] == name;
    records
        .find(is_it)
        .unwrap_or_else(|| panic!("{name} in {report}"))
}

#[test]
fn a_change_of_every_kind_is_judged_the_same_on_disk_staged_and_committed() {
    let bench = changed();
    let root = bench.root();
    let disk = gate(&bench, "--base HEAD");
    git(&root, &["add", "--all"]);
    let staged = gate(&bench, "--staged");
    git(&root, &["branch", "before"]);
    commit_all(&root, "change");
    let committed = gate(&bench, "--base before --head HEAD");
    for other in [&staged, &committed] {
        assert_eq!(other["records"], disk["records"]);
    }
    let told = &record(&disk, "told")["raw_result"]["findings"];
    let line = |path: &str, status: &str, kind: &str| json!([path, status, kind, null]);
    let moved = |path: &str, from: &str| json!([path, "renamed", "file", from]);
    let found = told.as_array().expect("findings").iter().map(|finding| {
        let [path, status, kind, from] = ["path", "status", "kind", "message"];
        json!([finding[path], finding[status], finding[kind], finding[from]])
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            line("added", "added", "file"),
            line("becomes-link", "typechange", "link"),
            line("binary", "modified", "file"),
            line("deleted", "deleted", "file"),
            line("empty", "deleted", "file"),
            line("link", "modified", "link"),
            line("mode", "modified", "executable"),
            line("modified", "modified", "file"),
            line("module", "modified", "submodule"),
            moved("new/edited2", "old/edited"),
            moved("new/moved", "old/moved"),
        ]
    );
}

#[test]
fn rules_of_the_directory_that_files_leave_hold_and_binary_files_can_be_refused() {
    let bench = changed();
    let report = gate(&bench, "--base HEAD");
    // The rule of the directory that the files went to allows it and is no child.
    let kept = record(&report, "old::kept");
    assert_eq!(kept["result"]["verdict"]["kind"], "block");
    let paths = kept["findings"].as_array().expect("findings").iter();
    let paths: Vec<&Json> = paths.map(|finding| &finding["path"]).collect();
    assert_eq!(paths, ["new/edited2", "new/moved"]);
    assert_eq!(
        record(&report, "new::kept")["result"]["verdict"]["kind"],
        "allow"
    );
    let readable = record(&report, "readable");
    assert_eq!(readable["result"]["verdict"]["kind"], "require_approval");
    let approver = &readable["result"]["verdict"]["approver"];
    assert_eq!(approver["name"], "security");
}
