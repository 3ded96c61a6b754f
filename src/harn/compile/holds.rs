//! What expressions hold.

use crate::harn::syntax::ast::{Arg, Entry, Expr, ExprKind};

/// Whether an expression has statements of the function itself in it, which may assign
/// its variables: those of `if`, `match` and `try`.
pub(super) fn has_statements(expr: &Expr<'_>) -> bool {
    match &expr.kind {
        ExprKind::If { .. } | ExprKind::Match(..) | ExprKind::Try { .. } => true,
        _ => any_operand(expr, has_statements),
    }
}

/// Whether an expression has the bare name `_` in it, outside of blocks and closures.
pub(super) fn mentions_placeholder(expr: &Expr<'_>) -> bool {
    expr.kind == ExprKind::Name("_") || any_operand(expr, mentions_placeholder)
}

/// Whether something holds of an operand of an expression. What it does with operands of
/// their own is up to it; trees are no deeper than the parser lets them be.
fn any_operand(expr: &Expr<'_>, holds: fn(&Expr<'_>) -> bool) -> bool {
    let of_args = |args: &[Arg<'_>]| args.iter().any(|arg| holds(&arg.value));
    match &expr.kind {
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Closure(_)
        | ExprKind::If { .. }
        | ExprKind::Match(..)
        | ExprKind::Try { .. }
        | ExprKind::Broken => false,
        ExprKind::Interpolated(parts) => parts.iter().any(holds),
        ExprKind::List(items) => of_args(items),
        ExprKind::Dict(entries) => entries.iter().any(|entry| match entry {
            Entry::Named(_, value) | Entry::Spread(value) => holds(value),
            Entry::Computed(key, value) => holds(key) || holds(value),
        }),
        ExprKind::Not(operand) | ExprKind::Negate(operand) => holds(operand),
        ExprKind::Binary(_, left, right)
        | ExprKind::Logic(_, left, right)
        | ExprKind::Pipe(left, right) => holds(left) || holds(right),
        ExprKind::Ternary(condition, then, otherwise) => {
            holds(condition) || holds(then) || holds(otherwise)
        }
        ExprKind::Property { object, .. } => holds(object),
        ExprKind::Index { object, index, .. } => holds(object) || holds(index),
        ExprKind::Slice { object, from, to } => {
            holds(object) || from.iter().chain(to).any(|bound| holds(bound))
        }
        ExprKind::Call(callee, args) => holds(callee) || of_args(args),
    }
}
