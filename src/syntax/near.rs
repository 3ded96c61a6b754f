//! Words that are meant for words of the language.

use crate::facts::Primitive;
use crate::language::Language;

use super::ast::{Field, Method};
use super::token::Token;

/// Operators that other languages spell as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOperator {
    And,
    Or,
    Not,
}

impl WordOperator {
    /// The operator that a word stands for.
    pub(super) fn of(word: &str) -> Option<Self> {
        [("and", Self::And), ("or", Self::Or), ("not", Self::Not)]
            .into_iter()
            .find_map(|(name, operator)| word.eq_ignore_ascii_case(name).then_some(operator))
    }

    /// The operator as the language writes it.
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::And => "&&",
            Self::Or => "||",
            Self::Not => "!",
        }
    }

    /// Its token.
    pub(super) const fn token(self) -> Token<'static> {
        match self {
            Self::And => Token::AndAnd,
            Self::Or => Token::OrOr,
            Self::Not => Token::Bang,
        }
    }
}

/// Where a word stands, which decides what it can be meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// Before an argument list.
    Callee,
    /// Behind a dot.
    Member,
    /// Anywhere else.
    Alone,
}

/// A word of the language with its token.
pub(super) type Known = (&'static str, Token<'static>);

const fn primitive(primitive: Primitive) -> Known {
    (primitive.name(), Token::Primitive(primitive))
}

const fn field(field: Field) -> Known {
    (field.name(), Token::Field(field))
}

const fn method(method: Method) -> Known {
    (method.name(), Token::Method(method))
}

const CALLEES: &[Known] = &[
    primitive(Primitive::Grep),
    primitive(Primitive::Test),
    primitive(Primitive::Run),
    primitive(Primitive::Exists),
    // v2 only, and last, so that v1 can leave it out.
    primitive(Primitive::Count),
];

const MEMBERS: &[Known] = &[
    field(Field::Passed),
    field(Field::Exit),
    field(Field::Stdout),
    field(Field::Stderr),
    method(Method::Contains),
    method(Method::Matches),
    // v2 only.
    field(Field::Lines),
    method(Method::StartsWith),
    method(Method::EndsWith),
];

const CONSTANTS: &[Known] = &[("true", Token::Bool(true)), ("false", Token::Bool(false))];

const fn v2_only(known: Known) -> bool {
    matches!(
        known.1,
        Token::Primitive(Primitive::Count)
            | Token::Field(Field::Lines)
            | Token::Method(Method::StartsWith | Method::EndsWith)
    )
}

/// What other tools call the same thing.
const SYNONYMS: &[(&str, &str)] = &[
    ("rg", "grep"),
    ("search", "grep"),
    ("find", "grep"),
    ("ripgrep", "grep"),
    ("file", "exists"),
    ("file_exists", "exists"),
    ("is_file", "exists"),
    ("path_exists", "exists"),
    ("exec", "run"),
    ("shell", "run"),
    ("sh", "run"),
    ("cmd", "run"),
    ("command", "run"),
    ("cargo_test", "test"),
    ("code", "exit"),
    ("status", "exit"),
    ("exit_code", "exit"),
    ("exitcode", "exit"),
    ("returncode", "exit"),
    ("output", "stdout"),
    ("out", "stdout"),
    ("err", "stderr"),
    ("ok", "passed"),
    ("success", "passed"),
    ("succeeds", "passed"),
    ("includes", "contains"),
    ("has", "contains"),
    ("match", "matches"),
    ("startswith", "starts_with"),
    ("endswith", "ends_with"),
    ("line_count", "lines"),
];

/// The word of the language that is meant by one that is not, if a letter or
/// two or a synonym away.
pub(super) fn nearest(language: Language, word: &str, position: Position) -> Option<Known> {
    let lists: &[&[Known]] = match position {
        Position::Callee => &[CALLEES, MEMBERS],
        Position::Member => &[MEMBERS],
        Position::Alone => &[CONSTANTS, CALLEES],
    };
    let candidates = || {
        lists
            .iter()
            .flat_map(|list| list.iter().copied())
            .filter(|known| language != Language::ElenchV1 || !v2_only(*known))
    };
    // Long words are near nothing, and comparing them costs their square.
    if word.len() > 16 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let meant = SYNONYMS
        .iter()
        .find(|(synonym, _)| *synonym == lower)
        .map_or(lower.as_str(), |(_, name)| name);
    if let Some(known) = candidates().find(|(name, _)| *name == meant) {
        return Some(known);
    }
    candidates()
        .map(|known| (strsim::damerau_levenshtein(&lower, known.0), known))
        .filter(|(distance, (name, _))| *distance <= if name.len() < 6 { 1 } else { 2 })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(language: Language, word: &str, position: Position) -> Option<&'static str> {
        nearest(language, word, position).map(|known| known.0)
    }

    #[test]
    fn near_misses() {
        use Language::{ElenchV1, ElenchV2};
        use Position::{Alone, Callee, Member};
        for (language, word, position, wanted) in [
            (ElenchV1, "Grep", Callee, Some("grep")),
            (ElenchV1, "exist", Callee, Some("exists")),
            (ElenchV1, "exits", Callee, Some("exists")),
            (ElenchV1, "code", Member, Some("exit")),
            (ElenchV1, "pased", Member, Some("passed")),
            (ElenchV1, "True", Alone, Some("true")),
            (ElenchV1, "startsWith", Member, None),
            (ElenchV2, "startsWith", Member, Some("starts_with")),
            (ElenchV1, "counts", Callee, None),
            (ElenchV2, "counts", Callee, Some("count")),
            (ElenchV1, "safe_truncate", Callee, None),
            (ElenchV1, "extra", Alone, None),
            (ElenchV1, "x", Alone, None),
        ] {
            assert_eq!(name(language, word, position), wanted, "{word}");
        }
    }
}
