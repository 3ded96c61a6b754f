//! From the text of a query to what can be run.

use std::sync::Arc;

use tree_sitter::{CaptureQuantifier, Language, Query, QueryError, QueryErrorKind};

use super::LONGEST_QUERY;
use super::predicates::{MOST_REGEXES, Predicate};
use super::scan::{MOST_PATTERNS, WHOLE, scan};

/// How many names of captures a query may have.
const MOST_CAPTURES: usize = 256;

/// A compiled query.
pub(super) struct Compiled {
    pub(super) query: Query,
    /// The names of captures by their index; none for [`WHOLE`].
    pub(super) names: Vec<Option<Arc<str>>>,
    /// The predicates of each pattern.
    pub(super) predicates: Vec<Vec<Predicate>>,
}

/// Compiles a query, or says what is wrong with it.
pub(super) fn compile(language: &Language, text: &str, longest: usize) -> Result<Compiled, String> {
    let longest = longest.min(LONGEST_QUERY);
    if text.len() > longest {
        return Err(format!("the query is longer than {longest} bytes"));
    }
    let scanned = scan(text).map_err(|(at, what)| placed(text, at, &what))?;
    let mut query = Query::new(language, &scanned.text).map_err(|error| describe(text, &error))?;
    // Predicates without a pattern count as patterns too.
    if query.pattern_count() > MOST_PATTERNS {
        return Err(format!("more than {MOST_PATTERNS} patterns"));
    }
    if query.capture_names().len() > MOST_CAPTURES {
        return Err(format!("more than {MOST_CAPTURES} names of captures"));
    }
    if query.capture_index_for_name(WHOLE).is_some() {
        return Err(format!("the name @{WHOLE} is reserved"));
    }
    if !always_captures(&query) {
        let patterns = query.pattern_count();
        query = Query::new(language, &scanned.with_whole())
            .ok()
            .filter(|marked| marked.pattern_count() == patterns)
            .ok_or("the query has a pattern that captures nothing")?;
    }
    let mut predicates = Vec::with_capacity(query.pattern_count());
    let mut regexes = MOST_REGEXES;
    for pattern in 0..query.pattern_count() {
        let read = query.general_predicates(pattern).iter();
        let of_pattern: Result<Vec<_>, _> = read
            .map(|read| Predicate::new(read, &mut regexes))
            .collect();
        predicates.push(of_pattern?);
    }
    // What `scan` did not see, the binding would have taken for itself.
    if predicates.iter().map(Vec::len).sum::<usize>() != scanned.predicates {
        return Err("the query has predicates at places that are not understood".into());
    }
    let names = query.capture_names().iter();
    let names = names.map(|name| (*name != WHOLE).then(|| Arc::from(*name)));
    Ok(Compiled {
        names: names.collect(),
        predicates,
        query,
    })
}

/// Whether each match captures a node, so that it has a range.
fn always_captures(query: &Query) -> bool {
    let sure = |quantifier: &CaptureQuantifier| {
        matches!(
            quantifier,
            CaptureQuantifier::One | CaptureQuantifier::OneOrMore
        )
    };
    (0..query.pattern_count()).all(|pattern| query.capture_quantifiers(pattern).iter().any(sure))
}

fn placed(text: &str, at: usize, what: &str) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    format!("line {line}, column {column}: {what}")
}

fn describe(text: &str, error: &QueryError) -> String {
    let name = &error.message;
    let what = match error.kind {
        QueryErrorKind::NodeType => format!("no such kind of node: {name}"),
        QueryErrorKind::Field => format!("no such field: {name}"),
        QueryErrorKind::Capture => format!("no such capture: {name}"),
        QueryErrorKind::Structure => "a pattern that can never match".into(),
        QueryErrorKind::Syntax => "a syntax error".into(),
        QueryErrorKind::Predicate | QueryErrorKind::Language => return name.clone(),
    };
    placed(text, error.offset, &what)
}
