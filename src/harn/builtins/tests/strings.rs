use super::{check_functions, check_methods};

#[test]
fn lengths_count_characters() {
    check_functions(&[
        ("len", r#"["🎉é"]"#, "2"),
        ("len", "[null]", "0"),
        ("len", "[[1, 2]]", "2"),
        ("len", r#"[{"a": 1}]"#, "1"),
        (
            "len",
            "[5]",
            "Type: `len` wants a string, a list, a dict or a range and got int",
        ),
        ("len", "[]", "Arity: `len` takes 1 arguments and got 0"),
    ]);
    check_methods(&[
        ("len", r#"["héllo"]"#, "5"),
        ("count", r#"["héllo"]"#, "5"),
        ("count", "[[1, 2]]", "2"),
        ("len", r#"[{"a": 1}]"#, "1"),
        ("empty", r#"[""]"#, "true"),
        ("empty", "[[0]]", "false"),
        ("empty", "[{}]", "true"),
    ]);
}

#[test]
fn texts_are_looked_for() {
    check_methods(&[
        ("ends_with", r#"["a.rs", ".rs"]"#, "true"),
        ("ends_with", r#"["a.rs", ""]"#, "true"),
        ("starts_with", r#"["\ufeff{}", "\ufeff"]"#, "true"),
        ("starts_with", r#"["b", "a"]"#, "false"),
        ("contains", r#"["hello", "ell"]"#, "true"),
        ("contains", r#"["hello", ""]"#, "true"),
        (
            "contains",
            r#"["nil pointer", null]"#,
            "Type: `contains` wants a string as its needle and got nil",
        ),
        (
            "contains",
            r#"["a"]"#,
            "Arity: `contains` takes 1 arguments and got 0",
        ),
        ("index_of", r#"["λab", "b"]"#, "2"),
        ("index_of", r#"["λab", "x"]"#, "-1"),
        ("index_of", r#"["ab", ""]"#, "0"),
        ("last_index_of", r#"["λabab", "ab"]"#, "3"),
        ("last_index_of", r#"["λ", "ab"]"#, "-1"),
    ]);
    check_functions(&[
        ("contains", r#"["hello", "ell"]"#, "true"),
        ("contains", "[[1, 2], 2.0]", "true"),
        ("contains", "[[1, 2], null]", "false"),
        (
            "contains",
            r#"[null, "x"]"#,
            "Type: `contains` wants a string or a list and got nil",
        ),
        ("starts_with", r#"["ab", "a"]"#, "true"),
        ("ends_with", r#"["ab", "b"]"#, "true"),
        ("index_of", r#"["λaλa", "a", 2]"#, "3"),
        ("index_of", r#"["aa", "a", -5]"#, "0"),
        ("index_of", r#"["aa", "", 3]"#, "-1"),
        ("index_of", r#"["aa", "", 2]"#, "2"),
    ]);
}

#[test]
fn texts_are_taken_apart() {
    check_methods(&[
        ("lines", r#"["a\r\nb\n"]"#, r#"["a", "b"]"#),
        ("lines", r#"[""]"#, "[]"),
        ("lines", r#"["\n"]"#, r#"[""]"#),
        ("lines", r#"["a\rb"]"#, r#"["a\rb"]"#),
        ("split", r#"["a,b,", ","]"#, r#"["a", "b", ""]"#),
        ("split", r#"["ab", ""]"#, r#"["", "a", "b", ""]"#),
        ("split", r#"["", "x"]"#, r#"[""]"#),
        (
            "split",
            r#"["a", null]"#,
            "Type: `split` wants a string as its separator and got nil",
        ),
        ("chars", r#"["aλ"]"#, r#"["a", "λ"]"#),
        ("char_at", r#"["aλ", 1]"#, r#""λ""#),
        ("char_at", r#"["aλ", 2]"#, "nil"),
        ("char_at", r#"["aλ", -1]"#, "nil"),
        ("substring", r#"["λabc", 1, 3]"#, r#""ab""#),
        ("substring", r#"["λabc", -4, 2]"#, r#""λa""#),
        ("substring", r#"["abc", 2, 1]"#, r#""""#),
        ("substring", r#"["abc", 1]"#, r#""bc""#),
        ("slice", r#"["kernel", -3]"#, r#""nel""#),
        ("slice", r#"["abc", 2, 1]"#, r#""""#),
        ("slice", r#"["aλc", -99, 99]"#, r#""aλc""#),
        ("trim", r#"["\u00a0\u2003 a \n"]"#, r#""a""#),
        ("trim", r#"["\u200ba\ufeff"]"#, "\"\u{200b}a\u{feff}\""),
        ("trim_start", r#"[" a "]"#, r#""a ""#),
        ("trim_end", r#"[" a "]"#, r#"" a""#),
    ]);
    check_functions(&[
        ("trim", r#"["  "]"#, r#""""#),
        ("trim", "[null]", "Type: `trim` wants a string and got nil"),
        ("split", r#"["a--b", "--"]"#, r#"["a", "b"]"#),
        ("chars", r#"[""]"#, "[]"),
        ("substring", r#"["abcd", 1, 2]"#, r#""b""#),
        (
            "substring",
            r#"["abcd", 1.5]"#,
            "Type: `substring` wants an int as its start and got float",
        ),
    ]);
}

#[test]
fn texts_are_changed() {
    check_methods(&[
        ("replace", r#"["abab", "b", "cc"]"#, r#""accacc""#),
        ("replace", r#"["abc", "", "-"]"#, r#""-a-b-c-""#),
        ("replace", r#"["", "", "-"]"#, r#""-""#),
        ("replace", r#"["λ", "", "-"]"#, r#""-λ-""#),
        ("replace", r#"["abc", "x", "-"]"#, r#""abc""#),
        (
            "replace",
            r#"["abc", "x"]"#,
            "Arity: `replace` takes 2 arguments and got 1",
        ),
        ("lower", r#"["AÄΣ"]"#, r#""aäς""#),
        ("to_lower", r#"["Ab"]"#, r#""ab""#),
        ("upper", r#"["straße"]"#, r#""STRASSE""#),
        ("to_upper", r#"["ab"]"#, r#""AB""#),
        ("repeat", r#"["ab", 3]"#, r#""ababab""#),
        ("repeat", r#"["ab", -1]"#, r#""""#),
        ("reversed", r#"["aλ"]"#, r#""λa""#),
        ("pad_left", r#"["λ", 3]"#, r#""  λ""#),
        ("pad_left", r#"["7", 4, "ab"]"#, r#""aba7""#),
        ("pad_right", r#"["7", 3, "λ"]"#, r#""7λλ""#),
        ("pad_right", r#"["", 2]"#, r#""  ""#),
        ("pad_right", r#"["abc", 2]"#, r#""abc""#),
        (
            "pad_left",
            r#"["7", 3, ""]"#,
            "Type: `pad_left` wants a fill that is not empty",
        ),
    ]);
    check_functions(&[
        ("replace", r#"["a.a", ".", "$1"]"#, r#""a$1a""#),
        (
            "replace",
            r#"[null, "a", "b"]"#,
            "Type: `replace` wants a string and got nil",
        ),
        ("lowercase", r#"["A"]"#, r#""a""#),
        ("to_lower", r#"["A"]"#, r#""a""#),
        ("uppercase", r#"["a"]"#, r#""A""#),
        ("repeat", r#"["", 9223372036854775807]"#, r#""""#),
        ("repeat", r#"["a", 9223372036854775807]"#, "Memory"),
    ]);
}
