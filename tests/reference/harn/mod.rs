//! The reference for predicate files: walks the tree, looks names up by their text,
//! copies what it changes. Only the parser is that of the crate under test.
//!
//! One file per question: what values are ([`value`]) and how they look ([`text`]), where
//! names live ([`scope`]), what statements ([`exec`]), expressions ([`expr`]), operators
//! ([`ops`]), assignments ([`place`]), patterns ([`pattern`]), calls ([`call`]) and types
//! ([`types`]) do, what there is in the workspace ([`facts`]), and what the functions and methods of the language come to.

mod builtins;
mod call;
mod encode;
mod exec;
mod expr;
mod facts;
mod failure;
mod json;
mod machine;
mod methods;
mod ops;
mod pattern;
mod place;
mod regexes;
mod scope;
mod text;
mod types;
mod value;

use std::path::Path;

use bumpalo::Bump;
use probity::harn::Problem;
use probity::harn::syntax::parse;

pub(crate) use failure::{Class, Failure};
pub(crate) use machine::Limits;
pub(crate) use text::canonical;
pub(crate) use value::Value;

/// Evaluates `entry(args)` of a module. Arguments that it has no parameter for are
/// dropped. Recurses as deep as the limit on frames lets it: see [`on_large_stack`].
/// `root` is the workspace.
pub(crate) fn run(
    source: &str,
    entry: &str,
    args: Vec<Value>,
    limits: Limits,
    root: Option<&Path>,
) -> Result<Value, Failure> {
    let arena = Bump::new();
    let (module, problems) = parse(source, &arena);
    if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
        let Problem { code, message, .. } = problem;
        return Err(Failure::new(Class::Syntax, format!("{code}: {message}")));
    }
    let module = module.ok_or_else(|| Failure::new(Class::Syntax, "no module"))?;
    let mut machine = machine::Machine::new(limits, root);
    let result = machine
        .load(&module)
        .and_then(|()| machine.enter(entry, args));
    machine.dissolve();
    result
}

/// Runs something on a thread whose stack holds any recursion that the limits allow.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(1 << 30)
            .spawn_scoped(scope, work)
            .expect("a thread can be started");
        match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
