//! What a search finds.

use super::*;

/// A search that has to work.
fn ok<'a>(source: &'a str, query: &'a str, language: &'a str) -> Found<'a> {
    let found = search(&Request::new(source, query, language));
    assert_eq!(found.outcome, Outcome::Ok, "{language}: {query}");
    found
}

/// The texts of a capture, a match each.
fn texts<'a>(source: &'a str, query: &'a str, name: &str) -> Vec<&'a str> {
    let found = ok(source, query, "rust");
    let matches = found.matches.iter();
    let captured = matches.filter_map(|found| found.capture(name));
    captured.map(|node| node.text).collect()
}

fn invalid(query: &str) -> String {
    match search(&Request::new("fn a() {}", query, "rust")).outcome {
        Outcome::InvalidQuery(message) => message,
        other => panic!("{query}: {other:?}"),
    }
}

#[test]
fn each_language_finds_a_function() {
    let declared = "(function_declaration name: (identifier) @name)";
    let defined = "(function_definition name: (identifier) @name)";
    let declarator = "(function_definition declarator: \
        (function_declarator declarator: (identifier) @name))";
    let cases: &[(&[&str], &str, &str)] = &[
        (
            &["rust", "rs"],
            "fn target(x: u8) -> u8 { x }",
            "(function_item name: (identifier) @name)",
        ),
        (&["python", "py"], "def target(x):\n    return x\n", defined),
        (
            &["javascript", "js", "typescript", "ts", "tsx"],
            "function target(x) { return x }",
            declared,
        ),
        (
            &["typescript", "ts", "tsx"],
            "function target(x: number): number { return x }",
            declared,
        ),
        (&["tsx"], "function target() { return <a>b</a> }", declared),
        (
            &["go"],
            "package p\nfunc target(x int) int { return x }\n",
            declared,
        ),
        (&["c"], "int target(int x) { return x; }", declarator),
        (
            &["cpp", "c++"],
            "template <class T> T target(T x) { return x; }",
            declarator,
        ),
        (
            &["java"],
            "class A { int target(int x) { return x; } }",
            "(method_declaration name: (identifier) @name)",
        ),
        (&["zig"], "fn target(x: u8) u8 { return x; }", declared),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (names, source, query) in cases {
        for name in *names {
            let found = ok(source, query, name);
            assert!(!found.had_errors, "{name}: {source}");
            assert_eq!(found.matches.len(), 1, "{name}");
            assert_eq!(found.matches[0].node.text, "target", "{name}");
            assert_eq!(found.matches[0].captures.len(), 1, "{name}");
            seen.insert(found.language);
        }
    }
    assert_eq!(Vec::from_iter(seen), languages());
}

#[test]
fn names_of_languages_are_made_uniform() {
    assert_eq!(ok("", "(_) @a", "RS").language, "rust");
    let found = search(&Request::new("", "(", "Cobol"));
    assert_eq!(found.outcome, Outcome::UnsupportedLanguage);
    assert_eq!(found.language, "Cobol");
    assert_eq!(found.cost, 0);
}

#[test]
fn a_match_reaches_from_its_first_capture_to_its_last() {
    let source = "// ä\nfn one(first: u8,\n  second: u16) {}\n";
    let query = "(function_item (identifier) @name (parameters (parameter) @each . (parameter)))";
    let found = ok(source, query, "rust");
    let [only] = &found.matches[..] else {
        panic!("{found:?}");
    };
    assert_eq!(only.node.text, "one(first: u8");
    let expected = Range {
        start_byte: 9,
        end_byte: 22,
        start_row: 1,
        start_col: 3,
        end_row: 1,
        end_col: 16,
    };
    assert_eq!(only.node.range, expected);
    let names: Vec<&str> = only.captures.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["name", "each"]);
    assert_eq!(only.capture("each").unwrap().text, "first: u8");
    assert_eq!(only.capture("@each"), None);
    for (_, node) in &only.captures {
        assert_eq!(
            &source[node.range.start_byte..node.range.end_byte],
            node.text
        );
    }
}

#[test]
fn the_first_node_of_a_repeated_capture_is_kept() {
    let source = "fn f(a: A, b: B) { c(); d(); e(); }";
    let query = "(parameters . (parameter) @each . (parameter) @each .)";
    let found = ok(source, query, "rust");
    let [only] = &found.matches[..] else {
        panic!("{found:?}");
    };
    assert_eq!(only.node.text, "a: A, b: B");
    assert_eq!(only.captures.len(), 1);
    assert_eq!(only.capture("each").unwrap().text, "a: A");
    let found = ok(source, "(block (expression_statement)+ @each)", "rust");
    let [only] = &found.matches[..] else {
        panic!("{found:?}");
    };
    assert_eq!(only.node.text, "c(); d(); e();");
    assert_eq!(only.capture("each").unwrap().text, "c();");
}

#[test]
fn a_match_without_captures_is_its_outermost_node() {
    let source = "fn a() {}\nstruct B;\n";
    let found = ok(
        source,
        "(function_item) (struct_item name: (_) @name)",
        "rust",
    );
    let matches: Vec<_> = found
        .matches
        .iter()
        .map(|m| (m.node.text, m.captures.len()))
        .collect();
    assert_eq!(matches, [("fn a() {}", 0), ("B", 1)]);
    // With an optional capture.
    let query = "(function_item (visibility_modifier)? @visible name: (_)) ; none";
    let found = ok("pub fn a() {} fn b() {}", query, "rust");
    let matches: Vec<_> = found.matches.iter().map(|m| m.node.text).collect();
    assert_eq!(matches, ["pub", "fn b() {}"]);
}

#[test]
fn matches_are_sorted_by_start_then_end() {
    let query = "(identifier) @a (call_expression) @b (expression_statement) @c";
    let found = ok("fn f() { g(h(1)); i(); }", query, "rust");
    let matches: Vec<_> = found.matches.iter().map(|m| m.node.text).collect();
    assert_eq!(
        matches,
        [
            "f", "g", "g(h(1))", "g(h(1));", "h", "h(1)", "i", "i()", "i();"
        ]
    );
}

#[test]
fn predicates_decide() {
    let source = "fn one() {} fn two() {} fn three() { three() }";
    let named = |predicate: &str| {
        let query = format!("((function_item name: (identifier) @n) {predicate})");
        let found = search(&Request::new(source, &query, "rust"));
        assert_eq!(found.outcome, Outcome::Ok, "{query}");
        let names = found.matches.iter().filter_map(|m| m.capture("n"));
        names.map(|node| node.text.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(named(""), ["one", "two", "three"]);
    assert_eq!(named("(#eq? @n \"two\")"), ["two"]);
    assert_eq!(named("(.eq? @n two)"), ["two"]);
    assert_eq!(named("(#not-eq? @n \"two\")"), ["one", "three"]);
    assert_eq!(named("(#any-eq? @n \"two\")"), ["two"]);
    assert_eq!(named("(#any-not-eq? @n \"two\")"), ["one", "three"]);
    assert_eq!(named("(#match? @n \"^t\")"), ["two", "three"]);
    assert_eq!(named("(#match? @n \"^\\\\w{3}$\")"), ["one", "two"]);
    assert_eq!(named("(#not-match? @n \"^t\")"), ["one"]);
    assert_eq!(named("(#any-match? @n \"^t\")"), ["two", "three"]);
    assert_eq!(named("(#any-not-match? @n \"^t\")"), ["one"]);
    assert_eq!(named("(#any-of? @n \"one\" \"three\")"), ["one", "three"]);
    assert_eq!(named("(#any-of? @n)"), [""; 0]);
    assert_eq!(named("(#not-any-of? @n \"one\" \"three\")"), ["two"]);
    assert_eq!(
        named("(#match? @n \"^t\") (#not-eq? @n \"two\")"),
        ["three"]
    );
    assert_eq!(named("(#set! kind \"function\")"), ["one", "two", "three"]);
    let query = "((function_item name: (_) @a body: (block (call_expression function: (_) @b))) \
        (#eq? @a @b))";
    assert_eq!(texts(source, query, "b"), ["three"]);
    let query = query.replace("#eq?", "#not-eq?");
    assert_eq!(texts(source, &query, "b"), [""; 0]);
}

#[test]
fn any_forms_ask_for_one_node_and_the_others_for_all() {
    let source = "fn f(a: A, b: B) {}";
    let holds = |predicate: &str| {
        let query = format!("((parameters . (parameter) @p . (parameter) @p .) {predicate})");
        let found = search(&Request::new(source, &query, "rust"));
        assert_eq!(found.outcome, Outcome::Ok, "{query}");
        !found.matches.is_empty()
    };
    assert!(holds(""));
    assert!(!holds("(#eq? @p \"a: A\")"));
    assert!(holds("(#any-eq? @p \"a: A\")"));
    assert!(!holds("(#any-eq? @p \"c: C\")"));
    assert!(!holds("(#not-eq? @p \"a: A\")"));
    assert!(holds("(#any-not-eq? @p \"a: A\")"));
    assert!(holds("(#match? @p \"[AB]\")"));
    assert!(!holds("(#match? @p \"[BC]\")"));
    assert!(holds("(#any-match? @p \"[BC]\")"));
    assert!(!holds("(#any-match? @p \"[CD]\")"));
    assert!(!holds("(#any-not-match? @p \"[AB]\")"));
}

#[test]
fn invalid_queries_say_what_is_wrong_and_where() {
    assert_eq!(
        invalid("(function_item\n  name: (nonsense))"),
        "line 2, column 10: no such kind of node: \"nonsense\""
    );
    assert_eq!(
        invalid("(function_item nothing: (_))"),
        "line 1, column 16: no such field: \"nothing\""
    );
    assert_eq!(
        invalid("((identifier) @a (#eq? @b \"\"))"),
        "line 1, column 25: no such capture: \"b\""
    );
    assert_eq!(
        invalid("(function_item (function_item (struct_item)) (("),
        "line 1, column 48: a syntax error"
    );
    assert!(invalid("(identifier (identifier))").ends_with("can never match"));
    assert!(invalid("((identifier) @a (#match? @a \"(\"))").ends_with("the regex is wrong"));
    assert!(invalid("((identifier) @a (#match? @a @a))").contains("a string"));
    assert!(invalid("((identifier) @a (#eq? \"a\" @a))").contains("first argument"));
    assert!(invalid("((identifier) @a (#eq? @a))").contains("second argument"));
    assert!(invalid("((identifier) @a (#any-of? @a @a))").contains("further arguments"));
    assert!(invalid("((identifier) @a (#set!))").contains("set!"));
}

#[test]
fn unknown_predicates_are_refused() {
    for name in [
        "is?",
        "is-not?",
        "lua-match?",
        "contains?",
        "has-parent?",
        "strip!",
        "eq!",
        "select-adjacent!",
        "any-any-of?",
        "not-not-eq?",
    ] {
        let query = format!("((identifier) @a (#{name} @a \"b\"))");
        let message = invalid(&query);
        assert!(
            message.ends_with(&format!("the predicate #{name} is unknown")),
            "{message}"
        );
    }
}

#[test]
fn syntax_errors_in_the_source_are_only_reported() {
    let source = "fn good() {}\nfn ( { ]]] %% \nstruct \u{0}\n";
    let found = ok(source, "(function_item name: (_) @name)", "rust");
    assert!(found.had_errors);
    assert_eq!(found.matches[0].node.text, "good");
    for language in languages() {
        assert!(ok("\u{feff}%$ ((\"", "(_) @any", language).had_errors);
    }
    assert!(!ok("", "(_) @any", "rust").had_errors);
    let query = "(ERROR) @error";
    assert!(!ok(source, query, "rust").matches.is_empty());
}

#[test]
fn matches_beyond_the_limit_are_left_out() {
    let source = "fn a() {} fn b() {} fn c() {}";
    let query = "(function_item name: (_) @name)";
    let found = |max_matches, limits| {
        let request = Request {
            max_matches,
            limits,
            ..Request::new(source, query, "rust")
        };
        let found = search(&request);
        assert_eq!(found.outcome, Outcome::Ok);
        (found.matches.len(), found.truncated)
    };
    let limits = Limits::default();
    assert_eq!(found(None, limits), (3, false));
    assert_eq!(found(Some(3), limits), (3, false));
    assert_eq!(found(Some(2), limits), (2, true));
    assert_eq!(found(Some(0), limits), (0, true));
    let two = Limits {
        matches: 2,
        ..limits
    };
    assert_eq!(found(Some(usize::MAX), two), (2, true));
    let output = Limits {
        output: 2 * (2 * NODE_OVERHEAD + 2),
        ..limits
    };
    assert_eq!(found(None, output), (2, true));
    let many = "a;".repeat(DEFAULT_MATCHES + 1);
    let found = ok(&many, "(expression_statement) @s", "js");
    assert_eq!(
        (found.matches.len(), found.truncated),
        (DEFAULT_MATCHES, true)
    );
}

#[test]
fn cost_is_the_same_each_time() {
    let source = "fn a() { b(c) }\n".repeat(100);
    let query = "((identifier) @a (#match? @a \"^[a-c]$\"))";
    let first = ok(&source, query, "rust");
    assert!(first.cost > (source.len() + query.len() + first.matches.len()) as u64);
    assert_eq!(ok(&source, query, "rust"), first);
}
