//! Literal arguments: how many, of which type, and whether they can mean
//! anything.

use globset::GlobBuilder;

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::facts::RegexFlags;
use crate::language::Language;
use crate::syntax::{Argument, ArgumentKind, clip, quote};

use super::typed::{TPath, TPattern};
use super::types::Checker;
use super::{command, path, pattern};

impl<'a> Checker<'a, '_> {
    /// The arguments, if there are as many as the callee takes and none is
    /// broken.
    pub(super) fn arity<'e, const N: usize>(
        &mut self,
        callee: &str,
        arguments: &'e [Argument<'a>],
        span: Span,
    ) -> Option<&'e [Argument<'a>; N]> {
        if arguments
            .iter()
            .any(|argument| matches!(argument.kind, ArgumentKind::Broken))
        {
            return None;
        }
        if let Ok(exact) = arguments.try_into() {
            return Some(exact);
        }
        let help = match callee {
            "grep" | "count" if arguments.len() > 2 => {
                format!("one `{callee}` for each path, joined with `&&` or `||`")
            }
            "grep" | "count" => {
                format!("write `{callee}(/pattern/, \"path\")`; the whole workspace is `\".\"`")
            }
            "exists" => "one `exists(\"path\")` for each path".to_owned(),
            "test" => "one `test(\"name\").passed` for each test".to_owned(),
            "run" => {
                "the command with its arguments is one string: `run(\"cargo test\")`".to_owned()
            }
            _ => format!("write `.{callee}(…)` with one literal"),
        };
        let s = if N == 1 { "" } else { "s" };
        let message = format!("`{callee}` takes {N} argument{s}, not {}", arguments.len());
        self.error(Code::WrongArgumentCount, span, message, help);
        None
    }

    /// A string argument.
    pub(super) fn string(&mut self, argument: &Argument<'a>, callee: &str) -> Option<&'a str> {
        let (found, help) = match argument.kind {
            ArgumentKind::Str(value) => return Some(value),
            ArgumentKind::Regex(text, _) if callee == "contains" => (
                "a regex",
                format!("to search with a regex write `.matches(/{}/)`", clip(text)),
            ),
            ArgumentKind::Regex(text, _) => ("a regex", format!("write `{}`", clip(&quote(text)))),
            ArgumentKind::Int(value) => ("an int", format!("write `\"{value}\"`")),
            ArgumentKind::Bool(value) => ("a bool", format!("write `\"{value}\"`")),
            ArgumentKind::Broken => return None,
        };
        let message = format!("`{callee}` takes a string here, not {found}");
        self.error(Code::WrongArgument, argument.span, message, help);
        None
    }

    /// A path argument, in v2 perhaps a glob.
    pub(super) fn path(&mut self, argument: &Argument<'a>, callee: &str) -> Option<TPath<'a>> {
        if let ("grep" | "count", ArgumentKind::Regex(..)) = (callee, argument.kind) {
            let message = format!("the path of `{callee}` is a string, not a regex");
            let help = format!("the pattern comes first: `{callee}(/pattern/, \"path\")`");
            self.error(Code::WrongArgument, argument.span, message, help);
            return None;
        }
        let text = self.string(argument, callee)?;
        let span = argument.span;
        path::check(text, span, self.sink);
        let looks_like_a_glob = text
            .bytes()
            .any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{'));
        let glob = self.language != Language::ElenchV1 && looks_like_a_glob;
        if looks_like_a_glob && !glob {
            let message = "this is no glob here but the name of one file";
            let help = "globs are in `elench-predicate-v2`; name the file or its directory";
            self.sink
                .push(Diagnostic::warning(Code::SuspiciousPath, span, message).help(help));
        }
        if glob && let Err(error) = GlobBuilder::new(text).literal_separator(true).build() {
            let message = format!("this is no glob: {}", error.kind());
            let help = "a path that holds `*`, `?`, `[` or `{` is a glob; for the character \
                        itself write `[*]`";
            self.error(Code::InvalidGlob, span, message, help);
            return None;
        }
        Some(TPath { text, glob, span })
    }

    /// A regex, or a string that holds one.
    pub(super) fn pattern(
        &mut self,
        argument: &Argument<'a>,
        callee: &str,
    ) -> Option<TPattern<'a>> {
        let (text, flags) = match argument.kind {
            ArgumentKind::Regex(text, flags) => (text, flags),
            ArgumentKind::Str(text) => (text, RegexFlags::NONE),
            _ => {
                let message = format!("`{callee}` takes a regex here");
                self.error(
                    Code::WrongArgument,
                    argument.span,
                    message,
                    "a regex stands between slashes, `/…/`, or in a string",
                );
                return None;
            }
        };
        if callee == "grep" && flags.is_whole_file() {
            self.error(
                Code::RegexFlags,
                argument.span,
                "`grep` looks at single lines, where the flags `m` and `s` change nothing",
                "to match over line ends use `count`",
            );
            return None;
        }
        if let Err(diagnostic) = pattern::validate(text, flags, argument.span, self.source) {
            self.sink.push(diagnostic);
            return None;
        }
        Some(TPattern {
            text,
            flags,
            span: argument.span,
        })
    }

    /// The command of a run.
    pub(super) fn command(&mut self, argument: &Argument<'a>) -> Option<&'a str> {
        let text = self.string(argument, "run")?;
        if let Some(problem) = command::problem(text) {
            self.sink.push(
                Diagnostic::warning(problem.code, argument.span, problem.message)
                    .help(problem.help),
            );
        }
        Some(text)
    }
}
