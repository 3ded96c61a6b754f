//! Parsing and matching.

use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{
    ParseOptions, ParseState, Parser, QueryCursor, QueryCursorOptions, QueryCursorState,
    QueryMatch, StreamingIterator, Tree,
};

use super::languages::Grammar;
use super::query::{Compiled, compile};
use super::{DEFAULT_MATCHES, Found, Match, NODE_OVERHEAD, Node, Outcome, Range, Request, Stop};

/// How many matches may be in progress at once. Each step of the matcher compares them
/// pair by pair.
const IN_PROGRESS: u32 = 256;

/// Operations of tree-sitter between two calls of a progress callback.
const PER_CALLBACK: u64 = 100;

/// The account of a search.
pub(super) struct Meter<'a> {
    cancel: &'a dyn Fn() -> bool,
    limit: u64,
    cost: Cell<u64>,
    stop: Cell<Option<Stop>>,
}

impl Meter<'_> {
    /// Charges work that is about to be done. A break says not to do it.
    pub(super) fn charge(&self, cost: u64) -> ControlFlow<()> {
        if self.stop.get().is_none() {
            let cost = self.cost.get().saturating_add(cost);
            if cost > self.limit || cost == u64::MAX {
                self.stop.set(Some(Stop::Cost));
            } else if (self.cancel)() {
                self.stop.set(Some(Stop::Cancelled));
            } else {
                self.cost.set(cost);
            }
        }
        match self.stop.get() {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    }
}

/// Parses the source and looks for the query.
#[must_use]
pub fn search<'a>(request: &Request<'a, '_>) -> Found<'a> {
    let grammar = Grammar::of(request.language);
    let mut found = Found {
        outcome: Outcome::UnsupportedLanguage,
        language: match grammar {
            Some(grammar) => grammar.name().to_owned(),
            None => request.language.to_owned(),
        },
        truncated: false,
        had_errors: false,
        matches: Vec::new(),
        cost: 0,
    };
    let Some(grammar) = grammar else {
        return found;
    };
    let meter = Meter {
        cancel: request.cancel,
        limit: request.limits.cost,
        cost: Cell::new(0),
        stop: Cell::new(None),
    };
    found.outcome = run(request, grammar, &meter, &mut found);
    found.cost = meter.cost.get();
    if found.outcome != Outcome::Ok {
        found.matches.clear();
        found.truncated = false;
    }
    found
}

fn run<'a>(
    request: &Request<'a, '_>,
    grammar: Grammar,
    meter: &Meter<'_>,
    found: &mut Found<'a>,
) -> Outcome {
    // What ends without a cause has been stopped by the callback, which is asked by C.
    let stopped = || Outcome::Stopped(meter.stop.get().unwrap_or(Stop::Cancelled));
    if meter.charge(request.query.len() as u64).is_break() {
        return stopped();
    }
    let language = grammar.language();
    let compiled = match compile(&language, request.query, request.limits.query) {
        Ok(compiled) => compiled,
        Err(error) => return Outcome::InvalidQuery(error),
    };
    // tree-sitter counts bytes with 32 bits.
    if request.source.len() > request.limits.source.min(u32::MAX as usize / 2) {
        return Outcome::Stopped(Stop::Source);
    }
    if meter.charge(request.source.len() as u64).is_break() {
        return stopped();
    }
    let mut parser = Parser::new();
    if parser.set_language(&language).is_err() {
        return Outcome::UnsupportedLanguage;
    }
    let Some(tree) = parse(&mut parser, request.source, meter) else {
        return stopped();
    };
    found.had_errors = tree.root_node().has_error();
    match matches(request, &compiled, &tree, meter, found) {
        ControlFlow::Continue(()) => Outcome::Ok,
        ControlFlow::Break(()) => stopped(),
    }
}

fn parse(parser: &mut Parser, source: &str, meter: &Meter<'_>) -> Option<Tree> {
    let bytes = source.as_bytes();
    let mut progress = |_: &ParseState| meter.charge(PER_CALLBACK);
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or_default(),
        None,
        Some(options),
    )
}

fn matches<'a>(
    request: &Request<'a, '_>,
    compiled: &Compiled,
    tree: &Tree,
    meter: &Meter<'_>,
    found: &mut Found<'a>,
) -> ControlFlow<()> {
    let most = request.max_matches.unwrap_or(DEFAULT_MATCHES);
    let most = most.min(request.limits.matches);
    let mut output = request.limits.output;
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(IN_PROGRESS);
    let mut progress = |_: &QueryCursorState| meter.charge(PER_CALLBACK);
    let options = QueryCursorOptions::new().progress_callback(&mut progress);
    // The binding has no predicates left that would look at the text.
    let no_text = |_: tree_sitter::Node<'_>| std::iter::empty::<&[u8]>();
    let mut stream =
        cursor.matches_with_options(&compiled.query, tree.root_node(), no_text, options);
    while let Some(candidate) = stream.next() {
        let mut holds = true;
        for predicate in &compiled.predicates[candidate.pattern_index] {
            holds = predicate.holds(candidate, request.source, meter)?;
            if !holds {
                break;
            }
        }
        if !holds {
            continue;
        }
        let Some(found_here) = gather(candidate, compiled, request.source) else {
            continue;
        };
        let size = size(&found_here);
        if found.matches.len() >= most || size > output {
            found.truncated = true;
            break;
        }
        output -= size;
        meter.charge(1)?;
        found.matches.push(found_here);
    }
    drop(stream);
    if meter.stop.get().is_some() {
        return ControlFlow::Break(());
    }
    found.truncated |= cursor.did_exceed_match_limit();
    found
        .matches
        .sort_by_key(|found| (found.node.range.start_byte, found.node.range.end_byte));
    ControlFlow::Continue(())
}

/// What counts towards the limit on output.
fn size(found: &Match<'_>) -> u64 {
    let nodes = found.captures.iter().map(|(_, node)| node);
    let nodes = nodes.chain([&found.node]);
    nodes
        .map(|node| NODE_OVERHEAD + node.text.len() as u64)
        .sum()
}

/// A match as it is returned; none for one that matched no node at all.
fn gather<'a>(
    candidate: &QueryMatch<'_, '_>,
    compiled: &Compiled,
    source: &'a str,
) -> Option<Match<'a>> {
    let mut captures: Vec<(u32, Node<'a>)> = Vec::new();
    let mut whole: Option<Range> = None;
    let mut outermost: Option<Range> = None;
    for capture in candidate.captures {
        let range = range(capture.node);
        if compiled.names[capture.index as usize].is_none() {
            outermost.get_or_insert(range);
            continue;
        }
        whole = Some(whole.map_or(range, |whole| union(whole, range)));
        if captures.iter().all(|(index, _)| *index != capture.index) {
            captures.push((capture.index, node(range, source)));
        }
    }
    captures.sort_by_key(|(index, _)| *index);
    let name = |index: u32| compiled.names[index as usize].clone();
    let captures = captures
        .into_iter()
        .filter_map(|(index, node)| Some((name(index)?, node)));
    Some(Match {
        node: node(whole.or(outermost)?, source),
        captures: captures.collect(),
    })
}

fn node(range: Range, source: &str) -> Node<'_> {
    let text = source.get(range.start_byte..range.end_byte);
    Node {
        text: text.unwrap_or_default(),
        range,
    }
}

fn range(node: tree_sitter::Node<'_>) -> Range {
    let range = node.range();
    Range {
        start_byte: range.start_byte,
        end_byte: range.end_byte,
        start_row: range.start_point.row,
        start_col: range.start_point.column,
        end_row: range.end_point.row,
        end_col: range.end_point.column,
    }
}

fn union(mut one: Range, other: Range) -> Range {
    if other.start_byte < one.start_byte {
        one.start_byte = other.start_byte;
        one.start_row = other.start_row;
        one.start_col = other.start_col;
    }
    if other.end_byte > one.end_byte {
        one.end_byte = other.end_byte;
        one.end_row = other.end_row;
        one.end_col = other.end_col;
    }
    one
}
