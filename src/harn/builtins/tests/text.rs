use super::{check_functions, check_methods};

#[test]
fn values_become_text() {
    check_functions(&[
        (
            "to_string",
            r#"[[null, "a", 1.0, {"k": true}]]"#,
            r#""[nil, a, 1.0, {k: true}]""#,
        ),
        ("to_string", "[]", r#""nil""#),
        ("to_string", r#"["a"]"#, r#""a""#),
        ("join", r#"[["a", 1, null], ", "]"#, r#""a, 1, nil""#),
        ("join", r#"[["a", "b"]]"#, r#""ab""#),
        ("join", r#"[["a", "b"], null]"#, r#""ab""#),
        (
            "join",
            r#"["a", ","]"#,
            "Type: `join` wants a list and got string",
        ),
    ]);
    check_methods(&[
        ("join", r#"[["a", "b"], "-"]"#, r#""a-b""#),
        ("join", r#"[[]]"#, r#""""#),
    ]);
}

#[test]
fn templates_are_filled_in() {
    check_functions(&[
        ("format", r#"["{} of {}", 1, [2]]"#, r#""1 of [2]""#),
        (
            "format",
            r#"["{a} {b_1}", {"a": 1, "b_1": "x"}]"#,
            r#""1 x""#,
        ),
        ("format", r#"["{} {a}", {"a": 1}]"#, r#""{a: 1} 1""#),
        (
            "format",
            r#"["{ a } {", {"a": 1}]"#,
            "Arity: `format` has more values than its template has `{}`",
        ),
        (
            "format",
            r#"["{a} {{} {"]"#,
            "Arity: `format` has fewer values than its template has `{}`",
        ),
        ("format", r#"["{a} {"]"#, r#""{a} {""#),
        (
            "format",
            r#"["{b}", {"a": 1}]"#,
            "Type: `format` has no value for `{b}`",
        ),
    ]);
}

#[test]
fn lines_are_indented() {
    check_functions(&[
        ("indent", r#"["a\n\n b\n"]"#, r#""  a\n\n   b\n""#),
        ("indent", r#"["a\nb", 1]"#, r#"" a\n b""#),
        ("indent", r#"["a\nb", "> "]"#, r#""> a\n> b""#),
        (
            "indent",
            r#"["a", []]"#,
            "Type: `indent` wants an int or a string as its prefix and got list",
        ),
        ("dedent", r#"["  a\n   b\n \n"]"#, r#""a\n b\n\n""#),
        ("dedent", r#"["\ta\n  b"]"#, r#""\ta\n  b""#),
        ("title_case", r#"["the ßa\tEND"]"#, r#""The SSa\tEnd""#),
    ]);
}

#[test]
fn paths_are_taken_apart() {
    check_functions(&[
        ("dirname", r#"["a/b/c.rs"]"#, r#""a/b""#),
        ("dirname", r#"["c.rs"]"#, r#""""#),
        ("dirname", r#"["/c.rs"]"#, r#""/""#),
        ("dirname", r#"["/"]"#, r#""""#),
        ("basename", r#"["a/b/c.rs"]"#, r#""c.rs""#),
        ("basename", r#"["a/b/"]"#, r#""b""#),
        ("basename", r#"[""]"#, r#""""#),
        ("extname", r#"["a.b/c.tar.gz"]"#, r#"".gz""#),
        ("extname", r#"["a.b/.bashrc"]"#, r#""""#),
        ("extname", r#"["a.b/c"]"#, r#""""#),
        ("path_join", r#"["a/", "/b", "", "c"]"#, r#""a/b/c""#),
        ("path_join", r#"["/", "b"]"#, r#""/b""#),
        (
            "path_join",
            r#"["a", 1]"#,
            "Type: `path_join` wants a string as its path and got int",
        ),
    ]);
}
