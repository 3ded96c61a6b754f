//! A compiled predicate file.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::code::Insn;
use crate::diagnostic::Span;
use crate::digest::Digest;
use crate::facts::FactKey;
use crate::harn::compile::compile;
use crate::harn::patterns::{Check, Pattern, Patterns};
use crate::harn::predicate::Predicate;
use crate::harn::problem::{HarnCode, Problem};
use crate::scan::parse_pattern;

/// A compiled predicate file. Cheap to share, and nothing in it changes.
#[derive(Clone, Debug)]
pub struct Module(pub(crate) Arc<Code>);

#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) digest: Digest,
    pub(crate) source: Arc<str>,
    pub(crate) functions: Vec<Function>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) patterns: Patterns,
    /// What it asks of the workspace with constant arguments, and where first.
    pub(crate) facts: IndexMap<FactKey, Span>,
    pub(crate) types: Vec<TypeCheck>,
    pub(crate) globals: Vec<Box<str>>,
    /// Sets the bindings of the module.
    pub(crate) init: u32,
    /// Functions by name, `pub` or not.
    pub(crate) exports: Vec<(Box<str>, u32)>,
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) warnings: Vec<Problem>,
}

/// A value that is known when the module is compiled.
#[derive(Clone, Debug)]
pub(crate) enum Constant {
    Int(i64),
    Float(f64),
    Str(Arc<str>),
    Bool(bool),
    Nil,
    List(Vec<Self>),
}

impl Constant {
    /// What tells it from others of its variant; floats by their bits, so that each
    /// equals itself.
    const fn key(&self) -> (Option<u64>, Option<&Arc<str>>, Option<&Vec<Self>>) {
        match self {
            Self::Int(value) => (Some(value.cast_unsigned()), None, None),
            Self::Float(value) => (Some(value.to_bits()), None, None),
            Self::Bool(value) => (Some(*value as u64), None, None),
            Self::Str(text) => (None, Some(text), None),
            Self::List(items) => (None, None, Some(items)),
            Self::Nil => (None, None, None),
        }
    }
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.key() == other.key()
    }
}

impl Eq for Constant {}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        self.key().hash(state);
    }
}

/// A function.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Box<str>,
    /// Parameters that a call has to give.
    pub(crate) least: u8,
    /// Parameters, without the rest.
    pub(crate) params: u8,
    pub(crate) has_rest: bool,
    pub(crate) registers: u8,
    pub(crate) insns: Vec<Insn>,
    pub(crate) spans: Vec<Span>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) captures: Vec<Captured>,
    pub(crate) names: Vec<NameUse>,
    /// Numbers of patterns.
    pub(crate) patterns: Vec<u32>,
}

/// Where execution goes on after a fault in a range of instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) target: u32,
    /// The register that gets what was thrown.
    pub(crate) register: u8,
    /// Whether it is thrown again behind the handler, as what it was.
    pub(crate) is_passing: bool,
}

/// Where a closure gets a captured value from when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Captured {
    Register(u8),
    Capture(u8),
}

/// A name of a property or method.
#[derive(Clone, Debug)]
pub(crate) struct NameUse {
    pub(crate) text: Arc<str>,
    /// The methods of that name.
    pub(crate) method: Option<u16>,
}

/// A declared type as far as it is looked at when the program runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeCheck {
    Any,
    Nil,
    Bool,
    Int,
    Float,
    Str,
    List(Box<Self>),
    Dict(Box<Self>),
    Callable,
    Harness,
    Literal(Constant),
    Union(Vec<Self>),
    /// Fields, and whether each may be missing.
    Shape(Vec<(Box<str>, bool, Self)>),
}

impl Module {
    /// The digest of its source.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.0.digest
    }

    /// Its source.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Its predicates, in the order of the source.
    #[must_use]
    pub fn predicates(&self) -> &[Predicate] {
        &self.0.predicates
    }

    /// What is doubtful in it.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.0.warnings
    }

    /// Constant patterns that are no regexes: calls with them fail.
    #[must_use]
    pub fn invalid_patterns(&self) -> Vec<Problem> {
        let warning = |pattern: &str, error: &dyn fmt::Display, span: Span| {
            let message = format!("`{pattern}`: {error}");
            Problem::warning(HarnCode::InvalidRegex, span, message)
        };
        let mut bytes = 0;
        let of_texts =
            self.0
                .patterns
                .named()
                .filter_map(|(pattern, span)| match pattern.check(&mut bytes) {
                    Check::Sound => None,
                    Check::Invalid(error) => Some(warning(&pattern.pattern, &error, span)),
                    Check::Untried => {
                        let error = "the file has too many large patterns to try this one";
                        Some(warning(&pattern.pattern, &error, span))
                    }
                });
        let of_files = self.0.facts.iter().filter_map(|(fact, span)| {
            let FactKey::Grep(pattern, _) = fact else {
                return None;
            };
            let error = parse_pattern(pattern).err()?;
            Some(warning(&pattern.text, &error, *span))
        });
        of_texts.chain(of_files).collect()
    }

    /// What it asks of the workspace with constant arguments.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &FactKey> {
        self.0.facts.keys()
    }

    /// Whether it is the same module, not only an equal one.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Its patterns, and the texts that may be some.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        self.0.patterns.all()
    }

    /// How many bytes its instructions take.
    #[must_use]
    pub fn code_bytes(&self) -> usize {
        let insns = self.0.functions.iter().map(|function| function.insns.len());
        insns.sum::<usize>() * size_of::<Insn>()
    }

    /// Compiles a file that imports no others but `std/…`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(source: &str) -> Result<Self, Vec<Problem>> {
        compile("invariants.harn", source, &|_, _| {
            Err("there are no files to import from".into())
        })
        .into_module()
    }
}

impl Code {
    /// The function of a name.
    pub(crate) fn function(&self, name: &str) -> Option<u32> {
        let mut exports = self.exports.iter();
        let found = exports.find(|(known, _)| **known == *name);
        found.map(|(_, function)| *function)
    }
}
