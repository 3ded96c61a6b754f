//! The history of claims is what evaluating them at each commit gives.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::bin::Bench;
use crate::git::{commit_all, git};

/// One claim of a language with an id.
fn claim(id: &str, language: &str, source: &str) -> String {
    let claim = serde_json::json!({
        "id": id,
        "kind": "assertion",
        "assertion": {"form": "predicate", "expression": {"language": language, "source": source}},
    });
    claim.to_string() + "\n"
}

const V1: &str = "elench-predicate-v1";
const V2: &str = "elench-predicate-v2";

const CLAIMS: &[(&str, &str)] = &[
    (V1, r#"grep(/alpha/, ".") >= 2"#),
    (V1, r#"grep(/alpha/, ".") == 0"#),
    (V1, r#"grep(/alpha|beta/, "src/") == 1"#),
    (V1, r#"grep(/\bbeta\b/, "src/a.rs") >= 1"#),
    (
        V1,
        r#"grep(/gamma/, "src/sub") >= 1 || exists("src/sub/deep")"#,
    ),
    (V1, r#"exists("src/a.rs") && !exists("src/b.rs")"#),
    (V1, r#"exists("link") && grep(/alpha/, "link") >= 1"#),
    (V1, r#"grep(/alpha/, "link/a.rs") >= 1"#),
    (V1, r#"grep(/alpha/, "src/../src") >= 1"#),
    (V1, r#"grep(/alpha/, "out") >= 1"#),
    (V1, r#"grep(/beta/, "./src//sub/") == 0"#),
    (V1, r#"grep(/(?i)ALPHA/, "ignored") >= 1"#),
    (V1, r#"run("true").exit == 0 || grep(/alpha/, ".") >= 1"#),
    (V1, r#"test("x").passed"#),
    (V1, r#"!exists("src") || grep(/x/, "..") == 0"#),
    (V2, r#"grep(/alpha/, "**/*.rs") >= 2"#),
    (V2, r#"count(/a/, "src/*.rs") >= 4"#),
    (V2, r#"exists("**/deep")"#),
    (V2, r#"exists("*.md") && count(/beta/, "*.md") == 1"#),
    (V2, r#"grep(/x/, "[") == 1 || exists("src")"#),
    (V1, "grep("),
];

fn log() -> String {
    let claims = CLAIMS.iter().enumerate();
    let claims = claims.map(|(n, (language, source))| claim(&format!("c{n}"), language, source));
    claims.collect()
}

#[derive(Clone, Debug)]
enum Edit {
    Write(&'static str, &'static str),
    Remove(&'static str),
    Link(&'static str, &'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let path = proptest::sample::select(vec![
        "src/a.rs",
        "src/b.rs",
        "src/sub/c.rs",
        "src/sub/deep/d",
        "x.md",
        "y.md",
        "ignored/e",
        "src",
        "src/sub",
        "out",
        "z",
    ]);
    let text = proptest::sample::select(vec![
        "",
        "alpha\n",
        "alpha\nbeta\n",
        "beta\n\nalpha alpha\n",
        "gamma",
        "aaaa\n",
        "\0alpha\n",
    ]);
    let rules = proptest::sample::select(vec!["ignored\n", "*.md\n", "sub/\n!x.md\n", "\n"]);
    prop_oneof![
        6 => (path.clone(), text).prop_map(|(path, text)| Edit::Write(path, text)),
        2 => path.clone().prop_map(Edit::Remove),
        1 => rules.prop_map(|rules| Edit::Write(".gitignore", rules)),
        1 => proptest::sample::select(vec!["src", "src/sub", "nothing", "z", "../up"])
            .prop_map(|target| Edit::Link(target, "link")),
        1 => Just(Edit::Link("z", "src")),
    ]
}

fn remove(path: &Path) {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).unwrap(),
        Ok(_) => fs::remove_file(path).unwrap(),
        Err(_) => {}
    }
}

/// Makes room for something at a path: what is in the way goes.
fn make_way(root: &Path, path: &str) {
    let mut above = root.to_path_buf();
    let names: Vec<&str> = path.split('/').collect();
    for name in &names[..names.len() - 1] {
        above.push(name);
        if fs::symlink_metadata(&above).is_ok_and(|found| !found.is_dir()) {
            fs::remove_file(&above).unwrap();
        }
        fs::create_dir_all(&above).unwrap();
    }
    remove(&root.join(path));
}

fn apply(root: &Path, edit: &Edit) {
    match edit {
        Edit::Write(path, text) => {
            make_way(root, path);
            fs::write(root.join(path), text).unwrap();
        }
        Edit::Remove(path) => remove(&root.join(path)),
        Edit::Link(target, path) => {
            make_way(root, path);
            symlink(target, root.join(path)).unwrap();
        }
    }
}

/// Verdict and code of every claim.
type Verdicts = Vec<(String, String)>;

fn verdict(of: &Value) -> (String, String) {
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("code"))
}

fn history(bench: &Bench, log: &Path, more: &[&str]) -> (Vec<Value>, Value) {
    let mut args = vec!["history", log.to_str().unwrap(), "--format", "jsonl"];
    args.extend(more);
    let run = bench.run(&args);
    assert!(
        run.status < 4 && run.status != 2,
        "{}{}",
        run.stdout,
        run.stderr
    );
    let mut lines: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let summary = lines.pop().unwrap()["summary"].take();
    (lines, summary)
}

/// The verdicts at each commit that the changes of claims add up to.
fn played(records: &[Value], commits: &[String]) -> Vec<Verdicts> {
    let mut now: Verdicts = vec![Default::default(); records.len()];
    let at: Vec<BTreeMap<&str, &Value>> = records
        .iter()
        .map(|record| {
            let changes = record["changes"].as_array().unwrap();
            changes
                .iter()
                .map(|change| (change["commit"].as_str().unwrap(), change))
                .collect()
        })
        .collect();
    let turn = |commit: &String| {
        for (now, at) in now.iter_mut().zip(&at) {
            if let Some(change) = at.get(commit.as_str()) {
                let new = verdict(change);
                assert_ne!(*now, new, "a change changes something");
                *now = new;
            }
        }
        now.clone()
    };
    commits.iter().map(turn).collect()
}

#[test]
fn a_history_is_what_each_commit_gives_by_itself() {
    let steps = proptest::collection::vec(proptest::collection::vec(edit(), 0..4), 2..9);
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    runner
        .run(&steps, |steps| {
            let bench = Bench::new();
            let root = bench.root();
            let log = bench.log("log", log());
            git(&root, &["init", "--quiet"]);
            let mut commits = Vec::new();
            for edits in &steps {
                edits.iter().for_each(|edit| apply(&root, edit));
                commits.push(commit_all(&root, "step"));
            }
            let expected: Vec<Verdicts> = commits
                .iter()
                .map(|commit| {
                    let (results, ..) = bench.check(&log, &["--at", commit, "--no-cache"]);
                    results.iter().map(verdict).collect()
                })
                .collect();
            let (records, summary) = history(&bench, &log, &["--no-cache"]);
            prop_assert_eq!(summary["commits"].as_u64(), Some(commits.len() as u64));
            prop_assert_eq!(&played(&records, &commits), &expected);
            // From a base on, and from what an earlier run counted.
            let cache = bench.outside("counts");
            let range = format!("{}..{}", commits[1], commits[commits.len() - 1]);
            let more = [
                "--range",
                &range,
                "--cache-dir",
                cache.to_str().unwrap(),
                "--jobs",
                "2",
            ];
            for _ in 0..2 {
                let (records, summary) = history(&bench, &log, &more);
                prop_assert_eq!(summary["base"].as_str(), Some(&*commits[1]));
                prop_assert_eq!(&played(&records, &commits[1..]), &expected[1..].to_vec());
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn only_what_commits_changed_is_read_and_that_once() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    for n in 0..30 {
        bench.file(&format!("d{}/f{n}", n % 3), format!("text {n}\n"));
    }
    commit_all(&root, "first");
    for n in 0..40 {
        bench.file(
            &format!("d{}/f{}", n % 3, n % 6),
            format!("text {}\n", n % 10),
        );
        commit_all(&root, &format!("step {n}"));
    }
    let log = bench.log("log", claim("a", V1, r#"grep(/text 1$/, ".") == 1"#));
    let cache = bench.outside("counts");
    let more = ["--cache-dir", cache.to_str().unwrap()];
    let (_, cold) = history(&bench, &log, &more);
    let (_, warm) = history(&bench, &log, &more);
    assert_eq!(cold["commits"], 41);
    assert_eq!(cold["contents"], 30);
    assert_eq!(cold["lookups"], 0);
    assert_eq!(cold["scan"]["read"]["files"], 30);
    assert_eq!(warm["scan"]["read"]["files"], 0);
    assert_eq!(warm["scan"]["known"]["files"], 30);
}

#[test]
fn blame_names_the_first_commit_at_which_a_claim_became_false() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    let texts = ["one\n", "one\ntwo\n", "two\n", "two\n", "one\n", "\n"];
    let mut commits = Vec::new();
    for (n, text) in texts.iter().enumerate() {
        bench.file("file", text);
        commits.push(commit_all(&root, &format!("step {n}")));
    }
    let log = claim("kept", V1, r#"grep(/one/, "file") == 1"#)
        + &claim("never", V1, r#"exists("file")"#)
        + &claim("always", V1, r#"grep(/three/, "file") == 1"#)
        + &claim("open", V1, r#"grep(/three/, "gone") == 1"#);
    let log = bench.log("log", log);
    let log = log.to_str().unwrap();
    let run = bench.run(&["blame", "kept", log]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let expected = format!(
        "  became false at {} 2023-11-14 step 2\n  pass        since {} 2023-11-14 step 0\n  pass        since {} 2023-11-14 step 4\n  fail        since {} 2023-11-14 step 5\n",
        &commits[2][..12],
        &commits[0][..12],
        &commits[4][..12],
        &commits[5][..12],
    );
    assert!(run.stdout.contains(&expected), "{}", run.stdout);
    let run = bench.run(&[
        "blame",
        "kept",
        log,
        "--format",
        "json",
        "--range",
        &format!("{}..{}", commits[3], commits[4]),
    ]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["results"][0]["became_false"]["commit"], commits[3]);
    let run = bench.run(&["blame", "never", log, "--format", "jsonl"]);
    assert_eq!(run.status, 0);
    assert!(
        run.stdout.contains(r#""became_false":null"#),
        "{}",
        run.stdout
    );
    let run = bench.run(&["blame", "always", log]);
    assert!(
        run.stdout.contains("was false from the start"),
        "{}",
        run.stdout
    );
    assert_eq!(bench.run(&["blame", "open", log]).status, 3);
    let run = bench.run(&["blame", "absent", log]);
    assert_eq!(run.status, 2);
    assert!(
        run.stderr.contains("no claim of the log has the id"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_history_without_commits_or_claims_is_never_all_passed() {
    let bench = Bench::new();
    let root = bench.root();
    let log = bench.log("log", claim("a", V1, r#"exists(".")"#));
    let log = log.to_str().unwrap();
    assert_eq!(bench.run(&["history", log]).status, 2, "no repository");
    git(&root, &["init", "--quiet"]);
    assert_eq!(bench.run(&["history", log]).status, 2, "no commit");
    commit_all(&root, "one");
    assert_eq!(bench.run(&["history", log]).status, 0);
    assert_eq!(
        bench.run(&["history", log, "--range", "HEAD..HEAD"]).status,
        0
    );
    for bad in ["HEAD...HEAD", "nothing", "a..b", "--all"] {
        assert_eq!(
            bench
                .run(&["history", log, &format!("--range={bad}")])
                .status,
            2,
            "{bad}"
        );
    }
    let empty = bench.log("empty", "");
    let run = bench.run(&["history", empty.to_str().unwrap()]);
    assert_eq!(run.status, 3);
    assert!(run.stdout.contains("no claims"), "{}", run.stdout);
    let run = bench.run(&["history", bench.outside("gone").to_str().unwrap()]);
    assert_eq!(run.status, 2);
}
