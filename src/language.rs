//! The predicate languages by name.

use std::fmt;
use std::str::FromStr;

/// A predicate language. What a released language accepts and means never
/// changes; new forms get a new name (ADR-0004, "Versioning").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Language {
    /// `elench-predicate-v1`, the frozen language of ADR-0004.
    #[default]
    ElenchV1,
    /// `elench-predicate-v2`, a superset of v1 with parentheses, negative
    /// integers, `count`, glob paths, regex flags and comments.
    ElenchV2,
}

/// No language of that name is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown language `{0}`: known are `elench-predicate-v1` and `elench-predicate-v2`")]
pub struct UnknownLanguage(pub String);

impl Language {
    /// Every language, oldest first.
    pub const ALL: [Self; 2] = [Self::ElenchV1, Self::ElenchV2];

    /// The name claims carry in `assertion.expression.language`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ElenchV1 => "elench-predicate-v1",
            Self::ElenchV2 => "elench-predicate-v2",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Language {
    type Err = UnknownLanguage;

    /// Names are compared exactly: a case or space that differs is another,
    /// unknown language.
    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        Self::ALL
            .into_iter()
            .find(|language| language.name() == text)
            .ok_or_else(|| UnknownLanguage(text.to_owned()))
    }
}
