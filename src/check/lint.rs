//! Advice on predicates that are valid and weak.

use crate::diagnostic::{Code, Diagnostic, Span};
use crate::language::Language;
use crate::scan::parse_text;
use crate::syntax::{CompareOp, clip, quote};

use super::entry::Checked;
use super::hir;
use super::typed::{SubstringOp, TBool, TBoolKind, TInt, TIntKind, TPattern, TStr, TStrKind};

/// Looks for weaknesses that take more than a glance: patterns that match
/// everything, nothing or slowly, counts of lines where matches may be meant,
/// numbers and outputs compared loosely. In the order of the source, without
/// the warnings that `check` gave already.
///
/// ```
/// use bumpalo::Bump;
/// use probity::Language;
/// use probity::check::{Options, check, lint};
///
/// let arena = Bump::new();
/// let source = r#"run("cargo test").stdout.contains("255 passed")"#;
/// let checked = check(Language::ElenchV1, source, &arena, Options::default()).unwrap();
/// let advice = lint(Language::ElenchV1, source, &checked);
/// assert_eq!(advice[0].code.name(), "loose_number");
/// ```
#[must_use]
pub fn lint(language: Language, source: &str, checked: &Checked<'_>) -> Vec<Diagnostic> {
    let mut linter = Linter {
        language,
        source,
        found: Vec::new(),
    };
    linter.bool(checked.root);
    linter.found.sort_by_key(|known| (known.span, known.code));
    linter.found
}

struct Linter<'s> {
    language: Language,
    source: &'s str,
    found: Vec<Diagnostic>,
}

/// Where a pattern is used, which decides what it is looked at for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Lines,
    Matches,
    Output,
}

impl Linter<'_> {
    fn warn(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<Box<str>>,
        help: impl Into<Box<str>>,
    ) {
        self.found
            .push(Diagnostic::warning(code, span, message).help(help));
    }

    fn bool(&mut self, node: &TBool<'_>) {
        match node.kind {
            TBoolKind::Not(inner) => self.bool(inner),
            TBoolKind::And(operands) | TBoolKind::Or(operands) => {
                operands.iter().for_each(|operand| self.bool(operand));
            }
            TBoolKind::EqualBool { left, right, .. } => {
                self.bool(left);
                self.bool(right);
            }
            TBoolKind::CompareInt(op, left, right) => {
                self.int(&left);
                self.int(&right);
                self.exact_count(op, &left, &right, node.span);
            }
            TBoolKind::EqualStr { left, right, .. } => {
                self.final_newline(&left, &right);
                self.final_newline(&right, &left);
            }
            TBoolKind::Substring(op, subject, needle) => {
                self.loose_number(op, &subject, needle, node.span);
            }
            TBoolKind::Matches(_, pattern) => self.pattern(&pattern, Use::Output),
            TBoolKind::Const(_) | TBoolKind::Exists(_) | TBoolKind::Passed(_) => {}
        }
    }

    fn int(&mut self, term: &TInt<'_>) {
        match &term.kind {
            TIntKind::Grep(pattern, _) => self.pattern(pattern, Use::Lines),
            TIntKind::Count(pattern, _) => self.pattern(pattern, Use::Matches),
            TIntKind::Const(_) | TIntKind::Exit(_) | TIntKind::Lines(..) => {}
        }
    }

    fn pattern(&mut self, pattern: &TPattern<'_>, used: Use) {
        // It parsed when it was checked.
        let Ok(parsed) = parse_text(pattern.text, pattern.flags) else {
            return;
        };
        let span = pattern.span;
        let by_line = match used {
            Use::Lines => true,
            Use::Matches => !pattern.flags.is_whole_file(),
            Use::Output => false,
        };
        if hir::matches_nothing(&parsed) {
            self.warn(
                Code::MatchesNothing,
                span,
                "no text matches this pattern",
                "see whether a class in it is empty",
            );
        } else if by_line && hir::matches_no_line(&parsed) {
            self.warn(
                Code::MatchesNothing,
                span,
                if used == Use::Matches {
                    "this needs a line end, and without the flag `m` or `s` `count` looks at lines \
                     without theirs"
                } else {
                    "this needs a line end, and `grep` looks at lines without theirs"
                },
                if self.language == Language::ElenchV1 {
                    "look for one of the lines"
                } else {
                    "look for one of the lines, or use `count` with the flag `m` or `s`, which \
                     looks at whole files"
                },
            );
        } else if hir::matches_everything(&parsed) {
            let (message, help) = if used == Use::Lines {
                (
                    "this matches every line, so that lines are counted and nothing looked for",
                    "a part that is not optional makes it a search",
                )
            } else {
                (
                    "this matches everywhere, even in the empty text",
                    "a part that is not optional makes it a search",
                )
            };
            self.warn(Code::MatchesEverything, span, message, help);
        } else if used != Use::Output && !hir::has_literal(&parsed) {
            self.warn(
                Code::SlowPattern,
                span,
                "there is no fixed text in this pattern, so that every line has to be tried",
                "a word that every match holds makes it fast",
            );
        }
    }

    /// `grep(…) == 3` where one line may hold two of the matches. Whether there is
    /// any is the same for lines and matches.
    fn exact_count(&mut self, op: CompareOp, left: &TInt<'_>, right: &TInt<'_>, span: Span) {
        let (pattern, op, wanted) = match (&left.kind, &right.kind) {
            (TIntKind::Grep(pattern, _), TIntKind::Const(wanted)) => (pattern, op, *wanted),
            (TIntKind::Const(wanted), TIntKind::Grep(pattern, _)) => {
                (pattern, op.mirrored(), *wanted)
            }
            _ => return,
        };
        if op.deciding_count(wanted) <= 1 {
            return;
        }
        let twice = parse_text(pattern.text, pattern.flags)
            .is_ok_and(|parsed| hir::can_match_twice(&parsed));
        if twice {
            self.warn(
                Code::CountsLines,
                span,
                "`grep` counts lines, and a line with two matches counts once",
                if self.language == Language::ElenchV1 {
                    "if lines are meant, `^` or `$` in the pattern says so; \
                     `elench-predicate-v2` has `count` for matches"
                } else {
                    "if matches are meant use `count`; `^` or `$` in the pattern says that lines are"
                },
            );
        }
    }

    /// `stdout == "x"`, while programs end their output with a line end.
    fn final_newline(&mut self, output: &TStr<'_>, text: &TStr<'_>) {
        let (TStrKind::Output(..), TStrKind::Const(value)) = (output.kind, text.kind) else {
            return;
        };
        if value.is_empty() || value.ends_with('\n') {
            return;
        }
        self.warn(
            Code::MissingNewline,
            text.span,
            "most programs end their output with a line end, and this text has none",
            format!(
                "write `{}`, or look into the output with `.contains`",
                quote(&format!("{value}\n"))
            ),
        );
    }

    /// `contains("255 passed")`, which `1255 passed` contains too.
    fn loose_number(&mut self, op: SubstringOp, subject: &TStr<'_>, needle: &str, span: Span) {
        let open_left = matches!(op, SubstringOp::Contains | SubstringOp::EndsWith);
        if !open_left
            || !needle.starts_with(|c: char| c.is_ascii_digit())
            || matches!(subject.kind, TStrKind::Const(_))
        {
            return;
        }
        let digits = needle.bytes().take_while(u8::is_ascii_digit).count();
        let end = if needle.ends_with(|c: char| c.is_ascii_digit()) {
            "\\b"
        } else {
            ""
        };
        let message = format!("`1{}` holds this number too", &needle[..digits]);
        let plain = needle.len() <= 40 && !needle.contains(|c: char| c.is_control());
        let subject = clip(&self.source[subject.span.range()]);
        let help = if plain && op == SubstringOp::Contains {
            let escaped = regex_syntax::escape(needle).replace('/', "\\/");
            format!("write `{subject}.matches(/\\b{escaped}{end}/)`")
        } else {
            format!("write `{subject}.matches(/\\b…/)`")
        };
        self.warn(Code::LooseNumber, span, message, help);
    }
}
