//! The acceptance rows of flow.md, section 13, on discovery, composition and ceiling. Each
//! test is named by its row.

use std::sync::Arc;

use probity::Digest;
use probity::files::{MemoryFiles, ObjectTree, memory_tree};
use probity::flow::{
    Approver, CeilingContributor, CeilingLevel, CeilingOutcome, ComposedResult, DiagnosticKind,
    Discovery, InvariantResult, PredicateCeiling, PredicateEvaluation, PredicateFile, Verdict,
    compose_predicate_results, resolve_predicates,
};
use probity::harn::{FallbackPolicy, Mode, inspect};
use serde_json::json;

const FILE: &str = "invariants.harn";

/// Provenance, and a body that allows.
const ARCHIVIST: &str = "@archivist(evidence: [\"u\"], confidence: 0.9, \
    source_date: \"2026-05-01\", coverage_examples: [\"a\"])\n";

pub(crate) fn tree(files: &[(&str, &str)]) -> ObjectTree<MemoryFiles> {
    let files = files.iter();
    memory_tree(files.map(|(path, text)| (*path, text.as_bytes()))).expect("the paths are paths")
}

/// A predicate with these attributes and provenance.
pub(crate) fn predicate(attributes: &str, name: &str) -> String {
    format!(
        "@invariant {attributes}\n{ARCHIVIST}fn {name}(slice) {{ return flow_invariant_allow() }}\n"
    )
}

pub(crate) fn deterministic(name: &str) -> String {
    predicate("@deterministic", name)
}

/// The file at the root of a tree that holds nothing else.
fn alone(source: &str) -> Arc<PredicateFile> {
    let tree = tree(&[(FILE, source)]);
    let [file] = &*Discovery::new(&tree).chain(".") else {
        panic!("there is one file")
    };
    file.clone()
}

fn kinds(file: &PredicateFile) -> Vec<DiagnosticKind> {
    file.diagnostics().iter().map(|it| it.kind).collect()
}

#[test]
fn row_01_the_hash_of_a_predicate_is_that_of_its_bytes() {
    let source = "@invariant\n@deterministic\nfn p(slice) { return flow_invariant_allow() }";
    let golden = "sha256:1d4f6e24d82d5221bb55d551efcbf7d9035884e4b8feb7530ebafa2161ef860c";
    for source in [
        source.to_owned(),
        format!("// before\n{source} // behind"),
        format!("{source}\nfn helper() {{ return 1 }}\n"),
    ] {
        let file = alone(&source);
        assert_eq!(file.predicates()[0].hash.to_string(), golden, "{source}");
    }
    // What stands between counts, `pub` included.
    for source in [
        source.replace("\n@", "\n\n@"),
        source.replace("fn p", "/// Doc.\nfn p"),
        source.replace("fn p", "pub fn p"),
        source.replace('\n', "\r\n"),
    ] {
        let file = alone(&source);
        assert_ne!(file.predicates()[0].hash.to_string(), golden, "{source}");
    }
}

#[test]
fn row_07_the_hash_of_the_meta_file_is_that_of_its_bytes() {
    let source = "@bootstrap_maintainers(approvers: [\"role:flow-platform\", \"user:alice\"])\n\
                  fn _m() { return nil }\n";
    assert_eq!(
        Digest::of(source.as_bytes()).to_string(),
        "sha256:0abae24fff1065708c6ea4b3be3cf6f6da5b671888dae7c383130ae41bb7f16f"
    );
    // The attribute is known.
    let inspection = inspect(source, &|_| Err("nothing is imported".into()));
    assert_eq!(inspection.problems, []);
    assert!(inspection.is_parsed && inspection.declarations.is_empty());
}

#[test]
fn row_11_a_chain_has_the_root_and_the_directories_on_the_way() {
    let (root, foo) = (deterministic("a"), deterministic("b"));
    let tree = tree(&[(FILE, &root), ("crates/foo/invariants.harn", &foo)]);
    let mut discovery = Discovery::new(&tree);
    let chain = discovery.chain("crates/foo");
    let labels: Vec<_> = chain.iter().map(|file| file.relative_dir()).collect();
    assert_eq!(labels, [".", "crates/foo"]);
    let paths: Vec<_> = chain.iter().map(|file| file.path()).collect();
    assert_eq!(paths, [FILE, "crates/foo/invariants.harn"]);
    assert_eq!((chain[0].depth(), chain[1].depth()), (0, 2));
    assert!(chain.iter().all(|file| file.diagnostics().is_empty()));
    // The directories need not be there.
    assert_eq!(discovery.chain("crates/foo/src/new").len(), 2);
    assert_eq!(discovery.chain("crates").len(), 1);
}

#[test]
fn row_12_a_target_that_leaves_the_root_has_the_chain_of_the_root() {
    let rules = deterministic("a");
    let tree = tree(&[
        (FILE, &rules),
        ("escape/invariants.harn", &rules),
        ("a/invariants.harn", &rules),
        ("a/b/invariants.harn", &rules),
        ("b/invariants.harn", &rules),
    ]);
    let mut discovery = Discovery::new(&tree);
    let mut labels = |target: &str| -> Vec<String> {
        let chain = discovery.chain(target);
        let labels = chain.iter().map(|file| file.relative_dir().to_owned());
        labels.collect()
    };
    assert_eq!(labels("../../escape"), ["."]);
    assert_eq!(labels("a/../../escape"), ["."]);
    assert_eq!(labels("/escape"), ["."]);
    assert_eq!(labels(".."), ["."]);
    assert_eq!(labels(""), ["."]);
    // What stays inside is resolved.
    assert_eq!(labels("a/../b"), [".", "b"]);
    assert_eq!(labels("./a//b/."), [".", "a", "a/b"]);
}

#[test]
fn row_13_only_functions_with_a_bare_invariant_are_predicates() {
    let file = alone("@invariant(\"fs.writes\", \"src/**\")\n@deterministic\nfn p(slice) {}\n");
    assert_eq!(file.predicates(), []);
    assert_eq!(file.diagnostics(), []);
    // Tools and pipelines are not in the subset: the file is refused, and has none.
    for kind in ["tool", "pipeline"] {
        let file = alone(&format!("@invariant\n{kind} p(slice) {{ }}\n"));
        assert_eq!(file.predicates(), [], "{kind}");
        assert!(file.has_errors(), "{kind}");
    }
    let file = alone("@invariant\ntype T = int\n");
    assert_eq!(file.predicates(), []);
    assert_eq!(kinds(&file), [DiagnosticKind::Doubtful]);
}

#[test]
fn row_14_a_predicate_without_archivist_is_found_with_one_warning() {
    let file = alone("@invariant\n@deterministic\npub fn p(slice) { return 1 }\n");
    assert_eq!(file.predicates().len(), 1);
    let [warning] = file.diagnostics() else {
        panic!("{:?}", file.diagnostics())
    };
    assert!(!warning.is_error() && !file.has_errors());
    assert!(warning.message.contains("missing `@archivist(...)`"));
    assert_eq!(warning.code(), "predicate_discovery_error");
    // From `fn`, behind `pub`, to the brace.
    let place = warning.place.expect("it has a place");
    assert_eq!((place.line, place.column), (3, 5));
    let text = &file.source()[place.start as usize..place.end as usize];
    assert_eq!(text, "fn p(slice) { return 1 }");
    assert_eq!(
        serde_json::to_value(warning).expect("it can be written"),
        json!({
            "severity": "warning",
            "code": "predicate_discovery_error",
            "message": &*warning.message,
            "span": {"start": 30, "end": 54},
        })
    );
    assert!(file.evaluable(0).is_some() && file.refusal(0).is_none());
}

#[test]
fn row_15_both_kinds_are_an_error_and_deterministic() {
    let file = alone(&predicate("@deterministic @semantic(fallback: p)", "p"));
    assert_eq!(file.predicates()[0].mode, Mode::Deterministic);
    let [error] = file.diagnostics() else {
        panic!("{:?}", file.diagnostics())
    };
    assert!(error.is_error());
    assert!(error.message.contains("pick exactly one"));
    assert_eq!(error.code(), "predicate_discovery_error");
    assert_eq!(error.predicate.as_deref(), Some("p"));
    let refusal = file.refusal(0).expect("it is refused");
    assert_eq!(refusal.verdict.code(), Some("predicate_discovery_error"));
}

#[test]
fn row_16_an_unknown_policy_is_an_error_and_enforce() {
    let source = deterministic("x") + &predicate("@semantic(policy: maybe, fallback: x)", "p");
    let file = alone(&source);
    let [error] = file.diagnostics() else {
        panic!("{:?}", file.diagnostics())
    };
    assert!(error.is_error());
    assert_eq!(error.code(), "fallback_policy_invalid");
    assert!(error.message.contains("unsupported fallback policy"));
    let declared = &file.predicates()[1];
    assert_eq!(declared.mode, Mode::Semantic);
    assert_eq!(declared.policy, FallbackPolicy::Enforce);
    // The other one can be evaluated all the same.
    assert!(file.evaluable(0).is_some() && file.evaluable(1).is_none());
    let refusal = file.refusal(1).expect("it is refused");
    assert_eq!(refusal.verdict.code(), Some("fallback_policy_invalid"));
}

#[test]
fn row_17_a_fallback_may_be_that_of_an_ancestor() {
    let root = deterministic("rule");
    let child = predicate("@semantic(fallback: rule)", "review");
    let tree = tree(&[(FILE, &root), ("a/b/invariants.harn", &child)]);
    let chain = Discovery::new(&tree).chain("a/b");
    assert!(chain.iter().all(|file| file.diagnostics().is_empty()));
    let resolved = resolve_predicates(&chain);
    let names: Vec<_> = resolved.iter().map(|it| &*it.qualified_name).collect();
    assert_eq!(names, ["rule", "a/b::review"]);
    assert_eq!(
        resolved[1].fallback_hash(),
        Some(chain[0].predicates()[0].hash)
    );
}

#[test]
fn row_18_a_fallback_may_not_be_that_of_a_descendant() {
    let root = predicate("@semantic(fallback: rule)", "review");
    let child = deterministic("rule");
    let tree = tree(&[(FILE, &root), ("a/invariants.harn", &child)]);
    let chain = Discovery::new(&tree).chain("a");
    let [error] = chain[0].diagnostics() else {
        panic!("{:?}", chain[0].diagnostics())
    };
    assert!(error.is_error());
    assert_eq!(error.kind, DiagnosticKind::UnresolvedFallback);
    assert!(
        error
            .message
            .contains("same invariants.harn file or an ancestor file")
    );
    assert_eq!(chain[0].fallback(0), None);
    let refusal = chain[0].refusal(0).expect("it is refused");
    assert_eq!(refusal.verdict.code(), Some("fallback_unresolved"));
}

/// One evaluation for each predicate that applies to the targets.
fn composed(
    files: &[(&str, &str)],
    targets: &[&str],
    result: &dyn Fn(&str) -> InvariantResult,
) -> Vec<ComposedResult> {
    let tree = tree(files);
    let union = Discovery::new(&tree).union(targets);
    let evaluations = union.predicates.iter();
    let evaluations: Vec<_> = evaluations
        .map(|it| PredicateEvaluation::new(it, result(&it.qualified_name)))
        .collect();
    compose_predicate_results(&evaluations)
}

fn allow() -> InvariantResult {
    serde_json::from_value(json!({"verdict": {"kind": "allow"}, "confidence": 1.0}))
        .expect("it is a result")
}

#[test]
fn row_46_a_child_does_not_relax_the_block_of_the_root() {
    let rule = deterministic("rule");
    let composed = composed(
        &[(FILE, &rule), ("a/invariants.harn", &rule)],
        &["a"],
        &|name| match name {
            "rule" => InvariantResult::block("root", "no"),
            _ => allow(),
        },
    );
    let [root, child] = &*composed else {
        panic!("{composed:?}")
    };
    assert_eq!(&*root.selected_qualified_name, "rule");
    assert_eq!(&*child.qualified_name, "a::rule");
    assert_eq!(&*child.selected_qualified_name, "rule");
    assert_eq!(child.selected_source, root.source);
    assert_eq!(child.result, InvariantResult::block("root", "no"));
}

#[test]
fn row_47_siblings_of_the_same_name_have_nothing_to_do_with_each_other() {
    let rule = deterministic("rule");
    let composed = composed(
        &[("a/invariants.harn", &rule), ("b/invariants.harn", &rule)],
        &["a", "b"],
        &|name| match name {
            "a::rule" => InvariantResult::block("a", "no"),
            _ => allow(),
        },
    );
    let [one, other] = &*composed else {
        panic!("{composed:?}")
    };
    assert_eq!(one.result.verdict.code(), Some("a"));
    assert_eq!(other.result, allow());
    assert_eq!(&*other.selected_qualified_name, "b::rule");
}

#[test]
fn row_48_too_many_predicates_are_a_block_that_names_where_they_are() {
    let rules: String = (0..40)
        .map(|at| deterministic(&format!("rule_{at}")))
        .collect();
    let root = deterministic("root_rule");
    let services: Vec<_> = (0..32).map(|at| format!("services/s{at:02}")).collect();
    let paths: Vec<_> = services
        .iter()
        .map(|dir| format!("{dir}/invariants.harn"))
        .collect();
    let mut files: Vec<_> = paths.iter().map(|path| (&**path, &*rules)).collect();
    files.push((FILE, &root));
    let tree = tree(&files);
    let union = Discovery::new(&tree).union(&services);
    assert_eq!(union.predicates.len(), 1281);
    assert_eq!(&*union.predicates[0].qualified_name, "root_rule");
    let ceiling = PredicateCeiling::default();
    let outcome = ceiling.check(&union.predicates);
    let top: Vec<_> = (0..5)
        .map(|at| format!("{{\"relative_dir\":\"services/s{at:02}\",\"count\":40}}"))
        .collect();
    assert_eq!(
        serde_json::to_string(&outcome).expect("it can be written"),
        format!(
            "{{\"status\":\"exceeded\",\"level\":\"block\",\"count\":1281,\"threshold\":1024,\
             \"top_contributors\":[{}]}}",
            top.join(",")
        )
    );
    let CeilingOutcome::Exceeded(violation) = outcome else {
        panic!("it is exceeded")
    };
    let Verdict::Block { error } = ceiling.result(&violation).verdict else {
        panic!("it blocks")
    };
    assert_eq!(error.code, "predicate_count_explosion");
    for part in [
        "1281",
        "hard ceiling",
        "1024",
        "services/s00 (40)",
        "services/s04 (40)",
    ] {
        assert!(error.message.contains(part), "{part}: {}", error.message);
    }
}

#[test]
fn row_50_the_block_is_checked_first_and_zero_disables() {
    let rules: String = (0..64).map(|at| deterministic(&format!("r{at}"))).collect();
    let tree = tree(&[(FILE, &rules)]);
    let union = Discovery::new(&tree).union(["."]);
    assert_eq!(union.predicates.len(), 64);
    let check = |block_threshold, require_approval_threshold| {
        let ceiling = PredicateCeiling {
            block_threshold,
            require_approval_threshold,
            ..PredicateCeiling::default()
        };
        let outcome = ceiling.check(&union.predicates);
        let result = match &outcome {
            CeilingOutcome::Within { .. } => None,
            CeilingOutcome::Exceeded(violation) => Some(ceiling.result(violation)),
        };
        (outcome, result)
    };
    let level = |outcome: &CeilingOutcome| match outcome {
        CeilingOutcome::Within { .. } => None,
        CeilingOutcome::Exceeded(violation) => Some(violation.level),
    };
    assert_eq!(level(&check(64, 64).0), Some(CeilingLevel::Block));
    assert_eq!(level(&check(65, 65).0), None);
    assert_eq!(level(&check(0, 0).0), None);
    let (outcome, result) = check(0, 64);
    assert_eq!(
        outcome,
        CeilingOutcome::Exceeded(probity::flow::CeilingViolation {
            level: CeilingLevel::RequireApproval,
            count: 64,
            threshold: 64,
            top_contributors: vec![CeilingContributor {
                relative_dir: ".".into(),
                count: 64,
            }],
        })
    );
    let approver = Approver::Role {
        name: "flow-platform".into(),
    };
    assert_eq!(
        result.map(|it| it.verdict),
        Some(Verdict::RequireApproval { approver })
    );
    let within = serde_json::to_string(&check(0, 65).0).expect("it can be written");
    assert_eq!(within, "{\"status\":\"within\",\"count\":64}");
}
