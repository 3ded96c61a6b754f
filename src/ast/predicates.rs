//! Predicates over what a match captured.

use std::ops::ControlFlow;

use regex_automata::meta;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use tree_sitter::{Node, QueryMatch, QueryPredicate, QueryPredicateArg};

use super::search::Meter;

/// What the automaton of a regex may take, in bytes. A Unicode class such as `\w` takes
/// some 40 thousand.
const LARGEST_REGEX: usize = 512 << 10;

/// The most that one test of a regex may take, in bytes of text times states: at worst
/// each state is looked at for each byte, some seconds that nobody can interrupt.
const LARGEST_TEST: u64 = 1 << 28;

/// How many states of a regex make a byte of text cost one more.
const STATES_PER_COST: u64 = 16;

/// How many regexes a query may have.
pub(super) const MOST_REGEXES: usize = 64;

/// A predicate of a pattern.
#[derive(Debug)]
pub(super) struct Predicate {
    test: Test,
    /// Whether the test has to fail.
    negated: bool,
    /// Whether one node is enough.
    any: bool,
}

#[derive(Debug)]
enum Test {
    Equal(u32, Box<str>),
    Same(u32, u32),
    Match(u32, Box<Regex>),
    Of(u32, Vec<Box<str>>),
}

#[derive(Debug)]
struct Regex {
    regex: meta::Regex,
    states: u64,
}

impl Regex {
    fn new(pattern: &str) -> Result<Self, &'static str> {
        let syntax = syntax::Config::new().nest_limit(100);
        let config = thompson::Config::new()
            .nfa_size_limit(Some(LARGEST_REGEX))
            .which_captures(WhichCaptures::None);
        let states = thompson::Compiler::new()
            .syntax(syntax)
            .configure(config)
            .build(pattern)
            .map_err(|error| match error.size_limit() {
                Some(_) => "the regex is too large",
                None => "the regex is wrong",
            })?
            .states()
            .len();
        let config = meta::Config::new()
            .nfa_size_limit(Some(2 * LARGEST_REGEX))
            .which_captures(WhichCaptures::Implicit);
        let regex = meta::Builder::new()
            .configure(config)
            .syntax(syntax)
            .build(pattern)
            .map_err(|_| "the regex is too large")?;
        Ok(Self {
            regex,
            states: states as u64,
        })
    }

    fn is_match(&self, text: &str, meter: &Meter<'_>) -> ControlFlow<(), bool> {
        let length = text.len() as u64;
        let worst = length.saturating_mul(self.states);
        // What is too much for one test is charged as more than anybody has.
        let cost = if worst > LARGEST_TEST {
            u64::MAX
        } else {
            1 + length + worst / STATES_PER_COST
        };
        meter.charge(cost)?;
        ControlFlow::Continue(self.regex.is_match(text))
    }
}

impl Predicate {
    /// What tree-sitter read, under the names that `scan` gave. Regexes are taken
    /// from `regexes`, how many more there may be.
    pub(super) fn new(read: &QueryPredicate, regexes: &mut usize) -> Result<Self, String> {
        let name = read.operator.trim_end_matches('!');
        let wrong = |what: &str| Err(format!("#{name}? {what}"));
        let (any, bare) = match name.strip_prefix("any-") {
            Some(bare) if name != "any-of" => (true, bare),
            _ => (false, name),
        };
        let (negated, bare) = match bare.strip_prefix("not-") {
            Some(bare) => (true, bare),
            None => (false, bare),
        };
        let [QueryPredicateArg::Capture(capture), rest @ ..] = &*read.args else {
            return wrong("needs a capture as its first argument");
        };
        let test = match (bare, rest) {
            ("eq", [QueryPredicateArg::String(text)]) => Test::Equal(*capture, text.clone()),
            ("eq", [QueryPredicateArg::Capture(other)]) => Test::Same(*capture, *other),
            ("eq", _) => return wrong("needs a string or a capture as its second argument"),
            ("match", [QueryPredicateArg::String(pattern)]) => {
                let Some(left) = regexes.checked_sub(1) else {
                    return wrong(&format!("stands more than {MOST_REGEXES} times"));
                };
                *regexes = left;
                match Regex::new(pattern) {
                    Ok(regex) => Test::Match(*capture, Box::new(regex)),
                    Err(error) => return wrong(&format!("does not work: {error}")),
                }
            }
            ("match", _) => return wrong("needs a string as its second argument"),
            ("any-of", _) => {
                let mut texts = Vec::with_capacity(rest.len());
                for argument in rest {
                    let QueryPredicateArg::String(text) = argument else {
                        return wrong("needs strings as its further arguments");
                    };
                    texts.push(text.clone());
                }
                Test::Of(*capture, texts)
            }
            _ => return wrong("is unknown"),
        };
        Ok(Self { test, negated, any })
    }

    /// Whether the predicate holds. A break says that the search has been stopped.
    pub(super) fn holds(
        &self,
        found: &QueryMatch<'_, '_>,
        source: &str,
        meter: &Meter<'_>,
    ) -> ControlFlow<(), bool> {
        let text = |node: Node<'_>| source.get(node.byte_range()).unwrap_or_default();
        let nodes = |capture: u32| found.nodes_for_capture_index(capture).map(text);
        match &self.test {
            Test::Equal(capture, wanted) => self.judge(nodes(*capture), |text| {
                meter.charge(1 + wanted.len() as u64)?;
                ControlFlow::Continue(text == &**wanted)
            }),
            Test::Same(left, right) => {
                if !self.any && nodes(*left).count() != nodes(*right).count() {
                    return ControlFlow::Continue(false);
                }
                self.judge(nodes(*left).zip(nodes(*right)), |(left, right)| {
                    let alike = left.len() == right.len();
                    meter.charge(1 + if alike { left.len() as u64 } else { 0 })?;
                    ControlFlow::Continue(left == right)
                })
            }
            Test::Match(capture, regex) => {
                self.judge(nodes(*capture), |text| regex.is_match(text, meter))
            }
            Test::Of(capture, wanted) => self.judge(nodes(*capture), |text| {
                let compared = wanted.iter().filter(|wanted| wanted.len() == text.len());
                meter.charge((wanted.len() + compared.count() * text.len()) as u64)?;
                ControlFlow::Continue(wanted.iter().any(|wanted| **wanted == *text))
            }),
        }
    }

    fn judge<T>(
        &self,
        nodes: impl Iterator<Item = T>,
        test: impl Fn(T) -> ControlFlow<(), bool>,
    ) -> ControlFlow<(), bool> {
        for node in nodes {
            let holds = test(node)? != self.negated;
            if holds == self.any {
                return ControlFlow::Continue(holds);
            }
        }
        ControlFlow::Continue(!self.any)
    }
}
