//! A watched run: for `--explain`, for the planner, and for the places that
//! decided.

use crate::code::{Arena, Insn, Kind, Op, Program, ProgramRef, Slot};
use crate::facts::FactTable;
use crate::vm::machine::{Tracer, run};
use crate::vm::value::{Truth, Value, Why};

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
}

/// Evaluates a program of an arena and keeps the trace.
#[must_use]
pub fn evaluate_traced(arena: &Arena, program: ProgramRef, table: &FactTable) -> Trace {
    let (words, consts) = arena.view(program);
    let mut steps = Steps(Vec::new());
    let truth = run(words, consts, table, &mut steps);
    Trace::new(truth, steps)
}

struct Steps(Vec<Step>);

impl Tracer for Steps {
    fn executed(&mut self, at: usize, insn: Insn, value: Value) {
        self.0.push(Step { at, insn, value });
    }
}

impl Trace {
    /// Evaluates a program against its own facts and keeps the trace.
    #[must_use]
    pub fn of(program: &Program, table: &FactTable) -> Self {
        let mut steps = Steps(Vec::new());
        let truth = run(program.words(), program.consts(), table, &mut steps);
        Self::new(truth, steps)
    }

    fn new(truth: Truth, steps: Steps) -> Self {
        // The last step is the return.
        let returned = steps.0.last().map_or(0, |step| step.insn.a());
        Self {
            truth,
            steps: steps.0,
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
            self.walk(|step| match step.value {
                Value::Unknown(cause) => {
                    if cause.why == Why::Pending
                        && reads_fact(step.insn)
                        && !facts.contains(&cause.fact)
                    {
                        facts.push(cause.fact);
                    }
                    true
                }
                // An operand of a part that is unknown may be known.
                Value::Bool(_) | Value::Int(_) | Value::AtLeast(..) | Value::Str(..) => false,
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
            let had = match step.value {
                Value::Bool(value) => Some(value),
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
