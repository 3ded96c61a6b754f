//! The interpreter loop.
//!
//! Truth is three-valued: `and` and `or` follow Kleene's strong logic, an
//! unknown operand of anything else makes it unknown, and of two unknowns the
//! left one stays, so that the reported reason is the leftmost that decides.
//! Claims programs only jump forward, so the number of instructions bounds the
//! run and no fuel is counted here: a run is charged [`Program::fuel`].

use crate::code::{Arena, Const, HEADER_WORDS, Insn, Op, Program, ProgramRef};
use crate::compare::CompareOp;
use crate::facts::{Cell, FactTable};
use crate::vm::compare::{compare, decided};
use crate::vm::text::Strings;
use crate::vm::value::{Cause, Text, Truth, Value, View, Why};

/// Evaluates a program against its own facts: number N of the table is fact N
/// of [`Program::facts`]. Allocates nothing.
#[must_use]
pub fn evaluate(program: &Program, table: &FactTable) -> Truth {
    quick(program.words(), program.consts(), table)
}

/// Evaluates a program of an arena against the facts of its batch. Allocates
/// nothing.
#[must_use]
pub fn evaluate_in(arena: &Arena, program: ProgramRef, table: &FactTable) -> Truth {
    let (words, consts) = arena.view(program);
    quick(words, consts, table)
}

/// Most predicates are one check: one instruction and a return. Those need no
/// registers and no loop.
#[inline]
fn quick(words: &[u32], consts: &[Const], table: &FactTable) -> Truth {
    if let &[head, _, fact, word, ret, ..] = words
        && head == ONE_FACT_ONE_REGISTER
        && Insn(ret) == Insn::abc(Op::Ret, 0, 0, 0)
    {
        let insn = Insn(word);
        let cell = table.cell(fact);
        let right = i64::from(insn.c());
        match (insn.op(), cell) {
            (Some(Op::LoadBool), Cell::Bool(value)) => return known(value),
            (Some(Op::CountGe), Cell::Int(count)) => return known(count >= right),
            (Some(Op::CountEq), Cell::Int(count)) => return known(count == right),
            (Some(Op::CountNe), Cell::Int(count)) => return known(count != right),
            (Some(Op::CountGt), Cell::Int(count)) => return known(count > right),
            (Some(Op::CountLe), Cell::Int(count)) => return known(count <= right),
            (Some(Op::CountLt), Cell::Int(count)) => return known(count < right),
            _ => {}
        }
    }
    run(words, consts, table, &mut Untraced)
}

/// The first word of such a program.
const ONE_FACT_ONE_REGISTER: u32 = 1 | 1 << 16;

#[inline]
const fn known(value: bool) -> Truth {
    if value { Truth::True } else { Truth::False }
}

/// Somebody who watches a run.
pub(super) trait Tracer {
    /// An instruction was executed: `value` is what it left in its register, or
    /// for a jump or return what it read.
    fn executed(&mut self, at: usize, insn: Insn, value: Value);
}

struct Untraced;

impl Tracer for Untraced {
    #[inline]
    fn executed(&mut self, _: usize, _: Insn, _: Value) {}
}

/// Picks the smallest register file that the program fits in: clearing 256
/// registers would cost more than the run.
#[inline(never)]
pub(super) fn run<T: Tracer>(
    words: &[u32],
    consts: &[Const],
    table: &FactTable,
    tracer: &mut T,
) -> Truth {
    let Some((&[head, first_const], rest)) = words.split_first_chunk::<HEADER_WORDS>() else {
        return unsound();
    };
    let facts = (head & 0xffff) as usize;
    let Some((facts, code)) = rest.split_at_checked(facts) else {
        return unsound();
    };
    let machine = Machine {
        facts,
        code,
        first_const,
        strings: Strings { table, consts },
    };
    match head >> 16 {
        0..=4 => machine.run::<4, T>(tracer),
        _ => run_large(&machine, tracer),
    }
}

/// Kept apart so that its register file is not part of every frame.
#[inline(never)]
fn run_large<T: Tracer>(machine: &Machine<'_>, tracer: &mut T) -> Truth {
    machine.run::<256, T>(tracer)
}

const fn unsound() -> Truth {
    Truth::Unknown(Cause {
        fact: 0,
        why: Why::Program,
    })
}

struct Machine<'a> {
    facts: &'a [u32],
    code: &'a [u32],
    first_const: u32,
    strings: Strings<'a>,
}

impl Machine<'_> {
    /// The verifier has proved registers, facts, constants and jumps in bounds.
    /// The machine stays memory-safe and fails closed without that proof: masks
    /// keep registers in the file, and what is out of bounds is unknown.
    #[inline]
    fn run<const N: usize, T: Tracer>(&self, tracer: &mut T) -> Truth {
        let mut registers = [Value::FALSE; N];
        let mut at = 0;
        while let Some(&word) = self.code.get(at) {
            let insn = Insn(word);
            let Some(op) = insn.op() else {
                return unsound();
            };
            let read = |register: u8| registers[usize::from(register) % N];
            let value = match op {
                Op::Ret => {
                    tracer.executed(at, insn, read(insn.a()));
                    return read(insn.a()).truth();
                }
                Op::JumpFalse | Op::JumpTrue => {
                    tracer.executed(at, insn, read(insn.a()));
                    let taken = read(insn.a()) == Value::bool(op == Op::JumpTrue);
                    at = if taken {
                        usize::from(insn.bc()).max(at + 1)
                    } else {
                        at + 1
                    };
                    continue;
                }
                Op::ConstBool => Value::bool(insn.bc() == 1),
                Op::ConstInt => Value::int(i64::from(insn.bc().cast_signed())),
                Op::ConstWide => match self.strings.consts.get(self.constant(insn.b()) as usize) {
                    Some(&Const::Int(value)) => Value::int(value),
                    _ => return unsound(),
                },
                Op::ConstStr => Value::str(self.constant(insn.b()), Text::Const),
                Op::LoadBool => self.load_bool(insn.b()),
                Op::LoadCount => self.load_count(insn.b()),
                Op::LoadExit => self.load_exit(insn.b()),
                Op::LoadStdout => self.load_text(insn.b(), Text::Stdout),
                Op::LoadStderr => self.load_text(insn.b(), Text::Stderr),
                Op::Lines => self.strings.lines(read(insn.b())),
                Op::EqInt => compare(CompareOp::Eq, read(insn.b()), read(insn.c())),
                Op::NeInt => compare(CompareOp::Ne, read(insn.b()), read(insn.c())),
                Op::LtInt => compare(CompareOp::Lt, read(insn.b()), read(insn.c())),
                Op::LeInt => compare(CompareOp::Le, read(insn.b()), read(insn.c())),
                Op::GtInt => compare(CompareOp::Gt, read(insn.b()), read(insn.c())),
                Op::GeInt => compare(CompareOp::Ge, read(insn.b()), read(insn.c())),
                Op::EqBool => equal(read(insn.b()), read(insn.c()), false),
                Op::NeBool => equal(read(insn.b()), read(insn.c()), true),
                Op::EqStr => self.strings.equal(read(insn.b()), read(insn.c()), false),
                Op::NeStr => self.strings.equal(read(insn.b()), read(insn.c()), true),
                Op::Contains => self
                    .strings
                    .contains(read(insn.b()), self.constant(insn.c())),
                Op::Starts => self
                    .strings
                    .starts_with(read(insn.b()), self.constant(insn.c())),
                Op::Ends => self
                    .strings
                    .ends_with(read(insn.b()), self.constant(insn.c())),
                Op::Matches => self
                    .strings
                    .matches(read(insn.b()), self.constant(insn.c())),
                Op::Not => match read(insn.b()).view() {
                    View::Bool(value) => Value::bool(!value),
                    _ => read(insn.b()),
                },
                Op::And => connect(read(insn.b()), read(insn.c()), false),
                Op::Or => connect(read(insn.b()), read(insn.c()), true),
                Op::CountEq => self.count(CompareOp::Eq, insn),
                Op::CountNe => self.count(CompareOp::Ne, insn),
                Op::CountLt => self.count(CompareOp::Lt, insn),
                Op::CountLe => self.count(CompareOp::Le, insn),
                Op::CountGt => self.count(CompareOp::Gt, insn),
                Op::CountGe => self.count(CompareOp::Ge, insn),
                Op::ExitEq => self.exit(CompareOp::Eq, insn),
                Op::ExitNe => self.exit(CompareOp::Ne, insn),
                Op::StdoutContains => self.strings.contains(
                    self.load_text(insn.b(), Text::Stdout),
                    self.constant(insn.c()),
                ),
                // Of modules: the verifier refuses them.
                _ => return unsound(),
            };
            registers[usize::from(insn.a()) % N] = value;
            tracer.executed(at, insn, value);
            at += 1;
        }
        unsound()
    }

    #[inline]
    const fn constant(&self, number: u8) -> u32 {
        self.first_const.saturating_add(number as u32)
    }

    /// The number in the table of a fact of the program, and the fact.
    #[inline]
    fn fact(&self, number: u8) -> (u32, Cell) {
        match self.facts.get(usize::from(number)) {
            Some(&fact) => (fact, self.strings.table.cell(fact)),
            None => (0, Cell::Pending),
        }
    }

    #[inline]
    fn load_bool(&self, number: u8) -> Value {
        match self.fact(number) {
            (_, Cell::Bool(value)) => Value::bool(value),
            (fact, cell) => unknown(fact, cell),
        }
    }

    #[inline]
    fn load_count(&self, number: u8) -> Value {
        match self.fact(number) {
            (_, Cell::Int(count)) => Value::int(count),
            (fact, Cell::AtLeast(bound)) => Value::at_least(bound, fact),
            (fact, cell) => unknown(fact, cell),
        }
    }

    #[inline]
    fn count(&self, op: CompareOp, insn: Insn) -> Value {
        let right = i64::from(insn.c());
        match self.fact(insn.b()) {
            (_, Cell::Int(count)) => Value::bool(op.holds(count, right)),
            (fact, Cell::AtLeast(bound)) => decided(op.holds_from(bound, right), fact),
            (fact, cell) => unknown(fact, cell),
        }
    }

    #[inline]
    fn load_exit(&self, number: u8) -> Value {
        match self.fact(number) {
            (fact, Cell::Run(run)) => match self.strings.table.run(run) {
                Some(output) => Value::int(output.exit),
                None => unknown(fact, Cell::Run(run)),
            },
            (fact, cell) => unknown(fact, cell),
        }
    }

    #[inline]
    fn exit(&self, op: CompareOp, insn: Insn) -> Value {
        compare(
            op,
            self.load_exit(insn.b()),
            Value::int(i64::from(insn.c())),
        )
    }

    #[inline]
    fn load_text(&self, number: u8, text: Text) -> Value {
        match self.fact(number) {
            (fact, Cell::Run(_)) => Value::str(fact, text),
            (fact, cell) => unknown(fact, cell),
        }
    }
}

#[cold]
fn unknown(fact: u32, cell: Cell) -> Value {
    let why = match cell {
        Cell::Pending => Why::Pending,
        Cell::Unknown(_) => Why::Fact,
        Cell::Bool(_) | Cell::Int(_) | Cell::AtLeast(_) | Cell::Run(_) => Why::Mistyped,
    };
    Value::unknown(fact, why)
}

#[inline]
fn equal(left: Value, right: Value, negated: bool) -> Value {
    match (left.view(), right.view()) {
        (View::Bool(left), View::Bool(right)) => Value::bool((left == right) != negated),
        (View::Unknown(_), _) => left,
        (_, View::Unknown(_)) => right,
        _ => Value::UNSOUND,
    }
}

/// Kleene's `and` (deciding value false) and `or` (deciding value true).
#[inline]
fn connect(left: Value, right: Value, deciding: bool) -> Value {
    let decides = Value::bool(deciding);
    if left == decides || right == decides {
        decides
    } else if left.is_unknown() {
        left
    } else {
        right
    }
}
