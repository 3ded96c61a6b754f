//! The facts of a program, each once, with how much of it the program needs.

use crate::check::typed::{TPath, TPattern};
use crate::code::FactSpec;
use crate::diagnostic::Span;
use crate::facts::{FactKey, PathSpec, Pattern, Primitive};

/// A primitive call that borrows from the source.
#[derive(Clone, Copy)]
pub(super) enum Call<'a> {
    Exists(TPath<'a>),
    Grep(TPattern<'a>, TPath<'a>),
    Count(TPattern<'a>, TPath<'a>),
    Test(&'a str),
    Run(&'a str),
}

impl Call<'_> {
    const fn primitive(&self) -> Primitive {
        match self {
            Self::Exists(_) => Primitive::Exists,
            Self::Grep(..) => Primitive::Grep,
            Self::Count(..) => Primitive::Count,
            Self::Test(_) => Primitive::Test,
            Self::Run(_) => Primitive::Run,
        }
    }

    /// Compares without allocating the key.
    fn is(&self, key: &FactKey) -> bool {
        if self.primitive() != key.primitive() {
            return false;
        }
        match (self, key) {
            (Self::Exists(path), FactKey::Exists(spec)) => same_path(path, spec),
            (Self::Grep(pattern, path), FactKey::Grep(text, spec))
            | (Self::Count(pattern, path), FactKey::Count(text, spec)) => {
                *pattern.text == *text.text && pattern.flags == text.flags && same_path(path, spec)
            }
            (Self::Test(text) | Self::Run(text), FactKey::Test(name) | FactKey::Run(name)) => {
                **text == **name
            }
            _ => false,
        }
    }

    fn key(&self) -> FactKey {
        let path = |path: &TPath<'_>| PathSpec {
            text: path.text.into(),
            glob: path.glob,
        };
        let pattern = |pattern: &TPattern<'_>| Pattern {
            text: pattern.text.into(),
            flags: pattern.flags,
        };
        match self {
            Self::Exists(spec) => FactKey::Exists(path(spec)),
            Self::Grep(text, spec) => FactKey::Grep(pattern(text), path(spec)),
            Self::Count(text, spec) => FactKey::Count(pattern(text), path(spec)),
            Self::Test(name) => FactKey::Test((*name).into()),
            Self::Run(command) => FactKey::Run((*command).into()),
        }
    }
}

fn same_path(path: &TPath<'_>, spec: &PathSpec) -> bool {
    *path.text == *spec.text && path.glob == spec.glob
}

/// How much of a count one comparison needs.
#[derive(Clone, Copy)]
pub(super) enum Need {
    /// This many decide it.
    UpTo(u64),
    /// The exact number, or the fact is no count.
    Exact,
}

/// The facts met so far.
#[derive(Default)]
pub(super) struct Facts(Vec<FactSpec>);

impl Facts {
    /// The number of a call's fact, which is new or met before. The language
    /// allows at most 256 primitives, so a byte holds it; `None` past that.
    pub(super) fn intern(&mut self, call: Call<'_>, span: Span, need: Need) -> Option<u8> {
        let limit = match need {
            // A file must be opened to learn that the path is there.
            Need::UpTo(count) => Some(count.max(1)),
            Need::Exact => None,
        };
        if let Some(number) = self.0.iter().position(|fact| call.is(&fact.key)) {
            let known = &mut self.0[number].limit;
            *known = known.zip(limit).map(|(left, right)| left.max(right));
            return u8::try_from(number).ok();
        }
        let number = u8::try_from(self.0.len()).ok()?;
        self.0.push(FactSpec {
            key: call.key(),
            limit,
            span,
        });
        Some(number)
    }

    pub(super) fn into_vec(self) -> Vec<FactSpec> {
        self.0
    }
}
