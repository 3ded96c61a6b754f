//! Nodes of the tree, made with the depth of what is below them.

use crate::diagnostic::Span;

use super::ast::{
    Block, Expr, ExprKind, Function, Pattern, PatternKind, Stmt, StmtKind, Type, TypeKind,
};
use super::parts::Part;

impl<'a> Expr<'a> {
    pub(super) fn new(kind: ExprKind<'a>, start: u32, end: u32) -> Self {
        Self {
            kind,
            span: Span { start, end },
            depth: above(of_expr(&kind)),
        }
    }
}

impl<'a> Stmt<'a> {
    pub(super) fn new(kind: StmtKind<'a>, start: u32, end: u32) -> Self {
        Self {
            kind,
            span: Span { start, end },
            depth: above(of_stmt(&kind)),
        }
    }
}

impl<'a> Block<'a> {
    pub(super) fn new(stmts: &'a [Stmt<'a>], start: u32, end: u32) -> Self {
        Self {
            stmts,
            span: Span { start, end },
            depth: above(most(stmts.iter().map(|stmt| stmt.depth))),
        }
    }
}

impl<'a> Type<'a> {
    pub(super) fn new(kind: TypeKind<'a>, start: u32, end: u32) -> Self {
        Self {
            kind,
            span: Span { start, end },
            depth: above(of_type(&kind)),
        }
    }
}

const fn above(depth: u16) -> u16 {
    depth.saturating_add(1)
}

fn most(depths: impl Iterator<Item = u16>) -> u16 {
    depths.max().unwrap_or(0)
}

fn of_function(function: &Function<'_>) -> u16 {
    let params = function.params.iter().map(|param| {
        let default = param.default.as_ref().map_or(0, |default| default.depth);
        default.max(param.ty.as_ref().map_or(0, |ty| ty.depth))
    });
    most(params)
        .max(function.body.depth)
        .max(function.result.as_ref().map_or(0, |ty| ty.depth))
}

fn of_pattern(pattern: &Pattern<'_>) -> u16 {
    match pattern.kind {
        PatternKind::Name(_) => 0,
        PatternKind::List(parts) | PatternKind::Dict(parts) => most(
            parts
                .iter()
                .map(|part| part.default.as_ref().map_or(0, |default| default.depth)),
        ),
    }
}

fn of_stmt(kind: &StmtKind<'_>) -> u16 {
    match kind {
        StmtKind::Bind {
            pattern, ty, value, ..
        } => of_pattern(pattern)
            .max(value.depth)
            .max(ty.as_ref().map_or(0, |ty| ty.depth)),
        StmtKind::Assign { place, value, .. } => place.depth.max(value.depth),
        StmtKind::Function { function, .. } => of_function(function),
        StmtKind::Type { ty, .. } => ty.depth,
        StmtKind::While(condition, body) | StmtKind::Guard(condition, body) => {
            condition.depth.max(body.depth)
        }
        StmtKind::For(pattern, source, body) => {
            of_pattern(pattern).max(source.depth).max(body.depth)
        }
        StmtKind::Return(value) => value.as_ref().map_or(0, |value| value.depth),
        StmtKind::Throw(value) | StmtKind::Expr(value) => value.depth,
        StmtKind::Break | StmtKind::Continue | StmtKind::Broken => 0,
    }
}

fn of_type(kind: &TypeKind<'_>) -> u16 {
    match kind {
        TypeKind::Named(_, types) | TypeKind::Union(types) => most(types.iter().map(|ty| ty.depth)),
        TypeKind::Optional(ty) | TypeKind::List(ty) => ty.depth,
        TypeKind::Function(params, result) => {
            most(params.iter().map(|ty| ty.depth)).max(result.depth)
        }
        TypeKind::Shape(fields) => most(fields.iter().map(|(_, _, ty)| ty.depth)),
        TypeKind::Str(_) | TypeKind::Int(_) => 0,
    }
}

fn of_expr(kind: &ExprKind<'_>) -> u16 {
    let mut deepest = 0;
    kind.each_part(|part| {
        deepest = deepest.max(match part {
            Part::Expr(expr) => expr.depth,
            Part::Block(block) => block.depth,
            Part::Function(function) => of_function(function),
        });
    });
    deepest
}
