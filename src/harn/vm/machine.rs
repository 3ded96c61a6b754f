//! A machine: what an evaluation has and may use.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::budget::{CancelToken, ThreadClock};
use crate::diagnostic::Span;
use crate::facts::{FactKey, FactValue};
use crate::harn::builtins::{Calls, Regex};
use crate::harn::fault::{Fault, Limit};
use crate::harn::module::{Code, Constant, Module};
use crate::harn::value::{Charge, Closure, Heap, List, MAX_JSON, Str, Value};
use crate::harn::workspace::Workspace;

use super::facts::Facts;
use super::regexes::{Dynamic, Sifted};

/// Between two looks at the clock, in units of fuel.
const BETWEEN_LOOKS: u64 = 50_000;

/// What the stack and the frames of most evaluations have room in.
const FEW_VALUES: usize = 64;
const FEW_FRAMES: usize = 4;

/// Cells are looked through when there are so many.
const FEW_CELLS: usize = 1024;

/// What an evaluation may use.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Fuel: about one unit for each instruction or 16 bytes of text looked at.
    pub fuel: u64,
    /// CPU time of the thread, if that is limited.
    pub cpu: Option<Duration>,
    /// Bytes of values that are alive.
    pub memory: usize,
    /// Calls in calls. (harn.md, section 7.)
    pub frames: usize,
    /// Bytes of memory of what a predicate returns, as JSON.
    pub result: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel: 20_000_000,
            cpu: None,
            memory: 64 << 20,
            frames: 512,
            result: MAX_JSON,
        }
    }
}

/// What an evaluation used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fuel.
    pub fuel: u64,
    /// Most bytes of values that were alive at a time.
    pub memory: usize,
    /// Bytes of the files that its calls of `grep` are about, each fact once.
    pub bytes: u64,
}

/// Runs the functions of a module. Nothing of one machine is seen by another.
pub struct Machine<'m> {
    pub(super) code: &'m Code,
    pub(super) stack: Vec<Value>,
    pub(super) frames: Vec<Frame>,
    pub(super) heap: Heap,
    pub(super) fuel: u64,
    granted: u64,
    next_look: u64,
    pub(super) most_frames: usize,
    clock: Option<(ThreadClock, Duration)>,
    pub(super) cancel: Option<CancelToken>,
    pub(super) constants: Vec<Option<Value>>,
    pub(super) globals: Vec<Value>,
    /// Every cell, so that chains and circles of closures end with the machine.
    cells: Vec<(Rc<RefCell<Value>>, Charge)>,
    most_cells: usize,
    pub(super) dynamic: Dynamic,
    pub(super) sifted: Option<Sifted<'m>>,
    /// What `grep` and `exists` look into.
    pub(super) workspace: Option<&'m Workspace>,
    /// What was asked of it.
    pub(super) facts: Facts,
    /// How many builtins are waiting for functions that they called.
    pub(super) waiting: usize,
    /// Where the last fault came from.
    pub(super) place: Option<Span>,
}

/// A call that has not returned.
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) at: usize,
    pub(super) base: usize,
    /// How many arguments it got.
    pub(super) given: usize,
    pub(super) closure: Option<Rc<Closure>>,
    /// Where the result goes in the stack; `None` for a builtin that waits for it.
    pub(super) result: Option<usize>,
}

impl<'m> Machine<'m> {
    /// A machine for a module. Its bindings are not set yet.
    #[must_use]
    pub fn new(module: &'m Module, limits: &Limits) -> Self {
        let code = &*module.0;
        Self {
            code,
            stack: Vec::with_capacity(FEW_VALUES),
            frames: Vec::with_capacity(FEW_FRAMES),
            heap: Heap::new(limits.memory),
            fuel: limits.fuel,
            granted: limits.fuel,
            next_look: limits.fuel.saturating_sub(BETWEEN_LOOKS),
            most_frames: limits.frames,
            clock: limits.cpu.map(|most| (ThreadClock::start(), most)),
            cancel: None,
            constants: vec![None; code.constants.len()],
            globals: vec![Value::Nil; code.globals.len()],
            cells: Vec::new(),
            most_cells: FEW_CELLS,
            dynamic: Dynamic::default(),
            sifted: None,
            workspace: None,
            facts: Facts::default(),
            waiting: 0,
            place: None,
        }
    }

    /// Stops when a token says so.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Gives `grep` and `exists` something to look into. Without it their calls fail.
    #[must_use]
    pub fn workspace(mut self, workspace: &'m Workspace) -> Self {
        self.workspace = Some(workspace);
        self
    }

    pub(crate) fn sifted(mut self, sifted: Option<Sifted<'m>>) -> Self {
        self.sifted = sifted;
        self
    }

    /// Where values for its arguments are counted.
    #[must_use]
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// What was used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            fuel: self.granted - self.fuel,
            memory: self.heap.peak(),
            bytes: self.facts.bytes(),
        }
    }

    /// CPU time that the facts took which it asked for, in nanoseconds, whichever thread
    /// spent it and whoever asked first.
    #[must_use]
    pub fn facts_cpu_ns(&self) -> u64 {
        self.facts.cpu_ns()
    }

    /// Where the last fault came from.
    #[must_use]
    pub fn place(&self) -> Option<Span> {
        self.place
    }

    /// Sets the bindings of the module, which is done once before any function is
    /// called.
    ///
    /// # Errors
    /// The [`Fault`] that ended it.
    pub fn start(&mut self) -> Result<(), Fault> {
        self.call_function(&Value::Function(self.code.init), &[])?;
        Ok(())
    }

    /// Calls a function by its name. Arguments that it does not take are left out.
    ///
    /// # Errors
    /// The [`Fault`] that ended it; a function that is not there is a fault as well.
    pub fn run(&mut self, name: &str, args: &[Value]) -> Result<Value, Fault> {
        let function = self
            .code
            .function(name)
            .ok_or_else(|| Fault::ty(format!("there is no function `{name}`")))?;
        self.call_function(&Value::Function(function), args)
    }

    /// How many arguments a function sees at most.
    pub(crate) fn takes(&self, name: &str) -> usize {
        let function = self.code.function(name);
        let function = function.and_then(|at| self.code.functions.get(at as usize));
        function.map_or(0, |function| match function.has_rest {
            true => usize::MAX,
            false => function.params.into(),
        })
    }

    /// A constant of the module.
    pub(super) fn constant(&mut self, number: usize) -> Result<Value, Fault> {
        if let Some(Some(known)) = self.constants.get(number) {
            return Ok(known.clone());
        }
        let Some(constant) = self.code.constants.get(number) else {
            return Ok(Value::Nil);
        };
        let value = self.value_of(constant)?;
        self.constants[number] = Some(value.clone());
        Ok(value)
    }

    fn value_of(&self, constant: &Constant) -> Result<Value, Fault> {
        Ok(match constant {
            Constant::Nil => Value::Nil,
            Constant::Bool(value) => Value::Bool(*value),
            Constant::Int(value) => Value::Int(*value),
            Constant::Float(value) => Value::Float(*value),
            Constant::Str(text) => Value::Str(Str::shared(text.clone(), &self.heap)?),
            Constant::List(items) => {
                let items: Result<Vec<_>, _> =
                    items.iter().map(|item| self.value_of(item)).collect();
                Value::List(List::new(items?, &self.heap)?)
            }
        })
    }

    /// Pays for work; looks at the clock from time to time.
    #[inline]
    pub(super) fn spend(&mut self, fuel: u64) -> Result<(), Fault> {
        match self.fuel.checked_sub(fuel) {
            Some(left) => self.fuel = left,
            None => {
                self.fuel = 0;
                return Err(Fault::Limit(Limit::Fuel));
            }
        }
        if self.fuel < self.next_look {
            self.look()?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn look(&mut self) -> Result<(), Fault> {
        self.next_look = self.fuel.saturating_sub(BETWEEN_LOOKS);
        match self.stop_cause() {
            Some(limit) => Err(Fault::Limit(limit)),
            None => Ok(()),
        }
    }

    /// Whether it was cancelled or has used up its time.
    fn stop_cause(&self) -> Option<Limit> {
        if let Some(token) = &self.cancel
            && token.stop().is_some()
        {
            return Some(Limit::Cancelled);
        }
        (self.cpu_left() == Some(Duration::ZERO)).then_some(Limit::Cpu)
    }

    /// The CPU time that is left, if that is limited.
    pub(super) fn cpu_left(&self) -> Option<Duration> {
        let (clock, most) = self.clock.as_ref()?;
        let facts = Duration::from_nanos(self.facts.cpu_ns());
        Some(most.saturating_sub(clock.elapsed().saturating_add(facts)))
    }

    pub(super) fn new_cell(&mut self) -> Result<Value, Fault> {
        if self.cells.len() >= self.most_cells {
            self.drop_cells();
        }
        let cell = Rc::new(RefCell::new(Value::Nil));
        let charge = self.heap.charge(96)?;
        self.cells.push((cell.clone(), charge));
        Ok(Value::Cell(cell))
    }

    /// Drops the cells that nobody has any more. What they hold is dropped when all are
    /// out of the list, so that a chain of them does not recurse.
    fn drop_cells(&mut self) {
        loop {
            let is_dead = |(cell, _): &(Rc<RefCell<Value>>, Charge)| Rc::strong_count(cell) == 1;
            let held: Vec<Value> = self
                .cells
                .iter()
                .filter(|cell| is_dead(cell))
                .map(|(cell, _)| cell.take())
                .collect();
            if held.is_empty() {
                break;
            }
            self.cells.retain(|cell| !is_dead(cell));
            drop(held);
        }
        self.most_cells = (self.cells.len() * 2).max(FEW_CELLS);
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        self.frames.clear();
        self.stack.clear();
        self.globals.clear();
        self.constants.clear();
        let held: Vec<Value> = self.cells.iter().map(|(cell, _)| cell.take()).collect();
        drop(held);
    }
}

impl Calls for Machine<'_> {
    fn heap(&self) -> &Heap {
        &self.heap
    }

    fn pay(&mut self, fuel: usize) -> Result<(), Fault> {
        self.spend(fuel as u64)
    }

    #[cfg(feature = "ast")]
    fn fuel(&self) -> u64 {
        self.fuel
    }

    #[cfg(feature = "ast")]
    fn stop_cause(&self) -> Option<Limit> {
        Machine::stop_cause(self)
    }

    fn call(&mut self, callee: &Value, args: &[Value]) -> Result<Value, Fault> {
        self.call_function(callee, args)
    }

    fn regex(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>, Fault> {
        self.regex_of(pattern, flags)
    }

    fn ruled_out(
        &mut self,
        pattern: &str,
        flags: &str,
        text: &Str,
    ) -> Result<Option<usize>, Fault> {
        self.ruled_out_of(pattern, flags, text)
    }

    fn fact(&mut self, key: FactKey) -> Result<FactValue, Fault> {
        self.fact_of(key)
    }
}
