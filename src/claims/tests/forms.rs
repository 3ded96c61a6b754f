//! How records are told apart, and where they are said to be.

use super::support::{claim, outline, outline_of, read, read_with};
use crate::claims::{Limits, Options};

/// The claim over several lines, as `jq .` prints it.
fn pretty(id: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(&claim(id)).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

#[test]
fn lines() {
    let (a, b) = (claim("a"), claim("b"));
    assert_eq!(outline(format!("{a}\n{b}\n")), ["log:1 a", "log:2 b"]);
    assert_eq!(outline(format!("{a}\n{b}")), ["log:1 a", "log:2 b"]);
    let text = format!("\u{feff}\r\n \t\r\n{a}\r\n\n  {b}  \r\n\n");
    assert_eq!(outline(text), ["log:3 a", "log:5 b"]);
    assert_eq!(outline(""), [""; 0]);
    assert_eq!(outline("\u{feff} \n\r\n"), [""; 0]);
}

#[test]
fn bad_lines_do_not_take_others_along() {
    let (a, b) = (claim("a"), claim("b"));
    let cut = &a[..a.len() - 10];
    let text = format!("{a}\n{cut}\nprose\n{a}{b}\n\0\0\n{b}\n{cut}");
    assert_eq!(
        outline(text),
        [
            "log:1 a",
            "log:2 malformed_record",
            "log:3 malformed_record",
            "log:4 malformed_record",
            "log:5 malformed_record",
            "log:6 b",
            "log:7 truncated_record",
        ]
    );
    // Also where the first line is the cut one, in a string or outside.
    for cut in [&a[..3], &a[..a.len() - 3]] {
        let text = format!("{cut}\n{a}\n{b}\n");
        assert_eq!(
            outline(text),
            ["log:1 malformed_record", "log:2 a", "log:3 b"]
        );
    }
    assert_eq!(
        outline("{oops\n{oops\n"),
        ["log:1 malformed_record", "log:2 malformed_record"]
    );
    assert_eq!(outline(&b"{\"a\": \"\xc3"[..]), ["log:1 truncated_record"]);
    assert_eq!(
        outline(&b"1\n{\"a\": \"\xc3\n"[..]),
        ["log:1 bad_field", "log:2 malformed_record"]
    );
}

#[test]
fn arrays() {
    let (a, b) = (claim("a"), claim("b"));
    let elements = ["log:[0] a", "log:[1] b"];
    assert_eq!(outline(format!("[{a},{b}]")), elements);
    assert_eq!(
        outline(format!("\n[\n  {},\n{}\n]\n", pretty("a"), pretty("b"))),
        elements
    );
    // Several arrays in a row, as `cat` makes them.
    assert_eq!(outline(format!("[{a}][]\n[ {b} ]\n")), elements);
    assert_eq!(outline(format!("[{a}]\n{b}\n")), ["log:[0] a", "log:2 b"]);
    assert_eq!(outline(" [ ] "), [""; 0]);
}

#[test]
fn bad_elements_do_not_take_others_along() {
    let b = claim("b");
    for bad in [
        "{\"a\": [1}",
        "{}}",
        "{} {}",
        "prose",
        "",
        "\"open\n",
        "{\"a\" 1}",
    ] {
        let text = format!("[{bad},{b}]");
        assert_eq!(
            outline(text),
            ["log:[0] malformed_record", "log:[1] b"],
            "{bad}"
        );
        let text = format!("[{b},{bad}]");
        assert_eq!(
            outline(text),
            ["log:[0] b", "log:[1] malformed_record"],
            "{bad}"
        );
    }
    assert_eq!(
        outline(format!("[1,{b}]")),
        ["log:[0] bad_field", "log:[1] b"]
    );
    assert_eq!(
        outline(format!("[{b}] tail")),
        ["log:[0] b", "log:1 malformed_record"]
    );
}

#[test]
fn truncated_arrays() {
    let a = claim("a");
    assert_eq!(outline("["), ["log:[0] truncated_record"]);
    // A whole last element is read; that the array is cut is a record of its own.
    for cut in ["", " \n", ",", ", {", ", {\"a\": [1, \"x"] {
        assert_eq!(
            outline(format!("[{a}{cut}")),
            ["log:[0] a", "log:[1] truncated_record"],
            "{cut}"
        );
    }
}

#[test]
fn objects_over_several_lines() {
    let (a, b) = (pretty("a"), pretty("b"));
    assert_eq!(outline(a.clone()), ["log:1 a"]);
    assert_eq!(outline(format!("\n{a}\n\n{b}\n")), ["log:2 a", "log:14 b"]);
    assert_eq!(outline(format!("{a}{b}")), ["log:1 a", "log:11 b"]);
    let text = format!("{a}\nprose\n{}\n[{b}]", claim("c"));
    assert_eq!(
        outline(text),
        [
            "log:1 a",
            "log:12 malformed_record",
            "log:13 c",
            "log:[0] b"
        ]
    );
    assert_eq!(
        outline(format!("{a}\n{{\n\"a\": ]}}\n{b}")),
        ["log:1 a", "log:12 malformed_record", "log:14 b"]
    );
    assert_eq!(outline(&a[..a.len() - 4]), ["log:1 truncated_record"]);
}

#[test]
fn records_over_the_cap_are_skipped() {
    let limits = Limits {
        record_bytes: 1000,
        ..Limits::default()
    };
    let outline = |text: String| outline_of(&read_with(text, limits, &Options::default()));
    let (a, b) = (claim("a"), claim("b"));
    let huge = format!("{{\"x\": \"{}\"}}", "y".repeat(1_000_000));
    let huge_pretty = format!("{{\n\"x\": [\n{}1]\n}}", "1,\n".repeat(400_000));
    let expected = ["log:1 a", "log:2 record_too_large", "log:3 b"];
    assert_eq!(outline(format!("{a}\n{huge}\n{b}\n")), expected);
    assert_eq!(outline(format!("{huge}\n{b}\n"))[1], "log:2 b");
    for huge in [&huge, &huge_pretty] {
        assert_eq!(
            outline(format!("[{a},{huge},{b}]")),
            ["log:[0] a", "log:[1] record_too_large", "log:[2] b"]
        );
    }
    assert_eq!(
        outline(format!("{huge_pretty}\n{b}")),
        ["log:1 record_too_large", "log:400005 b"]
    );
    let brackets = "[".repeat(1_000_000);
    assert_eq!(
        outline(format!("[{brackets}")),
        ["log:[0] record_too_large"]
    );
    // The cap is inclusive, and white space before a record does not count.
    let exact = format!("{{\"id\": \"{}\"}}", "i".repeat(990));
    assert_eq!(outline(format!(" {exact}")), ["log:1 bad_field"]);
    let over = exact.replacen('i', "ii", 1);
    assert_eq!(outline(over), ["log:1 record_too_large"]);
}

#[test]
fn windows_do_not_change_what_is_read() {
    let log: Vec<String> = (0..100).map(|id| claim(&id.to_string())).collect();
    for text in [log.join("\n"), format!("[{}]", log.join(",\n"))] {
        let whole = read(text.clone());
        assert_eq!(whole.len(), 100);
        for (window_records, window_bytes) in [(0, 0), (1, 1), (7, 1 << 20), (1 << 20, 1000)] {
            let limits = Limits {
                window_records,
                window_bytes,
                ..Limits::default()
            };
            assert_eq!(read_with(text.clone(), limits, &Options::default()), whole);
        }
    }
}
