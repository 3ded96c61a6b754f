//! A watched run: for `--explain`, for the planner, and for the places that
//! decided.

use crate::code::{Arena, Insn, Kind, Op, Program, ProgramRef, Slot};
use crate::facts::FactTable;
use crate::vm::machine::{Tracer, run};
use crate::vm::value::{Truth, Value, View, Why};

/// What a run did, instruction by instruction.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What it came to.
    pub truth: Truth,
    steps: Vec<Step>,
    returned: u8,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    at: usize,
    insn: Insn,
    value: Value,
    /// The left operand stays unknown, which makes it the reason: what the right
    /// one hangs on does not matter.
    settled: bool,
}

/// Evaluates a program of an arena and keeps the trace.
#[must_use]
pub fn evaluate_traced(arena: &Arena, program: ProgramRef, table: &FactTable) -> Trace {
    let (words, consts) = arena.view(program);
    let mut steps = Steps::new(words.len());
    let truth = run(words, consts, table, &mut steps);
    Trace::new(truth, steps)
}

struct Steps {
    steps: Vec<Step>,
    registers: [Known; 256],
}

/// What is known of a register's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// The value.
    Value,
    /// It may become known when facts arrive.
    Open,
    /// It stays unknown.
    Never,
}

impl Steps {
    /// For a program of so many instructions, of which a run may skip most.
    fn new(insns: usize) -> Self {
        Self {
            steps: Vec::with_capacity(insns.min(16)),
            registers: [Known::Value; 256],
        }
    }
}

impl Tracer for Steps {
    fn executed(&mut self, at: usize, insn: Insn, value: Value) {
        let known = |register: u8| self.registers[usize::from(register)];
        // `and` and `or` may be decided by either side. Anything else needs both,
        // and of two unknowns the left one is the reason.
        let either = matches!(insn.op(), Some(Op::And | Op::Or));
        let settled = !either && reads(insn).next().map(known) == Some(Known::Never);
        let open = reads(insn).any(|register| known(register) == Known::Open);
        let known = match value.view() {
            View::Unknown(cause) if open || (reads_fact(insn) && cause.why == Why::Pending) => {
                if settled {
                    Known::Never
                } else {
                    Known::Open
                }
            }
            View::Unknown(_) => Known::Never,
            View::Bool(_) | View::Int(_) | View::AtLeast(..) | View::Str(..) => Known::Value,
        };
        if writes(insn) {
            self.registers[usize::from(insn.a())] = known;
        }
        self.steps.push(Step {
            at,
            insn,
            value,
            settled,
        });
    }
}

impl Trace {
    /// Evaluates a program against its own facts and keeps the trace.
    #[must_use]
    pub fn of(program: &Program, table: &FactTable) -> Self {
        let mut steps = Steps::new(program.words().len());
        let truth = run(program.words(), program.consts(), table, &mut steps);
        Self::new(truth, steps)
    }

    fn new(truth: Truth, steps: Steps) -> Self {
        // The last step is the return.
        let returned = steps.steps.last().map_or(0, |step| step.insn.a());
        Self {
            truth,
            steps: steps.steps,
            returned,
        }
    }

    /// The numbers in the fact table of the facts that may still decide the
    /// program, in order of use and without repeats. Empty once it is decided.
    ///
    /// An operand of a part that is decided without it is not among them:
    /// `(exists("a") && false) || exists("b")` needs only `b`.
    #[must_use]
    pub fn needed(&self) -> Vec<u32> {
        let mut facts = Vec::new();
        if let Truth::Unknown(_) = self.truth {
            self.walk(|step| match step.value.view() {
                View::Unknown(cause) => {
                    if cause.why == Why::Pending
                        && reads_fact(step.insn)
                        && !facts.contains(&cause.fact)
                    {
                        facts.push(cause.fact);
                    }
                    !step.settled
                }
                // An operand of a part that is unknown may be known.
                View::Bool(_) | View::Int(_) | View::AtLeast(..) | View::Str(..) => false,
            });
            facts.reverse();
        }
        facts
    }

    /// The instructions that decided, in program order: of a conjunction that is
    /// false the parts that were found false, of one that is true all parts, of
    /// an unknown the unknown parts.
    #[must_use]
    pub fn deciding(&self) -> Vec<usize> {
        let root = match self.truth {
            Truth::True => Some(true),
            Truth::False => Some(false),
            Truth::Unknown(_) => None,
        };
        let mut leaves = Vec::new();
        self.walk_deciding(root, &mut leaves);
        leaves.reverse();
        leaves
    }

    /// Visits the steps that the result hangs on, last first. The visitor says
    /// whether the operands of a step count, too.
    fn walk(&self, mut visit: impl FnMut(&Step) -> bool) {
        let mut wanted = [false; 256];
        wanted[usize::from(self.returned)] = true;
        for step in self.steps.iter().rev().filter(|step| writes(step.insn)) {
            let target = usize::from(step.insn.a());
            if !std::mem::take(&mut wanted[target]) {
                continue;
            }
            if visit(step) {
                for register in reads(step.insn) {
                    wanted[usize::from(register)] = true;
                }
            }
        }
    }

    fn walk_deciding(&self, root: Option<bool>, leaves: &mut Vec<usize>) {
        // For each register: the truth value that its writer must have had to
        // matter.
        let mut wanted: [Option<Option<bool>>; 256] = [None; 256];
        wanted[usize::from(self.returned)] = Some(root);
        for step in self.steps.iter().rev().filter(|step| writes(step.insn)) {
            let Some(truth) = wanted[usize::from(step.insn.a())].take() else {
                continue;
            };
            let had = match step.value.view() {
                View::Bool(value) => Some(value),
                _ => None,
            };
            if had != truth {
                continue;
            }
            match step.insn.op() {
                Some(Op::And | Op::Or) => {
                    wanted[usize::from(step.insn.b())] = Some(truth);
                    wanted[usize::from(step.insn.c())] = Some(truth);
                }
                Some(Op::Not) => {
                    wanted[usize::from(step.insn.b())] = Some(truth.map(|truth| !truth));
                }
                _ => leaves.push(step.at),
            }
        }
    }
}

fn writes(insn: Insn) -> bool {
    has(insn, |kind| {
        matches!(kind, Kind::DstTri | Kind::DstInt | Kind::DstStr)
    })
}

fn reads_fact(insn: Insn) -> bool {
    has(insn, |kind| {
        matches!(kind, Kind::FactBool | Kind::FactCount | Kind::FactRun)
    })
}

fn has(insn: Insn, wanted: impl Fn(Kind) -> bool) -> bool {
    insn.op().is_some_and(|op| {
        op.info()
            .operands
            .iter()
            .any(|operand| wanted(operand.kind))
    })
}

fn reads(insn: Insn) -> impl Iterator<Item = u8> {
    let operands = insn.op().map_or(&[][..], |op| op.info().operands);
    operands
        .iter()
        .filter(|operand| matches!(operand.kind, Kind::Tri | Kind::Int | Kind::Str))
        .map(move |operand| match operand.slot {
            Slot::A => insn.a(),
            Slot::B | Slot::Bc => insn.b(),
            Slot::C => insn.c(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::{FactSpec, Parts, verify};
    use crate::diagnostic::Span;
    use crate::facts::{FactKey, FactValue, PathSpec};
    use crate::language::Language;
    use crate::reason::{Reason, ReasonCode};

    /// Facts 0, 1, … are `exists`; instruction N spans byte N.
    fn program(facts: usize, insns: &[Insn]) -> Program {
        let exists = |number: usize| FactSpec {
            key: FactKey::Exists(PathSpec {
                text: number.to_string().into(),
                glob: false,
            }),
            limit: None,
            span: Span::default(),
        };
        verify(Parts {
            language: Language::ElenchV1,
            source: "x".repeat(insns.len() + 1).into(),
            registers: 4,
            insns: insns.to_vec(),
            facts: (0..facts).map(exists).collect(),
            consts: Vec::new(),
            spans: (0..insns.len()).map(|at| Span::new(at, at + 1)).collect(),
            warnings: Vec::new(),
        })
        .unwrap()
    }

    fn load(register: u8, fact: u8) -> Insn {
        Insn::abc(Op::LoadBool, register, fact, 0)
    }

    const RET: Insn = Insn::abc(Op::Ret, 0, 0, 0);

    /// `(f0 && f1) || f2`
    fn either() -> Program {
        program(
            3,
            &[
                load(0, 0),
                Insn::wide(Op::JumpFalse, 0, 4),
                load(1, 1),
                Insn::abc(Op::And, 0, 0, 1),
                Insn::wide(Op::JumpTrue, 0, 7),
                load(1, 2),
                Insn::abc(Op::Or, 0, 0, 1),
                RET,
            ],
        )
    }

    fn table(facts: &[(usize, FactValue)]) -> FactTable {
        let mut table = FactTable::with_len(3);
        for (number, value) in facts {
            table.set(*number, value.clone());
        }
        table
    }

    fn unknown() -> FactValue {
        FactValue::Unknown(Reason::new(ReasonCode::ReadError, "no"))
    }

    #[test]
    fn everything_pending_is_needed() {
        let trace = Trace::of(&either(), &table(&[]));
        assert_eq!(trace.needed(), [0, 1, 2]);
    }

    #[test]
    fn a_part_that_is_decided_needs_no_more() {
        let no = FactValue::Bool(false);
        let trace = Trace::of(&either(), &table(&[(1, no.clone())]));
        assert_eq!(
            trace.needed(),
            [2],
            "f0 cannot save a conjunction with f1 false"
        );
        let trace = Trace::of(&either(), &table(&[(2, FactValue::Bool(true))]));
        assert_eq!(trace.truth, Truth::True);
        assert!(trace.needed().is_empty());
        let trace = Trace::of(&either(), &table(&[(0, no)]));
        assert_eq!(trace.needed(), [2], "f1 was jumped over");
    }

    #[test]
    fn beside_a_failed_fact_a_pending_one_may_still_decide() {
        let trace = Trace::of(&either(), &table(&[(0, unknown())]));
        assert_eq!(trace.needed(), [1, 2]);
        let trace = Trace::of(
            &either(),
            &table(&[(0, unknown()), (1, FactValue::Bool(true))]),
        );
        assert_eq!(trace.needed(), [2]);
    }

    #[test]
    fn behind_a_failed_operand_the_other_one_is_not_needed() {
        let either_order = |left, right| {
            let equal = program(
                2,
                &[
                    load(0, left),
                    load(1, right),
                    Insn::abc(Op::EqBool, 0, 0, 1),
                    RET,
                ],
            );
            Trace::of(&equal, &table(&[(0, unknown())])).needed()
        };
        assert!(either_order(0, 1).is_empty());
        // Here the pending one may be the reason.
        assert_eq!(either_order(1, 0), [1]);
        // A conjunction with a failed part may still become false.
        let nested = program(
            3,
            &[
                load(0, 0),
                load(1, 1),
                Insn::abc(Op::And, 0, 0, 1),
                load(1, 2),
                Insn::abc(Op::EqBool, 0, 0, 1),
                RET,
            ],
        );
        assert_eq!(
            Trace::of(&nested, &table(&[(0, unknown())])).needed(),
            [1, 2]
        );
    }

    #[test]
    fn the_leftmost_unknown_that_decides_is_the_reason() {
        let facts = [(0, unknown()), (1, unknown()), (2, FactValue::Bool(false))];
        let trace = Trace::of(&either(), &table(&facts));
        let Truth::Unknown(cause) = trace.truth else {
            panic!("{:?}", trace.truth);
        };
        assert_eq!(cause.fact, 0);
        assert!(trace.needed().is_empty());
    }

    #[test]
    fn the_deciding_parts_are_those_that_made_it_so() {
        let (yes, no) = (FactValue::Bool(true), FactValue::Bool(false));
        let all = |a: &FactValue, b: &FactValue, c: &FactValue| {
            let facts = [(0, a.clone()), (1, b.clone()), (2, c.clone())];
            Trace::of(&either(), &table(&facts)).deciding()
        };
        assert_eq!(
            all(&yes, &no, &no),
            [2, 5],
            "f1 and f2 are false; f0 is not at fault"
        );
        assert_eq!(all(&no, &yes, &no), [0, 5]);
        assert_eq!(all(&yes, &yes, &no), [0, 2]);
        assert_eq!(all(&unknown(), &yes, &no), [0]);
    }

    #[test]
    fn a_negation_turns_what_is_wanted() {
        let not = program(1, &[load(0, 0), Insn::abc(Op::Not, 0, 0, 0), RET]);
        let trace = Trace::of(&not, &table(&[(0, FactValue::Bool(true))]));
        assert_eq!(trace.truth, Truth::False);
        assert_eq!(trace.deciding(), [0]);
    }
}
