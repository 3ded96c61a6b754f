//! What a predicate's value can depend on: facts as variables.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use crate::facts::RegexFlags;

use super::pattern;
use super::possible::Possible;
use super::typed::{
    CompareOp, Stream, SubstringOp, TBool, TBoolKind, TInt, TIntKind, TStr, TStrKind,
};

/// An output of a command.
type Output<'a> = (&'a str, Stream);

/// A path; two spellings that differ in `.` and `//` alone are one place. `..` is
/// kept, for it may go through a link, and so is a slash at the end, which only a
/// directory has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a>(&'a str);

impl<'a> Place<'a> {
    fn parts(self) -> impl Iterator<Item = &'a str> {
        let absolute = self.0.starts_with('/').then_some("/");
        let parts = self.0.split('/').filter(|part| !matches!(*part, "" | "."));
        let slash = self.0.ends_with('/').then_some("");
        absolute.into_iter().chain(parts).chain(slash)
    }
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.parts().eq(other.parts())
    }
}

impl Eq for Place<'_> {}

impl Ord for Place<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(other.parts())
    }
}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Place<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for part in self.parts() {
            part.hash(state);
        }
    }
}

/// An integer of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum IntFact<'a> {
    Grep(&'a str, RegexFlags, Place<'a>),
    Count(&'a str, RegexFlags, Place<'a>),
    Lines(Output<'a>),
    Exit(&'a str),
}

impl<'a> IntFact<'a> {
    /// The fact behind a term, or the constant that it is.
    pub(super) const fn of(term: &TInt<'a>) -> Result<Self, i64> {
        Ok(match term.kind {
            TIntKind::Const(value) => return Err(value),
            TIntKind::Grep(pattern, path) => {
                Self::Grep(pattern.text, pattern.flags, Place(path.text))
            }
            TIntKind::Count(pattern, path) => {
                Self::Count(pattern.text, pattern.flags, Place(path.text))
            }
            TIntKind::Lines(command, stream) => Self::Lines((command, stream)),
            TIntKind::Exit(command) => Self::Exit(command),
        })
    }

    /// The smallest and the largest value.
    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Self::Exit(_) => (i32::MIN.into(), i32::MAX.into()),
            _ => (0, i64::MAX),
        }
    }
}

/// Something that can come out this way or that, whatever the others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Variable<'a> {
    Exists(Place<'a>),
    Passed(&'a str),
    Int(IntFact<'a>),
    /// Which of two facts is the larger: -1, 0 or 1.
    Order(IntFact<'a>, IntFact<'a>),
    SameOutput(Output<'a>, Output<'a>),
    Equal(Output<'a>, &'a str),
    Substring(SubstringOp, Output<'a>, &'a str),
    Matches(Output<'a>, &'a str, RegexFlags),
}

impl Variable<'_> {
    /// The values at the ends; bools are 0 and 1.
    pub(super) fn range(self) -> (i64, i64) {
        match self {
            Self::Int(fact) => fact.range(),
            Self::Order(..) => (-1, 1),
            _ => (0, 1),
        }
    }
}

/// What decides a bool without operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Atom<'a> {
    /// Nothing in the world.
    Fixed(Possible),
    /// Whether a variable compares so with a constant.
    Test(Variable<'a>, CompareOp, i64),
}

impl<'a> Atom<'a> {
    /// The atom, or `None` if the bool has operands.
    pub(super) fn of(node: &TBool<'a>) -> Option<Self> {
        Some(match node.kind {
            TBoolKind::Not(_)
            | TBoolKind::And(_)
            | TBoolKind::Or(_)
            | TBoolKind::EqualBool { .. } => return None,
            TBoolKind::Const(value) => Self::Fixed(Possible::only(value)),
            TBoolKind::Exists(path) => Self::truth(Variable::Exists(Place(path.text))),
            TBoolKind::Passed(name) => Self::truth(Variable::Passed(name)),
            TBoolKind::CompareInt(op, left, right) => Self::compare(op, &left, &right),
            TBoolKind::EqualStr {
                negated,
                left,
                right,
            } => Self::equal(negated, &left, &right),
            TBoolKind::Substring(op, subject, needle) => match subject.kind {
                TStrKind::Const(text) => Self::Fixed(Possible::only(match op {
                    SubstringOp::Contains => text.contains(needle),
                    SubstringOp::StartsWith => text.starts_with(needle),
                    SubstringOp::EndsWith => text.ends_with(needle),
                })),
                TStrKind::Output(..) if needle.is_empty() => Self::Fixed(Possible::only(true)),
                TStrKind::Output(command, stream) => {
                    Self::truth(Variable::Substring(op, (command, stream), needle))
                }
            },
            TBoolKind::Matches(subject, pattern) => match subject.kind {
                TStrKind::Const(text) => Self::Fixed(
                    pattern::matches(pattern.text, pattern.flags, text)
                        .map_or(Possible::UNKNOWN, Possible::only),
                ),
                TStrKind::Output(command, stream) => Self::truth(Variable::Matches(
                    (command, stream),
                    pattern.text,
                    pattern.flags,
                )),
            },
        })
    }

    const fn truth(variable: Variable<'a>) -> Self {
        Self::Test(variable, CompareOp::Eq, 1)
    }

    fn compare(op: CompareOp, left: &TInt<'a>, right: &TInt<'a>) -> Self {
        match (IntFact::of(left), IntFact::of(right)) {
            (Err(a), Err(b)) => Self::Fixed(Possible::only(op.holds(a, b))),
            (Ok(fact), Err(value)) => Self::Test(Variable::Int(fact), op, value),
            (Err(value), Ok(fact)) => Self::Test(Variable::Int(fact), op.mirrored(), value),
            (Ok(a), Ok(b)) if a == b => Self::Fixed(Possible::only(op.holds(0, 0))),
            (Ok(a), Ok(b)) if a < b => Self::Test(Variable::Order(a, b), op, 0),
            (Ok(a), Ok(b)) => Self::Test(Variable::Order(b, a), op.mirrored(), 0),
        }
    }

    fn equal(negated: bool, left: &TStr<'a>, right: &TStr<'a>) -> Self {
        let variable = match (left.kind, right.kind) {
            (TStrKind::Const(a), TStrKind::Const(b)) => {
                return Self::Fixed(Possible::only((a == b) != negated));
            }
            (TStrKind::Output(command, stream), TStrKind::Const(text))
            | (TStrKind::Const(text), TStrKind::Output(command, stream)) => {
                Variable::Equal((command, stream), text)
            }
            (TStrKind::Output(a, of_a), TStrKind::Output(b, of_b)) => {
                let (a, b) = ((a, of_a), (b, of_b));
                if a == b {
                    return Self::Fixed(Possible::only(!negated));
                }
                Variable::SameOutput(a.min(b), a.max(b))
            }
        };
        Self::Test(variable, CompareOp::Eq, i64::from(!negated))
    }

    /// What it can come out as, looked at alone.
    pub(super) fn possible(self) -> Possible {
        match self {
            Self::Fixed(possible) => possible,
            Self::Test(variable, op, value) => {
                let (low, high) = variable.range();
                [
                    low,
                    value.saturating_sub(1),
                    value,
                    value.saturating_add(1),
                    high,
                ]
                .into_iter()
                .map(|candidate| Possible::only(op.holds(candidate.clamp(low, high), value)))
                .fold(Possible::NOTHING, Possible::either)
            }
        }
    }
}
