use super::{Stub, ints, shown};
use crate::harn::builtins::Calls;
use crate::harn::value::{List, Value};

fn text(stub: &Stub, text: &str) -> Value {
    Value::text(text, stub.heap()).unwrap()
}

#[test]
fn what_would_be_too_large_is_not_made() {
    let stub = &mut Stub::new();
    let long = text(stub, &"ab".repeat(50_000));
    let huge = Value::Int(i64::MAX);
    let many = Value::List(List::new(vec![long.clone(); 100], stub.heap()).unwrap());
    for (name, args) in [
        ("repeat", vec![long.clone(), Value::Int(100)]),
        ("repeat", vec![long.clone(), huge.clone()]),
        ("pad_left", vec![long.clone(), huge.clone()]),
        ("pad_right", vec![long.clone(), Value::Int(1 << 22)]),
        ("replace", vec![long.clone(), text(stub, ""), long.clone()]),
        (
            "replace",
            vec![long.clone(), text(stub, "a"), text(stub, &"b".repeat(30))],
        ),
        ("split", vec![long.clone(), text(stub, "")]),
        ("split", vec![long.clone(), text(stub, "a")]),
        ("chars", vec![long.clone()]),
        ("join", vec![many.clone()]),
    ] {
        assert_eq!(shown(stub.send(name, &args)), "Memory", "{name}");
    }
    for (name, args) in [
        ("to_string", vec![many.clone()]),
        ("format", vec![text(stub, "{}{}{}{}{}{}{}{}{}{}{}"), many]),
        (
            "indent",
            vec![
                text(stub, &"a\n".repeat(5000)),
                text(stub, &" ".repeat(1000)),
            ],
        ),
        ("regex_match", vec![text(stub, ""), long.clone()]),
        ("regex_split", vec![long, text(stub, "")]),
    ] {
        assert_eq!(shown(stub.run(name, &args)), "Memory", "{name}");
    }
}

#[test]
fn flattening_does_not_multiply_for_free() {
    let stub = &mut Stub::with(1 << 20, 1 << 20);
    let inner = ints(stub, 10_000);
    let outer = Value::List(List::new(vec![inner; 1000], stub.heap()).unwrap());
    assert_eq!(shown(stub.send("flatten", &[outer])), "Memory");
}

#[test]
fn work_is_paid_for() {
    let long = "λ".repeat(50_000);
    for (name, more) in [
        ("lower", vec![]),
        ("contains", vec!["x"]),
        ("index_of", vec!["x"]),
        ("last_index_of", vec!["x"]),
        ("lines", vec![]),
        ("len", vec![]),
        ("reversed", vec![]),
        ("replace", vec!["x", "y"]),
        ("split", vec!["x"]),
    ] {
        let stub = &mut Stub::with(1 << 24, 1000);
        let mut args = vec![text(stub, &long)];
        args.extend(more.iter().map(|more| text(stub, more)));
        assert_eq!(shown(stub.send(name, &args)), "Fuel", "{name}");
    }
    for name in [
        "sorted",
        "reversed",
        "sum",
        "unique",
        "enumerate",
        "min",
        "compact",
        "flatten",
    ] {
        let stub = &mut Stub::with(1 << 24, 1000);
        let list = ints(stub, 2000);
        assert_eq!(shown(stub.send(name, &[list])), "Fuel", "{name}");
    }
}

#[test]
fn templates_of_braces_take_linear_time() {
    let stub = &mut Stub::with(1 << 24, 1 << 24);
    let template = text(stub, &"{a".repeat(500_000));
    assert!(stub.run("format", &[template]).is_ok());
}

#[test]
fn parts_share_the_storage() {
    let stub = &mut Stub::with(1 << 20, 1 << 20);
    let long = text(stub, &"x".repeat(900_000));
    let args = [long, Value::Int(1), Value::Int(800_000)];
    assert!(stub.send("slice", &args).is_ok());
}
