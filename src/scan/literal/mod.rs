//! stub
use crate::facts::Pattern;
use regex_syntax::hir::Hir;
#[derive(Clone, Debug)]
pub(in crate::scan) struct Required {
    pub literals: Vec<Literal>,
}
#[derive(Clone, Debug)]
pub(in crate::scan) struct Literal {
    pub bytes: Box<[u8]>,
    pub ignore_case: bool,
    pub proof: Proof,
}
#[derive(Clone, Copy, Debug)]
pub(in crate::scan) enum Proof {
    Match { start: Edge, end: Edge },
    Candidate,
}
#[derive(Clone, Copy, Debug)]
pub(in crate::scan) enum Edge {
    Any,
}
pub(in crate::scan) fn required(_: &Hir) -> Option<Required> {
    None
}
pub(in crate::scan) fn plain(pattern: &Pattern) -> Option<Required> {
    if pattern
        .text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && pattern.flags == crate::facts::RegexFlags::NONE
    {
        return Some(Required {
            literals: vec![Literal {
                bytes: pattern.text.as_bytes().into(),
                ignore_case: false,
                proof: Proof::Match {
                    start: Edge::Any,
                    end: Edge::Any,
                },
            }],
        });
    }
    None
}
pub(in crate::scan) fn edge_holds(_: Edge, _: &[u8], _: usize, _: bool) -> Option<bool> {
    Some(true)
}
