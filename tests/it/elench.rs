//! The ADR's own names.

use std::fs;
use std::time::Duration;

use probity::ReasonCode;
use probity::elench::Sandbox;
use probity::elench::{
    EvalContext, EvalError, ParseError, ValidationError, evaluate, parse, validate_claim,
};
use serde_json::json;

use crate::cell::{is_confined, processes_with};

#[test]
fn every_row_of_the_shape_table_parses() {
    for source in [
        r#"grep(/IBM Storage Scale|WEKA|DAOS|BeeGFS/, "docs/performance/competitive-targets.md") >= 4"#,
        r#"test("safe_truncate_utf8_boundary").passed"#,
        r#"run("cargo test -p kiseki-log").stdout.contains("255 passed")"#,
        r#"run("yoyo status").stdout.matches(/elapsed|time/)"#,
        r#"run("cargo clippy -- -D warnings").exit == 0"#,
        r#"exists("scripts/perf-gate.sh")"#,
        r#"grep(/fn set_model/, "src/") >= 1"#,
        r#"grep(/auto_downgrade|editor_model_map/, "src/") == 0"#,
    ] {
        let expression = parse(source).unwrap_or_else(|error| panic!("{source}: {error}"));
        assert!(expression.vacuous().is_none(), "{source}");
    }
}

#[test]
fn errors_have_the_names_of_the_adr() {
    assert_eq!(parse(" \t\n").unwrap_err(), ParseError::Empty);
    assert!(matches!(
        parse("exists("),
        Err(ParseError::UnexpectedEof(_))
    ));
    assert!(matches!(
        parse(r#"grep(/a{2,1}/, "f") >= 1"#),
        Err(ParseError::InvalidRegex(_))
    ));
    assert!(matches!(
        parse(r#"exists("f") >= 1"#),
        Err(ParseError::Expected(_))
    ));
    let prose = parse("Input validation is now handled correctly.").unwrap_err();
    assert!(matches!(prose, ParseError::UnexpectedToken(_)));
    assert!(!prose.diagnostics().is_empty());
}

#[test]
fn what_cannot_be_evaluated_is_an_error_and_never_a_result() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("f"), "x\ny\n").unwrap();
    let context = EvalContext {
        allowed_commands: vec!["true".into()],
        ..EvalContext::new(root.path())
    };
    let run = |source: &str| evaluate(&parse(source).unwrap(), &context);
    assert!(run(r#"grep(/x/, "f") == 1"#).unwrap().holds);
    assert!(!run(r#"grep(/x/, "f") == 2"#).unwrap().holds);
    assert!(matches!(
        run(r#"grep(/x/, "g") == 0"#),
        Err(EvalError::Io(_))
    ));
    assert!(matches!(
        run(r#"run("true").exit == 0"#),
        Err(EvalError::CommandExec(_))
    ));
    assert!(matches!(
        run(r#"test("t").passed"#),
        Err(EvalError::CommandExec(_))
    ));
    assert!(matches!(run("1 == 1"), Err(EvalError::Vacuous)));
    assert!(matches!(
        run(r#"grep(/x/, "f") >= 0"#),
        Err(EvalError::Vacuous)
    ));
    let nowhere = EvalContext::new(root.path().join("nowhere"));
    let expression = parse(r#"exists("f")"#).unwrap();
    assert!(matches!(
        evaluate(&expression, &nowhere),
        Err(EvalError::Context(_))
    ));
}

fn code(result: Result<probity::elench::EvalResult, EvalError>) -> ReasonCode {
    match result {
        Err(EvalError::CommandExec(reason)) => reason.code,
        other => panic!("{other:?}"),
    }
}

#[test]
fn allowed_commands_are_executed_by_the_helper_within_the_sandbox() {
    if !is_confined() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("f"), "inside\n").unwrap();
    fs::create_dir(root.path().join("out")).unwrap();
    let context = EvalContext {
        allowed_commands: vec!["cat".into(), "sh".into(), "sleep".into()],
        helper: Some(env!("CARGO_BIN_EXE_probity").into()),
        sandbox: Sandbox {
            timeout: Duration::from_secs(2),
            write: vec!["out".into()],
            ..Sandbox::default()
        },
        ..EvalContext::new(root.path())
    };
    let run = |source: &str| evaluate(&parse(source).unwrap(), &context);
    let result = run(r#"run("cat f").stdout.contains("inside")"#).unwrap();
    assert!(result.holds && result.evaluation.cost.cpu_ns > 0);
    assert!(!run(r#"run("cat absent").exit == 0"#).unwrap().holds);
    assert!(
        run(r#"run("sh -c 'echo x > out/x; ! echo x > y'").exit == 0"#)
            .unwrap()
            .holds
    );
    assert!(root.path().join("out/x").exists() && !root.path().join("y").exists());
    assert_eq!(
        code(run(r#"run("true").exit == 0"#)),
        ReasonCode::CommandNotAllowed
    );
    assert_eq!(
        code(run(r#"test("t").passed"#)),
        ReasonCode::CommandNotAllowed
    );
    let late = code(run(r#"run("sleep 86406.1").exit == 0"#));
    assert_eq!(late, ReasonCode::CommandTimedOut);
    assert_eq!(processes_with("sleep\086406"), 0);
}

#[test]
fn without_a_helper_nothing_is_executed() {
    let root = tempfile::tempdir().unwrap();
    let mut context = EvalContext {
        allowed_commands: vec!["touch".into(), "cargo".into()],
        ..EvalContext::new(root.path())
    };
    context.sandbox.write = vec!["out".into()];
    for source in [
        r#"run("touch out/x").exit == 0"#,
        r#"!run("touch out/x").exit == 0"#,
        r#"run("touch out/x").exit != 0"#,
    ] {
        match evaluate(&parse(source).unwrap(), &context) {
            Err(EvalError::CommandExec(reason)) => {
                assert_eq!(reason.code, ReasonCode::CommandNotStarted);
                assert!(reason.detail.contains("names no helper"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(!root.path().join("out/x").exists());
}

#[test]
fn a_context_that_no_policy_could_state_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let expression = parse(r#"run("true").exit == 0"#).unwrap();
    let refused = |change: fn(&mut EvalContext)| {
        let mut context = EvalContext {
            allowed_commands: vec!["true".into()],
            helper: Some(env!("CARGO_BIN_EXE_probity").into()),
            ..EvalContext::new(root.path())
        };
        change(&mut context);
        assert_eq!(
            code(evaluate(&expression, &context)),
            ReasonCode::CommandInvalid
        );
    };
    refused(|context| context.allowed_commands.push("./true".into()));
    refused(|context| context.allowed_commands.push(String::new()));
    refused(|context| context.sandbox.path.push("bin".into()));
    refused(|context| context.sandbox.write.push("../out".into()));
    refused(|context| context.sandbox.env.push("A=B".into()));
    refused(|context| context.sandbox.timeout = Duration::ZERO);
}

#[test]
fn a_predicate_claim_needs_an_executable_expression() {
    let claim = |expression: serde_json::Value| json!({"assertion": {"form": "predicate", "expression": expression}});
    let v1 = "elench-predicate-v1";
    assert_eq!(
        validate_claim(&claim(json!({"language": v1, "source": "exists(\"f\")"}))),
        Ok(())
    );
    assert_eq!(
        validate_claim(&json!({"assertion": {"form": "annotation", "text": "x"}})),
        Ok(())
    );
    for missing in [
        json!(null),
        json!({"language": v1}),
        json!({"language": v1, "source": ""}),
    ] {
        assert_eq!(
            validate_claim(&claim(missing)),
            Err(ValidationError::PredicateWithoutExpression)
        );
    }
    let prose = claim(json!({"language": v1, "source": "All tests pass."}));
    assert!(matches!(
        validate_claim(&prose),
        Err(ValidationError::PredicateParseError(_))
    ));
    let unknown = claim(json!({"language": "rego", "source": "exists(\"f\")"}));
    assert!(matches!(
        validate_claim(&unknown),
        Err(ValidationError::UnknownLanguage(_))
    ));
    for broken in [
        json!({}),
        json!({"assertion": {"form": "prose"}}),
        json!([]),
    ] {
        assert!(matches!(
            validate_claim(&broken),
            Err(ValidationError::SchemaViolation(_))
        ));
    }
}
