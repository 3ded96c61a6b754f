//! A whole file: its declarations, its bindings, and the files it imports.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bumpalo::Bump;
use indexmap::{IndexMap, IndexSet};

use crate::code::Op;
use crate::diagnostic::Span;
use crate::digest::Digest;
use crate::facts::FactKey;
use crate::harn::inspection::Inspection;
use crate::harn::module::{Code, Constant, Function, TypeCheck};
use crate::harn::patterns::{Pattern, Patterns};
use crate::harn::problem::{Elsewhere, HarnCode, Problem, Problems};
use crate::harn::syntax::ast::{self, ItemKind, Name, PatternKind, Stmt, StmtKind};
use crate::harn::syntax::{Canonical, Parsed, parse_into};

use super::attributes::{self, Read};
use super::captures::{self, Site};
use super::closure::{Item, ItemId, Reach, Runs};
use super::function::Building;
use super::guesses::Guesses;
use super::top::{Global, Known, Names};
use super::types;

/// Imports of imports go no deeper.
const MAX_DEPTH: usize = 16;

/// A file imports no more often.
const MAX_IMPORTS: usize = 256;

/// A file is compiled together with no more others: all of them are in memory.
const MAX_FILES: usize = 64;

/// Gives the source of an imported file: by the file that imports it and the path that
/// it names, the path of the file and its text.
pub(crate) type Loader<'l> = dyn Fn(&str, &str) -> Result<(String, String), String> + 'l;

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
    exports: Vec<(Box<str>, u32)>,
    pub(super) reach: Reach,
    /// What the attributes of the predicates say.
    read: Vec<Read>,
}

/// Compiles a file. `path` names it for the files that it imports.
pub(crate) fn compile(path: &str, source: &str, loader: &Loader<'_>) -> Inspection {
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
        exports: Vec::new(),
        reach: Reach::default(),
        read: Vec::new(),
    };
    let text = arena.alloc_str(source);
    let is_parsed = compiler.file(path, text);
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
        exports,
        reach,
        read,
        ..
    } = compiler;
    let has_errors = problems.has_errors();
    let source: Arc<str> = Arc::from(source);
    let mut patterns: Vec<Pattern> = patterns
        .into_iter()
        .map(|((pattern, flags), span)| Pattern::new(pattern, flags, span))
        .collect();
    if !has_errors {
        patterns.extend(guesses.finish(&patterns));
    }
    let code = (!has_errors).then(|| Code {
        digest: Digest::of(source.as_bytes()),
        source: source.clone(),
        functions,
        constants: constants.into_iter().collect(),
        patterns: Patterns::new(patterns),
        facts,
        types: types.into_iter().collect(),
        globals,
        init,
        exports,
        predicates: Vec::new(),
        warnings: Vec::new(),
    });
    let problems = problems.into_sorted();
    if !is_parsed {
        return Inspection::unparsed(source, problems);
    }
    let predicates: Vec<_> = read
        .iter()
        .map(|read| (read.item, read.declaration.hash))
        .collect();
    let closures = reach.hashes(&predicates);
    Inspection::new(source, problems, code, read.into_iter().zip(closures))
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
        let problem = Problem::error(code, span, message);
        self.problems.push(match help {
            "" => problem,
            help => problem.help(help),
        });
    }

    /// Compiles one file; its names are then known by its path. False if it could not
    /// be parsed.
    fn file(&mut self, path: &str, source: &'a str) -> bool {
        self.files.insert(path.into(), None);
        self.depth += 1;
        let parsed = parse_into(source, self.arena, &mut self.problems);
        let is_sound = parsed.is_some() && !self.problems.has_errors();
        let mut names = Names::default();
        if let Some(Parsed { module, canonical }) = parsed {
            let module = self.arena.alloc(module);
            let outer_cells = std::mem::replace(&mut self.cells, captures::cells(module));
            let outer_names = std::mem::take(&mut self.names);
            self.imports(path, module);
            let label = if self.depth == 1 { "" } else { path };
            let items = self.declare(label, module, &canonical);
            self.bodies(source, module, &canonical, &items);
            self.cells = outer_cells;
            names = std::mem::replace(&mut self.names, outer_names);
            if self.depth == 1 {
                let exports = names.functions();
                self.exports = exports
                    .map(|(name, number)| (name.into(), number))
                    .collect();
                self.exports.sort();
            }
        }
        self.files.insert(path.into(), Some(names));
        self.depth -= 1;
        is_sound
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
                if self.depth >= MAX_DEPTH || self.files.len() > MAX_FILES {
                    let message = "imports are nested too deep, or too many";
                    let help = "a file is compiled together with 64 others, 15 imports deep";
                    self.error(HarnCode::Import, from.span, message, help);
                    continue;
                }
                let place = self.problems.told_at(from.span);
                let elsewhere = Elsewhere::new(&file, &text, place);
                let outer = self.problems.turn_to(Some(elsewhere));
                let text = self.arena.alloc_str(&text);
                self.file(&file, text);
                self.problems.turn_to(outer);
            }
            let Some(Some(found)) = self.files.get(&file).cloned() else {
                let message = format!("`{}` imports this file, which imports it", from.text);
                self.error(HarnCode::Import, from.span, message, "");
                continue;
            };
            let wanted: Vec<Name<'a>> = if names.is_empty() {
                let span = from.span;
                let mut all: Vec<_> = found.all().map(|text| Name { text, span }).collect();
                all.sort_by_key(|name| name.text);
                all
            } else {
                names.to_vec()
            };
            for name in wanted {
                match found.get_known(name.text) {
                    Some(known) => {
                        let global = match known.global {
                            // What is imported is not exported again as a predicate.
                            Global::Function(function, _) => Global::Function(function, None),
                            other => other,
                        };
                        self.add(name, Known { global, ..known });
                    }
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
                    let global = Global::Builtin(builtin.0);
                    self.add(*name, Known { global, item: None });
                }
                _ => {
                    let message = format!("`std/ast` has no `{}`", name.text);
                    self.error(HarnCode::Import, name.span, message, "it has `ast_search`");
                }
            }
        }
    }

    fn add(&mut self, name: Name<'a>, known: Known<'a>) {
        if name.text != "_" && !self.names.add(name.text, known) {
            let message = format!("`{}` is declared already", name.text);
            self.error(HarnCode::Redeclared, name.span, message, "");
        }
    }

    /// Declares functions, types and constants, which all of the file sees. Gives the
    /// number of every item that is no import.
    fn declare(
        &mut self,
        file: &str,
        module: &'a ast::Module<'a>,
        canonical: &[Canonical],
    ) -> Vec<Option<ItemId>> {
        let file: Arc<str> = Arc::from(file);
        let items = module.items.iter().zip(canonical);
        items
            .map(|(item, canonical)| match &item.kind {
                ItemKind::Import { .. } => None,
                ItemKind::Stmt(stmt) | ItemKind::Attributed { target: stmt, .. } => {
                    Some(self.declare_one(&file, stmt, canonical))
                }
            })
            .collect()
    }

    fn declare_one(&mut self, file: &Arc<str>, stmt: &'a Stmt<'a>, known: &Canonical) -> ItemId {
        let new = |role, name: &str, runs| Item {
            file: file.clone(),
            role,
            name: name.into(),
            digest: known.digest,
            runs,
        };
        match &stmt.kind {
            StmtKind::Function { name, function, .. } => {
                let item = self.reach.add(new(b'f', name.text, Runs::Not));
                let number = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
                self.functions.push(Function::default());
                let known = Known {
                    global: Global::Function(number, Some(function)),
                    item: Some(item),
                };
                self.add(*name, known);
                item
            }
            StmtKind::Type { name, ty } => {
                let item = self.reach.add(new(b't', name.text, Runs::Not));
                if !self.names.add_type(name.text, *ty, item) {
                    let message = format!("the type `{}` is declared already", name.text);
                    self.error(HarnCode::Redeclared, name.span, message, "");
                }
                item
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
                let item = self.reach.add(match pattern.kind {
                    PatternKind::Name(name) if constant.is_some() => {
                        new(b'c', name.text, Runs::Not)
                    }
                    _ => new(b's', "", Runs::ToBind),
                });
                match pattern.kind {
                    PatternKind::Name(name) => self.declare_global(name, *mutable, constant, item),
                    PatternKind::List(parts) | PatternKind::Dict(parts) => {
                        for part in parts {
                            self.declare_global(part.name, *mutable, None, item);
                        }
                    }
                }
                item
            }
            _ => self.reach.add(new(b's', "", Runs::ToChange)),
        }
    }

    fn declare_global(
        &mut self,
        name: Name<'a>,
        mutable: bool,
        constant: Option<u16>,
        item: ItemId,
    ) {
        let Ok(number) = u16::try_from(self.globals.len()) else {
            let message = "the file has too many bindings";
            self.error(HarnCode::FunctionTooLarge, name.span, message, "");
            return;
        };
        self.globals.push(name.text.into());
        let global = Global::Binding(number, mutable, constant);
        let item = Some(item);
        self.add(name, Known { global, item });
    }

    fn bodies(
        &mut self,
        source: &str,
        module: &'a ast::Module<'a>,
        canonical: &[Canonical],
        numbers: &[Option<ItemId>],
    ) {
        for ((item, canonical), number) in module.items.iter().zip(canonical).zip(numbers) {
            let Some(number) = *number else { continue };
            self.reach.enter(number);
            match &item.kind {
                ItemKind::Import { .. } => {}
                ItemKind::Attributed { attributes, target } => {
                    self.item(target);
                    let place = attributes::Place {
                        span: item.span,
                        function: canonical.function.unwrap_or(item.span.start),
                        item: number,
                        source,
                    };
                    let read = attributes::read(self, &place, attributes, target);
                    if self.depth == 1 {
                        self.read.extend(read);
                    } else if let Some(read) = read {
                        for flaw in read.declaration.flaws {
                            self.problems.push(flaw.problem);
                        }
                    }
                }
                ItemKind::Stmt(stmt) => self.item(stmt),
            }
        }
    }

    fn item(&mut self, stmt: &'a Stmt<'a>) {
        match &stmt.kind {
            StmtKind::Function { name, function, .. } => {
                if let Some(Global::Function(number, _)) = self.names.get(name.text) {
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
