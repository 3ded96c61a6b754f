//! Items as they are compared with others: by their tokens, without spaces and comments.

use sha2::{Digest as _, Sha256};

use crate::digest::Digest;

use super::ast::Item;
use super::token::{Keyword, Spanned, Token};

/// An item of a file, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Canonical {
    /// The digest of its tokens. Every token is written as a letter for its kind, the
    /// length of its text as a `u32`, low byte first, and the text. A change of this form
    /// is a change of every closure hash: see `compile/closure.rs`.
    pub(crate) digest: Digest,
    /// Where its `fn` stands, if it is a function.
    pub(crate) function: Option<u32>,
}

/// What each item is, in the order of the items.
pub(super) fn canonical(items: &[Item<'_>], tokens: &[Spanned<'_>]) -> Vec<Canonical> {
    let mut rest = tokens;
    let of = |item: &Item<'_>| {
        let before = |spanned: &Spanned<'_>| spanned.span.start < item.span.start;
        let skipped = rest.iter().take_while(|spanned| before(spanned)).count();
        rest = rest.get(skipped..).unwrap_or_default();
        let inside = |spanned: &&Spanned<'_>| spanned.span.end <= item.span.end;
        let own = rest.iter().take_while(inside).count();
        let (own, after) = rest.split_at_checked(own).unwrap_or_default();
        rest = after;
        let mut hash = Sha256::new();
        own.iter()
            .for_each(|spanned| write(&mut hash, spanned.token));
        let is_fn =
            |spanned: &&Spanned<'_>| matches!(spanned.token, Token::Keyword(Keyword::Fn, _));
        Canonical {
            digest: Digest::from_bytes(hash.finalize().into()),
            function: own.iter().find(is_fn).map(|spanned| spanned.span.start),
        }
    };
    items.iter().map(of).collect()
}

fn write(hash: &mut Sha256, token: Token<'_>) {
    let number;
    let (kind, text) = match token {
        Token::Name(text) => (b'n', text.as_bytes()),
        Token::Keyword(_, text) => (b'k', text.as_bytes()),
        Token::Int(value) => {
            number = value.to_le_bytes();
            (b'i', number.as_slice())
        }
        Token::Float(value) => {
            number = value.to_bits().to_le_bytes();
            (b'f', number.as_slice())
        }
        Token::Str(text) => (b's', text.as_bytes()),
        Token::Raw(text) => (b'r', text.as_bytes()),
        Token::Mark(text) => (b'm', text.as_bytes()),
        Token::StrOpen => (b'"', b"".as_slice()),
        Token::StrClose => (b'\'', b"".as_slice()),
        Token::HoleOpen => (b'<', b"".as_slice()),
        Token::HoleClose => (b'>', b"".as_slice()),
        Token::BlockOpen => (b'b', b"".as_slice()),
        Token::DictOpen => (b'd', b"".as_slice()),
        Token::ClosureOpen => (b'c', b"".as_slice()),
        Token::NotIn => (b'!', b"".as_slice()),
        Token::GuardElse => (b'e', b"".as_slice()),
        Token::Sep => (b';', b"".as_slice()),
        // A file with one of these is refused, or there are none behind the layout.
        Token::Brace | Token::Newline | Token::Flaw => (b'?', b"".as_slice()),
    };
    hash.update([kind]);
    hash.update(u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    hash.update(text);
}
