//! Why a fact, and with it a predicate, could not be evaluated.

use std::fmt;

macro_rules! reason_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+) => {
        /// The stable codes of unknown facts and unevaluated verdicts. One cause,
        /// one code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum ReasonCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ReasonCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name that reports carry in `code`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

reason_codes! {
    /// Nothing exists at the path.
    PathNotFound => "path_not_found",
    /// The path is absolute, climbs out with `..` or leaves through a link.
    PathOutsideWorkspace => "path_outside_workspace",
    /// The path can name no file: empty, holding a NUL, or too long.
    PathInvalid => "path_invalid",
    /// A FIFO, socket or device, or a directory where a file is needed.
    NotARegularFile => "not_a_regular_file",
    /// The operating system refused to read a file or directory.
    ReadError => "read_error",
    /// A file changed or vanished while it was read.
    FileChanged => "file_changed",
    /// A file or a line is over the size cap.
    TooLarge => "too_large",
    /// The compiled pattern is over its size limit.
    PatternTooLarge => "pattern_too_large",
    /// The pattern is no regex.
    PatternInvalid => "pattern_invalid",
    /// The policy does not allow the command or the test runner.
    CommandNotAllowed => "command_not_allowed",
    /// The program is not on the policy's path.
    CommandNotFound => "command_not_found",
    /// The command line is empty, badly quoted or holds shell syntax.
    CommandInvalid => "command_invalid",
    /// A command or a test at a commit that is not checked out.
    NeedsCheckout => "needs_checkout",
    /// The command ran into its time limit and was killed.
    CommandTimedOut => "command_timed_out",
    /// The command used up its CPU time and was killed.
    CommandOverCpu => "command_over_cpu",
    /// The command took too much memory and was killed.
    CommandOverMemory => "command_over_memory",
    /// The command had too many processes and was killed.
    CommandOverProcesses => "command_over_processes",
    /// The command could not be started.
    CommandNotStarted => "command_not_started",
    /// The policy says that the program's results prove nothing.
    CommandNondeterministic => "command_nondeterministic",
    /// The machine lacks a layer of confinement that the policy asks for.
    ConfinementUnavailable => "confinement_unavailable",
    /// The answer depends on output past the capture limit.
    OutputTruncated => "output_truncated",
    /// The command needs a network that the policy denies.
    NetworkDenied => "network_denied",
    /// No test has the name.
    TestNotFound => "test_not_found",
    /// The test exists and is ignored.
    TestIgnored => "test_ignored",
    /// The test runner or the build failed.
    TestRunnerFailed => "test_runner_failed",
    /// A fuel or CPU limit was reached.
    BudgetExceeded => "budget_exceeded",
    /// The batch was cancelled or ran into its deadline.
    Cancelled => "cancelled",
    /// A fact that was never supplied.
    FactMissing => "fact_missing",
    /// A fact source answered with a value of the wrong type.
    FactMistyped => "fact_mistyped",
    /// The program needs an engine of another version.
    UnsupportedVersion => "unsupported_version",
}

impl fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A code with the particulars for people: which path, which limit, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reason {
    /// The stable cause.
    pub code: ReasonCode,
    /// Lower case, says what, where and what to do, ends without a period.
    pub detail: Box<str>,
    /// False if an equal run over the same workspace may well come out otherwise,
    /// because time decided and not the input: CPU limits, deadlines, requests to
    /// stop.
    pub deterministic: bool,
}

impl Reason {
    /// Joins a code and its particulars.
    pub fn new(code: ReasonCode, detail: impl Into<Box<str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            deterministic: true,
        }
    }

    /// Marks what time decided.
    #[must_use]
    pub fn not_deterministic(self) -> Self {
        Self {
            deterministic: false,
            ..self
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}
