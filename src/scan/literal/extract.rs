//! From a parsed regex to the literals that its matches hold.

use regex_syntax::hir::{Class, ClassBytes, ClassUnicode, Hir, HirKind, Repetition};

use crate::scan::literal::edge::{Edge, edge_of};
use crate::scan::literal::parts::{Piece, Set, product, score, union, weaken};
use crate::scan::literal::{Literal, Proof, Required};

/// Most members of a class that are taken one by one.
const MOST_MEMBERS: usize = 16;

/// Most copies of a repeated part that are taken one by one.
const MOST_COPIES: u32 = 16;

/// The longest literal of those that prove nothing, in bytes: more are not rarer.
const LONGEST: usize = 48;

/// What is known of a part of a regex.
struct Part {
    /// Everything that it matches, if that is little.
    all: Option<Set>,
    /// What each of its matches holds.
    held: Option<Set>,
}

impl Part {
    const UNKNOWN: Self = Self {
        all: None,
        held: None,
    };

    fn all(set: Set) -> Self {
        Self {
            all: Some(set),
            held: None,
        }
    }

    /// What each match holds, as a part of something larger.
    fn into_held(self) -> Option<Set> {
        match self.all {
            Some(all) => weaken(all),
            None => self.held,
        }
    }
}

/// What a line must hold for a regex to match it; the regex must not match line
/// feeds, or the haystack is the whole text. `None` if nothing is known that could
/// be searched.
pub(in crate::scan) fn required(hir: &Hir) -> Option<Required> {
    let part = part(hir);
    let set = match part.all {
        Some(all) if all.iter().all(|piece| !piece.bytes.is_empty()) => all,
        Some(_) => return None,
        None => part.held?,
    };
    let mut literals: Vec<Literal> = Vec::with_capacity(set.len());
    for literal in set.iter().map(literal) {
        if !literals.contains(&literal) {
            literals.push(literal);
        }
    }
    (!literals.is_empty()).then_some(Required { literals })
}

fn literal(piece: &Piece) -> Literal {
    let proof = proof(piece).unwrap_or(Proof::Candidate);
    let mut bytes = &*piece.bytes;
    if proof == Proof::Candidate && bytes.len() > LONGEST {
        bytes = &bytes[..LONGEST];
    }
    Literal {
        bytes: if piece.folded {
            bytes.to_ascii_lowercase().into()
        } else {
            bytes.into()
        },
        ignore_case: piece.folded,
        proof,
    }
}

/// What an occurrence of a literal proves, if the literal is all there is to a
/// match.
fn proof(piece: &Piece) -> Option<Proof> {
    let (first, last) = (*piece.bytes.first()?, *piece.bytes.last()?);
    let edge = |look, inner, is_start| match look {
        Some(look) => edge_of(look, inner, is_start),
        None => Some(Edge::Any),
    };
    if !piece.is_all {
        return None;
    }
    Some(Proof::Match {
        start: edge(piece.before, first, true)?,
        end: edge(piece.after, last, false)?,
    })
}

/// The depth of a parsed regex is bounded by its parser, so recursion is too.
fn part(hir: &Hir) -> Part {
    match hir.kind() {
        HirKind::Empty => Part::all(vec![Piece::new(b"")]),
        HirKind::Literal(literal) => Part::all(vec![Piece::new(&literal.0)]),
        HirKind::Class(class) => of_class(class).map_or(Part::UNKNOWN, Part::all),
        HirKind::Look(look) => Part::all(vec![Piece::look(*look)]),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Capture(capture) => part(&capture.sub),
        HirKind::Concat(subs) => of_concat(subs),
        HirKind::Alternation(subs) => of_alternation(subs),
    }
}

fn of_class(class: &Class) -> Option<Set> {
    match class {
        Class::Unicode(class) => of_characters(class),
        Class::Bytes(class) => of_bytes(class),
    }
}

fn of_characters(class: &ClassUnicode) -> Option<Set> {
    let mut characters = Vec::new();
    for range in class.ranges() {
        for character in range.start()..=range.end() {
            if characters.len() == 2 * MOST_MEMBERS {
                return None;
            }
            characters.push(character);
        }
    }
    let mut set = Vec::new();
    for &character in &characters {
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        let is_pair = |letter: char| {
            let other = if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            };
            letter.is_ascii_alphabetic() && characters.contains(&other)
        };
        if !is_pair(character) {
            set.push(Piece::new(bytes));
        } else if character.is_ascii_lowercase() {
            set.push(Piece::folded(bytes[0]));
        }
    }
    (set.len() <= MOST_MEMBERS).then_some(set)
}

fn of_bytes(class: &ClassBytes) -> Option<Set> {
    let mut set = Vec::new();
    let holds = |byte: u8| {
        let mut ranges = class.ranges().iter();
        ranges.any(|range| (range.start()..=range.end()).contains(&byte))
    };
    for range in class.ranges() {
        for byte in range.start()..=range.end() {
            if set.len() == MOST_MEMBERS {
                return None;
            }
            let is_pair = byte.is_ascii_alphabetic() && holds(byte ^ 0x20);
            if !is_pair {
                set.push(Piece::new(&[byte]));
            } else if byte.is_ascii_lowercase() {
                set.push(Piece::folded(byte));
            }
        }
    }
    Some(set)
}

fn of_repetition(repetition: &Repetition) -> Part {
    let sub = part(&repetition.sub);
    let Some(all) = sub.all else {
        // One copy is there at least, whatever stands around it.
        return Part {
            all: None,
            held: sub.held.filter(|_| repetition.min > 0),
        };
    };
    let copies = repetition.min.min(MOST_COPIES);
    let mut least = vec![Piece::new(b"")];
    let mut taken = 0;
    while taken < copies {
        match product(&least, &all) {
            Some(more) => least = more,
            None => break,
        }
        taken += 1;
    }
    if taken == repetition.min {
        match repetition.max {
            Some(max) if max == repetition.min => return Part::all(least),
            Some(max) if max - taken <= 2 => {
                let mut total = least.clone();
                let mut next = least.clone();
                let mut is_complete = true;
                for _ in taken..max {
                    match product(&next, &all).and_then(|more| {
                        next.clone_from(&more);
                        union(std::mem::take(&mut total), more)
                    }) {
                        Some(sum) => total = sum,
                        None => {
                            is_complete = false;
                            break;
                        }
                    }
                }
                if is_complete {
                    return Part::all(total);
                }
            }
            _ => {}
        }
    }
    Part {
        all: None,
        held: if taken > 0 { weaken(least) } else { None },
    }
}

fn of_concat(subs: &[Hir]) -> Part {
    let mut run: Set = vec![Piece::new(b"")];
    let mut best: Option<Set> = None;
    let mut is_one = true;
    let mut offer = |set: Option<Set>| {
        if let Some(set) = set
            && best.as_ref().is_none_or(|best| score(&set) > score(best))
        {
            best = Some(set);
        }
    };
    for sub in subs {
        let part = part(sub);
        if let Some(all) = &part.all
            && let Some(longer) = product(&run, all)
        {
            run = longer;
            continue;
        }
        is_one = false;
        offer(weaken(std::mem::replace(&mut run, vec![Piece::new(b"")])));
        match part.all {
            // A new run may begin with it.
            Some(all) => run = all,
            None => offer(part.held),
        }
    }
    if is_one {
        return Part::all(run);
    }
    offer(weaken(run));
    Part {
        all: None,
        held: best,
    }
}

fn of_alternation(subs: &[Hir]) -> Part {
    let parts: Vec<Part> = subs.iter().map(part).collect();
    if parts.iter().all(|part| part.all.is_some()) {
        let sets = parts.iter().filter_map(|part| part.all.clone());
        if let Some(all) = unite(sets) {
            return Part::all(all);
        }
    }
    // An alternative of which nothing is known makes all the others worthless.
    let mut held = Vec::with_capacity(parts.len());
    for part in parts {
        match part.into_held() {
            Some(set) => held.push(set),
            None => return Part::UNKNOWN,
        }
    }
    Part {
        all: None,
        held: unite(held),
    }
}

fn unite(sets: impl IntoIterator<Item = Set>) -> Option<Set> {
    sets.into_iter().try_fold(Vec::new(), union)
}
