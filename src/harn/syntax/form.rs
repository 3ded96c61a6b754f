//! What the grammar lets through and the language does not.

use std::collections::HashSet;

use crate::harn::problem::{HarnCode, Problem, Problems};

use super::ast::{
    Block, Expr, ExprKind, Function, ItemKind, Module, Pattern, PatternKind, Stmt, StmtKind,
};
use super::parts::Part;

/// Reports what is wrong with the form of a file.
pub(super) fn check(module: &Module<'_>, problems: &mut Problems) {
    let mut form = Form { problems, loops: 0 };
    for item in module.items {
        match &item.kind {
            ItemKind::Import { from, .. } => {
                if let Some(from) = from
                    && from.text != "from"
                {
                    let message = format!("`{}` stands where `from` is wanted", from.text);
                    form.error(HarnCode::UnexpectedToken, from.span, message);
                }
            }
            ItemKind::Attributed { target, .. } => form.stmt(target),
            ItemKind::Stmt(stmt) => form.stmt(stmt),
        }
    }
}

struct Form<'p> {
    problems: &'p mut Problems,
    /// How many loops are around, in this function.
    loops: usize,
}

impl Form<'_> {
    fn error(
        &mut self,
        code: HarnCode,
        span: crate::diagnostic::Span,
        message: impl Into<Box<str>>,
    ) {
        self.problems.push(Problem::error(code, span, message));
    }

    fn block(&mut self, block: &Block<'_>) {
        for stmt in block.stmts {
            self.stmt(stmt);
        }
    }

    fn in_loop(&mut self, block: &Block<'_>) {
        self.loops += 1;
        self.block(block);
        self.loops -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match &stmt.kind {
            StmtKind::Bind {
                pattern, ty, value, ..
            } => {
                self.pattern(pattern);
                if let Some(ty) = ty
                    && !matches!(pattern.kind, PatternKind::Name(_))
                {
                    let message = "only a name can have a type";
                    self.error(HarnCode::UnexpectedToken, ty.span, message);
                }
                self.expr(value);
            }
            StmtKind::Assign { place, value, .. } => {
                if !place.is_place() {
                    self.problems.push(
                        Problem::error(
                            HarnCode::NotAPlace,
                            place.span,
                            "this cannot be assigned to",
                        )
                        .help("assign to a name, `name.key` or `name[index]`"),
                    );
                }
                self.expr(place);
                self.expr(value);
            }
            StmtKind::Function { function, .. } => self.function(function),
            StmtKind::While(condition, body) => {
                self.expr(condition);
                self.in_loop(body);
            }
            StmtKind::For(pattern, source, body) => {
                self.pattern(pattern);
                self.expr(source);
                self.in_loop(body);
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Throw(value) | StmtKind::Expr(value) => self.expr(value),
            StmtKind::Break | StmtKind::Continue => {
                if self.loops == 0 {
                    let message = "there is no loop around this";
                    self.error(HarnCode::OutsideLoop, stmt.span, message);
                }
            }
            StmtKind::Guard(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            StmtKind::Type { .. } | StmtKind::Broken => {}
        }
    }

    fn pattern(&mut self, pattern: &Pattern<'_>) {
        let (PatternKind::List(parts) | PatternKind::Dict(parts)) = pattern.kind else {
            return;
        };
        for (at, part) in parts.iter().enumerate() {
            if part.is_rest && at + 1 < parts.len() {
                let message = "the rest stands at the end";
                self.error(HarnCode::ParameterOrder, part.name.span, message);
            }
            part.default.iter().for_each(|default| self.expr(default));
        }
    }

    fn function(&mut self, function: &Function<'_>) {
        let mut names = HashSet::new();
        let mut has_default = false;
        for (at, param) in function.params.iter().enumerate() {
            let span = param.name.span;
            if param.name.text != "_" && !names.insert(param.name.text) {
                let message = format!("`{}` is a parameter already", param.name.text);
                self.error(HarnCode::Redeclared, span, message);
            }
            if param.is_rest && (at + 1 < function.params.len() || param.default.is_some()) {
                let message = "the rest stands at the end and has no default";
                self.error(HarnCode::ParameterOrder, span, message);
            }
            if has_default && param.default.is_none() && !param.is_rest {
                let message = "a parameter without default stands after one with it";
                self.error(HarnCode::ParameterOrder, span, message);
            }
            has_default |= param.default.is_some();
            param.default.iter().for_each(|default| self.expr(default));
        }
        let outer = std::mem::take(&mut self.loops);
        self.block(&function.body);
        self.loops = outer;
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        if let ExprKind::Try {
            catch: None,
            finally: None,
            ..
        } = expr.kind
        {
            let message = "`try` has neither `catch` nor `finally`";
            self.error(HarnCode::BareTry, expr.span, message);
        }
        expr.kind.each_part(|part| match part {
            Part::Expr(expr) => self.expr(expr),
            Part::Block(block) => self.block(block),
            Part::Function(function) => self.function(function),
        });
    }
}
