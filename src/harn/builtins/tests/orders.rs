use super::{Stub, check_methods, int_of, ints, shown, with_closure};
use crate::harn::builtins::{Calls, compare};
use crate::harn::value::{Heap, List, Value};

#[test]
fn sorting_is_stable_and_total() {
    check_methods(&[
        ("sorted", "[[3, 1.5, 2]]", "[1.5, 2, 3]"),
        (
            "sorted",
            r#"[["b", null, 2, "a", true, [1], false]]"#,
            r#"[2, false, true, [1], nil, "a", "b"]"#,
        ),
        ("sorted", "[[[2], [1, 5], [1]]]", "[[1], [1, 5], [2]]"),
        ("sorted", "[[]]", "[]"),
    ]);
    let half = |args: &[Value], _: &Heap| Ok(Value::Int(int_of(&args[0]) / 2));
    assert_eq!(
        with_closure("sorted_by", "[[5, 3, 4, 2, 1]]", half),
        "[1, 3, 2, 5, 4]"
    );
}

#[test]
fn sorting_agrees_with_the_library() {
    let mut stub = Stub::with(1 << 24, 1 << 24);
    for count in [0, 1, 2, 3, 7, 64, 1000] {
        let keys: Vec<i64> = (0..count).map(|at| at * 7919 % 101).collect();
        let sorted = compare::sort(&mut stub, keys.len(), |_, left, right| {
            Ok(keys[left].cmp(&keys[right]))
        });
        let mut expected: Vec<usize> = (0..keys.len()).collect();
        expected.sort_by_key(|&at| keys[at]);
        assert_eq!(sorted.unwrap(), expected);
    }
    // An order that is none does no harm.
    let count = 100;
    let sorted = compare::sort(&mut stub, count, |_, _, _| Ok(std::cmp::Ordering::Greater));
    assert_eq!(sorted.unwrap().len(), count);
}

#[test]
fn the_best_item_is_found() {
    check_methods(&[
        ("min", "[[3, 1.5, 2]]", "1.5"),
        ("max", "[[3, 1.5, 2]]", "3"),
        ("max", r#"[["a", "b"]]"#, r#""b""#),
        ("min", "[[]]", "nil"),
        ("min", r#"[[1, "a"]]"#, "Type: string and int have no order"),
        ("min", "[[null]]", "Type: nil and nil have no order"),
    ]);
    let negated = |args: &[Value], _: &Heap| Ok(Value::Int(-int_of(&args[0])));
    assert_eq!(with_closure("min_by", "[[1, 3, 2]]", negated), "3");
    assert_eq!(with_closure("max_by", "[[1, 3, 2]]", negated), "1");
    let same = |_: &[Value], _: &Heap| Ok(Value::Int(0));
    assert_eq!(with_closure("max_by", "[[1, 3, 2]]", same), "1");
    let mut stub = Stub::new();
    for at in 0..3 {
        let mut items: Vec<Value> = (0..3).map(Value::Int).collect();
        items[at] = Value::Float(f64::NAN);
        let list = Value::List(List::new(items, stub.heap()).unwrap());
        assert_eq!(shown(stub.send("min", std::slice::from_ref(&list))), "NaN");
        assert_eq!(shown(stub.send("max", &[list])), "NaN");
    }
}

#[test]
fn items_are_grouped() {
    let parity = |args: &[Value], heap: &Heap| {
        let is_odd = int_of(&args[0]) % 2 == 1;
        Value::text(if is_odd { "odd" } else { "even" }, heap)
    };
    assert_eq!(
        with_closure("group_by", "[[1, 2, 3]]", parity),
        r#"{"even": [2], "odd": [1, 3]}"#
    );
    assert_eq!(
        with_closure("count_by", "[[1, 2, 3]]", parity),
        r#"{"even": 1, "odd": 2}"#
    );
    let same = |args: &[Value], _: &Heap| Ok(args[0].clone());
    assert_eq!(
        with_closure("group_by", "[[1]]", same),
        "Type: `group_by` wants strings as keys and got int"
    );
    check_methods(&[
        ("tally", r#"[["a", "b", "a"]]"#, r#"{"a": 2, "b": 1}"#),
        (
            "tally",
            "[[1]]",
            "Type: `tally` wants strings as keys and got int",
        ),
        (
            "unique",
            r#"[[2, 1, 2.0, "1", 1, null, null]]"#,
            r#"[2, 1, "1", nil]"#,
        ),
        (
            "unique",
            r#"[[{"a": 1}, {"a": 2}, {"a": 1.0}]]"#,
            r#"[{"a": 1}, {"a": 2}]"#,
        ),
        ("unique", "[[[1], [2], [1]]]", "[[1], [2]]"),
    ]);
}

#[test]
fn comparing_what_is_shared_is_paid_for() {
    // Two lists of the same long text, over and over.
    let mut stub = Stub::with(1 << 30, 1 << 20);
    let lists = [(); 2].map(|()| {
        let text = Value::text("x".repeat(1 << 20), stub.heap()).unwrap();
        let items = vec![text; 10_000];
        Value::List(List::new(items, stub.heap()).unwrap())
    });
    let [left, right] = lists;
    let outer = Value::List(List::new(vec![left.clone()], stub.heap()).unwrap());
    assert_eq!(
        shown(stub.send("contains", &[outer, right.clone()])),
        "Fuel"
    );
    let mut stub = Stub::with(1 << 30, 1 << 20);
    let both = Value::List(List::new(vec![left, right], stub.heap()).unwrap());
    assert_eq!(shown(stub.send("sorted", &[both])), "Fuel");
    let mut stub = Stub::with(1 << 30, 1 << 16);
    let many = ints(&stub, 1 << 15);
    assert_eq!(shown(stub.send("sorted", &[many])), "Fuel");
}
