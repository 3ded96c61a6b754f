//! The loop over the instructions.

use std::cell::RefCell;
use std::rc::Rc;

use crate::code::Op;
use crate::harn::builtins::{Builtin, equal, ordered, position};
use crate::harn::fault::Fault;
use crate::harn::value::{Dict, Items, List, Source, Str, Value};

use super::machine::Machine;
use super::{access, arithmetic, slot, types};

fn unsound() -> Fault {
    Fault::ty("the program is not sound")
}

impl Machine<'_> {
    /// Runs until the frames are as many as `depth` again, and gives the result of the
    /// last.
    pub(super) fn interpret(&mut self, depth: usize) -> Result<Value, Fault> {
        loop {
            match self.run_frames(depth) {
                Ok(value) => return Ok(value),
                Err(fault) => self.catch(fault, depth)?,
            }
        }
    }

    fn run_frames(&mut self, depth: usize) -> Result<Value, Fault> {
        'frames: loop {
            let Some(frame) = self.frames.last() else {
                return Err(unsound());
            };
            let (number, base, given) = (frame.function as usize, frame.base, frame.given);
            let mut at = frame.at;
            let code = self.code;
            let Some(function) = code.functions.get(number) else {
                return Err(unsound());
            };
            macro_rules! frame {
                () => {
                    match self.frames.last_mut() {
                        Some(frame) => frame,
                        None => return Err(unsound()),
                    }
                };
            }
            macro_rules! reg {
                ($number:expr) => {
                    self.stack[base + usize::from($number)]
                };
            }
            macro_rules! set {
                ($number:expr, $value:expr) => {{
                    let value = $value;
                    slot::put(&mut reg!($number), value);
                }};
            }
            macro_rules! set_bool {
                ($number:expr, $value:expr) => {{
                    let value = $value;
                    slot::put_bool(&mut reg!($number), value);
                }};
            }
            // Where a fault is, should there be one.
            macro_rules! guarded {
                ($done:expr) => {
                    match $done {
                        Ok(value) => value,
                        Err(fault) => {
                            frame!().at = at;
                            return Err(fault);
                        }
                    }
                };
            }
            macro_rules! compare {
                ($insn:expr, $holds:expr) => {{
                    let (left, right) = (&reg!($insn.b()), &reg!($insn.c()));
                    let order = if let (Value::Int(left), Value::Int(right)) = (left, right) {
                        Some(left.cmp(right))
                    } else {
                        let (left, right) = (left.clone(), right.clone());
                        guarded!(ordered(self, &left, &right))
                    };
                    set_bool!($insn.a(), order.is_some_and($holds));
                }};
            }
            loop {
                let Some(&insn) = function.insns.get(at) else {
                    return Err(unsound());
                };
                at += 1;
                let Some(op) = insn.op() else {
                    return Err(unsound());
                };
                let a = insn.a();
                match op {
                    Op::Fuel => guarded!(self.spend(u64::from(insn.bc()))),
                    Op::Move => {
                        let (from, to) = (usize::from(insn.b()), usize::from(a));
                        slot::copy_within(&mut self.stack, base + from, base + to);
                    }
                    Op::Take => set!(a, std::mem::take(&mut reg!(insn.b()))),
                    Op::Nil => set!(a, Value::Nil),
                    Op::Truth => set_bool!(a, insn.bc() == 1),
                    Op::Number => {
                        slot::put_int(&mut reg!(a), insn.bc().cast_signed().into());
                    }
                    Op::Value => {
                        let number = usize::from(insn.bc());
                        if let Some(Some(known)) = self.constants.get(number) {
                            slot::copy(&mut reg!(a), known);
                        } else {
                            reg!(a) = guarded!(self.constant(number));
                        }
                    }
                    Op::Function => reg!(a) = Value::Function(insn.bc().into()),
                    Op::Closure => {
                        frame!().at = at;
                        reg!(a) = guarded!(self.closure(insn.bc().into()));
                    }
                    Op::Builtin => reg!(a) = Value::Builtin(Builtin(insn.b())),
                    Op::Global => {
                        let value = self.globals.get(usize::from(insn.bc()));
                        reg!(a) = value.cloned().unwrap_or_default();
                    }
                    Op::GlobalSet => {
                        let value = reg!(a).clone();
                        if let Some(global) = self.globals.get_mut(usize::from(insn.bc())) {
                            *global = value;
                        }
                    }
                    Op::Cell => reg!(a) = guarded!(self.new_cell()),
                    Op::CellGet => {
                        let value = match &reg!(insn.b()) {
                            Value::Cell(cell) => cell.borrow().clone(),
                            _ => return Err(unsound()),
                        };
                        reg!(a) = value;
                    }
                    Op::CellSet => {
                        let value = reg!(insn.b()).clone();
                        match &reg!(a) {
                            Value::Cell(cell) => drop(cell.replace(value)),
                            _ => return Err(unsound()),
                        }
                    }
                    Op::CellTake => {
                        let value = match &reg!(insn.b()) {
                            Value::Cell(cell) => cell.take(),
                            _ => return Err(unsound()),
                        };
                        reg!(a) = value;
                    }
                    Op::Capture => {
                        let closure = frame!().closure.as_ref();
                        let value = closure.and_then(|it| it.captures.get(usize::from(insn.b())));
                        let value = value.cloned().unwrap_or_default();
                        reg!(a) = value;
                    }
                    Op::Add => {
                        let (b, c) = (insn.b(), insn.c());
                        if let (Value::Int(left), Value::Int(right)) = (&reg!(b), &reg!(c))
                            && let Some(sum) = left.checked_add(*right)
                        {
                            slot::put_int(&mut reg!(a), sum);
                        } else {
                            let right = reg!(c).clone();
                            // What would fail is left where it is.
                            let left = match (&reg!(b), &right) {
                                (Value::Str(_), Value::Str(_))
                                | (Value::List(_), Value::List(_))
                                | (Value::Dict(_), Value::Dict(_))
                                    if a == b && b != c =>
                                {
                                    std::mem::take(&mut reg!(b))
                                }
                                (left, _) => left.clone(),
                            };
                            guarded!(self.spend(weight(&right) + left.copy_cost()));
                            if let (Value::Str(left), true) = (&left, a != b) {
                                guarded!(self.spend(left.as_str().len() as u64 / 16));
                            }
                            reg!(a) = guarded!(arithmetic::add(left, &right, &self.heap));
                        }
                    }
                    Op::Sub => {
                        reg!(a) = guarded!(arithmetic::sub(&reg!(insn.b()), &reg!(insn.c())));
                    }
                    Op::Mul => {
                        let (left, right) = (&reg!(insn.b()), &reg!(insn.c()));
                        let product = guarded!(arithmetic::mul(left, right, &self.heap));
                        guarded!(self.spend(weight(&product)));
                        reg!(a) = product;
                    }
                    Op::Div => {
                        reg!(a) = guarded!(arithmetic::div(&reg!(insn.b()), &reg!(insn.c())));
                    }
                    Op::Rem => {
                        reg!(a) = guarded!(arithmetic::rem(&reg!(insn.b()), &reg!(insn.c())));
                    }
                    Op::Pow => {
                        reg!(a) = guarded!(arithmetic::pow(&reg!(insn.b()), &reg!(insn.c())));
                    }
                    Op::Eq | Op::Ne => {
                        let equal = match (&reg!(insn.b()), &reg!(insn.c())) {
                            (left @ (Value::Str(_) | Value::List(_) | Value::Dict(_)), right) => {
                                let (left, right) = (left.clone(), right.clone());
                                guarded!(equal(self, &left, &right))
                            }
                            // Nothing that has to be paid for.
                            (left, right) => crate::harn::value::equal(left, right),
                        };
                        set_bool!(a, equal == (op == Op::Eq));
                    }
                    Op::Lt => compare!(insn, std::cmp::Ordering::is_lt),
                    Op::Le => compare!(insn, std::cmp::Ordering::is_le),
                    Op::Gt => compare!(insn, std::cmp::Ordering::is_gt),
                    Op::Ge => compare!(insn, std::cmp::Ordering::is_ge),
                    Op::In | Op::NotIn => {
                        let (item, container) = (reg!(insn.b()).clone(), reg!(insn.c()).clone());
                        let found = match &container {
                            Value::List(list) => {
                                let at = guarded!(position(self, list.items(), &item));
                                at.is_some()
                            }
                            _ => {
                                guarded!(self.spend(weight(&container)));
                                guarded!(arithmetic::is_in(&item, &container, &self.heap))
                            }
                        };
                        set_bool!(a, found == (op == Op::In));
                    }
                    Op::Range | Op::RangeThrough => {
                        let (from, to) = (&reg!(insn.b()), &reg!(insn.c()));
                        let through = op == Op::RangeThrough;
                        reg!(a) = guarded!(arithmetic::range(from, to, through));
                    }
                    Op::Invert => set_bool!(a, !reg!(insn.b()).is_truthy()),
                    Op::Truthy => set_bool!(a, reg!(insn.b()).is_truthy()),
                    Op::Negate => {
                        reg!(a) = guarded!(arithmetic::negate(&reg!(insn.b())));
                    }
                    Op::Goto => at = usize::from(insn.bc()),
                    Op::IfFalsy => {
                        if !reg!(a).is_truthy() {
                            at = usize::from(insn.bc());
                        }
                    }
                    Op::IfTruthy => {
                        if reg!(a).is_truthy() {
                            at = usize::from(insn.bc());
                        }
                    }
                    Op::IfNil => {
                        if matches!(reg!(a), Value::Nil) {
                            at = usize::from(insn.bc());
                        }
                    }
                    Op::IfValue => {
                        if !matches!(reg!(a), Value::Nil) {
                            at = usize::from(insn.bc());
                        }
                    }
                    Op::IfGiven => {
                        if given > usize::from(a) {
                            at = usize::from(insn.bc());
                        }
                    }
                    Op::List => {
                        let from = base + usize::from(insn.b());
                        let items = self.drain(from, insn.c().into());
                        reg!(a) = Value::List(guarded!(List::new(items, &self.heap)));
                    }
                    Op::ListPush => {
                        let item = reg!(insn.b()).clone();
                        let Value::List(list) = &mut reg!(a) else {
                            return Err(unsound());
                        };
                        guarded!(list.push(item));
                    }
                    Op::ListExtend => {
                        let more = reg!(insn.b()).clone();
                        let Value::List(more) = more else {
                            let found = more.type_name();
                            guarded!(Err(Fault::ty(format!(
                                "`...` wants a list here, not {found}"
                            ))))
                        };
                        guarded!(self.spend(more.items().len() as u64));
                        let Value::List(list) = &mut reg!(a) else {
                            return Err(unsound());
                        };
                        guarded!(list.extend(more.items()));
                    }
                    Op::Dict => reg!(a) = Value::Dict(guarded!(Dict::new(&self.heap))),
                    Op::DictSet => {
                        let key = guarded!(access::key(&reg!(insn.b()), &self.heap));
                        let value = reg!(insn.c()).clone();
                        let Value::Dict(dict) = &mut reg!(a) else {
                            return Err(unsound());
                        };
                        guarded!(dict.set(key, value));
                    }
                    Op::DictMerge => {
                        let more = reg!(insn.b()).clone();
                        let Value::Dict(more) = more else {
                            let found = more.type_name();
                            guarded!(Err(Fault::ty(format!(
                                "`...` wants a dict here, not {found}"
                            ))))
                        };
                        guarded!(self.spend(more.len() as u64));
                        let Value::Dict(dict) = &mut reg!(a) else {
                            return Err(unsound());
                        };
                        guarded!(dict.merge(&more));
                    }
                    Op::DictDrop => {
                        let key = guarded!(access::key(&reg!(insn.b()), &self.heap));
                        let Value::Dict(dict) = &mut reg!(a) else {
                            return Err(unsound());
                        };
                        guarded!(dict.remove(key.as_str()));
                    }
                    Op::Prop | Op::PropSafe => {
                        let Some(name) = function.names.get(usize::from(insn.c())) else {
                            return Err(unsound());
                        };
                        let object = &reg!(insn.b());
                        let value = match op {
                            Op::Prop => access::property(object, &name.text),
                            _ => access::safe_property(object, &name.text),
                        };
                        set!(a, guarded!(value));
                    }
                    Op::Index => {
                        let (object, index) = (&reg!(insn.b()), &reg!(insn.c()));
                        reg!(a) = guarded!(access::index(object, index, &self.heap));
                        // Characters are looked for from the start.
                        guarded!(self.spend(4));
                    }
                    Op::Slice => {
                        let object = &reg!(insn.b());
                        let (from, to) = (&reg!(insn.c()), &reg!(insn.c().wrapping_add(1)));
                        let part = guarded!(access::slice(object, from, to, &self.heap));
                        guarded!(self.spend(weight(&part)));
                        reg!(a) = part;
                    }
                    Op::Put | Op::PutProp => {
                        let value = reg!(insn.c()).clone();
                        let index = match op {
                            Op::Put => reg!(insn.b()).clone(),
                            _ => guarded!(self.name(function, insn.b())),
                        };
                        let heap = self.heap.clone();
                        guarded!(self.spend(reg!(a).copy_cost()));
                        guarded!(access::put(&mut reg!(a), &index, value, &heap));
                    }
                    Op::Part | Op::PartProp => {
                        let index = match op {
                            Op::Part => reg!(insn.c()).clone(),
                            _ => guarded!(self.name(function, insn.c())),
                        };
                        let heap = self.heap.clone();
                        guarded!(self.spend(reg!(insn.b()).copy_cost()));
                        let part = access::part(&mut reg!(insn.b()), &index, &heap);
                        reg!(a) = guarded!(part);
                    }
                    Op::Call => {
                        frame!().at = at;
                        guarded!(self.call_at(base + usize::from(a), insn.b().into()));
                        continue 'frames;
                    }
                    Op::CallSpread | Op::SpreadMethod => {
                        frame!().at = at;
                        let callee = base + usize::from(a);
                        let Value::List(args) = std::mem::take(&mut self.stack[callee + 1]) else {
                            return Err(unsound());
                        };
                        let count = args.items().len();
                        guarded!(self.spend(count as u64));
                        self.stack.truncate(callee + 1);
                        self.stack.extend_from_slice(args.items());
                        let done = match op {
                            Op::CallSpread => self.call_at(callee, count),
                            _ => match function.names.get(usize::from(insn.c())) {
                                Some(name) => self.method_at(callee, count, name),
                                None => Err(unsound()),
                            },
                        };
                        let entered = self.frames.len();
                        guarded!(done);
                        // A builtin has left the stack as it was made for the arguments.
                        if self.frames.last().is_some_and(|frame| frame.base == base) {
                            self.stack.resize_with(
                                base + usize::from(function.registers),
                                Value::default,
                            );
                        }
                        debug_assert!(entered > 0);
                        continue 'frames;
                    }
                    Op::CallTail => {
                        frame!().at = at;
                        let callee = base + usize::from(a);
                        let count = usize::from(insn.b());
                        let (next, closure) = match &self.stack[callee] {
                            Value::Function(next) => (*next, None),
                            Value::Closure(closure) => (closure.function, Some(closure.clone())),
                            _ => {
                                guarded!(self.call_at(callee, count));
                                let value = std::mem::take(&mut reg!(a));
                                if let Some(value) = self.leave(value, depth) {
                                    return Ok(value);
                                }
                                continue 'frames;
                            }
                        };
                        for number in 0..count {
                            self.stack[base + number] =
                                std::mem::take(&mut self.stack[callee + 1 + number]);
                        }
                        // Until then the frame is that of the caller, for the message.
                        guarded!(self.fit(next, base, count));
                        let frame = frame!();
                        frame.function = next;
                        frame.closure = closure;
                        frame.given = count;
                        frame.at = 0;
                        continue 'frames;
                    }
                    Op::CallBuiltin => {
                        frame!().at = at;
                        let first = base + usize::from(a);
                        let signature = Builtin(insn.c()).signature();
                        let value = self.with_args(first, insn.b().into(), |machine, args| {
                            signature.call(machine, args, 0)
                        });
                        set!(a, guarded!(value));
                    }
                    Op::CallMethod => {
                        frame!().at = at;
                        let Some(name) = function.names.get(usize::from(insn.c())) else {
                            return Err(unsound());
                        };
                        let frames = self.frames.len();
                        guarded!(self.method_at(base + usize::from(a), insn.b().into(), name));
                        if self.frames.len() != frames {
                            continue 'frames;
                        }
                    }
                    Op::Return => {
                        let value = std::mem::take(&mut reg!(a));
                        if let Some(value) = self.leave(value, depth) {
                            return Ok(value);
                        }
                        continue 'frames;
                    }
                    Op::Throw => {
                        guarded!(Err(match reg!(a).clone() {
                            Value::Failure(failure) => {
                                Fault::Error(failure.0, failure.1.clone())
                            }
                            thrown => Fault::Thrown(thrown),
                        }));
                    }
                    Op::Iterate => {
                        let source = std::mem::take(&mut reg!(a));
                        reg!(a) = guarded!(self.items(source));
                    }
                    Op::Next => {
                        let item = match &reg!(a) {
                            Value::Items(items) => {
                                let item = self.next_item(&mut items.borrow_mut());
                                guarded!(item)
                            }
                            _ => return Err(unsound()),
                        };
                        match item {
                            Some(item) => set!(a.wrapping_add(1), item),
                            None => {
                                reg!(a) = Value::Nil;
                                at = usize::from(insn.bc());
                            }
                        }
                    }
                    Op::IsList => {
                        let items = reg!(insn.b()).as_items();
                        let is = items.is_some_and(|it| it.len() == usize::from(insn.c()));
                        reg!(a) = Value::Bool(is);
                    }
                    Op::IsLonger => {
                        let items = reg!(insn.b()).as_items();
                        let is = items.is_some_and(|it| it.len() >= usize::from(insn.c()));
                        reg!(a) = Value::Bool(is);
                    }
                    Op::IsDict => {
                        reg!(a) = Value::Bool(matches!(reg!(insn.b()), Value::Dict(_)));
                    }
                    Op::Has => {
                        let Some(name) = function.names.get(usize::from(insn.c())) else {
                            return Err(unsound());
                        };
                        reg!(a) = Value::Bool(reg!(insn.b()).get(&name.text).is_some());
                    }
                    Op::WantList | Op::WantDict => {
                        let found = &reg!(a);
                        let (is, wanted) = match op {
                            Op::WantList => (matches!(found, Value::List(_)), "list"),
                            _ => (matches!(found, Value::Dict(_)), "dict"),
                        };
                        if !is {
                            let found = found.type_name();
                            guarded!(Err(Fault::ty(format!(
                                "a {wanted} is taken apart here, and this is {found}"
                            ))));
                        }
                    }
                    Op::WantType => {
                        let Some(ty) = code.types.get(usize::from(insn.bc())) else {
                            return Err(unsound());
                        };
                        guarded!(self.spend(weight(&reg!(a)) / 8));
                        guarded!(types::want(&reg!(a), ty));
                    }
                    Op::Item => {
                        let items = reg!(insn.b()).as_items();
                        let item = items.and_then(|it| it.get(usize::from(insn.c())));
                        let item = item.cloned().unwrap_or_default();
                        reg!(a) = item;
                    }
                    Op::Rest => {
                        let items = reg!(insn.b()).as_items().unwrap_or_default();
                        let rest = items.get(usize::from(insn.c())..).unwrap_or_default();
                        let rest = rest.to_vec();
                        guarded!(self.spend(rest.len() as u64));
                        reg!(a) = guarded!(arithmetic::list_of(rest, &self.heap));
                    }
                    Op::Text => {
                        let text = match &reg!(insn.b()) {
                            Value::Str(text) => text.clone(),
                            other => {
                                let text = guarded!(other.whole_text(&self.heap));
                                guarded!(Str::new(text, &self.heap))
                            }
                        };
                        guarded!(self.spend(text.as_str().len() as u64 / 16));
                        reg!(a) = Value::Str(text);
                    }
                    Op::Concat => {
                        let parts = self.drain(base + usize::from(insn.b()), insn.c().into());
                        let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                        let len: usize = parts.iter().map(|part| part.len()).sum();
                        guarded!(self.heap.has_room(len));
                        guarded!(self.spend(len as u64 / 16));
                        reg!(a) = Value::Str(guarded!(Str::new(parts.concat(), &self.heap)));
                    }
                    Op::RegexTest | Op::RegexAll => {
                        let Some(&pattern) = function.patterns.get(usize::from(insn.c())) else {
                            return Err(unsound());
                        };
                        let text = match &reg!(insn.b()) {
                            Value::Str(text) => text.clone(),
                            Value::Nil => {
                                reg!(a) = match op {
                                    Op::RegexTest => Value::Bool(false),
                                    _ => Value::Nil,
                                };
                                continue;
                            }
                            other => {
                                let found = other.type_name();
                                guarded!(Err(Fault::ty(format!(
                                    "`regex_match` wants a string, not {found}"
                                ))))
                            }
                        };
                        frame!().at = at;
                        set!(a, guarded!(self.match_constant(pattern, &text, op)));
                    }
                    Op::Unmatched => {
                        let shown: String = reg!(a).to_source().chars().take(80).collect();
                        let text = Value::text(format!("no arm matches {shown}"), &self.heap);
                        guarded!(Err(Fault::Thrown(guarded!(text))));
                    }
                    // Of claims programs.
                    _ => return Err(unsound()),
                }
            }
        }
    }

    fn name(&self, function: &crate::harn::module::Function, number: u8) -> Result<Value, Fault> {
        let name = function
            .names
            .get(usize::from(number))
            .ok_or_else(unsound)?;
        Ok(Value::Str(Str::shared(name.text.clone(), &self.heap)?))
    }

    /// Ends the last frame. The value, if it was the one that is waited for.
    fn leave(&mut self, value: Value, depth: usize) -> Option<Value> {
        let frame = self.frames.pop()?;
        if self.frames.len() == depth {
            return Some(value);
        }
        if let Some(caller) = self.frames.last()
            && let Some(result) = frame.result
        {
            let registers = self.code.functions.get(caller.function as usize);
            let registers = registers.map_or(0, |code| usize::from(code.registers));
            self.stack.truncate(frame.base);
            self.stack
                .resize_with(caller.base + registers, Value::default);
            self.stack[result] = value;
        }
        None
    }

    /// What a loop takes its items from.
    fn items(&mut self, source: Value) -> Result<Value, Fault> {
        let source = match source {
            Value::List(list) => Source::List(list),
            Value::Dict(dict) => {
                self.spend(dict.len() as u64)?;
                let keys = dict.entries().keys().cloned().collect();
                Source::Dict(dict, keys)
            }
            Value::Range(range) => Source::Range(range.0, range.1),
            other => {
                let hint = match other {
                    Value::Str(_) => "; `.lines()` gives its lines, `.chars()` its characters",
                    _ => "",
                };
                return Err(Fault::ty(format!(
                    "a loop goes over a list, a dict or a range, not {}{hint}",
                    other.type_name()
                )));
            }
        };
        let charge = self.heap.charge(96)?;
        Ok(Value::Items(Rc::new(RefCell::new(Items {
            source,
            at: 0,
            _charge: charge,
        }))))
    }

    fn next_item(&self, items: &mut Items) -> Result<Option<Value>, Fault> {
        let at = items.at;
        items.at += 1;
        Ok(match &mut items.source {
            Source::List(list) => list.items().get(at).cloned(),
            Source::Dict(dict, keys) => match keys.get(at) {
                Some(key) => {
                    let value = dict.get(key.as_str()).cloned().unwrap_or_default();
                    let entry = [("key", Value::Str(key.clone())), ("value", value)];
                    Some(Value::Dict(Dict::from_pairs(entry, &self.heap)?))
                }
                None => None,
            },
            Source::Range(from, to) if *from < *to => {
                let item = *from;
                *from += 1;
                Some(Value::Int(item))
            }
            Source::Range(..) => None,
        })
    }
}

/// What walking over a value costs.
fn weight(value: &Value) -> u64 {
    match value {
        Value::Str(text) => text.as_str().len() as u64 / 16,
        other => u64::from(other.weight()),
    }
}
