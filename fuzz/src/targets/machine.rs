//! What the machine makes of a program, in the words of the suites.

use std::path::Path;

use probity::harn::{ErrorClass, Fault, Limits as MachineLimits, Machine, Module, Workspace};

/// Fuel of a program: endless ones are to end soon.
pub(crate) const FUEL: u64 = 2_000_000;

/// What the machine makes of a module: a result as canonical text, or a class of
/// failures, or codes of the checker.
pub(crate) fn by_machine(source: &str, root: Option<&Path>) -> Result<String, Vec<String>> {
    let module = Module::compile(source).map_err(|problems| {
        let errors = problems.iter().filter(|problem| problem.is_error());
        let codes = errors.map(|problem| problem.code.name().to_owned());
        codes.collect::<Vec<_>>()
    })?;
    let workspace = root.map(|root| Workspace::open(root).expect("it is a directory"));
    let limits = MachineLimits {
        fuel: FUEL,
        ..MachineLimits::default()
    };
    let mut machine = Machine::new(&module, &limits);
    if let Some(workspace) = &workspace {
        machine = machine.workspace(workspace);
    }
    let value = machine.start().and_then(|()| machine.run("main", &[]));
    value.map(|value| value.to_source()).map_err(|fault| {
        let class = match fault {
            Fault::Thrown(_) => "thrown",
            Fault::Error(ErrorClass::Type, _) => "type",
            Fault::Error(ErrorClass::Zero, _) => "zero",
            Fault::Error(ErrorClass::Bounds, _) => "bounds",
            Fault::Error(ErrorClass::Arity, _) => "arity",
            Fault::Unknown(_) => "unknown",
            _ => "limit",
        };
        vec![class.to_owned()]
    })
}
