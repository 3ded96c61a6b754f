use super::{check_methods, int_of, with_closure};
use crate::harn::fault::Fault;
use crate::harn::value::{Heap, Value};

fn above_one(args: &[Value], _: &Heap) -> Result<Value, Fault> {
    Ok(Value::Bool(int_of(&args[0]) > 1))
}

#[test]
fn items_are_chosen_by_a_function() {
    for (name, args, expected) in [
        ("filter", "[[1, 2, 3]]", "[2, 3]"),
        ("find", "[[1, 2, 3]]", "2"),
        ("find", "[[1]]", "nil"),
        ("find_index", "[[1, 2, 3]]", "1"),
        ("find_index", "[[1]]", "-1"),
        ("any", "[[1, 2]]", "true"),
        ("any", "[[]]", "false"),
        ("all", "[[2, 3]]", "true"),
        ("all", "[[2, 1]]", "false"),
        ("every", "[[]]", "true"),
        ("none", "[[1, 2]]", "false"),
        ("none", "[[1, 1]]", "true"),
        ("partition", "[[1, 2, 3]]", "[[2, 3], [1]]"),
        ("take_while", "[[2, 3, 1, 4]]", "[2, 3]"),
        ("drop_while", "[[2, 3, 1, 4]]", "[1, 4]"),
        ("drop_while", "[[2, 3]]", "[]"),
        ("map", "[[1, 2]]", "[false, true]"),
    ] {
        assert_eq!(
            with_closure(name, args, above_one),
            expected,
            "{name} {args}"
        );
    }
}

#[test]
fn what_is_no_function_is_refused() {
    for name in [
        "filter",
        "map",
        "find",
        "find_index",
        "any",
        "all",
        "none",
        "partition",
        "take_while",
        "drop_while",
        "flat_map",
        "group_by",
        "count_by",
        "sorted_by",
        "min_by",
        "max_by",
    ] {
        for (arg, got) in [("\"x\"", "string"), ("null", "nil")] {
            let outcome = super::method_of(name, &format!("[[], {arg}]"));
            assert!(outcome.starts_with("Type: `"), "{name}: {outcome}");
            assert!(
                outcome.ends_with(&format!("wants a function and got {got}")),
                "{outcome}"
            );
        }
    }
    check_methods(&[
        ("none", "[[]]", "true"),
        ("none", "[[1]]", "false"),
        (
            "filter",
            "[[]]",
            "Arity: `filter` takes 1 arguments and got 0",
        ),
        ("first", r#"["abc"]"#, "Type: no method first"),
    ]);
}

#[test]
fn functions_are_called_until_the_answer_is_known() {
    let fails_on_three = |args: &[Value], _: &Heap| match int_of(&args[0]) {
        3 => Err(Fault::ty("three")),
        value => Ok(Value::Bool(value > 1)),
    };
    assert_eq!(with_closure("any", "[[1, 2, 3]]", fails_on_three), "true");
    assert_eq!(with_closure("all", "[[1, 3]]", fails_on_three), "false");
    assert_eq!(with_closure("none", "[[2, 3]]", fails_on_three), "false");
    assert_eq!(
        with_closure("filter", "[[2, 3]]", fails_on_three),
        "Type: three"
    );
}

#[test]
fn lists_are_made_of_lists() {
    let twice = |args: &[Value], heap: &Heap| {
        let items = vec![args[0].clone(), args[0].clone()];
        Ok(Value::List(crate::harn::value::List::new(items, heap)?))
    };
    assert_eq!(
        with_closure("flat_map", "[[1, [2]]]", twice),
        "[1, 1, [2], [2]]"
    );
    let same = |args: &[Value], _: &Heap| Ok(args[0].clone());
    assert_eq!(with_closure("flat_map", "[[1, [2, 3]]]", same), "[1, 2, 3]");
    let add = |args: &[Value], _: &Heap| Ok(Value::Int(int_of(&args[0]) + int_of(&args[1])));
    assert_eq!(with_closure("reduce", "[[1, 2, 3], 10]", add), "16");
    check_methods(&[
        ("push", "[[1], 2]", "[1, 2]"),
        ("push", "[[]]", "Arity: `push` takes 1 arguments and got 0"),
        ("flatten", "[[1, [2, [3]], []]]", "[1, 2, [3]]"),
        ("compact", "[[null, false, 0]]", "[false, 0]"),
        ("reversed", "[[1, 2]]", "[2, 1]"),
        ("first", "[[1, 2]]", "1"),
        ("last", "[[1, 2]]", "2"),
        ("first", "[[]]", "nil"),
        ("last", "[[]]", "nil"),
        ("contains", "[[1, [2]], [2.0]]", "true"),
        ("contains", r#"[[1], "1"]"#, "false"),
        ("index_of", r#"[["a", {"k": [1]}], {"k": [1]}]"#, "1"),
        ("index_of", "[[1], 2]", "-1"),
        ("slice", "[[1, 2, 3, 4, 5], -4, -1]", "[2, 3, 4]"),
        ("slice", "[[1, 2, 3], 1]", "[2, 3]"),
        ("slice", "[[1, 2, 3], 2, 1]", "[]"),
        ("slice", "[[1, 2, 3], 0, -1]", "[1, 2]"),
        ("take", "[[1, 2, 3], 2]", "[1, 2]"),
        ("take", "[[1], 5]", "[1]"),
        ("take", "[[1], -5]", "[]"),
        ("skip", "[[1, 2, 3], 2]", "[3]"),
        ("skip", "[[1], 9223372036854775807]", "[]"),
        ("chunks", "[[1, 2, 3], 2]", "[[1, 2], [3]]"),
        (
            "chunks",
            "[[1], 0]",
            "Type: `chunks` wants an int above 0 as its size",
        ),
        ("windows", "[[1, 2, 3], 2]", "[[1, 2], [2, 3]]"),
        ("windows", "[[1, 2, 3, 4], 2, 2]", "[[1, 2], [3, 4]]"),
        ("windows", "[[1], 2]", "[]"),
        (
            "windows",
            "[[1], 1, 0]",
            "Type: `windows` wants an int above 0 as its step",
        ),
        ("enumerate", r#"[["a"]]"#, r#"[{"index": 0, "value": "a"}]"#),
        ("zip", "[[1, 2, 3], [4, 5]]", "[[1, 4], [2, 5]]"),
        ("sum", "[[1, 2.5]]", "3.5"),
        ("sum", "[[]]", "0"),
        ("sum", "[[9223372036854775807, 1]]", "9223372036854776000"),
        (
            "sum",
            r#"[["a"]]"#,
            "Type: `sum` wants numbers and got string",
        ),
    ]);
}
