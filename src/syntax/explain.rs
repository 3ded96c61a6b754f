//! Errors of the grammar in words, with what was most likely meant.

use crate::diagnostic::{Code, Diagnostic, Span};

use super::parser::GrammarError;
use super::quoting::clip;
use super::sink::Sink;
use super::token::{Spanned, Token};

/// Tokens that have to go well after an error before the next one is news.
const QUIET: usize = 3;

/// Reports the errors of a parse, without those that follow from another.
pub(super) fn explain(
    source: &str,
    tokens: &[Spanned<'_>],
    mut errors: Vec<GrammarError<'_>>,
    sink: &mut Sink,
) {
    errors.sort_by_key(place);
    // The last error, reported or not.
    let mut last = None;
    for error in &errors {
        let at = tokens.partition_point(|spanned| spanned.span.start < place(error));
        let context = Context { source, tokens, at };
        let silent =
            last.is_some_and(|last| follows(&tokens[last..at])) || context.follows_report(sink);
        last = Some(at);
        if !silent {
            let expected = Expected::of(error);
            sink.push(context.describe(expected));
        }
    }
}

/// True if an error follows from the one before it: too close behind, or in the
/// same operand.
fn follows(between: &[Spanned<'_>]) -> bool {
    between.len() < QUIET
        || !between
            .iter()
            .any(|spanned| matches!(spanned.token, Token::AndAnd | Token::OrOr))
}

fn place(error: &GrammarError<'_>) -> u32 {
    match error {
        GrammarError::InvalidToken { location } => *location,
        GrammarError::UnrecognizedEof { .. } => u32::MAX,
        GrammarError::UnrecognizedToken { token, .. } | GrammarError::ExtraToken { token } => {
            token.0
        }
        GrammarError::User { error } => match *error {},
    }
}

/// What the parser would have taken, as far as it makes a difference.
#[derive(Clone, Copy, Default)]
struct Expected {
    operand: bool,
    argument: bool,
    arguments: bool,
    selector: bool,
    comma: bool,
    close: bool,
    comparison: bool,
    end: bool,
}

impl Expected {
    fn of(error: &GrammarError<'_>) -> Self {
        let mut found = Self::default();
        match error {
            GrammarError::UnrecognizedToken { expected, .. }
            | GrammarError::UnrecognizedEof { expected, .. } => {
                for terminal in expected {
                    match terminal.trim_matches('"') {
                        "primitive" => found.operand = true,
                        "regex" => found.argument = true,
                        "call(" => found.arguments = true,
                        "field" => found.selector = true,
                        "," => found.comma = true,
                        ")" => found.close = true,
                        "comparison" => found.comparison = true,
                        "&&" | "||" => found.end = true,
                        _ => {}
                    }
                }
            }
            _ => found.end = true,
        }
        found
    }
}

/// A place among the tokens; `at` is past the last one at the end.
struct Context<'t> {
    source: &'t str,
    tokens: &'t [Spanned<'t>],
    at: usize,
}

impl Context<'_> {
    fn token(&self) -> Option<Token<'_>> {
        self.tokens.get(self.at).map(|spanned| spanned.token)
    }

    fn before(&self) -> Option<Token<'_>> {
        Some(self.tokens.get(self.at.checked_sub(1)?)?.token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or_else(
            || {
                let end = self.tokens.last().map_or(0, |last| last.span.range().end);
                Span::new(end, end)
            },
            |spanned| spanned.span,
        )
    }

    fn text(&self, at: usize) -> String {
        self.tokens.get(at).map_or_else(String::new, |spanned| {
            clip(&self.source[spanned.span.range()])
        })
    }

    /// True if this place or the token before it was reported already.
    fn follows_report(&self, sink: &Sink) -> bool {
        sink.covers(self.span())
            || self
                .at
                .checked_sub(1)
                .is_some_and(|before| sink.covers(self.tokens[before].span))
    }

    fn describe(&self, expected: Expected) -> Diagnostic {
        let found = self.text(self.at);
        match self.token() {
            None => self.at_end(expected),
            Some(Token::Compare(_)) if self.is_chained() => Diagnostic::error(
                Code::ChainedComparison,
                self.span(),
                format!("a second comparison, `{found}`, in one"),
            )
            .help("comparisons do not chain: write `1 < a && a < 3` for `1 < a < 3`"),
            Some(_) => {
                let (wanted, help) = self.wanted(expected);
                let message = if wanted.is_empty() {
                    format!("unexpected `{found}`")
                } else {
                    format!("unexpected `{found}`, {wanted} is wanted")
                };
                Diagnostic::error(Code::UnexpectedToken, self.span(), message).help(help)
            }
        }
    }

    fn at_end(&self, expected: Expected) -> Diagnostic {
        let (wanted, help) = self.wanted(expected);
        let wanted = if wanted.is_empty() { "more" } else { wanted };
        Diagnostic::error(
            Code::UnexpectedEnd,
            self.span(),
            format!("the predicate ends where {wanted} is wanted"),
        )
        .help(help)
    }

    /// True if the operand that ends here holds a comparison already.
    fn is_chained(&self) -> bool {
        let mut depth = 0_usize;
        for spanned in self.tokens[..self.at].iter().rev() {
            match spanned.token {
                Token::Close => depth += 1,
                Token::Open | Token::Group if depth > 0 => depth -= 1,
                Token::Open | Token::Group | Token::AndAnd | Token::OrOr => return false,
                Token::Compare(_) if depth == 0 => return true,
                _ => {}
            }
        }
        false
    }

    /// What is wanted here and how to get it right.
    fn wanted(&self, expected: Expected) -> (&'static str, String) {
        let callee = self.text(self.at.wrapping_sub(1));
        if expected.arguments {
            return (
                "an argument list",
                match self.before() {
                    Some(Token::Method(_)) => {
                        format!("`.{callee}` takes one literal in parentheses")
                    }
                    _ => signature(&callee),
                },
            );
        }
        if expected.argument {
            return ("an argument", self.argument_help());
        }
        if expected.comma && expected.close {
            return ("`,` or `)`", self.list_help());
        }
        if expected.selector {
            return (
                "a field",
                "a run has `.exit`, `.stdout` and `.stderr`, a test has `.passed`, output has \
                 `.contains(\"…\")` and `.matches(/…/)`"
                    .to_owned(),
            );
        }
        if expected.operand {
            return ("a check", self.operand_help());
        }
        if expected.close {
            return ("`)`", "a parenthesis is still open".to_owned());
        }
        ("", self.rest_help(expected))
    }

    fn argument_help(&self) -> String {
        match self.token() {
            Some(Token::Primitive(_) | Token::Group | Token::Bang) => {
                "arguments are literals: a string, or a regex between slashes".to_owned()
            }
            Some(Token::Close) => "remove the `,` or add the argument behind it".to_owned(),
            _ => "an argument is a string in double quotes or a regex between slashes".to_owned(),
        }
    }

    fn list_help(&self) -> String {
        match self.token() {
            Some(Token::Str(_) | Token::Regex(..) | Token::Int(_) | Token::Bool(_)) => {
                "separate arguments with `,`".to_owned()
            }
            _ => "close the argument list with `)`".to_owned(),
        }
    }

    fn operand_help(&self) -> String {
        match (self.before(), self.token()) {
            (Some(Token::Compare(_)), Some(Token::Bang)) => {
                "`!` binds looser than a comparison: write `a != b` for `a == !b`".to_owned()
            }
            (_, Some(Token::Regex(..))) => {
                "a regex stands only in `grep(/…/, \"path\")` and `.matches(/…/)`".to_owned()
            }
            (_, Some(Token::Field(_) | Token::Method(_))) => {
                "fields and methods follow a check: `test(\"name\").passed`, \
                 `run(\"command\").stdout.contains(\"text\")`"
                    .to_owned()
            }
            (_, Some(Token::AndAnd | Token::OrOr) | None) => {
                "`&&` and `||` stand between two checks".to_owned()
            }
            _ => "a check is `grep(/…/, \"path\") >= 1`, `exists(\"path\")`, \
                `test(\"name\").passed` or `run(\"command\").exit == 0`"
                .to_owned(),
        }
    }

    fn rest_help(&self, expected: Expected) -> String {
        match self.token() {
            Some(Token::Close) => "there is no parenthesis open here".to_owned(),
            Some(Token::Dot) if expected.comparison || expected.end => {
                "`.contains(…)` and `.matches(…)` are bools and end their term; join checks \
                 with `&&` or `||`"
                    .to_owned()
            }
            Some(token) if token.begins_operand() => "join checks with `&&` or `||`".to_owned(),
            Some(Token::Field(_) | Token::Method(_)) => {
                "fields and methods follow a dot".to_owned()
            }
            Some(Token::Open) if matches!(self.before(), Some(Token::Field(_))) => {
                "fields take no arguments".to_owned()
            }
            _ => "join checks with `&&` or `||`".to_owned(),
        }
    }
}

fn signature(callee: &str) -> String {
    match callee {
        "grep" | "count" => format!("write `{callee}(/pattern/, \"path\")`"),
        "exists" => "write `exists(\"path\")`".to_owned(),
        "test" => "write `test(\"name\").passed`".to_owned(),
        "run" => "write `run(\"command\").exit == 0`".to_owned(),
        _ => format!("write `{callee}(…)`"),
    }
}
