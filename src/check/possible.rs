//! Which values a bool can take, as a set.

use super::typed::{TBool, TBoolKind};
use super::variable::Atom;

/// A subset of true and false, or that it is one of them and nobody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Possible {
    can_be_true: bool,
    can_be_false: bool,
}

impl Possible {
    pub(super) const NOTHING: Self = Self {
        can_be_true: false,
        can_be_false: false,
    };
    pub(super) const UNKNOWN: Self = Self {
        can_be_true: true,
        can_be_false: true,
    };

    pub(super) const fn only(value: bool) -> Self {
        Self {
            can_be_true: value,
            can_be_false: !value,
        }
    }

    /// The value, if there is but one.
    pub(super) const fn constant(self) -> Option<bool> {
        match (self.can_be_true, self.can_be_false) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    pub(super) const fn either(self, other: Self) -> Self {
        Self {
            can_be_true: self.can_be_true | other.can_be_true,
            can_be_false: self.can_be_false | other.can_be_false,
        }
    }

    const fn not(self) -> Self {
        Self {
            can_be_true: self.can_be_false,
            can_be_false: self.can_be_true,
        }
    }

    const fn and(self, other: Self) -> Self {
        Self {
            can_be_true: self.can_be_true & other.can_be_true,
            can_be_false: self.can_be_false | other.can_be_false,
        }
    }

    const fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    const fn equal(self, other: Self) -> Self {
        self.and(other).or(self.not().and(other.not()))
    }

    /// The values that a bool can take if each of its atoms goes its own way.
    /// Where two atoms look at one variable that is too many, never too few.
    pub(super) fn of(node: &TBool<'_>) -> Self {
        match node.kind {
            TBoolKind::Not(inner) => Self::of(inner).not(),
            TBoolKind::And(operands) => {
                let mut all = Self::only(true);
                for operand in operands {
                    all = all.and(Self::of(operand));
                }
                all
            }
            TBoolKind::Or(operands) => {
                let mut any = Self::only(false);
                for operand in operands {
                    any = any.or(Self::of(operand));
                }
                any
            }
            TBoolKind::EqualBool {
                negated,
                left,
                right,
            } => {
                let equal = Self::of(left).equal(Self::of(right));
                if negated { equal.not() } else { equal }
            }
            _ => Atom::of(node).map_or(Self::UNKNOWN, Atom::possible),
        }
    }
}
