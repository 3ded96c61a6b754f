//! What a fact is: one primitive call with its literal arguments.

use std::fmt;

/// The primitives of both languages, in order of what their facts cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Primitive {
    /// `exists(path)`, a bool.
    Exists,
    /// `grep(pattern, path)`, the number of matching lines.
    Grep,
    /// `count(pattern, path)` of v2, the number of matches.
    Count,
    /// `test(name)`, whether the tests of that name passed.
    Test,
    /// `run(command)`, exit status and output.
    Run,
}

impl Primitive {
    /// Every primitive, cheapest fact first.
    pub const ALL: [Self; 5] = [Self::Exists, Self::Grep, Self::Count, Self::Test, Self::Run];

    /// The word of the language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Grep => "grep",
            Self::Count => "count",
            Self::Test => "test",
            Self::Run => "run",
        }
    }
}

/// Flags after a regex literal (`elench-predicate-v2` only), as a bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct RegexFlags(u8);

impl RegexFlags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// `i`: letters match in either case.
    pub const IGNORE_CASE: Self = Self(1);
    /// `m`: `^` and `$` match at line ends of the whole text.
    pub const MULTI_LINE: Self = Self(2);
    /// `s`: `.` matches a line feed too.
    pub const DOT_ALL: Self = Self(4);

    /// The flags of a bit set; unknown bits give none.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits < 8 { Some(Self(bits)) } else { None }
    }

    /// The bit set.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True if every flag of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if the pattern is matched against whole files, not lines.
    #[must_use]
    pub const fn is_whole_file(self) -> bool {
        self.0 & (Self::MULTI_LINE.0 | Self::DOT_ALL.0) != 0
    }
}

impl fmt::Display for RegexFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (flag, letter) in [
            (Self::IGNORE_CASE, "i"),
            (Self::MULTI_LINE, "m"),
            (Self::DOT_ALL, "s"),
        ] {
            if self.contains(flag) {
                f.write_str(letter)?;
            }
        }
        Ok(())
    }
}

/// A regex as the predicate gives it: the text between the slashes with `\/`
/// already turned into `/`, or the value of the string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pattern {
    /// The syntax of the `regex` crate.
    pub text: Box<str>,
    /// Flags after the literal.
    pub flags: RegexFlags,
}

/// Paths of one fact: one path, or in `elench-predicate-v2` a glob.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathSpec {
    /// Relative to the workspace root, `/`-separated.
    pub text: Box<str>,
    /// True if the text is a glob over the workspace.
    pub glob: bool,
}

/// One primitive call with its literal arguments. Equal keys are one fact and
/// are fetched once for a batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FactKey {
    /// Whether a path resolves inside the workspace.
    Exists(PathSpec),
    /// The number of lines that match.
    Grep(Pattern, PathSpec),
    /// The number of non-overlapping matches.
    Count(Pattern, PathSpec),
    /// Whether the tests of a name passed.
    Test(Box<str>),
    /// What a command printed and how it ended.
    Run(Box<str>),
}

impl FactKey {
    /// How many stages there are.
    pub const STAGES: usize = 4;

    /// The primitive that was called.
    #[must_use]
    pub const fn primitive(&self) -> Primitive {
        match self {
            Self::Exists(_) => Primitive::Exists,
            Self::Grep(..) => Primitive::Grep,
            Self::Count(..) => Primitive::Count,
            Self::Test(_) => Primitive::Test,
            Self::Run(_) => Primitive::Run,
        }
    }

    /// The stage of a batch in which it is fetched: existence, scans, tests, commands.
    /// A later stage is only reached by programs that are not decided by then. Whether
    /// anything matches a glob takes a walk, and is found out by that of the scans.
    #[must_use]
    pub const fn stage(&self) -> usize {
        match self {
            Self::Exists(path) if !path.glob => 0,
            Self::Exists(_) | Self::Grep(..) | Self::Count(..) => 1,
            Self::Test(_) => 2,
            Self::Run(_) => 3,
        }
    }

    /// The arguments as reports show them. The flags of a pattern begin it, so
    /// that calls that differ in nothing else can be told apart.
    #[must_use]
    pub fn shown_arguments(&self) -> Vec<Box<str>> {
        let mut shown: Vec<Box<str>> = self.arguments().into_iter().map(Box::from).collect();
        if let Self::Grep(pattern, _) | Self::Count(pattern, _) = self
            && pattern.flags != RegexFlags::NONE
        {
            shown[0] = format!("(?{}){}", pattern.flags, pattern.text).into();
        }
        shown
    }

    /// The arguments as they are: a pattern by its text.
    #[must_use]
    pub fn arguments(&self) -> Vec<&str> {
        match self {
            Self::Exists(path) => vec![&path.text],
            Self::Grep(pattern, path) | Self::Count(pattern, path) => {
                vec![&pattern.text, &path.text]
            }
            Self::Test(text) | Self::Run(text) => vec![text],
        }
    }
}

impl fmt::Display for FactKey {
    /// The call as v2 would write it, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.primitive().name();
        match self {
            Self::Exists(path) => write!(f, "{name}({:?})", path.text),
            Self::Grep(pattern, path) | Self::Count(pattern, path) => write!(
                f,
                "{name}(/{}/{}, {:?})",
                pattern.text.replace('/', "\\/"),
                pattern.flags,
                path.text
            ),
            Self::Test(text) | Self::Run(text) => write!(f, "{name}({text:?})"),
        }
    }
}
