use super::{Stub, check_functions, shown};
use crate::harn::value::Value;

#[test]
fn types_have_names() {
    check_functions(&[
        ("type_of", "[null]", r#""nil""#),
        ("type_of", "[1]", r#""int""#),
        ("type_of", "[1.0]", r#""float""#),
        ("type_of", r#"["a"]"#, r#""string""#),
        ("type_of", "[[]]", r#""list""#),
        ("type_of", "[{}]", r#""dict""#),
        ("type_of", "[true]", r#""bool""#),
    ]);
}

#[test]
fn numbers_are_read() {
    check_functions(&[
        ("to_int", r#"[" 42 "]"#, "42"),
        ("to_int", r#"["4x"]"#, "nil"),
        ("to_int", "[3.9]", "3"),
        ("to_int", "[-3.9]", "-3"),
        ("to_int", "[1e300]", "nil"),
        ("to_int", "[9223372036854775808]", "nil"),
        ("to_int", "[-9223372036854775808]", "-9223372036854775808"),
        ("to_int", "[true]", "1"),
        ("to_int", "[null]", "nil"),
        ("to_float", r#"[" 1.5 "]"#, "1.5"),
        ("to_float", r#"["x"]"#, "nil"),
        ("to_float", "[2]", "2.0"),
        ("to_float", "[false]", "0.0"),
    ]);
}

#[test]
fn numbers_are_reckoned_with() {
    check_functions(&[
        ("abs", "[-3]", "3"),
        ("abs", "[-9223372036854775808]", "9223372036854776000"),
        ("abs", "[-0.5]", "0.5"),
        (
            "abs",
            r#"["1"]"#,
            "Type: `abs` wants a number and got string",
        ),
        ("min", "[3, 1.5, 2]", "1.5"),
        ("max", "[3, 1.5, 2]", "3"),
        (
            "max",
            "[9223372036854775806, 9223372036854775807]",
            "9223372036854775807",
        ),
        ("min", "[1, null]", "Type: `min` wants a number and got nil"),
        (
            "min",
            "[1]",
            "Arity: `min` takes 2 to 255 arguments and got 1",
        ),
        ("floor", "[1.7]", "1"),
        ("floor", "[-1.2]", "-2"),
        ("ceil", "[1.2]", "2"),
        ("ceil", "[1e300]", &format!("1{}", "0".repeat(300))),
        ("floor", "[4]", "4"),
        ("round", "[2.5]", "3"),
        ("round", "[-2.5]", "-3"),
        ("round", "[1.2345, 2]", "1.23"),
        ("round", "[1234, -2]", "1200.0"),
        ("round", "[1234, -400]", "0.0"),
        ("round", "[1.5, 400]", "1.5"),
        ("sqrt", "[9]", "3.0"),
        ("sqrt", "[-1]", "NaN"),
        ("pow", "[2, 10]", "1024"),
        ("pow", "[2, -1]", "0.5"),
        ("pow", "[2, 63]", "9223372036854776000"),
        ("pow", "[2, 4294967296]", "inf"),
        ("pow", "[1, 4294967295]", "1"),
        ("sign", "[-7]", "-1"),
        ("sign", "[0.5]", "1"),
        ("sign", "[0.0]", "0"),
    ]);
}

#[test]
fn nan_is_told_and_passed_on() {
    let mut stub = Stub::new();
    let nan = Value::Float(f64::NAN);
    let one = Value::Int(1);
    assert_eq!(
        shown(stub.run("is_nan", std::slice::from_ref(&nan))),
        "true"
    );
    assert_eq!(
        shown(stub.run("is_nan", std::slice::from_ref(&one))),
        "false"
    );
    let infinite = Value::Float(f64::INFINITY);
    assert_eq!(
        shown(stub.run("is_infinite", std::slice::from_ref(&infinite))),
        "true"
    );
    assert_eq!(
        shown(stub.run("floor", std::slice::from_ref(&infinite))),
        "inf"
    );
    assert_eq!(shown(stub.run("to_int", &[infinite])), "nil");
    for name in ["min", "max"] {
        assert_eq!(shown(stub.run(name, &[nan.clone(), one.clone()])), "NaN");
        assert_eq!(shown(stub.run(name, &[one.clone(), nan.clone()])), "NaN");
    }
    assert_eq!(shown(stub.run("sign", std::slice::from_ref(&nan))), "NaN");
    assert_eq!(shown(stub.run("round", &[nan, one])), "NaN");
}

#[test]
fn ranges_are_never_negative() {
    check_functions(&[
        ("range", "[3]", "0..3"),
        ("range", "[-3]", "0..0"),
        ("range", "[2, 5]", "2..5"),
        ("range", "[5, 2]", "5..5"),
        (
            "range",
            "[1.0]",
            "Type: `range` wants an int as its bound and got float",
        ),
    ]);
    let mut stub = Stub::new();
    let all = stub
        .run("range", &[Value::Int(i64::MIN), Value::Int(i64::MAX)])
        .unwrap();
    assert_eq!(shown(stub.run("len", &[all])), i64::MAX.to_string());
}
