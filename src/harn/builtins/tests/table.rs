use std::collections::BTreeSet;

use super::{Stub, method_of};
use crate::harn::builtins::{Builtin, FUNCTIONS, METHODS, method, removed};
use crate::harn::fault::Fault;
use crate::harn::value::Value;

#[test]
fn names_are_unique_and_found() {
    let functions: BTreeSet<&str> = FUNCTIONS.iter().map(|row| row.name).collect();
    assert_eq!(functions.len(), FUNCTIONS.len());
    assert!(FUNCTIONS.len() <= usize::from(u8::MAX));
    let methods: BTreeSet<&str> = METHODS.iter().map(|row| row.name).collect();
    assert_eq!(methods.len(), METHODS.len());
    for name in functions {
        assert_eq!(Builtin::of(name).unwrap().name(), name);
    }
}

#[test]
fn what_dialects_do_not_agree_about_is_not_offered() {
    for name in ["pop", "sort", "sort_by", "reverse", "remove"] {
        assert!(method(name).is_none());
        assert!(removed(name).is_some());
    }
    assert!(removed("sorted").is_none());
}

/// Whatever the arguments are, the outcome is a value or a fault.
#[test]
fn no_arguments_bring_a_builtin_down() {
    let mut stub = Stub::with(1 << 22, usize::MAX);
    let mut values = stub.values(
        r#"[null, true, 0, -1, 3, 9223372036854775807, -9223372036854775808, 0.5, 1e300, "",
            "aλ\nb", "()", "/a", "[1]", [], [1, "a", null], [["a", 1], {"k": 2}], {}, {"a": 1},
            {"verdict": {"kind": "allow"}, "confidence": 1.0}]"#,
    );
    values.push(Value::Float(f64::NAN));
    values.push(
        stub.run("range", &[Value::Int(i64::MIN), Value::Int(2)])
            .unwrap(),
    );
    values.push(Value::host(|args, _| Ok(args[0].clone())));
    values.push(Value::host(|_, _| Err(Fault::ty("no"))));
    values.push(Value::Builtin(Builtin::of("to_string").unwrap()));
    values.push(Value::Harness);
    for row in FUNCTIONS {
        let most = usize::from(row.most.min(3));
        for count in usize::from(row.least)..=most {
            each(&values, count, &mut |args| {
                drop(row.call(&mut stub, args, 0))
            });
        }
    }
    for row in METHODS {
        for signature in [row.string, row.list, row.dict].into_iter().flatten() {
            for count in signature.least..=signature.most {
                each(&values, usize::from(count) + 1, &mut |args| {
                    if row.of(&args[0]).is_some() {
                        drop(row.of(&args[0]).unwrap().call(&mut stub, args, 1));
                    }
                });
            }
        }
    }
}

/// Calls with every combination of as many values.
fn each(values: &[Value], count: usize, call: &mut dyn FnMut(&[Value])) {
    let mut args = Vec::new();
    for number in 0..values.len().pow(u32::try_from(count).unwrap()) {
        let mut rest = number;
        args.clear();
        for _ in 0..count {
            args.push(values[rest % values.len()].clone());
            rest /= values.len();
        }
        call(&args);
    }
}

#[test]
fn aliases_do_the_same() {
    for (alias, name) in [
        ("to_lower", "lower"),
        ("to_upper", "upper"),
        ("count", "len"),
    ] {
        assert_eq!(method_of(alias, r#"["Ab"]"#), method_of(name, r#"["Ab"]"#));
    }
}
