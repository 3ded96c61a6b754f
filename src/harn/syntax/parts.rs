//! What expressions are made of, for all that walks the tree.

use super::ast::Block;
use super::ast::{Else, Entry, Expr, ExprKind, Function};

/// A direct part of an expression.
pub(crate) enum Part<'n, 'a> {
    Expr(&'n Expr<'a>),
    Block(&'n Block<'a>),
    Function(&'n Function<'a>),
}

impl<'a> ExprKind<'a> {
    /// Visits the direct parts, in the order of the source.
    pub(crate) fn each_part<'n>(&'n self, mut visit: impl FnMut(Part<'n, 'a>)) {
        match self {
            Self::Nil
            | Self::Bool(_)
            | Self::Int(_)
            | Self::Float(_)
            | Self::Str(_)
            | Self::Name(_)
            | Self::Broken => {}
            Self::Interpolated(parts) => parts.iter().for_each(|part| visit(Part::Expr(part))),
            Self::List(items) => items.iter().for_each(|item| visit(Part::Expr(&item.value))),
            Self::Dict(entries) => {
                for entry in *entries {
                    let (Entry::Named(_, value) | Entry::Spread(value) | Entry::Computed(_, value)) =
                        entry;
                    if let Entry::Computed(key, _) = entry {
                        visit(Part::Expr(key));
                    }
                    visit(Part::Expr(value));
                }
            }
            Self::Closure(function) => visit(Part::Function(function)),
            Self::Not(operand)
            | Self::Negate(operand)
            | Self::Property {
                object: operand, ..
            } => visit(Part::Expr(operand)),
            Self::Binary(_, left, right)
            | Self::Logic(_, left, right)
            | Self::Pipe(left, right)
            | Self::Index {
                object: left,
                index: right,
                ..
            } => {
                visit(Part::Expr(left));
                visit(Part::Expr(right));
            }
            Self::Ternary(condition, then, otherwise) => {
                visit(Part::Expr(condition));
                visit(Part::Expr(then));
                visit(Part::Expr(otherwise));
            }
            Self::Slice { object, from, to } => {
                visit(Part::Expr(object));
                from.iter()
                    .chain(to)
                    .for_each(|bound| visit(Part::Expr(bound)));
            }
            Self::Call(callee, args) => {
                visit(Part::Expr(callee));
                args.iter().for_each(|arg| visit(Part::Expr(&arg.value)));
            }
            Self::If {
                condition,
                then,
                otherwise,
            } => {
                visit(Part::Expr(condition));
                visit(Part::Block(then));
                match otherwise {
                    Some(Else::If(other)) => visit(Part::Expr(other)),
                    Some(Else::Block(block)) => visit(Part::Block(block)),
                    None => {}
                }
            }
            Self::Match(value, arms) => {
                visit(Part::Expr(value));
                for arm in *arms {
                    arm.patterns
                        .iter()
                        .for_each(|pattern| visit(Part::Expr(pattern)));
                    arm.guard.iter().for_each(|guard| visit(Part::Expr(guard)));
                    visit(Part::Block(&arm.body));
                }
            }
            Self::Try {
                body,
                catch,
                finally,
            } => {
                visit(Part::Block(body));
                catch
                    .iter()
                    .for_each(|catch| visit(Part::Block(catch.body)));
                finally.iter().for_each(|block| visit(Part::Block(block)));
            }
        }
    }
}

impl Expr<'_> {
    /// Whether it can be assigned to: a name, or properties and indices of one.
    pub(crate) fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Name(_) => true,
            ExprKind::Property {
                object,
                optional: false,
                ..
            }
            | ExprKind::Index {
                object,
                optional: false,
                ..
            } => object.is_place(),
            _ => false,
        }
    }
}
