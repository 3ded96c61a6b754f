//! A whole file: its declarations, its bindings, and the files it imports.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bumpalo::Bump;
use indexmap::{IndexMap, IndexSet};

use crate::code::Op;
use crate::diagnostic::Span;
use crate::digest::Digest;
use crate::facts::FactKey;
use crate::harn::module::{Code, Constant, Function, Module, TypeCheck};
use crate::harn::patterns::{Pattern, Patterns};
use crate::harn::predicate::Predicate;
use crate::harn::problem::{HarnCode, Problem, Problems};
use crate::harn::syntax::ast::{self, ItemKind, Name, PatternKind, Stmt, StmtKind};
use crate::harn::syntax::parse_into;

use super::captures::{self, Site};
use super::function::Building;
use super::guesses::Guesses;
use super::{attributes, types};

/// Imports of imports go no deeper.
const MAX_DEPTH: usize = 16;

/// A file imports no more often.
const MAX_IMPORTS: usize = 256;

/// Gives the source of an imported file: by the file that imports it and the path that
/// it names, the path of the file and its text.
pub(crate) type Loader<'l> = dyn Fn(&str, &str) -> Result<(String, String), String> + 'l;

/// What a name at the top of a file stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Global<'a> {
    Function(u32, Option<&'a ast::Function<'a>>),
    /// A binding: its number, whether it may change, and the constant that it is.
    Binding(u16, bool, Option<u16>),
    /// A builtin that has to be imported.
    Builtin(u8),
}

/// The names of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Names<'a> {
    pub(super) known: HashMap<&'a str, Global<'a>>,
    pub(super) types: HashMap<&'a str, ast::Type<'a>>,
}

pub(super) struct Compiler<'a, 'l> {
    pub(super) arena: &'a Bump,
    loader: &'l Loader<'l>,
    pub(super) problems: Problems,
    pub(super) functions: Vec<Function>,
    pub(super) constants: IndexSet<Constant>,
    /// Constant patterns with their flags, and where each is used first.
    pub(super) patterns: IndexMap<(Box<str>, Box<str>), Span>,
    pub(super) facts: IndexMap<FactKey, Span>,
    pub(super) guesses: Guesses<'a>,
    pub(super) types: IndexSet<TypeCheck>,
    /// Nodes of the types that were read.
    pub(super) type_nodes: usize,
    globals: Vec<Box<str>>,
    pub(super) names: Names<'a>,
    pub(super) cells: HashSet<Site>,
    /// Functions around the place that is compiled, the innermost last.
    pub(super) stack: Vec<Building<'a>>,
    /// Files by path; `None` while they are compiled.
    files: HashMap<String, Option<Names<'a>>>,
    /// How many files are around the one that is compiled.
    depth: usize,
    predicates: Vec<Predicate>,
    exports: Vec<(Box<str>, u32)>,
}

/// Compiles a file. `path` names it for the files that it imports.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn compile(
    path: &str,
    source: &str,
    loader: &Loader<'_>,
) -> Result<Module, Vec<Problem>> {
    let arena = Bump::new();
    let mut compiler = Compiler {
        arena: &arena,
        loader,
        problems: Problems::default(),
        functions: Vec::new(),
        constants: IndexSet::new(),
        patterns: IndexMap::new(),
        facts: IndexMap::new(),
        guesses: Guesses::default(),
        types: IndexSet::new(),
        type_nodes: 0,
        globals: Vec::new(),
        names: Names::default(),
        cells: HashSet::new(),
        stack: vec![Building::new("(module)", Span::default())],
        files: HashMap::new(),
        depth: 0,
        predicates: Vec::new(),
        exports: Vec::new(),
    };
    let text = arena.alloc_str(source);
    compiler.file(path, text);
    let init = compiler.finish_init();
    let Compiler {
        problems,
        functions,
        constants,
        patterns,
        facts,
        guesses,
        types,
        globals,
        predicates,
        exports,
        ..
    } = compiler;
    if problems.has_errors() {
        return Err(problems.into_sorted());
    }
    let mut patterns: Vec<Pattern> = patterns
        .into_iter()
        .map(|((pattern, flags), span)| Pattern::new(pattern, flags, span))
        .collect();
    patterns.extend(guesses.finish(&patterns));
    Ok(Module(Arc::new(Code {
        digest: Digest::of(source.as_bytes()),
        source: Arc::from(source),
        functions,
        constants: constants.into_iter().collect(),
        patterns: Patterns::new(patterns),
        facts,
        types: types.into_iter().collect(),
        globals,
        init,
        exports,
        predicates,
        warnings: problems.into_sorted(),
    })))
}

impl<'a> Compiler<'a, '_> {
    /// A place in the file that is compiled: those of other files mean nothing in it.
    pub(super) fn own(&self, span: Span) -> Span {
        match self.depth > 1 {
            true => Span::default(),
            false => span,
        }
    }

    pub(super) fn error(
        &mut self,
        code: HarnCode,
        span: Span,
        message: impl Into<Box<str>>,
        help: &str,
    ) {
        let problem = Problem::error(code, self.own(span), message);
        self.problems.push(match help {
            "" => problem,
            help => problem.help(help),
        });
    }

    /// Compiles one file; its names are then in `self.names`.
    fn file(&mut self, path: &str, source: &'a str) {
        self.files.insert(path.into(), None);
        self.depth += 1;
        if let Some(module) = parse_into(source, self.arena, &mut self.problems) {
            let module = self.arena.alloc(module);
            let outer_cells = std::mem::replace(&mut self.cells, captures::cells(module));
            let outer_names = std::mem::take(&mut self.names);
            self.imports(path, module);
            self.declare(module);
            self.bodies(module);
            self.cells = outer_cells;
            let names = std::mem::replace(&mut self.names, outer_names);
            if self.depth == 1 {
                for (name, global) in &names.known {
                    if let Global::Function(function, Some(_)) = global {
                        self.exports.push(((*name).into(), *function));
                    }
                }
                self.exports.sort();
            }
            self.files.insert(path.into(), Some(names));
        } else {
            self.files.insert(path.into(), Some(Names::default()));
        }
        self.depth -= 1;
    }

    fn imports(&mut self, path: &str, module: &ast::Module<'a>) {
        let mut count = 0;
        for item in module.items {
            let ItemKind::Import {
                names, path: from, ..
            } = item.kind
            else {
                continue;
            };
            count += 1;
            if count > MAX_IMPORTS {
                let message = format!("the file has over {MAX_IMPORTS} imports");
                self.error(HarnCode::Import, from.span, message, "");
                return;
            }
            if from.text == "std/ast" {
                self.import_ast(names);
                continue;
            }
            if from.text.starts_with("std/") {
                let message = format!("there is no `{}`", from.text);
                let help = "`std/ast` can be imported; other builtins need no import";
                self.error(HarnCode::Import, from.span, message, help);
                continue;
            }
            let loaded = (self.loader)(path, from.text);
            let (file, text) = match loaded {
                Ok(loaded) => loaded,
                Err(reason) => {
                    let message = format!("`{}` cannot be imported: {reason}", from.text);
                    self.error(HarnCode::Import, from.span, message, "");
                    continue;
                }
            };
            if !self.files.contains_key(&file) {
                if self.depth >= MAX_DEPTH {
                    let message = "imports are nested too deep";
                    self.error(HarnCode::Import, from.span, message, "");
                    continue;
                }
                let text = self.arena.alloc_str(&text);
                self.file(&file, text);
            }
            let Some(Some(found)) = self.files.get(&file).cloned() else {
                let message = format!("`{}` imports this file, which imports it", from.text);
                self.error(HarnCode::Import, from.span, message, "");
                continue;
            };
            let wanted: Vec<Name<'a>> = if names.is_empty() {
                let span = from.span;
                let mut all: Vec<_> = found.known.keys().map(|text| Name { text, span }).collect();
                all.sort_by_key(|name| name.text);
                all
            } else {
                names.to_vec()
            };
            for name in wanted {
                match found.known.get(name.text) {
                    // What is imported is not exported again as a predicate.
                    Some(Global::Function(function, _)) => {
                        self.add(name, Global::Function(*function, None));
                    }
                    Some(global) => self.add(name, *global),
                    None => {
                        let message = format!("`{}` has no `{}`", from.text, name.text);
                        self.error(HarnCode::Import, name.span, message, "");
                    }
                }
            }
        }
    }

    fn import_ast(&mut self, names: &[Name<'a>]) {
        let builtin = crate::harn::builtins::Builtin::of("ast_search");
        for name in names {
            match builtin {
                Some(builtin) if name.text == "ast_search" => {
                    self.add(*name, Global::Builtin(builtin.0));
                }
                _ => {
                    let message = format!("`std/ast` has no `{}`", name.text);
                    self.error(HarnCode::Import, name.span, message, "it has `ast_search`");
                }
            }
        }
    }

    fn add(&mut self, name: Name<'a>, global: Global<'a>) {
        if name.text == "_" {
            return;
        }
        if self.names.known.contains_key(name.text) {
            let message = format!("`{}` is declared already", name.text);
            self.error(HarnCode::Redeclared, name.span, message, "");
            return;
        }
        self.names.known.insert(name.text, global);
    }

    /// Declares functions, types and constants, which all of the file sees.
    fn declare(&mut self, module: &'a ast::Module<'a>) {
        for item in module.items {
            let (ItemKind::Stmt(stmt) | ItemKind::Attributed { target: stmt, .. }) = &item.kind
            else {
                continue;
            };
            match &stmt.kind {
                StmtKind::Function { name, function, .. } => {
                    let number = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
                    self.functions.push(Function::default());
                    self.add(*name, Global::Function(number, Some(function)));
                }
                StmtKind::Type { name, ty } => {
                    let known = self.names.types.insert(name.text, *ty);
                    if known.is_some() {
                        let message = format!("the type `{}` is declared already", name.text);
                        self.error(HarnCode::Redeclared, name.span, message, "");
                    }
                }
                StmtKind::Bind {
                    mutable,
                    pattern,
                    value,
                    ..
                } => {
                    let constant = match (mutable, pattern.kind) {
                        (false, PatternKind::Name(_)) => self.constant_of(value),
                        _ => None,
                    };
                    match pattern.kind {
                        PatternKind::Name(name) => self.declare_global(name, *mutable, constant),
                        PatternKind::List(parts) | PatternKind::Dict(parts) => {
                            for part in parts {
                                self.declare_global(part.name, *mutable, None);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn declare_global(&mut self, name: Name<'a>, mutable: bool, constant: Option<u16>) {
        let Ok(number) = u16::try_from(self.globals.len()) else {
            let message = "the file has too many bindings";
            self.error(HarnCode::FunctionTooLarge, name.span, message, "");
            return;
        };
        self.globals.push(name.text.into());
        self.add(name, Global::Binding(number, mutable, constant));
    }

    fn bodies(&mut self, module: &'a ast::Module<'a>) {
        for item in module.items {
            match &item.kind {
                ItemKind::Import { .. } => {}
                ItemKind::Attributed { attributes, target } => {
                    self.item(target);
                    let found = attributes::read(self, item.span, attributes, target);
                    if self.depth == 1 {
                        self.predicates.extend(found);
                    }
                }
                ItemKind::Stmt(stmt) => self.item(stmt),
            }
        }
    }

    fn item(&mut self, stmt: &'a Stmt<'a>) {
        match &stmt.kind {
            StmtKind::Function { name, function, .. } => {
                if let Some(Global::Function(number, _)) = self.names.known.get(name.text).copied()
                {
                    let built = self.function(name.text, function, stmt.span);
                    if let Some(place) = self.functions.get_mut(number as usize) {
                        *place = built;
                    }
                }
            }
            StmtKind::Type { ty, .. } => {
                types::check(self, ty);
            }
            _ => self.stmt(stmt),
        }
    }

    /// Compiles a function that captures nothing or is captured in `stack`.
    pub(super) fn function(
        &mut self,
        name: &str,
        function: &'a ast::Function<'a>,
        span: Span,
    ) -> Function {
        self.stack.push(Building::new(name, span));
        self.parameters(function);
        self.top().yields_last = function.yields_last;
        let result = self.top().alloc();
        let result_type = function.result.as_ref().map(|ty| types::check(self, ty));
        let value = function.yields_last.then_some(result);
        self.top().wide(Op::Nil, result, 0);
        self.body(&function.body, value);
        let _ = result_type;
        self.top().wide(Op::Return, result, 0);
        self.finish_function(span)
    }

    fn finish_function(&mut self, span: Span) -> Function {
        let Some(building) = self.stack.pop() else {
            return Function::default();
        };
        let (function, overflowed) = building.finish();
        if overflowed {
            self.error(
                HarnCode::FunctionTooLarge,
                span,
                format!(
                    "`{}` has too many variables, names or instructions",
                    function.name
                ),
                "split it into several functions",
            );
        }
        function
    }

    fn finish_init(&mut self) -> u32 {
        let result = self.top().alloc();
        self.top().wide(Op::Nil, result, 0);
        self.top().wide(Op::Return, result, 0);
        let function = self.finish_function(Span::default());
        self.functions.push(function);
        u32::try_from(self.functions.len() - 1).unwrap_or(u32::MAX)
    }

    /// The function that is being compiled.
    pub(super) fn top(&mut self) -> &mut Building<'a> {
        if self.stack.is_empty() {
            self.stack.push(Building::new("", Span::default()));
        }
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }
}
