//! Searching for all patterns in one pass over the files changes nothing but the time,
//! however patterns come to a search.

use probity::flow::{Context, Evaluated, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{Limits, Module};
use proptest::prelude::*;

const HEADER: &str = "@invariant\n@deterministic\n\
    @archivist(evidence: [\"https://example.org\"], confidence: 1.0)\n";

/// Ways for a pattern `P` with flags `F` to come to a search in `t`.
const WAYS: &[&str] = &[
    "regex_match(P, t, F) != nil",
    "regex_match(P, t, F)",
    "has(t, P, F)",
    "[P].any({ p -> has(t, p, F) })",
    "all(t, [P, \"other pattern\", P])",
    "({pattern: P, flags: F}.pattern |> regex_match(_, t, F))",
    "regex_replace(P, \"<$0>\", t, F)",
    "regex_replace(P, \"\", t, F)",
    "regex_split(t, P, F)",
    "regex_captures(P, t, F)",
    "(try { regex_match(P + \"\", t, F) } catch (e) { \"caught\" })",
    "(try { has(t, P, F) } catch (e) { e })",
    "has(t.lower(), P, F)",
    "t.lines().map({ line -> has(line, P, F) })",
    "regex_match(...[P, t, F])",
];

const PATTERNS: &[&str] = &[
    "todo",
    "TODO|FIXME",
    "\\\\bunwrap\\\\(\\\\)",
    "un[wv]rap",
    "^\\\\s*print",
    "(?i)Straße",
    "\\u{212a}elvin",
    "a+b",
    "x",
    "",
    "line (?P<end>one)",
    "(word) (word)",
    "begin.*end",
    "[^a]nyway",
    "a b # comment",
    // None that can be built, whatever the text.
    "(",
    "todo(?=x)",
    "todo(\\\\w{100}){100}",
    "(?-u:\\\\xff)todo",
];

const FLAGS: &[&str] = &["\"\"", "\"i\"", "\"s\"", "\"im\"", "\"x\"", "nil", "\"q\""];

const TEXTS: &[&str] = &[
    "",
    "nothing of it\n",
    "// todo: unwrap() it\nprint(1)\n",
    "TODO fixme line one\n",
    "STRASSE straße Kelvin kelvin\n",
    "begin\nword word\nend anyway x\n",
    "aaab todo todo\r\n  print\n",
];

/// A module with a predicate for each search, which warns of what it came to.
fn module(searches: &[String]) -> Module {
    let mut source = String::from(
        "fn has(text, pattern, flags) { return regex_match(pattern, text, flags) != nil }\n\
         fn all(text, patterns) {\n  let found = []\n  for pattern in patterns {\n    \
         found = found.push(regex_match(pattern, text))\n  }\n  return found\n}\n",
    );
    for (number, search) in searches.iter().enumerate() {
        source += &format!(
            "{HEADER}fn p{number}(slice) {{\n  const found = slice.files.map({{ file ->\n    \
             const t = file.text\n    {search}\n  }})\n  \
             return flow_invariant_warn(json_stringify(found))\n}}\n"
        );
    }
    Module::compile(&source).unwrap_or_else(|problems| panic!("{source}\n{problems:#?}"))
}

fn slice(texts: &[&str]) -> Slice {
    let files = texts.iter().enumerate();
    Slice::new(
        files
            .map(|(number, text)| SliceFile::new(format!("{number}.rs"), *text))
            .collect(),
    )
}

fn search(way: &str, pattern: &str, flags: &str) -> String {
    let pattern = format!("\"{pattern}\"");
    // Patterns may hold these letters.
    way.replace('F', flags).replace('P', &pattern)
}

/// Evaluates every predicate with and without the pass, and compares.
fn compare(module: &Module, slice: &Slice, limits: &Limits) -> Vec<Evaluated> {
    let patterns = Patterns::new(std::slice::from_ref(module));
    let (sifted, plain) = (Prepared::sift(slice, &patterns), Prepared::new(slice));
    let judge = |predicate, prepared: &Prepared<'_>| {
        evaluate(module, predicate, prepared, &Context::default(), limits)
    };
    let predicates = module.predicates().iter();
    let judged = predicates.map(|predicate| {
        let (with, without) = (judge(predicate, &sifted), judge(predicate, &plain));
        let source = &module.source()[predicate.span.range()];
        assert_eq!(with.result, without.result, "{source}");
        assert_eq!(with.raw, without.raw, "{source}");
        assert_eq!(with.usage, without.usage, "{source}");
        with
    });
    judged.collect()
}

#[test]
fn every_pattern_in_every_way_comes_to_the_same() {
    let slice = slice(TEXTS);
    for way in WAYS {
        let mut searches = Vec::new();
        for pattern in PATTERNS {
            for flags in FLAGS {
                searches.push(search(way, pattern, flags));
            }
        }
        let judged = compare(&module(&searches), &slice, &Limits::default());
        let warned = |it: &&Evaluated| it.result.verdict.code().is_none();
        let right = judged.iter().filter(warned).count();
        assert!(right > searches.len() / 2, "{way}: {right}");
    }
}

/// A regex that is too large fails wherever it is searched for, also where the pass has
/// seen that nothing of it is there.
#[test]
fn a_pattern_that_cannot_be_built_blocks_whatever_the_text() {
    let pattern = "todo(\\\\w{100}){100}";
    let searches: Vec<String> = ["regex_match(P, t, F) != nil", "has(t, P, F)", "all(t, [P])"]
        .map(|way| search(way, pattern, "\"\""))
        .into();
    let judged = compare(&module(&searches), &slice(&["nothing"]), &Limits::default());
    for judged in judged {
        assert_eq!(
            judged.result.verdict.code(),
            Some("predicate_runtime_error")
        );
    }
}

/// More patterns than a machine keeps regexes for: what is paid again is the same.
#[test]
fn many_patterns_through_one_helper_cost_the_same() {
    let words = (0..200).map(|number| format!("\"word_{number}_\""));
    let words: Vec<String> = words.collect();
    let search = format!(
        "[{0}, {0}].map({{ word -> has(t, word, \"\") }}).filter({{ it -> it }}).len()",
        words.join(", ")
    );
    let slice = slice(&["nothing", "word_7_ word_150_", "word_7_"]);
    let judged = compare(&module(&[search]), &slice, &Limits::default());
    let verdict = serde_json::to_string(&judged[0].result.verdict).unwrap();
    assert!(verdict.contains("[0,4,2]"), "{verdict}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_pass_changes_no_verdict_and_no_fuel(
        searches in prop::collection::vec(
            (0..WAYS.len(), prop_oneof![
                (0..PATTERNS.len()).prop_map(|at| PATTERNS[at].to_owned()),
                "[a-dA-D(|)?*+.^$\\[\\]]{1,8}",
                "[a-d ]{3,9}",
            ], 0..FLAGS.len()),
            1..6,
        ),
        texts in prop::collection::vec(prop_oneof![
            (0..TEXTS.len()).prop_map(|at| TEXTS[at].to_owned()),
            "[a-dA-D \n]{0,40}",
        ], 0..4),
        fuel in prop_oneof![Just(20_000_000_u64), 100..20_000_u64],
    ) {
        let searches: Vec<String> = searches
            .iter()
            .map(|(way, pattern, flags)| search(WAYS[*way], pattern, FLAGS[*flags]))
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let limits = Limits { fuel, ..Limits::default() };
        compare(&module(&searches), &slice(&texts), &limits);
    }
}
