use super::{Stub, check_functions, shown};
use crate::harn::builtins::Calls;
use crate::harn::value::{List, Value};

#[test]
fn json_is_read() {
    check_functions(&[
        (
            "json_parse",
            r#"["{\"b\": [1, -2, 1.0, null, true], \"a\": {\"x\": \"\\u00e9\"}}"]"#,
            r#"{"a": {"x": "é"}, "b": [1, -2, 1.0, nil, true]}"#,
        ),
        (
            "json_parse",
            r#"["18446744073709551615"]"#,
            "18446744073709552000",
        ),
        ("json_parse", r#"["{\"a\": 1, \"a\": 2}"]"#, r#"{"a": 2}"#),
        (
            "json_parse",
            r#"["[1,\n}"]"#,
            r#"thrown {"column": 1, "line": 2, "message": "expected value"}"#,
        ),
        (
            "json_parse",
            r#"["1 2"]"#,
            r#"thrown {"column": 3, "line": 1, "message": "trailing characters"}"#,
        ),
        (
            "json_parse",
            "[null]",
            "Type: `json_parse` wants a string and got nil",
        ),
    ]);
    let mut stub = Stub::new();
    let deep = Value::text("[".repeat(100_000), stub.heap()).unwrap();
    let outcome = shown(stub.run("json_parse", &[deep]));
    assert!(outcome.contains("recursion limit exceeded"), "{outcome}");
}

#[test]
fn reading_json_is_paid_for() {
    let text = format!("[{}0]", "0,".repeat(50_000));
    let mut stub = Stub::with(1 << 20, 20_000);
    let value = Value::text(text.as_str(), stub.heap()).unwrap();
    assert_eq!(shown(stub.run("json_parse", &[value])), "Fuel");
    let mut stub = Stub::with(200_000, 1 << 20);
    let value = Value::text(text.as_str(), stub.heap()).unwrap();
    assert_eq!(shown(stub.run("json_parse", &[value])), "Memory");
}

#[test]
fn json_is_written() {
    check_functions(&[
        (
            "json_stringify",
            r#"[{"b": 1, "a": [null, 2.0, "é\n"]}]"#,
            r#""{\"a\":[null,2.0,\"é\\n\"],\"b\":1}""#,
        ),
        (
            "json_stringify_pretty",
            r#"[{"a": [1]}]"#,
            r#""{\n  \"a\": [\n    1\n  ]\n}""#,
        ),
        ("json_stringify_pretty", "[[]]", r#""[]""#),
    ]);
    let mut stub = Stub::new();
    for value in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            shown(stub.run("json_stringify", &[Value::Float(value)])),
            r#""null""#
        );
    }
    let range = stub.run("range", &[Value::Int(3)]).unwrap();
    assert_eq!(shown(stub.run("json_stringify", &[range])), r#""[0,1,2]""#);
    let endless = stub.run("range", &[Value::Int(i64::MAX)]).unwrap();
    assert_eq!(shown(stub.run("json_stringify", &[endless])), "Memory");
    let text = Value::text("x".repeat(100_000), stub.heap()).unwrap();
    let many = Value::List(List::new(vec![text; 100], stub.heap()).unwrap());
    assert_eq!(shown(stub.run("json_stringify", &[many])), "Memory");
}

#[test]
fn pointers_point() {
    check_functions(&[
        (
            "json_pointer",
            r#"[{"a": [1, {"b/c~": 2}]}, "/a/1/b~1c~0"]"#,
            "2",
        ),
        ("json_pointer", r#"[{"": 3}, "/"]"#, "3"),
        ("json_pointer", r#"[[1], ""]"#, "[1]"),
        ("json_pointer", r#"[[1], "/01"]"#, "nil"),
        ("json_pointer", r#"[[1], "/0/x"]"#, "nil"),
        (
            "json_pointer",
            r#"[[1], "a"]"#,
            "Type: `json_pointer` wants a pointer that is empty or begins with `/`",
        ),
    ]);
}

#[test]
fn texts_are_encoded() {
    check_functions(&[
        (
            "sha256",
            r#"["abc"]"#,
            r#""ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
        ),
        ("hex_encode", r#"["é\u0001"]"#, r#""c3a901""#),
        ("hex_decode", r#"["C3a9"]"#, r#""é""#),
        ("hex_decode", r#"["c3a"]"#, r#"thrown "invalid hex""#),
        ("hex_decode", r#"["zz"]"#, r#"thrown "invalid hex""#),
        (
            "hex_decode",
            r#"["ff"]"#,
            r#"thrown "invalid hex: what it encodes is not UTF-8""#,
        ),
        ("base64_encode", r#"["héj"]"#, r#""aMOpag==""#),
        ("base64_decode", r#"["aMOpag=="]"#, r#""héj""#),
        (
            "base64_decode",
            r#"["aMOpag="]"#,
            r#"thrown "invalid base64""#,
        ),
        (
            "base64_encode",
            "[1]",
            "Type: `base64_encode` wants a string and got int",
        ),
    ]);
}

#[test]
fn assertions_throw() {
    check_functions(&[
        ("assert", "[1]", "nil"),
        ("assert", r#"[0, "no"]"#, r#"thrown "no""#),
        (
            "assert",
            "[null]",
            r#"thrown "the assertion does not hold""#,
        ),
        ("assert_eq", "[1, 1.0]", "nil"),
        (
            "assert_eq",
            r#"["a", 1]"#,
            r#"thrown "\"a\" is not equal to 1""#,
        ),
        ("assert_eq", "[1, 2, [3]]", r#"thrown "[3]""#),
        (
            "unreachable",
            "[]",
            r#"thrown "this should not be reached""#,
        ),
        ("unreachable", r#"["x"]"#, r#"thrown "x""#),
    ]);
}
