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
mod verdict;

use std::path::Path;

use bumpalo::Bump;
use probity::harn::Problem;
use probity::harn::syntax::parse;

pub(crate) use failure::{Class, Failure};
pub(crate) use machine::Limits;
pub(crate) use text::canonical;
pub(crate) use value::Value;
use verdict::Outcome;

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
    with_module(source, limits, root, |loaded, machine| {
        loaded?;
        machine.enter(entry, args)
    })?
}

/// What a predicate comes to whose arguments are JSON.
pub(crate) fn judge(source: &str, entry: &str, args: &[String], limits: Limits) -> Outcome {
    let judged = with_module(source, limits, None, |loaded, machine| {
        let is_loaded = loaded.is_ok();
        let args: Result<Vec<Value>, Failure> = args.iter().map(|arg| json::parse(arg)).collect();
        let value = loaded.and_then(|()| machine.enter(entry, args?));
        verdict::outcome_of(value, is_loaded)
    });
    judged.unwrap_or_else(|failure| verdict::outcome_of(Err(failure), false))
}

/// Parses a module, loads it, and does something with it.
fn with_module<T>(
    source: &str,
    limits: Limits,
    root: Option<&Path>,
    work: impl FnOnce(Result<(), Failure>, &mut machine::Machine<'_>) -> T,
) -> Result<T, Failure> {
    let arena = Bump::new();
    let (module, problems) = parse(source, &arena);
    if let Some(problem) = problems.iter().find(|problem| problem.is_error()) {
        let Problem { code, message, .. } = problem;
        return Err(Failure::new(Class::Syntax, format!("{code}: {message}")));
    }
    let module = module.ok_or_else(|| Failure::new(Class::Syntax, "no module"))?;
    let mut machine = machine::Machine::new(limits, root);
    let loaded = machine.load(&module);
    let done = work(loaded, &mut machine);
    machine.dissolve();
    Ok(done)
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
