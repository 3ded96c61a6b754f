use super::{Stub, check_functions, shown};
use crate::harn::builtins::{Calls, compile};
use crate::harn::value::{Str, Value};

#[test]
fn matches_are_listed() {
    check_functions(&[
        ("regex_match", r#"["[0-9]+", "a1 b22"]"#, r#"["1", "22"]"#),
        ("regex_match", r#"["z", "abc"]"#, "nil"),
        ("regex_match", r#"["", "abc"]"#, r#"["", "", "", ""]"#),
        ("regex_match", r#"["", "λ"]"#, r#"["", ""]"#),
        ("regex_match", r#"["a|", "aab"]"#, r#"["a", "a", ""]"#),
        ("regex_match", r#"[null, "x"]"#, "nil"),
        ("regex_match", r#"["x", null]"#, "nil"),
        ("regex_match", r#"["^b", "a\nB", "im"]"#, r#"["B"]"#),
        ("regex_match", r#"["^b", "a\nB", "mimi"]"#, r#"["B"]"#),
        ("regex_match", r#"["a.c", "a\nc", "s"]"#, r#"["a\nc"]"#),
        ("regex_match", r#"["a b", "ab", "x"]"#, r#"["ab"]"#),
        ("regex_match", r#"["a b # c", "ab", "x"]"#, r#"["ab"]"#),
        ("regex_match", r#"["^x$", "x\n", ""]"#, "nil"),
        ("regex_match", r#"["(?m)^x$", "x\n", null]"#, r#"["x"]"#),
        ("regex_match", r#"["\\w+", "λ1"]"#, r#"["λ1"]"#),
        (
            "regex_match",
            r#"["a", 5]"#,
            "Type: `regex_match` wants a string as its text and got int",
        ),
        (
            "regex_match",
            r#"[5, null]"#,
            "Type: `regex_match` wants a string as its pattern and got int",
        ),
    ]);
}

#[test]
fn what_is_no_regex_is_thrown() {
    for args in [
        r#"["(?=a)", "a"]"#,
        r#"["(a)\\1", "aa"]"#,
        r#"["a", "a", "g"]"#,
        r#"["(", "a", "i"]"#,
        r#"["(?-u:\\xff)", "a"]"#,
        r#"["(x{1000}){1000}", "a"]"#,
        r#"["(?P<line>a)", "a"]"#,
    ] {
        let function = match args.contains("line") {
            true => "regex_captures",
            false => "regex_match",
        };
        let outcome = super::function(function, args);
        assert!(outcome.starts_with("thrown \"invalid regex: "), "{outcome}");
        assert!(!outcome.contains("\\n"), "{outcome}");
    }
    assert!(compile(&"a".repeat((64 << 10) + 1), "").is_err());
    assert!(compile(&"\\pL".repeat(10_000), "").is_err());
    assert!(compile(&"()".repeat(30_000), "").is_err());
    assert!(compile(&"(?i)[ -\u{10ffff}]".repeat(2000), "").is_err());
    assert!(compile(&"(".repeat(60_000), "").is_err());
    assert!(compile("(?s)^.{0,400}$", "im").is_ok());
}

#[test]
fn texts_are_replaced() {
    check_functions(&[
        (
            "regex_replace",
            r#"["(\\w+)-(\\w+)", "$2-$1", "hi-yo"]"#,
            r#""yo-hi""#,
        ),
        ("regex_replace", r#"["(a)", "$1x", "bab"]"#, r#""bb""#),
        (
            "regex_replace",
            r#"["(?P<n>a)", "${n}${1}$n$$x$z", "bab"]"#,
            r#""baaa$xb""#,
        ),
        ("regex_replace", r#"["a", "", "banana"]"#, r#""bnn""#),
        ("regex_replace", r#"["", "-", "ab"]"#, r#""-a-b-""#),
        ("regex_replace", r#"["A", "x", "a", "i"]"#, r#""x""#),
        ("regex_replace", r#"["z", "$0", "a"]"#, r#""a""#),
        ("regex_replace", r#"[null, "x", "a"]"#, "nil"),
        ("regex_replace", r#"["a", null, "a"]"#, "nil"),
        ("regex_replace", r#"["a", "x", null]"#, "nil"),
        (
            "regex_replace",
            r#"["a", 1, "a"]"#,
            "Type: `regex_replace` wants a string as its replacement and got int",
        ),
    ]);
}

#[test]
fn groups_are_captured() {
    check_functions(&[
        (
            "regex_captures",
            r#"["(\\w)(\\d)?", "λ"]"#,
            r#"[{"end": 1, "groups": ["λ", nil], "line": 1, "match": "λ", "start": 0}]"#,
        ),
        (
            "regex_captures",
            r#"["(?P<k>a)", "λ\nba\na"]"#,
            r#"[{"end": 4, "groups": ["a"], "k": "a", "line": 2, "match": "a", "start": 3}, {"end": 6, "groups": ["a"], "k": "a", "line": 3, "match": "a", "start": 5}]"#,
        ),
        ("regex_captures", r#"["z", "abc"]"#, "[]"),
        ("regex_captures", r#"["z", null]"#, "[]"),
        (
            "regex_split",
            r#"["a1b22c", "[0-9]+"]"#,
            r#"["a", "b", "c"]"#,
        ),
        ("regex_split", r#"["ab", ""]"#, r#"["", "a", "b", ""]"#),
        ("regex_split", r#"["", "x"]"#, r#"[""]"#),
        ("regex_split", r#"["aXb", "x", "i"]"#, r#"["a", "b"]"#),
        ("regex_split", r#"[null, "x"]"#, "nil"),
    ]);
}

#[test]
fn the_same_is_found_as_by_the_regex_crate() {
    let texts = ["", "a", "aab\nλλ b", "\n\n", "xλx", "aaaa", "a-b--c"];
    let patterns = [
        "", "a*", "a*?", "λ?", "\\b", "(?m)^", "(?m)$", "x|", "(a|b)+", "-*",
    ];
    let mut stub = Stub::new();
    for text in texts {
        for pattern in patterns {
            let regex = regex::Regex::new(pattern).unwrap();
            let args = [pattern, text].map(|text| Value::text(text, stub.heap()).unwrap());
            let found: Vec<&str> = regex.find_iter(text).map(|found| found.as_str()).collect();
            let outcome = stub.run("regex_match", &args).unwrap();
            let ours: Vec<&str> = outcome
                .as_items()
                .unwrap_or_default()
                .iter()
                .map(|found| found.as_str().unwrap())
                .collect();
            assert_eq!(ours, found, "{pattern} {text:?}");
            let split: Vec<&str> = regex.split(text).collect();
            let [pattern_value, text_value] = args;
            let outcome = stub.run("regex_split", &[text_value.clone(), pattern_value.clone()]);
            let outcome = outcome.unwrap();
            let ours: Vec<&str> = outcome
                .as_items()
                .unwrap()
                .iter()
                .map(|piece| piece.as_str().unwrap())
                .collect();
            assert_eq!(ours, split, "{pattern} {text:?}");
            for replacement in ["<$0>", "!"] {
                let replaced = regex.replace_all(text, replacement);
                let replacement = Value::text(replacement, stub.heap()).unwrap();
                let args = [pattern_value.clone(), replacement, text_value.clone()];
                let outcome = stub.run("regex_replace", &args).unwrap();
                assert_eq!(outcome.as_str(), Some(&*replaced), "{pattern} {text:?}");
            }
        }
    }
}

#[test]
fn searches_that_look_far_run_out_of_fuel() {
    // Every search finds one character, and looks at all that follow.
    let mut stub = Stub::with(1 << 28, 1 << 22);
    let text = "a".repeat(1 << 20);
    let args = ["(?s)a.*z|a", &text].map(|text| Value::text(text, stub.heap()).unwrap());
    assert_eq!(shown(stub.run("regex_match", &args)), "Fuel");
    assert_eq!(
        shown(Stub::with(1 << 28, 1 << 22).run("regex_captures", &args)),
        "Fuel"
    );
    // Words end before what no word holds.
    let mut stub = Stub::with(1 << 28, 1 << 20);
    let text = "word word2 ".repeat(10_000);
    let args = ["\\w+", &text].map(|text| Value::text(text, stub.heap()).unwrap());
    let found = stub.run("regex_match", &args).unwrap();
    assert_eq!(found.as_items().map(<[Value]>::len), Some(20_000));
    assert!((1 << 20) - stub.fuel() < 100_000);
}

#[test]
fn replacements_that_grow_run_out_of_memory() {
    let mut stub = Stub::new();
    let text = "a".repeat(100_000);
    let args = ["(a+)", &"$1".repeat(10_000), &text];
    let args = args.map(|text| Value::text(text, stub.heap()).unwrap());
    assert_eq!(shown(stub.run("regex_replace", &args)), "Memory");
}

#[test]
fn a_test_needs_no_matches() {
    let stub = Stub::new();
    let text = Str::new("abc".into(), stub.heap()).unwrap();
    let regex = compile("B", "i").unwrap();
    assert!(crate::harn::builtins::is_match(&regex, &text));
}

#[test]
fn plain_text_is_parsed_as_the_parser_does() {
    use crate::facts::RegexFlags;

    for text in [
        "",
        "a",
        "to do",
        "a-b&&c~~#d",
        "straße \u{212a} \n\r\0",
        "{",
        "a.b",
        "}",
        "]",
    ] {
        for flags in ["", "m", "ms", "i", "x", "ix"] {
            let set = match flags {
                "" => String::new(),
                flags => format!("(?{flags})"),
            };
            let by_parser = crate::scan::parse_text(&format!("{set}{text}"), RegexFlags::NONE);
            let parsed = crate::harn::builtins::parse(text, flags);
            assert_eq!(parsed.ok(), by_parser.ok(), "{text:?} {flags}");
        }
    }
}
