//! What may come between reading an operand and using it.

use crate::harn::syntax::ast::{Arg, Entry, Expr, ExprKind};

/// Whether an expression has statements of the function itself in it, which may assign
/// its variables: those of `if`, `match` and `try`. Trees are no deeper than the parser
/// lets them be.
pub(super) fn has_statements(expr: &Expr<'_>) -> bool {
    let in_args = |args: &[Arg<'_>]| args.iter().any(|arg| has_statements(&arg.value));
    match &expr.kind {
        ExprKind::If { .. } | ExprKind::Match(..) | ExprKind::Try { .. } => true,
        ExprKind::Nil
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Str(_)
        | ExprKind::Name(_)
        | ExprKind::Closure(_)
        | ExprKind::Broken => false,
        ExprKind::Interpolated(parts) => parts.iter().any(has_statements),
        ExprKind::List(items) => in_args(items),
        ExprKind::Dict(entries) => entries.iter().any(|entry| match entry {
            Entry::Named(_, value) | Entry::Spread(value) => has_statements(value),
            Entry::Computed(key, value) => has_statements(key) || has_statements(value),
        }),
        ExprKind::Not(operand) | ExprKind::Negate(operand) => has_statements(operand),
        ExprKind::Binary(_, left, right)
        | ExprKind::Logic(_, left, right)
        | ExprKind::Pipe(left, right) => has_statements(left) || has_statements(right),
        ExprKind::Ternary(condition, then, otherwise) => [condition, then, otherwise]
            .into_iter()
            .any(|it| has_statements(it)),
        ExprKind::Property { object, .. } => has_statements(object),
        ExprKind::Index { object, index, .. } => has_statements(object) || has_statements(index),
        ExprKind::Slice { object, from, to } => {
            has_statements(object) || from.iter().chain(to).any(|bound| has_statements(bound))
        }
        ExprKind::Call(callee, args) => has_statements(callee) || in_args(args),
    }
}
