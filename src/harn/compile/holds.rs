//! What expressions hold.

use crate::harn::syntax::ast::{Expr, ExprKind};
use crate::harn::syntax::parts::Part;

/// Whether an expression has statements of the function itself in it, which may assign
/// its variables: those of `if`, `match` and `try`.
pub(super) fn has_statements(expr: &Expr<'_>) -> bool {
    is_statement(expr) || any_operand(expr, has_statements)
}

/// Whether an expression calls something outside of its statements.
pub(super) fn has_calls(expr: &Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Call(..) | ExprKind::Pipe(..)) || any_operand(expr, has_calls)
}

/// Whether an expression has the bare name `_` in it, outside of blocks and closures.
pub(super) fn mentions_placeholder(expr: &Expr<'_>) -> bool {
    expr.kind == ExprKind::Name("_") || any_operand(expr, mentions_placeholder)
}

/// Whether something holds of an operand of an expression. What it does with operands of
/// their own is up to it; trees are no deeper than the parser lets them be.
fn any_operand(expr: &Expr<'_>, holds: fn(&Expr<'_>) -> bool) -> bool {
    let mut found = false;
    if !is_statement(expr) {
        expr.kind.each_part(|part| {
            found |= matches!(part, Part::Expr(operand) if holds(operand));
        });
    }
    found
}

const fn is_statement(expr: &Expr<'_>) -> bool {
    matches!(
        expr.kind,
        ExprKind::If { .. } | ExprKind::Match(..) | ExprKind::Try { .. }
    )
}
