use super::{Stub, check_functions, check_methods, int_of, shown, with_closure};
use crate::harn::value::{Heap, Value};

#[test]
fn entries_come_in_the_order_of_keys() {
    check_methods(&[
        ("keys", r#"[{"b": 1, "a": 2}]"#, r#"["a", "b"]"#),
        ("values", r#"[{"b": 1, "a": 2}]"#, "[2, 1]"),
        ("entries", r#"[{"a": 2}]"#, r#"[{"key": "a", "value": 2}]"#),
        ("has", r#"[{"a": null}, "a"]"#, "true"),
        ("has", r#"[{"a": null}, "b"]"#, "false"),
        ("has", r#"[{"1": null}, 1]"#, "true"),
        (
            "has",
            "[{}, null]",
            "Type: `has` wants a string as its key and got nil",
        ),
        ("get", r#"[{}, "x", 7]"#, "7"),
        ("get", r#"[{}, "x"]"#, "nil"),
        ("get", r#"[{"x": null}, "x", 7]"#, "nil"),
        (
            "merge",
            r#"[{"a": 1, "b": 1}, {"b": 2, "c": 3}]"#,
            r#"{"a": 1, "b": 2, "c": 3}"#,
        ),
        (
            "merge",
            "[{}, []]",
            "Type: `merge` wants a dict as its other dict and got list",
        ),
        (
            "merge",
            "[{}]",
            "Arity: `merge` takes 1 arguments and got 0",
        ),
    ]);
    check_functions(&[
        ("keys", r#"[{"b": 1, "a": 2}]"#, r#"["a", "b"]"#),
        ("keys", "[[]]", "Type: `keys` wants a dict and got list"),
        ("values", "[{}]", "[]"),
        ("entries", "[{}]", "[]"),
        (
            "pick",
            r#"[{"a": 1, "b": 2}, ["b", "x", "b"]]"#,
            r#"{"b": 2}"#,
        ),
        (
            "pick",
            "[{}, [1]]",
            "Type: `pick` wants strings as keys and got int",
        ),
    ]);
}

#[test]
fn entries_are_changed_by_a_function() {
    let next = |args: &[Value], _: &Heap| Ok(Value::Int(int_of(&args[0]) + 1));
    assert_eq!(
        with_closure("map_values", r#"[{"a": 1}]"#, next),
        r#"{"a": 2}"#
    );
    let odd = |args: &[Value], _: &Heap| Ok(Value::Int(int_of(&args[0]) % 2));
    assert_eq!(
        with_closure("filter", r#"[{"a": 1, "b": 2}]"#, odd),
        r#"{"a": 1}"#
    );
    let same = |_: &[Value], heap: &Heap| Value::text("k", heap);
    assert_eq!(
        with_closure("map_keys", r#"[{"a": 1, "b": 2}]"#, same),
        r#"{"k": 2}"#
    );
    assert_eq!(
        with_closure("map_keys", r#"[{"a": 1}]"#, |_, _| Ok(Value::Nil)),
        "Type: `map_keys` wants strings as keys and got nil"
    );
}

#[test]
fn a_merged_dict_is_another_one() {
    let mut stub = Stub::new();
    let args = stub.values(r#"[{"a": 1}, {"a": 2}]"#);
    stub.send("merge", &args).unwrap();
    assert_eq!(shown(Ok(args[0].clone())), r#"{"a": 1}"#);
}
