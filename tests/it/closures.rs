//! Closure hashes: they change with everything that a predicate reaches, and with nothing
//! else.

use std::collections::HashMap;

use probity::Digest;
use probity::harn::{Inspection, inspect};

const RULES: &str = r#"
import { concerns } from "./lib"
import { ast_search } from "std/ast"

type Path = string
const WORDS = ["a", "b"]
const COMPUTED = WORDS.map({ word -> word + "!" })
const SRC = ["https://example.org"]
let calls = 0
calls = calls + 1

fn helper(path: Path) { return inner(path) && concerns(path) }
fn inner(path) { return WORDS.contains(path) || regex_match(PATTERN, path) != nil }
const PATTERN = "x+"
fn unrelated(x) { return x + 1 }

@invariant @deterministic
@archivist(evidence: SRC, confidence: 0.9, source_date: "2026-05-01")
fn p(slice) { return if helper("a") { COMPUTED } else { nil } }

@invariant @deterministic
fn q(slice) { return unrelated(1) }
"#;

const LIB: &str = r#"
const EXTENSION = ".rs"
fn concerns(path) { return path.ends_with(EXTENSION) }
fn other(path) { return concerns(path) }
"#;

fn look(rules: &str, lib: &str) -> Inspection {
    let found = inspect(rules, &|path| match path {
        "lib.harn" => Ok(lib.to_owned()),
        path => Err(format!("there is no {path}")),
    });
    assert!(found.module.is_some(), "{rules}\n{:#?}", found.problems);
    found
}

/// The closure hash and the source hash of each predicate.
fn hashes(rules: &str, lib: &str) -> HashMap<String, (Digest, Digest)> {
    let found = look(rules, lib).declarations.into_iter();
    let hashes = found.map(|it| {
        let closure = it.closure.expect("the file compiles");
        (it.name.into(), (closure, it.hash))
    });
    hashes.collect()
}

/// Which closure hashes a change changes.
fn changed(rules: &str, lib: &str) -> String {
    let (before, after) = (hashes(RULES, LIB), hashes(rules, lib));
    let names = ["p", "q"].into_iter();
    names
        .filter(|name| before[*name].0 != after[*name].0)
        .collect()
}

#[test]
fn what_is_reached_changes_them_and_nothing_else_does() {
    let edit = |from: &str, to: &str| {
        assert!(RULES.contains(from), "{from}");
        changed(&RULES.replacen(from, to, 1), LIB)
    };
    for (from, to, expected) in [
        // A helper, what it calls, what that reads; also where it becomes a pattern.
        ("inner(path) && concerns(path)", "inner(path)", "p"),
        ("return WORDS.contains(path)", "return path == \"c\"", "p"),
        ("[\"a\", \"b\"]", "[\"a\", \"c\"]", "p"),
        ("\"x+\"", "\"y+\"", "p"),
        ("word + \"!\"", "word + \"?\"", "p"),
        ("type Path = string", "type Path = string | int", "p"),
        // What attributes name.
        ("https://example.org", "https://example.com", "p"),
        ("return x + 1", "return x + 2", "q"),
        // What is run before any predicate is.
        ("calls = calls + 1", "calls = calls + 2", "pq"),
        ("let calls = 0", "let calls = 1", "pq"),
        // The predicate itself, to the byte.
        ("{ return unrelated(1) }", "{  return unrelated(1) }", "q"),
        // Nothing that matters.
        ("import { ast_search } from \"std/ast\"\n", "", ""),
        (
            "fn helper(path: Path) {",
            "/// Doc.\nfn helper( path:\n  Path ) { // x\n",
            "",
        ),
        (
            "fn unrelated",
            "fn more() { return 1 }\nconst MORE = [1]\nfn unrelated",
            "",
        ),
    ] {
        assert_eq!(edit(from, to), expected, "{from} -> {to}");
    }
}

#[test]
fn imports_count_as_far_as_they_are_reached() {
    let edit = |from: &str, to: &str| changed(RULES, &LIB.replacen(from, to, 1));
    assert_eq!(edit("\".rs\"", "\".py\""), "p");
    assert_eq!(edit("path.ends_with(EXTENSION)", "path == EXTENSION"), "p");
    assert_eq!(
        edit("return concerns(path) }", "return !concerns(path) }"),
        ""
    );
    assert_eq!(edit("\nconst", "\n// A word.\n\nconst"), "");
    assert_eq!(edit("\nconst", "\nfn z() { return 1 }\nconst"), "");
    // The same function under the same name, declared here.
    let moved = RULES.replace("import { concerns } from \"./lib\"\n", LIB);
    assert_eq!(changed(&moved, LIB), "p");
}

#[test]
fn the_order_of_declarations_does_not_count_and_that_of_steps_does() {
    let helper = RULES
        .lines()
        .find(|line| line.starts_with("fn helper"))
        .expect("it is there");
    let words = RULES
        .lines()
        .find(|line| line.starts_with("const WORDS"))
        .expect("it is there");
    for line in [helper, words] {
        let moved = format!("{}{line}\n", RULES.replace(line, ""));
        assert_eq!(changed(&moved, LIB), "", "{line}");
    }
    let steps = |rest: &str| {
        let source = format!(
            "{rest}\n@invariant @deterministic\nfn p(slice) {{ return [a, b, f] }}\n\
             fn f() {{ return 1 }}\n"
        );
        hashes(&source, LIB)["p"].0
    };
    // `a` is nil for `b` if it comes later.
    assert_ne!(
        steps("const a = f()\nconst b = [a]"),
        steps("const b = [a]\nconst a = f()"),
    );
    // A value that changes another binding while it is computed.
    let changing = "let a = 1\nconst b = 2\nconst unreached = if f() == 1 { a = 5 }";
    assert_ne!(steps(changing), steps(&changing.replace('5', "6")));
}

#[test]
fn names_of_variables_and_keys_reach_nothing() {
    let of = |helper: &str| {
        let source = format!(
            "fn inner() {{ return {helper} }}\n@invariant @deterministic\n\
             fn p(inner) {{ const x = {{inner: 1}}\n return x.inner + inner.inner }}\n"
        );
        hashes(&source, LIB)["p"].0
    };
    assert_eq!(of("1"), of("2"));
}

#[test]
fn a_swap_of_two_files_functions_of_the_same_name_is_seen() {
    let rules = |own: &str| {
        format!(
            "import {{ f }} from \"./lib\"\nfn g() {{ return {own} }}\n\
             @invariant @deterministic\nfn p(slice) {{ return [f(), g()] }}\n"
        )
    };
    let lib = |own: &str| format!("fn f() {{ return g() }}\nfn g() {{ return {own} }}\n");
    assert_ne!(
        hashes(&rules("1"), &lib("2"))["p"].0,
        hashes(&rules("2"), &lib("1"))["p"].0
    );
}

#[test]
fn the_form_of_closure_hashes_is_fixed() {
    let source = "fn h() { return 1 }\n@invariant\n@deterministic\nfn p(slice) { return h() }";
    let mut bytes = b"probity.flow.closure.v1\0".to_vec();
    bytes.extend(Digest::of(source.split_once('\n').expect("two lines").1.as_bytes()).as_bytes());
    let text = |bytes: &mut Vec<u8>, kind: &str, text: &[u8]| {
        bytes.extend(kind.as_bytes());
        bytes.extend(
            u32::try_from(text.len())
                .expect("it is short")
                .to_le_bytes(),
        );
        bytes.extend(text);
    };
    let mut tokens = Vec::new();
    for (kind, token) in [
        ("k", &b"fn"[..]),
        ("n", b"h"),
        ("m", b"("),
        ("m", b")"),
        ("b", b""),
        ("k", b"return"),
        ("i", &1_i64.to_le_bytes()),
        ("m", b"}"),
    ] {
        text(&mut tokens, kind, token);
    }
    bytes.push(1);
    bytes.extend(1_u32.to_le_bytes());
    text(&mut bytes, "", b"");
    bytes.push(b'f');
    text(&mut bytes, "", b"h");
    bytes.extend(Digest::of(&tokens).as_bytes());
    bytes.extend(0_u32.to_le_bytes());
    assert_eq!(hashes(source, LIB)["p"].0, Digest::of(&bytes));
    assert_eq!(
        hashes(source, LIB)["p"].0.to_string(),
        "sha256:698d4892c9cbc1a3f2c4fc8f22a553d05b89e034ebe5b2c6e32ca77f710873b4"
    );
}

#[test]
fn a_file_whose_predicates_reach_too_much_is_hashed_as_a_whole() {
    let mut source = String::new();
    for at in 0..2000 {
        source += &format!("fn h{at}() {{ return h{}() }}\n", (at + 1) % 2000);
    }
    for at in 0..1000 {
        source += &format!("@invariant @deterministic\nfn p{at}(slice) {{ return h{at}() }}\n");
    }
    let start = std::time::Instant::now();
    let before = hashes(&source, LIB);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(before.len(), 1000);
    let distinct: std::collections::HashSet<_> = before.values().map(|it| it.0).collect();
    assert_eq!(distinct.len(), 1000);
    let after = hashes(&source.replace("return h1000()", "return h1001()"), LIB);
    assert!(before.iter().all(|(name, hash)| after[name].0 != hash.0));
}

#[test]
fn a_file_that_does_not_compile_has_none() {
    let found = inspect(
        "@invariant @deterministic\nfn p(slice) { return missing }",
        &|_| Err("nothing is there".into()),
    );
    assert!(found.is_parsed && found.module.is_none());
    assert_eq!(found.declarations.len(), 1);
    assert_eq!(found.declarations[0].closure, None);
}
