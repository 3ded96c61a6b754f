//! Predicates that look at one variable in several places: a search through
//! the cases that make a difference.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::typed::{CompareOp, TBool, TBoolKind};
use super::variable::{Atom, Variable};

/// Nodes that may be looked at for one predicate; some milliseconds.
const STEPS: usize = 200_000;

/// Too many cases to go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undecided;

/// A formula over variables with few values each.
pub(super) struct Cases<'a> {
    variables: HashMap<Variable<'a>, usize, RandomState>,
    /// For each variable the values between which no test can tell others apart.
    values: Vec<Vec<i64>>,
    assigned: Vec<Option<i64>>,
    steps: usize,
}

/// A bool with its variables looked up.
enum Node {
    Fixed(bool),
    Test(usize, CompareOp, i64),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Equal(Box<(Self, Self)>),
}

impl<'a> Cases<'a> {
    pub(super) fn new() -> Self {
        Self {
            variables: HashMap::default(),
            values: Vec::new(),
            assigned: Vec::new(),
            steps: 0,
        }
    }

    /// The one value that a predicate has in every case, if there is one.
    pub(super) fn constant(&mut self, node: &TBool<'a>) -> Result<Option<bool>, Undecided> {
        let node = self.translate(node);
        for values in &mut self.values {
            values.sort_unstable();
            values.dedup();
        }
        Ok(if !self.reaches(&node, true)? {
            Some(false)
        } else if !self.reaches(&node, false)? {
            Some(true)
        } else {
            None
        })
    }

    fn translate(&mut self, node: &TBool<'a>) -> Node {
        match node.kind {
            TBoolKind::Not(inner) => Node::Not(Box::new(self.translate(inner))),
            TBoolKind::And(operands) => {
                Node::All(operands.iter().map(|each| self.translate(each)).collect())
            }
            TBoolKind::Or(operands) => {
                Node::Any(operands.iter().map(|each| self.translate(each)).collect())
            }
            TBoolKind::EqualBool {
                negated,
                left,
                right,
            } => {
                let equal = Node::Equal(Box::new((self.translate(left), self.translate(right))));
                if negated {
                    Node::Not(Box::new(equal))
                } else {
                    equal
                }
            }
            _ => match Atom::of(node) {
                Some(Atom::Test(variable, op, value)) => {
                    Node::Test(self.variable(variable, value), op, value)
                }
                // The caller has seen to it that fixed atoms are known.
                Some(Atom::Fixed(possible)) => Node::Fixed(possible.constant() == Some(true)),
                None => Node::Fixed(false),
            },
        }
    }

    /// The index of a variable; its values get those around `value`.
    fn variable(&mut self, variable: Variable<'a>, value: i64) -> usize {
        let (low, high) = variable.range();
        let index = *self.variables.entry(variable).or_insert_with(|| {
            self.values.push(vec![low, high]);
            self.assigned.push(None);
            self.values.len() - 1
        });
        let near = [value.saturating_sub(1), value, value.saturating_add(1)];
        self.values[index].extend(near.map(|candidate| candidate.clamp(low, high)));
        index
    }

    /// True if some case gives the node that value. Depth first, with the
    /// choices on a list of their own.
    fn reaches(&mut self, node: &Node, wanted: bool) -> Result<bool, Undecided> {
        let mut choices: Vec<(usize, usize)> = Vec::new();
        let found = loop {
            match self.evaluate(node)? {
                Ok(value) if value == wanted => break true,
                Ok(_) => {}
                Err(variable) => {
                    self.assigned[variable] = self.values[variable].first().copied();
                    choices.push((variable, 0));
                    continue;
                }
            }
            if !self.next_case(&mut choices) {
                break false;
            }
        };
        self.assigned.fill(None);
        Ok(found)
    }

    /// Moves the latest choice that can move; false if none can.
    fn next_case(&mut self, choices: &mut Vec<(usize, usize)>) -> bool {
        while let Some((variable, chosen)) = choices.pop() {
            if let Some(&value) = self.values[variable].get(chosen + 1) {
                self.assigned[variable] = Some(value);
                choices.push((variable, chosen + 1));
                return true;
            }
            self.assigned[variable] = None;
        }
        false
    }

    /// The value under the choices so far, or a variable that it waits for.
    fn evaluate(&mut self, node: &Node) -> Result<Result<bool, usize>, Undecided> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Undecided);
        }
        Ok(match node {
            Node::Fixed(value) => Ok(*value),
            Node::Test(variable, op, value) => self.assigned[*variable]
                .map(|assigned| op.holds(assigned, *value))
                .ok_or(*variable),
            Node::Not(inner) => self.evaluate(inner)?.map(|value| !value),
            Node::All(operands) => self.evaluate_all(operands, true)?,
            Node::Any(operands) => self.evaluate_all(operands, false)?,
            Node::Equal(sides) => match (self.evaluate(&sides.0)?, self.evaluate(&sides.1)?) {
                (Ok(left), Ok(right)) => Ok(left == right),
                (Err(variable), _) | (_, Err(variable)) => Err(variable),
            },
        })
    }

    /// `neutral` unless one operand is the other value.
    fn evaluate_all(
        &mut self,
        operands: &[Node],
        neutral: bool,
    ) -> Result<Result<bool, usize>, Undecided> {
        let mut result = Ok(neutral);
        for operand in operands {
            match self.evaluate(operand)? {
                Ok(value) if value != neutral => return Ok(Ok(value)),
                Ok(_) => {}
                Err(variable) => result = result.and(Err(variable)),
            }
        }
        Ok(result)
    }
}
