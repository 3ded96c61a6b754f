//! Patterns that are plain text but for a word boundary: no need to parse them.

use crate::facts::{Pattern, RegexFlags};
use crate::scan::literal::edge::{Edge, edge_of};
use crate::scan::literal::{Literal, Proof, Required};

use regex_syntax::hir::Look;

/// What [`crate::scan::literal::required`] says of a pattern that is plain text,
/// with `\b` at its ends or without. `None` for anything else.
pub(in crate::scan) fn plain(pattern: &Pattern) -> Option<Required> {
    if pattern.flags != RegexFlags::NONE {
        return None;
    }
    let mut text = pattern.text.as_bytes();
    let starts = take(&mut text, |text| text.strip_prefix(br"\b"));
    let ends = take(&mut text, |text| {
        // Not an escaped backslash before a `b`.
        text.strip_suffix(br"\b")
            .filter(|rest| !rest.ends_with(b"\\"))
    });
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b'\\' => bytes.push(*rest.next().filter(|byte| is_escaped(**byte))?),
            _ if is_itself(byte) => bytes.push(byte),
            _ => return None,
        }
    }
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    let edge = |is_bounded, inner, is_start| {
        if is_bounded {
            edge_of(Look::WordUnicode, inner, is_start)
        } else {
            Some(Edge::Any)
        }
    };
    let start = edge(starts, first, true)?;
    let end = edge(ends, last, false)?;
    Some(Required {
        literals: vec![Literal {
            bytes: bytes.into(),
            ignore_case: false,
            proof: Proof::Match { start, end },
        }],
    })
}

fn take<'t>(text: &mut &'t [u8], cut: impl FnOnce(&'t [u8]) -> Option<&'t [u8]>) -> bool {
    let rest = cut(text);
    *text = rest.unwrap_or(text);
    rest.is_some()
}

/// True for what means itself wherever it stands outside a class.
const fn is_itself(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || !byte.is_ascii()
        || matches!(
            byte,
            b'_' | b' '
                | b'"'
                | b'\''
                | b'/'
                | b':'
                | b';'
                | b','
                | b'<'
                | b'>'
                | b'='
                | b'!'
                | b'@'
                | b'%'
                | b'-'
                | b'`'
        )
}

/// True for what means itself behind a backslash.
const fn is_escaped(byte: u8) -> bool {
    matches!(
        byte,
        b'\\'
            | b'.'
            | b'+'
            | b'*'
            | b'?'
            | b'('
            | b')'
            | b'|'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'^'
            | b'$'
            | b'#'
            | b'&'
            | b'-'
            | b'~'
            | b'/'
    )
}
