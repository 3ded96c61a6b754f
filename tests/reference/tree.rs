//! The tree of an expression, untyped.

/// An expression or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Bool(bool),
    Int(i64),
    Str(String),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Compare(&'static str, Box<Expr>, Box<Expr>),
    Call(Fact),
    Field(Box<Expr>, String),
    Method(Box<Expr>, Method),
}

/// One primitive call with its literal arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fact {
    Exists(Path),
    Grep(Pattern, Path),
    Count(Pattern, Path),
    Test(String),
    Run(String),
}

/// A string method with its literal argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Contains(String),
    StartsWith(String),
    EndsWith(String),
    Matches(Pattern),
}

/// A regex and the flags after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pattern {
    pub(crate) text: String,
    pub(crate) flags: String,
}

/// A path, or in v2 a glob.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Path {
    pub(crate) text: String,
    pub(crate) glob: bool,
}

impl Pattern {
    /// Whether the text is a regex at all, however large.
    pub(crate) fn is_regex(&self) -> bool {
        !matches!(self.compile(), Err(regex::Error::Syntax(_)))
    }

    /// The compiled pattern, unless it is no regex or too large.
    pub(crate) fn compile(&self) -> Result<regex::bytes::Regex, regex::Error> {
        regex::bytes::RegexBuilder::new(&self.text)
            .case_insensitive(self.flags.contains('i'))
            .multi_line(self.flags.contains('m'))
            .dot_matches_new_line(self.flags.contains('s'))
            .size_limit(2 << 20)
            .nest_limit(100)
            .build()
    }

    /// True if the flags make `count` look at whole files, not at lines.
    pub(crate) fn is_whole_file(&self) -> bool {
        self.flags.contains(['m', 's'])
    }

    /// True if an end of the text or of a word is part of the pattern, so that
    /// a match at the end of a prefix may be none in the whole text.
    pub(crate) fn looks_beyond_its_match(&self) -> bool {
        let hir = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .multi_line(self.flags.contains('m'))
            .build()
            .parse(&self.text)
            .expect("the pattern compiles");
        let mut looks = hir.properties().look_set().iter();
        looks.any(|look| look != regex_syntax::hir::Look::Start)
    }
}
