//! Which patterns are searched for in the one pass over each file.

use crate::flow::{Context, Patterns, Prepared, Slice, SliceFile, evaluate};
use crate::harn::{Limits, Module};

/// Patterns that come to `regex_match` and the like in every way that packs have.
const SOURCE: &str = r#"
const FIRST = "needle_const"
const WORDS = ["needle_in_list", "needle_(one|two)_in_list"]
const RULES = [{pattern: r"needle_dict\s*\(", message: "do not"}]

fn has(text, pattern) { return regex_match(pattern, text, "") != nil }
fn has_with(text, pattern, flags) { return regex_match(pattern, text, flags) != nil }
fn deep(text, pattern) { return has(text, pattern) }
fn any_of(text, patterns) {
  for pattern in patterns {
    if regex_match(pattern, text) != nil { return true }
  }
  return false
}

@invariant
@deterministic
@archivist(evidence: ["https://example.org"], confidence: 1.0, source_date: "2026-05-01")
fn p(slice) {
  const found = slice.files.filter({ file ->
    const text = file.text
    has(text, "needle_param")
      || has(text, FIRST)
      || deep(text, "needle_deep")
      || has_with(text, "needle_flags", "i")
      || any_of(text, WORDS)
      || any_of(text, ["needle_literal_list"])
      || WORDS.any({ word -> regex_match("^" + word, text) != nil })
      || ["needle_closure"].any({ word -> regex_match(word, text) != nil })
      || RULES.any({ rule -> has(text, rule.pattern) })
      || regex_replace("needle_replace", "x", text) != text
      || regex_split(text, "needle_split").len() > 1
      || len(regex_match("needle_all", text)) > 0
  })
  return found.none() ? flow_invariant_allow() : flow_invariant_warn("found")
}
"#;

const SOUGHT: [&str; 12] = [
    "needle_param",
    "needle_const",
    "needle_deep",
    "needle_flags",
    "needle_in_list",
    "needle_(one|two)_in_list",
    "needle_literal_list",
    "needle_closure",
    "needle_dict\\s*\\(",
    "needle_replace",
    "needle_split",
    "needle_all",
];

/// The texts of patterns whose regexes were built for a slice of one file.
fn built(text: &str, is_sifted: bool) -> Vec<String> {
    let module = Module::compile(SOURCE).unwrap();
    let patterns = Patterns::new(std::slice::from_ref(&module));
    let slice = Slice::new(vec![SliceFile::new("a.rs", text)]);
    let prepared = match is_sifted {
        true => Prepared::sift(&slice, &patterns),
        false => Prepared::new(&slice),
    };
    let predicate = &module.predicates()[0];
    let judged = evaluate(
        &module,
        predicate,
        &prepared,
        &Context::default(),
        &Limits::default(),
    );
    assert_eq!(judged.result.verdict.code(), None, "{:?}", judged.result);
    let built = module.patterns().iter().filter(|it| it.is_built());
    let mut built: Vec<String> = built.map(|it| it.pattern.to_string()).collect();
    built.sort();
    built
}

#[test]
fn patterns_are_sieved_however_they_come_to_a_search() {
    let mut all = SOUGHT;
    all.sort_unstable();
    assert_eq!(built("fn main() {}\n", false), all);
    assert_eq!(built("fn main() {}\n", true), [""; 0]);
    assert_eq!(built("// needle_split\n", true), ["needle_split"]);
    assert_eq!(built("// NEEDLE_FLAGS\n", true), ["needle_flags"]);
}

#[test]
fn a_file_without_such_calls_has_no_guesses() {
    let patterns = |source: &str| Module::compile(source).unwrap().patterns().len();
    // Short words, prose and addresses are no guesses.
    let texts = "const A = [\"some text\", \"some more\"]\nconst B = [\"abc\", \
                 \"say what it is about\", \"https://example.org\"]\n";
    for (code, count) in [
        ("fn f(t) { return t.contains(\"needle\") }", 0),
        ("fn f(t) { return regex_match(\"needle\", t) != nil }", 1),
        (
            "fn f(t) { return regex_replace(\"needle\", \"\", t, \"i\") }",
            1,
        ),
        ("fn f(t, p) { return regex_match(p, t) }", 2),
        // Flags that are not known may be any that stand somewhere.
        (
            "fn f(t, p, g) { return regex_match(p, t, g) }\nfn g(t) { return f(t, \"word\", \"mi\") }",
            6,
        ),
        ("fn f(ts) { return ts.map(regex_match) }", 2),
    ] {
        assert_eq!(patterns(&format!("{texts}{code}")), count, "{code}");
    }
}
