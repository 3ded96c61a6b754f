//! The layout layer: tells the braces apart and decides which line ends separate
//! statements, with one token of history and a stack of open brackets.

use crate::harn::problem::{HarnCode, Problem, Problems};

use super::MAX_NESTING;
use super::token::{Keyword, Spanned, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bracket {
    Round,
    Square,
    Block,
    Match,
    Dict,
    Closure,
}

impl Bracket {
    /// Whether line ends inside it mean nothing.
    const fn is_free(self) -> bool {
        matches!(self, Self::Round | Self::Square | Self::Dict)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    Match,
    Guard,
    /// A function or the type of one.
    Function(Stage),
}

/// How far the header of a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Parameters,
    /// The parameters are closed.
    Closed,
    /// Behind the `->`.
    Result,
}

/// Headers whose brace is still to come, at most: far more than the nesting allows.
const MAX_HEADERS: usize = 4 * MAX_NESTING;

/// Puts separators between statements and classifies braces. `None` if brackets or
/// headers are nested too deep, which is then reported.
pub(super) fn arrange<'a>(
    raw: &[Spanned<'a>],
    problems: &mut Problems,
) -> Option<Vec<Spanned<'a>>> {
    let mut layout = Layout {
        raw,
        closes: matching(raw),
        follows: following(raw),
        out: Vec::with_capacity(raw.len()),
        open: Vec::new(),
        headers: Vec::new(),
        type_at: None,
    };
    for (at, spanned) in raw.iter().enumerate() {
        layout.take(at);
        let what = if layout.open.len() > MAX_NESTING {
            format!("brackets are nested over {MAX_NESTING} deep")
        } else if layout.headers.len() > MAX_HEADERS {
            format!("over {MAX_HEADERS} `fn`, `match` and `guard` wait for their braces")
        } else {
            continue;
        };
        problems.push(Problem::error(HarnCode::NestedTooDeep, spanned.span, what));
        return None;
    }
    Some(layout.out)
}

/// For each token the next one that is no line end.
fn following<'a>(raw: &[Spanned<'a>]) -> Vec<Option<Token<'a>>> {
    let mut follows = vec![None; raw.len()];
    let mut next = None;
    for (spanned, place) in raw.iter().zip(&mut follows).rev() {
        *place = next;
        if spanned.token != Token::Newline {
            next = Some(spanned.token);
        }
    }
    follows
}

/// The index of the closing bracket of each opening one.
fn matching(raw: &[Spanned<'_>]) -> Vec<u32> {
    let mut closes = vec![u32::MAX; raw.len()];
    let mut open = Vec::new();
    for (at, spanned) in raw.iter().enumerate() {
        match spanned.token {
            Token::Brace | Token::HoleOpen | Token::Mark("(" | "[") => open.push(at),
            Token::HoleClose | Token::Mark("}" | ")" | "]") => {
                if let Some(opened) = open.pop() {
                    closes[opened] = u32::try_from(at).unwrap_or(u32::MAX);
                }
            }
            _ => {}
        }
    }
    closes
}

struct Layout<'a, 'r> {
    raw: &'r [Spanned<'a>],
    closes: Vec<u32>,
    follows: Vec<Option<Token<'a>>>,
    out: Vec<Spanned<'a>>,
    open: Vec<Bracket>,
    /// With how many brackets were open, which never gets less.
    headers: Vec<(Header, usize)>,
    /// Where the declaration of a type began, which ends with its line: with how many
    /// brackets were open.
    type_at: Option<usize>,
}

impl<'a> Layout<'a, '_> {
    fn previous(&self) -> Option<Token<'a>> {
        self.out.last().map(|spanned| spanned.token)
    }

    fn next(&self, at: usize) -> Option<Token<'a>> {
        self.follows.get(at).copied().flatten()
    }

    fn push(&mut self, token: Token<'a>, at: usize) {
        self.out.push(Spanned {
            token,
            span: self.raw[at].span,
        });
    }

    fn take(&mut self, at: usize) {
        let token = self.raw[at].token;
        match token {
            Token::Newline => {
                if self.separates(at) {
                    self.end_headers(self.open.len());
                    self.push(Token::Sep, at);
                }
            }
            Token::Sep => {
                self.end_headers(self.open.len());
                self.push(token, at);
            }
            Token::Mark("=") => {
                self.end_functions();
                self.push(token, at);
            }
            Token::Mark("->") => {
                let depth = self.open.len();
                match self.headers.last_mut() {
                    Some((Header::Function(stage), opened)) if *opened == depth => match stage {
                        Stage::Parameters => {}
                        Stage::Closed => *stage = Stage::Result,
                        // That of the closure whose parameter has the type.
                        Stage::Result => {
                            self.headers.pop();
                        }
                    },
                    _ => {}
                }
                self.push(token, at);
            }
            Token::Brace => {
                let (bracket, token) = self.brace(at);
                self.open.push(bracket);
                self.push(token, at);
            }
            Token::HoleOpen | Token::Mark("(") => {
                self.open.push(Bracket::Round);
                self.push(token, at);
            }
            Token::Mark("[") => {
                self.open.push(Bracket::Square);
                self.push(token, at);
            }
            Token::HoleClose | Token::Mark(")" | "]" | "}") => {
                self.open.pop();
                let depth = self.open.len();
                self.end_headers(depth + 1);
                if token == Token::Mark(")")
                    && let Some((Header::Function(stage), opened)) = self.headers.last_mut()
                    && *opened == depth
                    && *stage == Stage::Parameters
                {
                    *stage = Stage::Closed;
                }
                self.push(token, at);
            }
            Token::Keyword(keyword, text) => self.keyword(keyword, text, at),
            Token::Name("not")
                if matches!(
                    self.raw.get(at + 1),
                    Some(Spanned {
                        token: Token::Keyword(Keyword::In, _),
                        ..
                    })
                ) =>
            {
                self.push(Token::NotIn, at);
            }
            _ => self.push(token, at),
        }
    }

    fn keyword(&mut self, keyword: Keyword, text: &'a str, at: usize) {
        let follows = self.previous();
        if keyword == Keyword::In && follows == Some(Token::NotIn) {
            return;
        }
        let is_member = matches!(follows, Some(Token::Mark("." | "?.")));
        let is_key = self.open.last() == Some(&Bracket::Dict)
            && matches!(follows, Some(Token::DictOpen | Token::Mark(",")))
            && matches!(self.next(at), Some(Token::Mark(":")));
        if is_member || is_key {
            self.push(Token::Name(text), at);
            return;
        }
        let depth = self.open.len();
        let header = match keyword {
            Keyword::Match => Some(Header::Match),
            Keyword::Guard => Some(Header::Guard),
            Keyword::Fn => Some(Header::Function(Stage::Parameters)),
            _ => None,
        };
        if let Some(header) = header {
            self.headers.push((header, depth));
        }
        if keyword == Keyword::Type {
            self.type_at = Some(depth);
        }
        if keyword == Keyword::Else && self.headers.last() == Some(&(Header::Guard, depth)) {
            self.headers.pop();
            self.push(Token::GuardElse, at);
            return;
        }
        self.push(Token::Keyword(keyword, text), at);
    }

    fn brace(&mut self, at: usize) -> (Bracket, Token<'a>) {
        let depth = self.open.len();
        let previous = self.previous();
        if let Some((Header::Function(Stage::Closed | Stage::Result), opened)) = self.headers.last()
            && *opened == depth
        {
            return match previous {
                Some(Token::Mark("->" | "|" | "&" | "<" | "," | ":")) => {
                    (Bracket::Dict, Token::DictOpen)
                }
                _ => {
                    self.end_functions();
                    (Bracket::Block, Token::BlockOpen)
                }
            };
        }
        let in_match = self.open.last() == Some(&Bracket::Match);
        // The pattern of an arm that follows another.
        let starts_arm = in_match && previous == Some(Token::Mark("}"));
        if !starts_arm && previous.is_some_and(ends_operand_or_header) {
            if let Some((Header::Match, opened)) = self.headers.last()
                && *opened == depth
            {
                self.headers.pop();
                return (Bracket::Match, Token::BlockOpen);
            }
            return (Bracket::Block, Token::BlockOpen);
        }
        if in_match && previous == Some(Token::Mark("->")) {
            return (Bracket::Block, Token::BlockOpen);
        }
        if self.holds_arrow(at) {
            (Bracket::Closure, Token::ClosureOpen)
        } else {
            (Bracket::Dict, Token::DictOpen)
        }
    }

    /// Whether a `->` stands in a brace itself, and not that of a function's result.
    fn holds_arrow(&self, brace: usize) -> bool {
        let end = match self.closes[brace] {
            u32::MAX => self.raw.len(),
            end => end as usize,
        };
        let mut at = brace + 1;
        let mut opened_by_fn = false;
        while at < end {
            match self.raw[at].token {
                Token::Mark("->") if !opened_by_fn => return true,
                Token::Brace | Token::HoleOpen | Token::Mark("(" | "[") => {
                    let is_params = self.raw[at].token == Token::Mark("(")
                        && matches!(self.raw[at - 1].token, Token::Keyword(Keyword::Fn, _));
                    match self.closes[at] {
                        u32::MAX => return false,
                        close => at = close as usize,
                    }
                    opened_by_fn = is_params;
                }
                Token::Newline => {}
                _ => opened_by_fn = false,
            }
            at += 1;
        }
        false
    }

    /// Ends the headers of functions that are over where a type cannot go on.
    fn end_functions(&mut self) {
        let depth = self.open.len();
        while let Some((Header::Function(Stage::Closed | Stage::Result), opened)) =
            self.headers.last()
            && *opened == depth
        {
            self.headers.pop();
        }
    }

    /// Ends the headers that have as many open brackets around them: they do not go on
    /// behind a separator or a closing bracket.
    fn end_headers(&mut self, least: usize) {
        while self
            .headers
            .last()
            .is_some_and(|(_, opened)| *opened >= least)
        {
            self.headers.pop();
        }
        self.type_at = self.type_at.filter(|opened| *opened < least);
    }

    fn separates(&self, at: usize) -> bool {
        if self.open.last().is_some_and(|bracket| bracket.is_free()) {
            return false;
        }
        // The first of several line ends speaks for all of them.
        if at > 0 && self.raw[at - 1].token == Token::Newline {
            return false;
        }
        let Some(previous) = self.previous() else {
            return false;
        };
        let Some(next) = self.next(at) else {
            return false;
        };
        // A type may end with what is an operator elsewhere.
        let in_type = self.type_at == Some(self.open.len());
        let ends_type = in_type && matches!(previous, Token::Mark(">" | "?"));
        !(needs_more(previous) && !ends_type || goes_on(next))
    }
}

fn ends_operand_or_header(token: Token<'_>) -> bool {
    matches!(
        token,
        Token::Name(_)
            | Token::Int(_)
            | Token::Float(_)
            | Token::Str(_)
            | Token::Raw(_)
            | Token::StrClose
            | Token::Flaw
            | Token::GuardElse
            | Token::Mark(")" | "]" | "}")
            | Token::Keyword(
                Keyword::True
                    | Keyword::False
                    | Keyword::Nil
                    | Keyword::Else
                    | Keyword::Try
                    | Keyword::Catch
                    | Keyword::Finally,
                _
            )
    )
}

/// After these a line end means nothing.
fn needs_more(token: Token<'_>) -> bool {
    match token {
        Token::Mark(mark) => !matches!(mark, ")" | "]" | "}"),
        Token::BlockOpen
        | Token::DictOpen
        | Token::ClosureOpen
        | Token::NotIn
        | Token::GuardElse
        | Token::Sep => true,
        Token::Keyword(keyword, _) => matches!(
            keyword,
            Keyword::Catch
                | Keyword::Const
                | Keyword::Else
                | Keyword::Finally
                | Keyword::Fn
                | Keyword::For
                | Keyword::Guard
                | Keyword::If
                | Keyword::Import
                | Keyword::In
                | Keyword::Let
                | Keyword::Match
                | Keyword::Pub
                | Keyword::Throw
                | Keyword::Try
                | Keyword::Type
                | Keyword::While
        ),
        _ => false,
    }
}

/// Before these a line end means nothing.
fn goes_on(token: Token<'_>) -> bool {
    match token {
        Token::Mark(mark) => matches!(
            mark,
            "." | "?."
                | "&&"
                | "||"
                | "=="
                | "!="
                | "<"
                | ">"
                | "<="
                | ">="
                | "??"
                | "+"
                | "*"
                | "/"
                | "%"
                | "**"
                | "|>"
                | "?"
                | ".."
                | "..="
                | ":"
                | ")"
                | "]"
                | "}"
                | ","
                | "->"
        ),
        Token::Keyword(keyword, _) => {
            matches!(keyword, Keyword::Else | Keyword::Catch | Keyword::Finally)
        }
        _ => false,
    }
}
