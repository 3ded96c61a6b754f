//! The ADR's own names.

use std::fs;

use probity::elench::{
    EvalContext, EvalError, ParseError, ValidationError, evaluate, parse, validate_claim,
};
use serde_json::json;

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
