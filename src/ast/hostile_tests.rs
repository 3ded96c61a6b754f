//! Input that is meant to do harm.

use std::cell::Cell;
use std::thread;

use super::*;

/// Runs on a small stack, so that recursion would show.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(512 << 10);
    thread.spawn(work).unwrap().join().unwrap();
}

#[test]
fn nesting_of_the_source_does_not_overflow_the_stack() {
    on_small_stack(|| {
        let deep = 100_000;
        let nested = format!("x = {}1{};", "(".repeat(deep), ")".repeat(deep));
        let query = "(parenthesized_expression) @p";
        let request = Request {
            max_matches: Some(10),
            ..Request::new(&nested, query, "js")
        };
        let found = search(&request);
        assert_eq!(found.outcome, Outcome::Ok);
        assert!(!found.had_errors && found.truncated);
        assert_eq!(found.matches.len(), 10);
        for language in languages() {
            let found = search(&Request::new(&nested, "(ERROR) @e", language));
            assert_eq!(found.outcome, Outcome::Ok, "{language}");
        }
    });
}

#[test]
fn brackets_that_never_close_do_no_harm() {
    on_small_stack(|| {
        for language in languages() {
            for bracket in ["(", "[", "{", "<", "a{b(", "\"", "/*", "if(", "#if 1\n"] {
                let open = bracket.repeat(1000);
                let found = search(&Request::new(&open, "(ERROR) @e", language));
                assert_eq!(found.outcome, Outcome::Ok, "{language} {bracket}");
            }
        }
    });
}

#[test]
fn nesting_of_the_query_does_not_overflow_the_stack() {
    on_small_stack(|| {
        let long = LONGEST_QUERY / 8;
        for part in [
            "(",
            "[",
            "(_ ",
            "[(_ ",
            "((_) ",
            "name: ",
            "(_ name: ",
            "(#",
        ] {
            let query = part.repeat(long);
            let found = search(&Request::new("fn a() {}", &query, "rust"));
            assert!(matches!(found.outcome, Outcome::InvalidQuery(_)), "{part}");
        }
        // As deep as is allowed.
        let query = format!("{}(_) @a{}", "(_ ".repeat(98), ")".repeat(98));
        let found = search(&Request::new("fn a() {}", &query, "rust"));
        assert_eq!(found.outcome, Outcome::Ok);
        assert_eq!(found.matches, []);
    });
}

#[test]
fn long_queries_are_refused_or_done_with() {
    for part in [
        "_ ",
        "_*",
        "_+ ",
        "(_)@a ",
        "[_ _]+ ",
        "((_)+ (_)+) @a ",
        "(_ (_)* . (_)?) @a ",
        "\"fn\" ",
    ] {
        for (before, after) in [("", ""), ("(_ ", ")"), ("[", "]"), ("((_) ", ") @b")] {
            for length in [400, LONGEST_QUERY - 10] {
                let repeated = part.repeat(length / part.len());
                let query = format!("{before}{repeated}{after}");
                let found = search(&Request::new("fn a() {}", &query, "rust"));
                let done = matches!(found.outcome, Outcome::InvalidQuery(_) | Outcome::Ok);
                assert!(done, "{before}{part}{after}: {:?}", found.outcome);
            }
        }
    }
    let query = " ".repeat(LONGEST_QUERY + 1);
    let request = Request {
        limits: Limits {
            query: usize::MAX,
            ..Limits::default()
        },
        ..Request::new("", &query, "rust")
    };
    let expected = "the query is longer than 16384 bytes".to_owned();
    assert_eq!(search(&request).outcome, Outcome::InvalidQuery(expected));
}

#[test]
fn regexes_are_limited() {
    let refused = |query: &str| match search(&Request::new("a", query, "js")).outcome {
        Outcome::InvalidQuery(message) => message,
        other => panic!("{other:?}"),
    };
    let large = "((identifier) @a (#match? @a \"\\\\w{1000}\"))";
    assert!(refused(large).ends_with("the regex is too large"));
    let many = "((identifier) @a (#match? @a \"a\"))".repeat(65);
    assert!(refused(&many).ends_with("more than 64 times"));
    let deep = format!("((identifier) @a (#match? @a \"{}\"))", "(".repeat(5000));
    assert!(refused(&deep).ends_with("the regex is wrong"));
    // A test that could take minutes is not begun; the same with less text is.
    let source = format!("\"{}\"", "ab".repeat(1 << 20));
    let outcome = |pattern: &str| {
        let query = format!("((string) @s (#match? @s \"{pattern}\"))");
        search(&Request::new(&source, &query, "js")).outcome
    };
    let slow = "[ab]*a[ab]{1000}c";
    assert_eq!(outcome(slow), Outcome::Stopped(Stop::Cost));
    assert_eq!(outcome("^.(ab)+"), Outcome::Ok);
    let query = format!("((string) @s (#match? @s \"{slow}|\\\\w{{8}}\"))");
    let found = search(&Request::new("'abcdefgh'", &query, "js"));
    assert_eq!(found.matches.len(), 1);
}

#[test]
fn too_much_is_not_begun() {
    let request = Request::new("fn a() {}", "(_) @a", "rust");
    let with = |limits| search(&Request { limits, ..request }).outcome;
    let limits = Limits::default();
    let source = Limits {
        source: 8,
        ..limits
    };
    assert_eq!(with(source), Outcome::Stopped(Stop::Source));
    let cost = Limits { cost: 14, ..limits };
    assert_eq!(with(cost), Outcome::Stopped(Stop::Cost));
}

#[test]
fn cost_stops_parser_matcher_and_predicates() {
    let source = "a;".repeat(10_000);
    let query = "((identifier) @a (#match? @a \"^a\"))";
    let whole = search(&Request::new(&source, query, "js"));
    assert_eq!(whole.outcome, Outcome::Ok);
    for cost in (0..whole.cost).step_by(whole.cost as usize / 50) {
        let limits = Limits {
            cost,
            ..Limits::default()
        };
        let request = Request {
            limits,
            ..Request::new(&source, query, "js")
        };
        let found = search(&request);
        assert_eq!(found.outcome, Outcome::Stopped(Stop::Cost), "{cost}");
        assert!(found.cost <= cost && found.matches.is_empty());
    }
    let limits = Limits {
        cost: whole.cost,
        ..Limits::default()
    };
    let request = Request {
        limits,
        ..Request::new(&source, query, "js")
    };
    assert_eq!(search(&request), whole);
}

#[test]
fn whoever_cancels_is_heard_soon() {
    let source = "a;".repeat(10_000);
    let query = "(identifier) @a";
    let asked = Cell::new(0_u32);
    let search_until = |last: u32| {
        asked.set(0);
        let cancel = || {
            asked.set(asked.get() + 1);
            asked.get() > last
        };
        let request = Request {
            cancel: &cancel,
            ..Request::new(&source, query, "js")
        };
        search(&request).outcome
    };
    assert_eq!(search_until(u32::MAX), Outcome::Ok);
    let all = asked.get();
    assert!(all > 500);
    for last in [0, 1, 2, 3, all / 4, all / 2, all - 1] {
        assert_eq!(
            search_until(last),
            Outcome::Stopped(Stop::Cancelled),
            "{last}"
        );
        assert_eq!(asked.get(), last + 1);
    }
}

#[test]
fn too_many_matches_in_progress_truncate() {
    // Each pair of statements is a match in progress until the block ends.
    let source = format!("{{{}}}", "a;b;".repeat(500));
    let query =
        "(statement_block (expression_statement) @a (expression_statement) @b (empty_statement))";
    let found = search(&Request::new(&source, query, "js"));
    assert_eq!(found.outcome, Outcome::Ok);
    assert!(found.truncated);
}
