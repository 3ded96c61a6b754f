//! What there is while a module runs: its functions, its names, its limits.

use std::path::Path;
use std::rc::{Rc, Weak};

use probity::harn::syntax::ast::{Function, ItemKind, Module, Stmt, StmtKind, Type};

use super::failure::{Class, Exit, Failure};
use super::scope::Scope;
use super::value::{Closure, Value};
use super::{builtins, call};

/// What an evaluation may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Steps.
    pub(crate) fuel: u64,
    /// Bytes, of all values that are ever made.
    pub(crate) memory: u64,
    /// Calls in calls.
    pub(crate) frames: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 5_000_000,
            memory: 256 << 20,
            frames: 512,
        }
    }
}

pub(super) struct Machine<'a> {
    pub(super) limits: Limits,
    pub(super) frames: u32,
    /// How many `try` are around, in this function.
    pub(super) tries: u32,
    pub(super) module: Rc<Scope>,
    /// What is asked about.
    pub(super) root: Option<&'a Path>,
    functions: Vec<Function<'a>>,
    pub(super) types: Vec<(&'a str, Type<'a>)>,
    /// What closures hold, to be cleared at the end.
    captured: Vec<Weak<Scope>>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(limits: Limits, root: Option<&'a Path>) -> Self {
        Self {
            limits,
            root,
            frames: 0,
            tries: 0,
            module: Scope::new(None),
            functions: Vec::new(),
            types: Vec::new(),
            captured: Vec::new(),
        }
    }

    /// Runs what stands at the top of a file.
    pub(super) fn load(&mut self, module: &Module<'a>) -> Result<(), Failure> {
        let mut stmts: Vec<Stmt<'a>> = Vec::new();
        for item in module.items {
            match item.kind {
                ItemKind::Import { names, .. } => {
                    for name in names {
                        let builtin = builtins::find(name.text)
                            .ok_or_else(|| Failure::check("nothing to import"))?;
                        self.module.declare(name.text, builtin, false)?;
                    }
                }
                ItemKind::Attributed { target, .. } => stmts.push(target),
                ItemKind::Stmt(stmt) => stmts.push(stmt),
            }
        }
        for stmt in &stmts {
            if let StmtKind::Type { name, ty } = stmt.kind {
                self.types.push((name.text, ty));
            }
        }
        let module = Rc::clone(&self.module);
        match self.stmts(&stmts, &module, false) {
            Ok(_) => Ok(()),
            Err(Exit::Fail(failure)) => Err(failure),
            Err(_) => Err(Failure::new(Class::Syntax, "there is nothing to leave")),
        }
    }

    /// Calls a function of the module from outside.
    pub(super) fn enter(&mut self, entry: &str, mut args: Vec<Value>) -> Result<Value, Failure> {
        let Some(callee) = self.module.get(entry) else {
            return Err(Failure::check(format!("there is no `{entry}`")));
        };
        if let Value::Closure(closure) = &callee {
            args.truncate(call::most(&self.function(closure.function)));
        }
        self.call(&callee, args)
    }

    pub(super) fn closure(
        &mut self,
        function: &Function<'a>,
        name: &str,
        scope: &Rc<Scope>,
    ) -> Value {
        self.captured.push(Rc::downgrade(scope));
        let is_same = |known: &Function<'_>| known.body.span == function.body.span;
        let known = self.functions.iter().position(is_same);
        let index = known.unwrap_or_else(|| {
            self.functions.push(*function);
            self.functions.len() - 1
        });
        Value::Closure(Rc::new(Closure {
            function: index,
            scope: Rc::clone(scope),
            name: name.into(),
        }))
    }

    pub(super) fn function(&self, index: usize) -> Function<'a> {
        self.functions[index]
    }

    /// Takes steps.
    pub(super) fn burn(&mut self, steps: usize) -> Result<(), Failure> {
        take(&mut self.limits.fuel, steps, "the fuel is used up")
    }

    /// Takes memory, and the steps it takes to fill it.
    pub(super) fn allocate(&mut self, bytes: usize) -> Result<(), Failure> {
        self.burn(bytes / 64)?;
        take(&mut self.limits.memory, bytes, "the memory is used up")
    }

    pub(super) fn list(&mut self, items: Vec<Value>) -> Result<Value, Failure> {
        self.allocate(items.len() * size_of::<Value>())?;
        Value::list(items)
    }

    pub(super) fn text(&mut self, text: impl AsRef<str>) -> Result<Value, Failure> {
        self.allocate(text.as_ref().len())?;
        Ok(Value::text(text))
    }

    /// The scope that a function does not change.
    pub(super) fn frozen(&self) -> Option<Rc<Scope>> {
        (self.frames > 0).then(|| Rc::clone(&self.module))
    }

    /// Lets go of what holds itself.
    pub(super) fn dissolve(&self) {
        for scope in self.captured.iter().filter_map(Weak::upgrade) {
            scope.clear();
        }
        self.module.clear();
    }
}

fn take(left: &mut u64, amount: usize, message: &str) -> Result<(), Failure> {
    match left.checked_sub(amount as u64) {
        Some(rest) => {
            *left = rest;
            Ok(())
        }
        None => {
            *left = 0;
            Err(Failure::new(Class::Limit, message))
        }
    }
}
