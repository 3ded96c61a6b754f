//! What tests call builtins with: a machine without programs, whose functions are
//! closures of the test.

mod data;
mod dicts;
mod flow;
mod hostile;
mod lists;
mod numbers;
mod orders;
mod regexes;
mod strings;
mod table;
mod text;

use std::sync::Arc;

use crate::facts::{FactKey, FactValue};
use crate::harn::builtins::{Builtin, Calls, METHODS, Regex, compile, method};
use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Heap, List, Str, Value};

struct Stub {
    heap: Heap,
    fuel: usize,
}

impl Calls for Stub {
    fn heap(&self) -> &Heap {
        &self.heap
    }

    fn pay(&mut self, fuel: usize) -> Result<(), Fault> {
        let left = self.fuel.checked_sub(fuel);
        self.fuel = left.ok_or(Fault::Limit(Limit::Fuel))?;
        Ok(())
    }

    #[cfg(feature = "ast")]
    fn stop_cause(&self) -> Option<crate::harn::fault::Limit> {
        None
    }

    #[cfg(feature = "ast")]
    fn fuel(&self) -> u64 {
        self.fuel as u64
    }

    fn call(&mut self, callee: &Value, args: &[Value]) -> Result<Value, Fault> {
        match callee {
            Value::Host(host) => (host.0)(args, &self.heap),
            Value::Builtin(builtin) => builtin.signature().call(self, args, 0),
            other => Err(Fault::ty(format!("{} cannot be called", other.type_name()))),
        }
    }

    fn regex(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>, Fault> {
        match compile(pattern, flags) {
            Ok(regex) => Ok(Arc::new(regex)),
            Err(error) => {
                let message = format!("invalid regex: {error}");
                Err(Fault::Thrown(Value::text(message, &self.heap)?))
            }
        }
    }

    fn ruled_out(&mut self, _: &str, _: &str, _: &Str) -> Result<Option<usize>, Fault> {
        Ok(None)
    }

    /// Exists is whatever has a path without `x`, and each byte of it is a line with
    /// every pattern.
    fn fact(&mut self, key: FactKey) -> Result<FactValue, Fault> {
        Ok(match key {
            FactKey::Exists(path) => FactValue::Bool(!path.text.contains('x')),
            FactKey::Grep(_, path) => FactValue::Count {
                count: path.text.len() as u64,
                exact: true,
            },
            other => return Err(Fault::ty(format!("{other} is not asked for"))),
        })
    }
}

impl Stub {
    fn new() -> Self {
        Self::with(1 << 20, 1 << 20)
    }

    fn with(heap: usize, fuel: usize) -> Self {
        Self {
            heap: Heap::new(heap),
            fuel,
        }
    }

    fn fuel(&self) -> usize {
        self.fuel
    }

    /// The values of a JSON list.
    fn values(&self, json: &str) -> Vec<Value> {
        let json: serde_json::Value = serde_json::from_str(json).unwrap();
        let list = Value::from_json(&json, &self.heap).unwrap();
        list.as_items().unwrap().to_vec()
    }

    /// Calls a function.
    fn run(&mut self, name: &str, args: &[Value]) -> Result<Value, Fault> {
        let builtin = Builtin::of(name).unwrap_or_else(|| panic!("no function {name}"));
        builtin.signature().call(self, args, 0)
    }

    /// Calls a method.
    fn send(&mut self, name: &str, args: &[Value]) -> Result<Value, Fault> {
        let number = method(name).unwrap_or_else(|| panic!("no method {name}"));
        let Some(signature) = METHODS[usize::from(number)].of(&args[0]) else {
            return Err(Fault::ty(format!("no method {name}")));
        };
        signature.call(self, args, 1)
    }
}

/// How an outcome looks: the value as it would be written in a program, or the fault.
fn shown(outcome: Result<Value, Fault>) -> String {
    match outcome {
        Ok(value) => value.to_source(),
        Err(Fault::Thrown(value)) => format!("thrown {}", value.to_source()),
        Err(Fault::Error(class, message)) => format!("{class:?}: {message}"),
        Err(Fault::Unknown(reason)) => format!("unknown {reason}"),
        Err(Fault::Limit(limit)) => format!("{limit:?}"),
    }
}

/// Checks functions: name, arguments as a JSON list, outcome.
fn check_functions(rows: &[(&str, &str, &str)]) {
    for (name, args, expected) in rows {
        assert_eq!(function(name, args), *expected, "{name} {args}");
    }
}

/// Checks methods, whose receiver is the first argument.
fn check_methods(rows: &[(&str, &str, &str)]) {
    for (name, args, expected) in rows {
        assert_eq!(method_of(name, args), *expected, "{name} {args}");
    }
}

/// Calls a function with the values of a JSON list.
fn function(name: &str, args: &str) -> String {
    let mut stub = Stub::new();
    let args = stub.values(args);
    shown(stub.run(name, &args))
}

/// Calls a method with the values of a JSON list.
fn method_of(name: &str, args: &str) -> String {
    let mut stub = Stub::new();
    let args = stub.values(args);
    shown(stub.send(name, &args))
}

/// Calls a method with the values of a JSON list and then a function.
fn with_closure(
    name: &str,
    args: &str,
    closure: impl Fn(&[Value], &Heap) -> Result<Value, Fault> + 'static,
) -> String {
    let mut stub = Stub::new();
    let mut args = stub.values(args);
    args.push(Value::host(closure));
    shown(stub.send(name, &args))
}

/// The int of a value, for closures.
fn int_of(value: &Value) -> i64 {
    match value {
        Value::Int(value) => *value,
        other => panic!("{other:?} is no int"),
    }
}

/// A list of as many ints.
fn ints(stub: &Stub, count: i64) -> Value {
    let items = (0..count).map(Value::Int).collect();
    Value::List(List::new(items, stub.heap()).unwrap())
}
