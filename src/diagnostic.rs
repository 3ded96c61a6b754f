//! What the front end has to say about a source: place, code, reason, hint.

use std::fmt;

/// A half-open byte range of a source. Sources are at most 64 KiB, so 32 bits
/// are plenty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from byte offsets; offsets past 4 GiB saturate.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        }
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The range for slicing a source.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Whether a diagnostic refuses the source or only comments on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The source is invalid; nothing runs.
    Error,
    /// The source runs; a person should look.
    Warning,
}

impl Severity {
    /// `error` or `warning`, as reports write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Which step of the front end a diagnostic comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// The source does not lex or parse.
    Parse,
    /// The source parses and its types do not fit.
    Type,
    /// The source is well typed and asserts nothing.
    Vacuous,
    /// A remark on a source that is valid.
    Lint,
    /// The claim record around the source is at fault.
    Claim,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal, $stage:ident;)+) => {
        /// The stable codes of diagnostics. The number of a code never changes its
        /// meaning; a code is documented in `docs/language.md`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name that reports carry in `code`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The step of the front end that gives it.
            #[must_use]
            pub const fn stage(self) -> Stage {
                match self { $(Self::$variant => Stage::$stage,)+ }
            }
        }
    };
}

codes! {
    // Lexing and parsing.
    /// The source is empty or white space only.
    EmptySource => "empty_source", Parse;
    /// The source is over 64 KiB.
    SourceTooLarge => "source_too_large", Parse;
    /// Prose stands where a predicate is wanted.
    Prose => "prose", Parse;
    /// A shell command stands where a predicate is wanted.
    ShellCommand => "shell_command", Parse;
    /// A word that the language does not have.
    UnknownWord => "unknown_word", Parse;
    /// A form that only a later version of the language has.
    NeedsV2 => "needs_v2", Parse;
    /// A token where another is wanted.
    UnexpectedToken => "unexpected_token", Parse;
    /// The source ends where more is wanted.
    UnexpectedEnd => "unexpected_end", Parse;
    /// A character that starts no token.
    UnexpectedCharacter => "unexpected_character", Parse;
    /// A byte order mark, NUL or other control character outside literals.
    ControlCharacter => "control_character", Parse;
    /// A string or regex literal without its end.
    UnterminatedLiteral => "unterminated_literal", Parse;
    /// A string in single quotes.
    SingleQuotes => "single_quotes", Parse;
    /// An escape sequence that strings do not have.
    UnknownEscape => "unknown_escape", Parse;
    /// An integer over 2^63-1.
    IntegerTooLarge => "integer_too_large", Parse;
    /// `=` where `==` is meant.
    SingleEquals => "single_equals", Parse;
    /// `and`, `or`, `not`, `&` or `|` where the operator is meant.
    WordOperator => "word_operator", Parse;
    /// Comparisons in a chain.
    ChainedComparison => "chained_comparison", Parse;
    /// A `/` inside a regex literal without a backslash.
    UnescapedSlash => "unescaped_slash", Parse;
    /// Flags after a regex literal in a language that has none there.
    RegexFlags => "regex_flags", Parse;
    /// `//`, a regex literal without a pattern.
    EmptyRegex => "empty_regex", Parse;
    /// A pattern that is no regex.
    InvalidRegex => "invalid_regex", Parse;
    /// Look-around or a back-reference, which regexes here do not have.
    UnsupportedRegex => "unsupported_regex", Parse;
    /// A pattern over 4 KiB of text or 2 MiB compiled.
    PatternTooLarge => "pattern_too_large", Parse;
    /// A glob path that is no glob.
    InvalidGlob => "invalid_glob", Parse;
    /// More than 256 primitives.
    TooManyPrimitives => "too_many_primitives", Parse;
    /// `!` or parentheses nested more than 128 deep.
    NestedTooDeep => "nested_too_deep", Parse;
    /// A primitive with too few or too many arguments.
    WrongArgumentCount => "wrong_argument_count", Parse;
    // Types.
    /// An argument of another type.
    WrongArgument => "wrong_argument", Type;
    /// A field or method that the value does not have.
    NoSuchField => "no_such_field", Type;
    /// Operands that cannot be compared or combined.
    TypeMismatch => "type_mismatch", Type;
    /// A value that is not a bool where a bool is wanted.
    NotABool => "not_a_bool", Type;
    // Vacuity.
    /// A predicate whose value does not depend on the world.
    Vacuous => "vacuous", Vacuous;
    /// A predicate too large to show that it depends on the world.
    VacuityUndecided => "vacuity_undecided", Vacuous;
    // Lints.
    /// A part of the predicate that is always true or always false.
    ConstantPart => "constant_part", Lint;
    /// A pattern that matches every line or the empty string.
    MatchesEverything => "matches_everything", Lint;
    /// A pattern that needs a line terminator and so matches no line.
    MatchesNothing => "matches_nothing", Lint;
    /// A count that would decide differently if matches were counted.
    CountsLines => "counts_lines", Lint;
    /// A number in `contains` that is also the tail of a larger one.
    LooseNumber => "loose_number", Lint;
    /// `stdout == "…"` without the final newline that commands print.
    MissingNewline => "missing_newline", Lint;
    /// `.stderr`, which the ADR names in one place only.
    StderrField => "stderr_field", Lint;
    /// `contains("")`, which is true of every string.
    EmptyNeedle => "empty_needle", Lint;
    /// Shell syntax in a command that runs without a shell.
    ShellSyntax => "shell_syntax", Lint;
    /// A command that cannot be split into words.
    BadCommand => "bad_command", Lint;
    /// A path that can name nothing inside the workspace.
    SuspiciousPath => "suspicious_path", Lint;
    /// A pattern without a literal, which every line must be tried against.
    SlowPattern => "slow_pattern", Lint;
    // Claim records.
    /// The record is not valid JSON.
    MalformedRecord => "malformed_record", Claim;
    /// The record ends in the middle: the log was cut.
    TruncatedRecord => "truncated_record", Claim;
    /// The record is over the size cap.
    RecordTooLarge => "record_too_large", Claim;
    /// A field is missing, doubled or of another type.
    BadField => "bad_field", Claim;
    /// An envelope or statement that holds no claim.
    BadEnvelope => "bad_envelope", Claim;
    /// `form` is predicate and there is no expression.
    ExpressionMissing => "expression_missing", Claim;
    /// The expression has no language and none was given for the log.
    LanguageMissing => "language_missing", Claim;
    /// The expression's language is not known.
    UnknownLanguage => "unknown_language", Claim;
    /// The digest differs from the SHA-256 of the source.
    DigestMismatch => "digest_mismatch", Claim;
    /// A key in snake_case, which other readers of the log lose.
    SnakeCaseKey => "snake_case_key", Claim;
    /// The id is not the hash of the content.
    IdMismatch => "id_mismatch", Claim;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One remark on a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Whether the source is refused.
    pub severity: Severity,
    /// The stable cause.
    pub code: Code,
    /// Lower case, says what is wrong, ends without a period.
    pub message: Box<str>,
    /// Where, in bytes of the source.
    pub span: Span,
    /// What to do about it.
    pub help: Option<Box<str>>,
}

impl Diagnostic {
    /// An error, which refuses the source.
    pub fn error(code: Code, span: Span, message: impl Into<Box<str>>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            help: None,
        }
    }

    /// A warning, which leaves the source valid.
    pub fn warning(code: Code, span: Span, message: impl Into<Box<str>>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, span, message)
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Box<str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// True if it refuses the source.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
