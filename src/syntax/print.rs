//! The canonical text of a tree: one space around operators, no redundant
//! parentheses, literals with the fewest escapes. Parsing it as
//! `elench-predicate-v2` gives the same tree.

use super::ast::{Argument, ArgumentKind, Expr, ExprKind, SelectorKind};
use super::literal::{quote, slash};

/// How tightly a form binds, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Comparison,
    Term,
}

/// Writes a tree as a source. A broken place becomes `?`, which no language
/// reads.
#[must_use]
pub fn print(expr: &Expr<'_>) -> String {
    let mut out = String::new();
    write_expr(&mut out, expr, Level::Or);
    out
}

const fn level(kind: &ExprKind<'_>) -> Level {
    match kind {
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Not(..) => Level::Not,
        ExprKind::Compare(..) => Level::Comparison,
        _ => Level::Term,
    }
}

/// Writes an expression where one of at least that level is wanted.
fn write_expr(out: &mut String, expr: &Expr<'_>, wanted: Level) {
    let grouped = level(&expr.kind) < wanted;
    if grouped {
        out.push('(');
    }
    match &expr.kind {
        ExprKind::Or(operands) => write_operands(out, operands, " || ", Level::And),
        ExprKind::And(operands) => write_operands(out, operands, " && ", Level::Not),
        ExprKind::Not(count, operand) => {
            (0..*count).for_each(|_| out.push('!'));
            write_expr(out, operand, Level::Comparison);
        }
        ExprKind::Compare(op, left, right) => {
            write_expr(out, left, Level::Term);
            out.push(' ');
            out.push_str(op.symbol());
            out.push(' ');
            write_expr(out, right, Level::Term);
        }
        ExprKind::Select(base, selectors) => {
            // Selectors of a group are a form of their own: `((a).b).c`.
            write_head(out, base);
            for selector in *selectors {
                out.push('.');
                match selector.kind {
                    SelectorKind::Field(field) => out.push_str(field.name()),
                    SelectorKind::Method(method, arguments) => {
                        out.push_str(method.name());
                        write_arguments(out, arguments);
                    }
                    SelectorKind::Broken => out.push('?'),
                }
            }
        }
        ExprKind::Call(primitive, arguments) => {
            out.push_str(primitive.name());
            write_arguments(out, arguments);
        }
        ExprKind::Int(value) => out.push_str(&value.to_string()),
        ExprKind::Str(value) => out.push_str(&quote(value)),
        ExprKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        ExprKind::Broken => out.push('?'),
    }
    if grouped {
        out.push(')');
    }
}

fn write_head(out: &mut String, base: &Expr<'_>) {
    if matches!(base.kind, ExprKind::Select(..)) {
        out.push('(');
        write_expr(out, base, Level::Or);
        out.push(')');
    } else {
        write_expr(out, base, Level::Term);
    }
}

fn write_operands(out: &mut String, operands: &[Expr<'_>], separator: &str, wanted: Level) {
    for (index, operand) in operands.iter().enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        write_expr(out, operand, wanted);
    }
}

fn write_arguments(out: &mut String, arguments: &[Argument<'_>]) {
    out.push('(');
    for (index, argument) in arguments.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        match argument.kind {
            ArgumentKind::Str(value) => out.push_str(&quote(value)),
            ArgumentKind::Regex(text, flags) => {
                out.push('/');
                out.push_str(&slash(text));
                out.push('/');
                out.push_str(&flags.to_string());
            }
            ArgumentKind::Int(value) => out.push_str(&value.to_string()),
            ArgumentKind::Bool(value) => out.push_str(if value { "true" } else { "false" }),
            ArgumentKind::Broken => out.push('?'),
        }
    }
    out.push(')');
}
