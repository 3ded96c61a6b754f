//! Well-typed predicates, token by token, so that white space can stand
//! between any two.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::facts;
use crate::reference::{Fact, FactValue};

/// A predicate with a value for every call that it could make.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) v2: bool,
    pub(crate) source: String,
    pub(crate) facts: Vec<(Fact, FactValue)>,
}

/// Predicates over facts that may be unknown.
pub(crate) fn predicates() -> BoxedStrategy<Given> {
    given(false)
}

/// Predicates over facts that are all known.
pub(crate) fn known_predicates() -> BoxedStrategy<Given> {
    given(true)
}

fn given(known: bool) -> BoxedStrategy<Given> {
    any::<bool>()
        .prop_flat_map(move |v2| {
            let expression = expression(v2, if v2 { 2 } else { 0 });
            (expression, white_space(v2), facts::table(known)).prop_map(
                move |(tokens, spaces, facts)| Given {
                    v2,
                    source: spaced(&tokens, &spaces),
                    facts,
                },
            )
        })
        .boxed()
}

type Tokens = BoxedStrategy<Vec<String>>;

const INTS: &[&str] = &["0", "1", "2", "3", "9223372036854775807", "007"];
const INTS_OF_V2: &[&str] = &["-1", "-2", "-0", "-9223372036854775808"];
const STRINGS: &[&str] = &[
    r#""""#,
    r#""a""#,
    r#""ab""#,
    r#""b\n""#,
    r#""\u{e9}\r\n""#,
    r#""é""#,
];
const REGEXES: &[&str] = &[
    "/a/",
    "/^a/",
    "/b$/",
    r"/a\nb/",
    r"/\bab\b/",
    r"/\d\/?/",
    r#""a|é""#,
];
const REGEXES_OF_V2: &[&str] = &["/A/i", "/^b$/m", "/a.b/s", "/A.B/ims"];
const ORDERS: &[&str] = &["==", "!=", "<", "<=", ">", ">="];
const EQUALITIES: &[&str] = &["==", "!="];
const SPACES: &[&str] = &["", "", "", " ", "  ", "\n", "\t", "\r\n"];
const SPACES_OF_V2: &[&str] = &["", "", " ", "\n", "# note\n", " # \"note\" /x/\r\n"];

/// `||` over `&&` over `!` over a comparison; parentheses `depth` deep.
fn expression(v2: bool, depth: u32) -> Tokens {
    let negated = (0..3_usize, comparison(v2, depth)).prop_map(|(bangs, tokens)| {
        let bangs = std::iter::repeat_n("!".to_owned(), bangs);
        bangs.chain(tokens).collect::<Vec<_>>()
    });
    let conjunction = joined(negated.boxed(), "&&");
    joined(conjunction, "||")
}

fn joined(operand: Tokens, operator: &'static str) -> Tokens {
    vec(operand, 1..4)
        .prop_map(move |operands| operands.join(&operator.to_owned()))
        .boxed()
}

fn comparison(v2: bool, depth: u32) -> Tokens {
    prop_oneof![
        3 => bool_term(v2, depth),
        1 => compared(bool_term(v2, depth), EQUALITIES),
        4 => compared(int_term(v2), ORDERS),
        2 => compared(string_term(v2), EQUALITIES),
    ]
    .boxed()
}

fn compared(term: Tokens, operators: &'static [&'static str]) -> Tokens {
    (term.clone(), token(operators), term)
        .prop_map(|(left, operator, right)| [left, operator, right].concat())
        .boxed()
}

fn bool_term(v2: bool, depth: u32) -> Tokens {
    let term = prop_oneof![
        1 => token(&["true", "false"]),
        4 => call(facts::exists()),
        3 => selected(call(facts::test()), &["passed"]),
        4 => method(v2),
    ];
    if depth == 0 {
        return term.boxed();
    }
    prop_oneof![3 => term, 1 => grouped(expression(v2, depth - 1))].boxed()
}

fn int_term(v2: bool) -> Tokens {
    let term = prop_oneof![
        3 => token(INTS),
        4 => call(facts::count(v2)),
        2 => selected(call(facts::run()), &["exit"]),
    ];
    if !v2 {
        return term.boxed();
    }
    let lines = selected(
        selected(call(facts::run()), &["stdout", "stderr"]),
        &["lines"],
    );
    prop_oneof![5 => term.clone(), 1 => token(INTS_OF_V2), 1 => lines, 1 => grouped(term.boxed())]
        .boxed()
}

fn string_term(v2: bool) -> Tokens {
    let output = selected(call(facts::run()), &["stdout", "stderr"]);
    let term = prop_oneof![1 => token(STRINGS), 3 => output];
    if v2 {
        prop_oneof![5 => term.clone(), 1 => grouped(term.boxed())].boxed()
    } else {
        term.boxed()
    }
}

fn method(v2: bool) -> Tokens {
    let output = selected(call(facts::run()), &["stdout", "stderr"]);
    let receiver = prop_oneof![1 => token(STRINGS), 4 => output];
    let regex = if v2 {
        prop_oneof![token(REGEXES), token(REGEXES_OF_V2)].boxed()
    } else {
        token(REGEXES)
    };
    let substring: &[&str] = if v2 {
        &["contains", "starts_with", "ends_with"]
    } else {
        &["contains"]
    };
    let matches = (token(&["matches"]), regex);
    let rest = prop_oneof![(token(substring), token(STRINGS)), matches];
    (receiver, rest)
        .prop_map(|(receiver, (name, argument))| {
            let symbol = |symbol: &str| vec![symbol.to_owned()];
            [
                receiver,
                symbol("."),
                name,
                symbol("("),
                argument,
                symbol(")"),
            ]
            .concat()
        })
        .boxed()
}

/// A term with one of the fields.
fn selected(term: Tokens, fields: &'static [&'static str]) -> Tokens {
    (term, token(fields))
        .prop_map(|(term, field)| [term, vec![".".to_owned()], field].concat())
        .boxed()
}

fn grouped(inner: Tokens) -> Tokens {
    inner
        .prop_map(|inner| [vec!["(".to_owned()], inner, vec![")".to_owned()]].concat())
        .boxed()
}

fn token(choices: &'static [&'static str]) -> Tokens {
    select(choices)
        .prop_map(|token| vec![token.to_owned()])
        .boxed()
}

/// Splits a call at its parentheses and its comma.
fn call(text: BoxedStrategy<String>) -> Tokens {
    text.prop_map(|text| {
        let (name, rest) = text.split_once('(').expect("a call has parentheses");
        let arguments = rest.strip_suffix(')').expect("a call has parentheses");
        let mut tokens = vec![name.to_owned(), "(".to_owned()];
        match arguments.split_once(", ") {
            Some((first, second)) => {
                tokens.extend([first, ",", second].map(str::to_owned));
            }
            None => tokens.push(arguments.to_owned()),
        }
        tokens.push(")".to_owned());
        tokens
    })
    .boxed()
}

fn white_space(v2: bool) -> BoxedStrategy<Vec<&'static str>> {
    let plain = vec(Just(" "), 1);
    let spaces = if v2 { SPACES_OF_V2 } else { SPACES };
    prop_oneof![plain, vec(select(spaces), 1..16)].boxed()
}

fn spaced(tokens: &[String], spaces: &[&str]) -> String {
    let mut source = String::new();
    for (token, space) in tokens.iter().zip(spaces.iter().cycle()) {
        source.push_str(token);
        source.push_str(space);
    }
    source
}
