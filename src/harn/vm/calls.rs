//! Calls, closures and faults.

use std::rc::Rc;

use crate::harn::builtins::METHODS;
use crate::harn::fault::{Fault, Limit};
use crate::harn::module::{Captured, NameUse};
use crate::harn::value::{Closure, List, Str, Value};

use super::machine::{Frame, Machine};
use super::slot;

/// Builtins that wait for functions they called are nested no deeper: each takes a
/// piece of the thread's stack.
const MAX_WAITING: usize = 64;

impl Machine<'_> {
    /// Calls a value from outside of the machine, or for a builtin.
    pub(crate) fn call_function(&mut self, callee: &Value, args: &[Value]) -> Result<Value, Fault> {
        let (function, closure) = match callee {
            Value::Function(function) => (*function, None),
            Value::Closure(closure) => (closure.function, Some(closure.clone())),
            Value::Builtin(builtin) => return builtin.signature().call(self, args, 0),
            Value::Host(host) => return (host.0)(args, &self.heap),
            other => return Err(not_callable(other)),
        };
        if self.waiting >= MAX_WAITING {
            return Err(Fault::Limit(Limit::Frames));
        }
        self.spend(8)?;
        let base = self.stack.len();
        let depth = self.frames.len();
        self.stack.extend_from_slice(args);
        self.waiting += 1;
        let done = self
            .enter(function, closure, base, args.len(), None)
            .and_then(|()| self.interpret(depth));
        self.waiting -= 1;
        self.frames.truncate(depth);
        self.stack.truncate(base);
        done
    }

    /// Makes a frame for a function whose arguments are in the stack from `base` on.
    pub(super) fn enter(
        &mut self,
        function: u32,
        closure: Option<Rc<Closure>>,
        base: usize,
        given: usize,
        result: Option<usize>,
    ) -> Result<(), Fault> {
        if self.frames.len() >= self.most_frames {
            return Err(Fault::Limit(Limit::Frames));
        }
        self.fit(function, base, given)?;
        self.frames.push(Frame {
            function,
            at: 0,
            base,
            given,
            closure,
            result,
        });
        Ok(())
    }

    /// Fits the arguments to the parameters of a function, and clears its registers.
    pub(super) fn fit(&mut self, function: u32, base: usize, given: usize) -> Result<(), Fault> {
        let Some(code) = self.code.functions.get(function as usize) else {
            return Err(Fault::ty("there is no such function"));
        };
        if given < usize::from(code.least) {
            return Err(Fault::arity(format!(
                "`{}` wants {} arguments and got {given}",
                code.name, code.least
            )));
        }
        let params = usize::from(code.params);
        let rest = if code.has_rest {
            let from = (base + params).min(base + given);
            let rest: Vec<Value> = self.stack[from..base + given].to_vec();
            Some(Value::List(List::new(rest, &self.heap)?))
        } else {
            None
        };
        let kept = base + given.min(params);
        self.stack.truncate(kept);
        self.stack
            .resize_with(base + usize::from(code.registers), Value::default);
        if let Some(rest) = rest {
            self.stack[base + params] = rest;
        }
        Ok(())
    }

    /// `call`: the callee is in the stack at `at`, its arguments behind it.
    pub(super) fn call_at(&mut self, at: usize, given: usize) -> Result<(), Fault> {
        match &self.stack[at] {
            Value::Function(function) => {
                let function = *function;
                self.enter(function, None, at + 1, given, Some(at))
            }
            Value::Closure(closure) => {
                let closure = closure.clone();
                self.enter(closure.function, Some(closure), at + 1, given, Some(at))
            }
            Value::Builtin(_) | Value::Host(_) => {
                let callee = self.stack[at].clone();
                self.stack[at] = self.with_args(at + 1, given, |machine, args| match &callee {
                    Value::Builtin(builtin) => builtin.signature().call(machine, args, 0),
                    Value::Host(host) => (host.0)(args, &machine.heap),
                    other => Err(not_callable(other)),
                })?;
                Ok(())
            }
            other => Err(not_callable(other)),
        }
    }

    /// Takes arguments out of the stack.
    pub(super) fn drain(&mut self, from: usize, count: usize) -> Vec<Value> {
        let args = self.stack[from..from + count].iter_mut();
        args.map(std::mem::take).collect()
    }

    /// Does something with arguments that are taken out of the stack. Few of them take no
    /// memory elsewhere.
    pub(super) fn with_args<T>(
        &mut self,
        from: usize,
        count: usize,
        work: impl FnOnce(&mut Self, &[Value]) -> T,
    ) -> T {
        let mut take = |number: usize| std::mem::take(&mut self.stack[from + number]);
        match count {
            1 => {
                let args = [take(0)];
                work(self, &args)
            }
            2 => {
                let args = [take(0), take(1)];
                work(self, &args)
            }
            3 => {
                let args = [take(0), take(1), take(2)];
                work(self, &args)
            }
            _ => {
                let args = self.drain(from, count);
                work(self, &args)
            }
        }
    }

    /// `call.method`: the receiver is at `at`. Methods of its type come first, then
    /// functions that a dict holds.
    pub(super) fn method_at(
        &mut self,
        at: usize,
        given: usize,
        name: &NameUse,
    ) -> Result<(), Fault> {
        // In place, where nobody else has the list.
        if *name.text == *"push" && given == 1 && matches!(self.stack[at], Value::List(_)) {
            self.spend(self.stack[at].copy_cost())?;
            let item = std::mem::take(&mut self.stack[at + 1]);
            if let Value::List(list) = &mut self.stack[at] {
                list.push(item)?;
            }
            return Ok(());
        }
        let receiver = &self.stack[at];
        let method = name
            .method
            .and_then(|number| METHODS.get(usize::from(number)));
        if let Some(signature) = method.and_then(|method| method.of(receiver)) {
            let called = self.with_args(at, given + 1, |machine, args| {
                signature.call(machine, args, 1)
            });
            slot::put(&mut self.stack[at], called?);
            return Ok(());
        }
        match receiver {
            Value::Dict(dict) => match dict.get(&name.text) {
                Some(callee) if callee.is_callable() => {
                    self.stack[at] = callee.clone();
                    self.call_at(at, given)
                }
                Some(other) => Err(not_callable(other)),
                None => Err(Fault::ty(format!(
                    "the dict has no `{}` to call",
                    name.text
                ))),
            },
            other => Err(Fault::ty(format!(
                "{} has no method `{}`",
                other.type_name(),
                name.text
            ))),
        }
    }

    /// Makes a closure with what its function captures.
    pub(super) fn closure(&mut self, function: u32) -> Result<Value, Fault> {
        let Some(code) = self.code.functions.get(function as usize) else {
            return Err(Fault::ty("there is no such function"));
        };
        let Some(frame) = self.frames.last() else {
            return Err(Fault::ty("there is no frame"));
        };
        let captures: Box<[Value]> = code
            .captures
            .iter()
            .map(|captured| match captured {
                Captured::Register(register) => {
                    self.stack[frame.base + usize::from(*register)].clone()
                }
                Captured::Capture(number) => frame
                    .closure
                    .as_ref()
                    .and_then(|closure| closure.captures.get(usize::from(*number)))
                    .cloned()
                    .unwrap_or_default(),
            })
            .collect();
        let depth = captures.iter().map(Value::depth).max().unwrap_or(0) + 1;
        if depth > crate::harn::value::MAX_VALUE_DEPTH {
            return Err(Fault::Limit(Limit::Depth));
        }
        let charge = self.heap.charge(64 + captures.len() * 16)?;
        Ok(Value::Closure(Rc::new(Closure {
            function,
            captures,
            depth,
            _charge: charge,
        })))
    }

    /// Looks for somebody who catches a fault, down to a depth of frames. The frame that
    /// does goes on there.
    pub(super) fn catch(&mut self, fault: Fault, depth: usize) -> Result<(), Fault> {
        if let Some(frame) = self.frames.last() {
            let spans = self.code.functions.get(frame.function as usize);
            let at = frame.at.saturating_sub(1);
            self.place = spans.and_then(|code| code.spans.get(at)).copied();
        }
        if let Fault::Limit(_) | Fault::Unknown(_) = fault {
            return Err(fault);
        }
        while self.frames.len() > depth {
            let Some(frame) = self.frames.last_mut() else {
                break;
            };
            let at = u32::try_from(frame.at.saturating_sub(1)).unwrap_or(u32::MAX);
            let code = self.code.functions.get(frame.function as usize);
            let handlers = code.map(|code| &code.handlers[..]).unwrap_or_default();
            let handler = handlers
                .iter()
                .find(|handler| (handler.start..handler.end).contains(&at));
            if let (Some(handler), Some(code)) = (handler, code) {
                frame.at = handler.target as usize;
                let base = frame.base;
                self.stack
                    .resize_with(base + usize::from(code.registers), Value::default);
                self.stack[base + usize::from(handler.register)] = match fault {
                    Fault::Thrown(value) => value,
                    Fault::Error(class, message) if handler.is_passing => {
                        Value::Failure(Rc::new((class, message)))
                    }
                    other => Value::Str(Str::new(other.to_string(), &self.heap)?),
                };
                return Ok(());
            }
            self.frames.pop();
        }
        Err(fault)
    }
}

fn not_callable(value: &Value) -> Fault {
    Fault::ty(format!("{} cannot be called", value.type_name()))
}
