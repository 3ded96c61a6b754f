//! The rows of flow.md, section 13, that are about the adapter and its feedback.

use std::time::Duration;

use probity::flow::{
    EvaluateOptions, EvaluationStatus, Slice, flow_evaluate_invariants, flow_invariant_feedback,
};
use serde_json::{Value as Json, json};

const ARCHIVIST: &str = "@archivist(evidence: [\"e\"], confidence: 1.0, source_date: \
                         \"2026-05-01\", coverage_examples: [\"x\"])\n";

/// A predicate, by its attribute and its text.
pub(crate) fn predicate(attribute: &str, function: &str) -> String {
    format!("@invariant\n{attribute}\n{ARCHIVIST}{function}\n")
}

pub(crate) fn deterministic(name: &str, result: &str) -> String {
    let function = format!("fn {name}(slice) {{ return {result} }}");
    predicate("@deterministic", &function)
}

pub(crate) fn semantic(name: &str, fallback: &str, result: &str) -> String {
    let function = format!("fn {name}(slice, ctx) {{ return {result} }}");
    predicate(&format!("@semantic({fallback})"), &function)
}

pub(crate) const ALLOW: &str = "flow_invariant_allow()";
pub(crate) const BLOCK: &str = "flow_invariant_block(\"no\", \"never\")";
pub(crate) const ASK: &str = "{verdict: ctx.semantic_judge({rubric: \"is it good?\", files: \
                   slice.files}).verdict, rule: \"asked\"}";

/// Options that leave a machine that is busy time enough.
pub(crate) fn options(json: Json) -> EvaluateOptions {
    let mut options = EvaluateOptions::from_json(&json).expect("they are options");
    options.budget = options.budget.or(Some(Duration::from_secs(5)));
    options
}

pub(crate) fn slice() -> Slice {
    let json = json!({"files": [{"path": "a.rs", "text": "x.unwrap()"}]});
    Slice::from_json(&json).expect("it is a slice")
}

pub(crate) fn evaluated(source: &str, options: &EvaluateOptions) -> Json {
    let report = flow_evaluate_invariants(source, &slice(), options).expect("it is evaluated");
    let is_pass = report.status == EvaluationStatus::Pass;
    assert_eq!(report.ok, is_pass, "{report:?}");
    serde_json::to_value(report).expect("it is JSON")
}

pub(crate) fn record<'r>(report: &'r Json, name: &str) -> &'r Json {
    let records = report["records"].as_array().expect("a list");
    let named: Vec<&Json> = records.iter().filter(|it| it["name"] == name).collect();
    let [record] = named[..] else {
        panic!("not one `{name}` in {report:#}");
    };
    record
}

pub(crate) fn code(record: &Json) -> &str {
    let code = record["result"]["verdict"]["error"]["code"].as_str();
    code.unwrap_or_else(|| panic!("it does not block: {record:#}"))
}

/// The block of the only predicate of a source.
pub(crate) fn block_of(source: &str) -> String {
    let report = evaluated(source, &options(json!({"include_semantic": true})));
    assert_eq!(report["status"], "fail", "{report:#}");
    code(record(&report, "p")).to_owned()
}

#[test]
fn row_33_a_semantic_predicate_without_a_fallback_is_a_discovery_error() {
    let source = predicate("@semantic", "fn p(slice) { return flow_invariant_allow() }");
    let source = format!("{source}{}", deterministic("q", ALLOW));
    // Whether or not it is asked for.
    for asked in [json!({}), json!({"predicates": ["q"]})] {
        let report = evaluated(&source, &options(asked));
        assert_eq!(report["ok"], false);
        assert_eq!(report["status"], "discovery_error");
        assert_eq!(report["records"], json!([]));
        assert_eq!(report["skipped"], json!([]));
        let diagnostic = &report["diagnostics"][0];
        assert_eq!(diagnostic["code"], "fallback_missing");
        assert_eq!(diagnostic["severity"], "error");
        let start = diagnostic["span"]["start"].as_u64().expect("a place");
        let start = usize::try_from(start).expect("it fits");
        assert!(source[start..].starts_with("fn p(slice)"));
    }
}

#[test]
fn row_34_a_fallback_that_is_nowhere_blocks_what_was_selected() {
    let source = format!(
        "{}{}",
        semantic("p", "fallback: nowhere, policy: advisory", ALLOW),
        deterministic("q", ALLOW)
    );
    let report = evaluated(&source, &options(json!({"include_semantic": true})));
    assert_eq!(
        (&report["ok"], &report["status"]),
        (&json!(false), &json!("fail"))
    );
    let p = record(&report, "p");
    assert_eq!(code(p), "fallback_unresolved");
    assert_eq!(p["attempts"], 0, "no judge is asked for it");
    assert!(p.get("fallback_diagnostic").is_none());
    let told = report["diagnostics"].as_array().expect("a list");
    let [told] = &told[..] else {
        panic!("{report:#}");
    };
    let message = &p["result"]["verdict"]["error"]["message"];
    assert_eq!(
        *told,
        json!({"severity": "error", "code": "fallback_unresolved", "predicate": "p",
               "message": message})
    );
    // Where it was not selected it is a remark.
    let report = evaluated(&source, &options(json!({})));
    assert_eq!(report["status"], "pass");
    assert_eq!(report["diagnostics"][0]["severity"], "warning");
    assert_eq!(report["diagnostics"][0]["code"], "fallback_unresolved");
}

#[test]
fn row_35_semantic_predicates_are_skipped_by_default() {
    let source = format!(
        "{}{}",
        semantic("p", "fallback: q", BLOCK),
        deterministic("q", ALLOW)
    );
    let report = evaluated(&source, &EvaluateOptions::default());
    assert_eq!(report["ok"], true, "{report:#}");
    let skipped = &report["skipped"][0];
    assert_eq!(
        (&skipped["name"], &skipped["kind"]),
        (&json!("p"), &json!("semantic"))
    );
    assert_eq!(
        skipped["reason"],
        "semantic predicates require an explicit include_semantic option"
    );
    let q = record(&report, "q");
    assert_eq!((&q["attempts"], &q["enforced"]), (&json!(1), &json!(true)));
    assert!(q.get("second_result_hash").is_none());
    let fields: Vec<&String> = report.as_object().expect("a dict").keys().collect();
    assert_eq!(
        fields,
        ["diagnostics", "ok", "records", "skipped", "status"]
    );
}

#[test]
fn rows_28_to_30_fallbacks_count_as_their_policy_says() {
    let source = |policy: &str| {
        let fallback = format!("fallback: q, policy: {policy}");
        format!(
            "{}{}",
            semantic("p", &fallback, ALLOW),
            deterministic("q", BLOCK)
        )
    };
    let only_p = json!({"predicates": ["p"], "include_semantic": true});
    let report = evaluated(&source("enforce"), &options(only_p.clone()));
    assert_eq!(report["status"], "fail");
    let p = record(&report, "p");
    assert_eq!(code(p), "no");
    assert_eq!(p["raw_result"]["verdict"]["kind"], "allow");
    assert_eq!(record(&report, "q")["enforced"], false);

    let report = evaluated(&source("advisory"), &options(only_p));
    assert_eq!(report["status"], "pass");
    assert_eq!(record(&report, "q")["enforced"], false);
    let all = json!({"include_semantic": true});
    let report = evaluated(&source("advisory"), &options(all));
    assert_eq!(report["status"], "fail");
    assert_eq!(record(&report, "q")["enforced"], true);
}

#[test]
fn chains_of_fallbacks_are_not_followed() {
    let source = [
        semantic("a", "fallback: b", ALLOW),
        semantic("b", "fallback: c", ALLOW),
        deterministic("c", ALLOW),
        semantic("own", "fallback: own", ALLOW),
    ]
    .concat();
    let only_a = json!({"predicates": ["a"], "include_semantic": true});
    let report = evaluated(&source, &options(only_a));
    assert_eq!(code(record(&report, "a")), "fallback_not_deterministic");
    assert_eq!(code(record(&report, "b")), "fallback_unselected");
    assert_eq!(report["records"].as_array().map(Vec::len), Some(2));
    let all = json!({"include_semantic": true});
    let report = evaluated(&source, &options(all));
    assert_eq!(code(record(&report, "a")), "fallback_not_deterministic");
    assert_eq!(code(record(&report, "own")), "fallback_not_deterministic");
    assert_eq!(record(&report, "b")["result"]["verdict"]["kind"], "allow");
    assert_eq!(report["diagnostics"].as_array().map(Vec::len), Some(2));
}

#[test]
fn row_39_the_word_of_a_pack_becomes_a_block_with_rule_and_remediation() {
    let value = "{verdict: \"Block\", rule: \"r\", remediation: \"do it\", \
                 findings: [{path: \"a.rs\", line: 3}]}";
    let report = evaluated(&deterministic("p", value), &options(json!({})));
    let p = record(&report, "p");
    assert_eq!(
        p["result"]["verdict"],
        json!({"kind": "block", "error": {"code": "r", "message": "do it"}})
    );
    assert_eq!(
        p["raw_result"]["findings"],
        json!([{"path": "a.rs", "line": 3}])
    );
    assert!(p["result"].get("remediation").is_none());
    // What the block says is not said again.
    let told = flow_invariant_feedback(&report, &Json::Null).expect("it is a report");
    assert!(
        told.ends_with("- Block p: r: do it Findings: a.rs:3"),
        "{told}"
    );
}

#[test]
fn row_40_what_means_nothing_blocks() {
    for value in [
        "true",
        "nil",
        "\"Allow\"",
        "[]",
        "{verdict: {kind: \"allow\"}}",
        "{verdict: \"RequireApproval\"}",
        "{verdict: \"BLOCK\"}",
    ] {
        let source = deterministic("p", value);
        assert_eq!(block_of(&source), "invalid_predicate_result", "{value}");
    }
}

#[test]
fn row_41_a_predicate_that_throws_blocks_and_so_does_a_judge_that_is_not_there() {
    let throws = predicate("@deterministic", "fn p(slice) { throw \"no\" }");
    assert_eq!(block_of(&throws), "predicate_runtime_error");
    let source = format!(
        "{}{}",
        semantic("p", "fallback: q", ASK),
        deterministic("q", ALLOW)
    );
    assert_eq!(block_of(&source), "predicate_runtime_error");
    // What a caller puts into `ctx` is no judge.
    let asked = json!({"include_semantic": true, "ctx": {"semantic_judge": {"verdict": "Allow"}}});
    let report = evaluated(&source, &options(asked));
    assert_eq!(code(record(&report, "p")), "predicate_runtime_error");
}

#[test]
fn row_42_a_capability_that_is_not_given_blocks_its_predicate_alone() {
    let source = predicate(
        "@deterministic",
        "fn p(fs: HarnessFs, slice, ctx, base) { return flow_invariant_allow() }",
    );
    let source = format!("{source}{}", deterministic("q", ALLOW));
    assert_eq!(block_of(&source), "predicate_runtime_error");
    let report = evaluated(&source, &options(json!({"predicates": ["q"]})));
    assert_eq!(report["status"], "pass");
    assert_eq!(report["diagnostics"][0]["code"], "predicate_runtime_error");
    assert_eq!(report["diagnostics"][0]["severity"], "warning");
}

/// A predicate that searches a syntax tree, by how it does.
fn searching(search: &str) -> String {
    let function = format!(
        "fn p(ast: HarnessAst, slice) {{\n\
         const asked = {{language: \"rust\", \
         query: \"(function_item name: (identifier) @name)\"}}\n\
         const found = {search}\n\
         return if found.match_count == 1 {{ flow_invariant_allow() }} \
         else {{ flow_invariant_warn(to_string(found)) }}\n}}"
    );
    let predicate = predicate("@deterministic", &function);
    format!("import {{ ast_search }} from \"std/ast\"\n{predicate}")
}

const OF_SOURCE: &str = "ast_search(ast, asked + {source: \"fn f() {}\"})";

#[cfg(feature = "ast")]
#[test]
fn row_43_the_tree_of_a_source_is_searched() {
    let report = evaluated(&searching(OF_SOURCE), &options(json!({})));
    let verdict = &record(&report, "p")["result"]["verdict"]["kind"];
    assert_eq!(verdict, "allow", "{report:#}");
}

#[cfg(not(feature = "ast"))]
#[test]
fn row_43_without_syntax_trees_a_search_blocks() {
    assert_eq!(block_of(&searching(OF_SOURCE)), "predicate_runtime_error");
}

#[test]
fn row_44_a_search_in_a_file_is_refused() {
    for search in [
        "ast_search(ast, asked + {path: \"src/lib.rs\"})",
        "ast_search(ast, asked + {path: \"src/lib.rs\", source: \"fn f() {}\"})",
        "ast.search(asked + {path: \"src/lib.rs\"})",
    ] {
        let source = searching(search);
        assert_eq!(block_of(&source), "predicate_runtime_error", "{search}");
    }
}

#[test]
fn row_45_functions_need_not_be_public() {
    for function in ["fn", "pub fn"] {
        let function = format!("{function} p(slice, _ctx, _base) {{ return {ALLOW} }}");
        let source = predicate("@deterministic", &function);
        let report = evaluated(&source, &options(json!({})));
        assert_eq!(report["status"], "pass", "{report:#}");
    }
}

#[test]
fn row_63_findings_are_named_and_counted() {
    let report = json!({"ok": false, "status": "fail", "records": [
        {"name": "good", "result": {"verdict": {"kind": "allow"}, "confidence": 1.0}},
        {"name": "bad", "result": {
            "verdict": {"kind": "block", "error": {"code": "c", "message": "m"}},
            "confidence": 1.0,
        }, "raw_result": {"findings": [
            {"path": "a"}, {"path": "b", "line": 42}, {"path": "c"}, {"path": "d"}, {"path": "a"},
        ]}},
    ]});
    assert_eq!(
        flow_invariant_feedback(&report, &json!({})).as_deref(),
        Ok("Flow invariants need attention:\n- Block bad: c: m Findings: a, b:42, c (+1 more)")
    );
}

#[test]
fn row_64_where_all_allow_there_is_nothing_to_say() {
    let report = evaluated(&deterministic("p", ALLOW), &options(json!({})));
    let told = |options: Json| flow_invariant_feedback(&report, &options).expect("it is told");
    assert_eq!(told(Json::Null), "");
    assert_eq!(
        told(json!({"empty_if_clear": false})),
        "Flow invariants passed."
    );
    assert_eq!(
        told(json!({"include_allow": true})),
        "Flow invariants need attention:\n- Allow p: passed"
    );
}

#[test]
fn row_65_options_that_are_not_known_or_none_are_errors() {
    let told = |options: Json| flow_invariant_feedback(&json!({}), &options);
    for (options, part) in [
        (json!({"foo": 1}), "`foo`"),
        (json!({"max_items": 0}), "`max_items`"),
        (json!({"max_items": -1}), "`max_items`"),
        (json!({"max_items": 2.5}), "`max_items`"),
        (json!({"max_message_chars": "9"}), "`max_message_chars`"),
        (json!({"include_allow": 1}), "`include_allow`"),
        (json!([]), "a dict"),
    ] {
        let error = told(options.clone()).expect_err("it is none").to_string();
        assert!(error.contains(part), "{options}: {error}");
    }
    let defaults = json!({"include_allow": null, "max_items": null});
    assert_eq!(told(defaults).as_deref(), Ok(""));
}
