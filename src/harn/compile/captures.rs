//! Which variables closures share, so that they live in cells.
//!
//! A variable that closures capture and nobody assigns is copied into them. One that is
//! assigned, or that a named function of its own block captures, which may be called
//! before it is set, lives in a cell.

use std::collections::{HashMap, HashSet};

use crate::harn::syntax::ast::{
    Block, Entry, Expr, ExprKind, Function, ItemKind, Module, Name, Pattern, PatternKind, Stmt,
    StmtKind,
};
use crate::harn::syntax::parts::Part;

/// Where a variable is declared: the first byte of its name.
pub(super) type Site = u32;

/// The variables of a file that live in cells.
pub(super) fn cells(module: &Module<'_>) -> HashSet<Site> {
    let mut walk = Walk::default();
    for item in module.items {
        match &item.kind {
            ItemKind::Import { .. } => {}
            ItemKind::Attributed { target: stmt, .. } | ItemKind::Stmt(stmt) => {
                walk.stmt(stmt);
            }
        }
    }
    walk.cells
}

#[derive(Clone, Copy)]
struct Variable<'a> {
    name: &'a str,
    site: Site,
    /// In how many functions it is.
    level: usize,
    /// Declared by a statement of a block, whose functions may run before.
    is_of_block: bool,
    is_assigned: bool,
    is_captured: bool,
    is_captured_early: bool,
}

#[derive(Default)]
struct Walk<'a> {
    variables: Vec<Variable<'a>>,
    /// Where in `variables` those of a name are, the innermost last.
    by_name: HashMap<&'a str, Vec<usize>>,
    /// For each function around, whether it is a named one in a block.
    functions: Vec<bool>,
    cells: HashSet<Site>,
}

impl<'a> Walk<'a> {
    fn declare(&mut self, name: Name<'a>, is_of_block: bool) {
        let known = self.by_name.entry(name.text).or_default();
        known.push(self.variables.len());
        self.variables.push(Variable {
            name: name.text,
            site: name.span.start,
            level: self.functions.len(),
            is_of_block,
            is_assigned: false,
            is_captured: false,
            is_captured_early: false,
        });
    }

    fn leave(&mut self, mark: usize) {
        for variable in self.variables.drain(mark..) {
            self.by_name.entry(variable.name).or_default().pop();
            let is_early = variable.is_captured_early && variable.is_of_block;
            if variable.is_captured && (variable.is_assigned || is_early) {
                self.cells.insert(variable.site);
            }
        }
    }

    fn used(&mut self, name: &str, assigned: bool) {
        let Some(&at) = self.by_name.get(name).and_then(|known| known.last()) else {
            return;
        };
        let variable = &mut self.variables[at];
        variable.is_assigned |= assigned;
        let between = &self.functions[variable.level..];
        variable.is_captured |= !between.is_empty();
        variable.is_captured_early |= between.contains(&true);
    }

    fn block(&mut self, block: &Block<'a>) {
        let mark = self.variables.len();
        for stmt in block.stmts {
            if let StmtKind::Function { name, .. } = stmt.kind {
                self.declare(name, true);
            }
        }
        for stmt in block.stmts {
            if !matches!(stmt.kind, StmtKind::Function { .. }) {
                self.stmt(stmt);
            }
        }
        // They see all of the block.
        for stmt in block.stmts {
            if let StmtKind::Function { function, .. } = &stmt.kind {
                self.function(function, true);
            }
        }
        self.leave(mark);
    }

    fn function(&mut self, function: &Function<'a>, is_named: bool) {
        let mark = self.variables.len();
        self.functions.push(is_named);
        for param in function.params {
            if let Some(default) = &param.default {
                self.expr(default);
            }
            self.declare(param.name, false);
        }
        self.block(&function.body);
        self.leave(mark);
        self.functions.pop();
    }

    fn stmt(&mut self, stmt: &Stmt<'a>) {
        match &stmt.kind {
            StmtKind::Bind { pattern, value, .. } => {
                self.expr(value);
                self.pattern(pattern, true);
            }
            StmtKind::Assign { place, value, .. } => {
                self.expr(value);
                self.place(place);
            }
            StmtKind::Function { function, .. } => {
                self.function(function, !self.functions.is_empty());
            }
            StmtKind::While(condition, body) | StmtKind::Guard(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            StmtKind::For(pattern, source, body) => {
                self.expr(source);
                let mark = self.variables.len();
                self.pattern(pattern, false);
                self.block(body);
                self.leave(mark);
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Throw(value) => self.expr(value),
            StmtKind::Expr(value) => {
                // A method that changes its receiver.
                if let ExprKind::Call(callee, _) = value.kind
                    && let ExprKind::Property { object, name, .. } = callee.kind
                    && name.text == "push"
                {
                    self.place(object);
                }
                self.expr(value);
            }
            StmtKind::Type { .. } | StmtKind::Break | StmtKind::Continue | StmtKind::Broken => {}
        }
    }

    fn place(&mut self, place: &Expr<'a>) {
        match &place.kind {
            ExprKind::Name(name) => self.used(name, true),
            ExprKind::Property { object, .. } => self.place(object),
            ExprKind::Index { object, index, .. } => {
                self.place(object);
                self.expr(index);
            }
            _ => self.expr(place),
        }
    }

    fn pattern(&mut self, pattern: &Pattern<'a>, is_of_block: bool) {
        match pattern.kind {
            PatternKind::Name(name) => self.declare(name, is_of_block),
            PatternKind::List(parts) | PatternKind::Dict(parts) => {
                for part in parts {
                    part.default.iter().for_each(|default| self.expr(default));
                    self.declare(part.name, is_of_block);
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr<'a>) {
        match &expr.kind {
            ExprKind::Name(name) => self.used(name, false),
            ExprKind::Pipe(value, callee) => {
                self.expr(value);
                // It may become a closure.
                self.functions.push(false);
                self.expr(callee);
                self.functions.pop();
            }
            ExprKind::Match(value, arms) => {
                self.expr(value);
                for arm in *arms {
                    let mark = self.variables.len();
                    arm.patterns.iter().for_each(|pattern| self.arm(pattern));
                    arm.guard.iter().for_each(|guard| self.expr(guard));
                    self.block(&arm.body);
                    self.leave(mark);
                }
            }
            ExprKind::Try {
                body,
                catch,
                finally,
            } => {
                self.block(body);
                if let Some(catch) = catch {
                    let mark = self.variables.len();
                    catch
                        .name
                        .iter()
                        .for_each(|name| self.declare(*name, false));
                    self.block(catch.body);
                    self.leave(mark);
                }
                finally.iter().for_each(|block| self.block(block));
            }
            kind => kind.each_part(|part| match part {
                Part::Expr(expr) => self.expr(expr),
                Part::Block(block) => self.block(block),
                Part::Function(function) => self.function(function, false),
            }),
        }
    }

    /// A pattern of an arm: names bind.
    fn arm(&mut self, pattern: &Expr<'a>) {
        match &pattern.kind {
            ExprKind::Name(text) => {
                let span = pattern.span;
                self.declare(Name { text, span }, false);
            }
            ExprKind::List(items) => items.iter().for_each(|item| self.arm(&item.value)),
            ExprKind::Dict(entries) => entries.iter().for_each(|entry| match entry {
                Entry::Named(_, value) | Entry::Spread(value) | Entry::Computed(_, value) => {
                    self.arm(value);
                }
            }),
            _ => self.expr(pattern),
        }
    }
}
