//! Packs and predicate files from the command line, and the example packs.

use std::path::Path;

use probity::flow::Pack;
use probity::harn::Limits;

use crate::bin::Bench;

const LIB: &str = r#"
const EXTENSION = ".rs"
fn concerns(path) { return path.ends_with(EXTENSION) }
"#;

const RULES: &str = r#"
import { concerns } from "./lib"

@invariant
@deterministic
@archivist(evidence: ["https://example.org"], confidence: 1.0, source_date: "2026-05-01")
pub fn no_unwrap(slice, _ctx, _base) {
  const found = slice.files.filter({ f -> concerns(f.path) && f.text.contains(".unwrap()") })
  return {
    verdict: if found.none() { "Allow" } else { "Block" },
    rule: "no_unwrap",
    findings: found.map({ f -> {path: f.path} }),
    remediation: "return the error",
  }
}

@invariant
@semantic(fallback: no_unwrap, policy: advisory)
@archivist(evidence: ["https://example.org"], confidence: 0.5, source_date: "2026-05-01")
pub fn errors_are_kept(slice, ctx, _base) {
  const answer = ctx.semantic_judge({rubric: "are errors kept?", files: slice.files})
  return {verdict: answer.verdict, rule: "errors_are_kept", findings: answer.findings}
}
"#;

fn fixture(predicate: &str, expect: &str, text: &str) -> String {
    serde_json::json!({"predicate": predicate, "cases": [
        {"name": "one", "expect": expect, "files": [{"path": "a.rs", "text": text}]},
    ]})
    .to_string()
}

fn pack() -> Bench {
    let bench = Bench::new();
    bench.file("invariants.harn", RULES);
    bench.file("lib.harn", LIB);
    bench.file(
        "fixtures/a.json",
        fixture("no_unwrap", "Block", "x.unwrap()"),
    );
    bench.file("fixtures/b.json", fixture("errors_are_kept", "Warn", ""));
    bench
}

#[test]
fn the_example_packs_keep_their_word() {
    let packs = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/packs");
    for name in ["rust", "python", "github-workflows"] {
        let pack = Pack::load(&packs.join(name)).unwrap();
        assert!(pack.module.predicates().len() >= 8, "{name}");
        assert_eq!(pack.module.warnings(), [], "{name}");
        assert_eq!(pack.module.invalid_patterns(), [], "{name}");
        let report = pack.test(&Limits::default(), None);
        assert_eq!(report.untested, [""; 0], "{name}");
        for outcome in &report.outcomes {
            // Its predicate queries syntax trees.
            if !cfg!(feature = "ast") && outcome.case.predicate == "no_unwrap_in_library" {
                continue;
            }
            let case = outcome.case;
            assert!(
                outcome.is_right(),
                "{name}: {} `{}`: {:?}",
                case.predicate,
                case.name,
                outcome.evaluated
            );
        }
    }
}

#[test]
fn a_pack_is_tried_and_what_differs_is_told() {
    let bench = pack();
    let root = bench.root();
    let root = root.to_str().unwrap();
    let run = bench.run_bare(&["flow", "test", root]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.contains("2 predicates, 2 cases, 0 differ"),
        "{}",
        run.stdout
    );

    bench.file(
        "fixtures/c.json",
        fixture("no_unwrap", "Allow", "x.unwrap()"),
    );
    bench.file("fixtures/d.json", fixture("no_such", "Allow", ""));
    let run = bench.run_bare(&["flow", "test", root]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("expected Allow"), "{}", run.stdout);
    assert!(run.stdout.contains("found    Block"), "{}", run.stdout);
    assert!(
        run.stdout.contains("no predicate `no_such`"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_pack_that_cannot_be_tried_is_an_error() {
    let bench = pack();
    let root = bench.root();
    let root = root.to_str().unwrap();
    for (file, text, said) in [
        ("fixtures/a.json", "{", "a.json"),
        (
            "fixtures/a.json",
            "{\"predicate\": \"p\", \"cases\": []}",
            "nothing is tested",
        ),
        ("invariants.harn", "fn f( {", "HARN-PAR-002"),
        ("lib.harn", "fn concerns(", "HARN-PAR-002"),
        ("lib.harn", "fn other() { return 1 }", "has no `concerns`"),
    ] {
        let bench = pack();
        bench.file(file, text);
        let root = bench.root();
        let run = bench.run_bare(&["flow", "test", root.to_str().unwrap()]);
        assert_eq!(run.status, 2, "{file}: {}", run.stdout);
        assert!(run.stderr.contains(said), "{file}: {}", run.stderr);
    }
    std::fs::remove_dir_all(bench.root().join("fixtures")).unwrap();
    assert_eq!(bench.run_bare(&["flow", "test", root]).status, 2);
    // A pack without a single case is no success.
    std::fs::create_dir(bench.root().join("fixtures")).unwrap();
    assert_eq!(bench.run_bare(&["flow", "test", root]).status, 2);
}

#[test]
fn imports_stay_in_the_directory() {
    let bench = pack();
    bench.log("secret.harn", LIB);
    std::os::unix::fs::symlink(bench.outside("secret.harn"), bench.root().join("link.harn"))
        .unwrap();
    for path in ["../secret", "./link", "/etc/passwd", "secret", "./missing"] {
        let rules = RULES.replace("./lib", path);
        bench.file("invariants.harn", rules);
        let file = bench.root().join("invariants.harn");
        let run = bench.run_bare(&["lint", file.to_str().unwrap()]);
        assert_eq!(run.status, 1, "{path}");
        assert!(
            run.stderr.contains("HARN-IMP-001"),
            "{path}: {}",
            run.stderr
        );
    }
    // Files that import each other.
    bench.file("invariants.harn", RULES);
    bench.file("lib.harn", format!("import \"./invariants\"\n{LIB}"));
    let file = bench.root().join("invariants.harn");
    let run = bench.run_bare(&["lint", file.to_str().unwrap()]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("imports this file"), "{}", run.stderr);
}

#[test]
fn a_slice_is_judged_by_one_file() {
    let bench = pack();
    let file = bench.root().join("invariants.harn");
    let file = file.to_str().unwrap();
    let judge = |text: &str, more: &[&str]| {
        let slice = serde_json::json!({"files": [{"path": "a.rs", "text": text}]});
        let slice = bench.log("slice.json", slice.to_string());
        let mut args = vec!["flow", "evaluate", file, "--slice", slice.to_str().unwrap()];
        args.extend(more);
        bench.run_bare(&args)
    };
    let run = judge("x.unwrap()", &[]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["status"], "fail");
    let record = &report["records"][0];
    assert_eq!(record["name"], "no_unwrap");
    assert_eq!(record["result"]["verdict"]["kind"], "block");
    assert_eq!(record["raw_result"]["findings"][0]["path"], "a.rs");
    assert!(record["hash"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(report["skipped"][0]["name"], "errors_are_kept");
    assert_eq!(judge("", &[]).status, 0);
    // Nothing that could be evaluated is left.
    assert_eq!(judge("", &["--predicate", "errors_are_kept"]).status, 3);
    assert_eq!(judge("", &["--predicate", "no_such"]).status, 2);

    let run = bench.run_bare(&["disasm", file]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("predicate no_unwrap"), "{}", run.stdout);
    assert!(run.stdout.contains("call.method"), "{}", run.stdout);
}
