//! The grammars that are built in, and the names they go by.

use tree_sitter::Language;

/// A grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    C,
    Cpp,
    Go,
    Java,
    JavaScript,
    Python,
    Rust,
    Tsx,
    TypeScript,
    Zig,
}

impl Grammar {
    pub(super) const ALL: &[Self] = &[
        Self::C,
        Self::Cpp,
        Self::Go,
        Self::Java,
        Self::JavaScript,
        Self::Python,
        Self::Rust,
        Self::Tsx,
        Self::TypeScript,
        Self::Zig,
    ];

    /// The grammar of a name or alias, in whatever case.
    pub(super) fn of(name: &str) -> Option<Self> {
        let known = |grammar: &Self| {
            let mut names = grammar.names().iter();
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        Self::ALL.iter().copied().find(known)
    }

    pub(super) fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The main name first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::C => &["c", "h"],
            Self::Cpp => &["cpp", "c++", "cc", "cxx", "hpp", "hxx"],
            Self::Go => &["go", "golang"],
            Self::Java => &["java"],
            Self::JavaScript => &["javascript", "js", "jsx", "mjs", "cjs"],
            Self::Python => &["python", "py", "python3"],
            Self::Rust => &["rust", "rs"],
            Self::Tsx => &["tsx"],
            Self::TypeScript => &["typescript", "ts", "mts", "cts"],
            Self::Zig => &["zig"],
        }
    }

    pub(super) fn language(self) -> Language {
        match self {
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Zig => tree_sitter_zig::LANGUAGE.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_once() {
        let mut seen = std::collections::HashSet::new();
        for grammar in Grammar::ALL {
            for name in grammar.names() {
                assert!(seen.insert(*name), "{name}");
                assert_eq!(Grammar::of(name), Some(*grammar));
                assert_eq!(Grammar::of(&name.to_uppercase()), Some(*grammar));
            }
        }
        assert_eq!(Grammar::of(""), None);
        assert_eq!(Grammar::of("cobol"), None);
    }

    #[test]
    fn the_library_takes_every_grammar() {
        for grammar in Grammar::ALL {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&grammar.language()).unwrap();
        }
    }
}
