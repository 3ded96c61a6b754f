//! Parts whose value is known without any fact.

use crate::check::typed::{TBool, TBoolKind, TInt, TIntKind};

/// The value of a part that names no fact, or that a constant operand decides.
/// Strings are left to the machine: only a vacuous predicate compares two
/// literals.
pub(super) fn constant(node: &TBool<'_>) -> Option<bool> {
    match node.kind {
        TBoolKind::Const(value) => Some(value),
        TBoolKind::Not(inner) => constant(inner).map(|value| !value),
        TBoolKind::And(parts) => connected(parts, false),
        TBoolKind::Or(parts) => connected(parts, true),
        TBoolKind::CompareInt(op, left, right) => {
            Some(op.holds(int_constant(&left)?, int_constant(&right)?))
        }
        TBoolKind::EqualBool {
            negated,
            left,
            right,
        } => Some((constant(left)? == constant(right)?) != negated),
        TBoolKind::Exists(_)
        | TBoolKind::Passed(_)
        | TBoolKind::EqualStr { .. }
        | TBoolKind::Substring(..)
        | TBoolKind::Matches(..) => None,
    }
}

/// The value of an int literal.
pub(super) fn int_constant(node: &TInt<'_>) -> Option<i64> {
    match node.kind {
        TIntKind::Const(value) => Some(value),
        _ => None,
    }
}

fn connected(parts: &[TBool<'_>], deciding: bool) -> Option<bool> {
    let mut open = false;
    for part in parts {
        match constant(part) {
            Some(value) if value == deciding => return Some(deciding),
            Some(_) => {}
            None => open = true,
        }
    }
    (!open).then_some(!deciding)
}
