//! Predicate files made to cost their reader much: each is refused or compiled in time
//! that grows with its size.

use probity::flow::{Context, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{HarnCode, Limits, Module};

/// Bytes of each file, at least.
const SIZE: usize = 200 << 10;

fn codes(source: &str) -> Vec<HarnCode> {
    match Module::compile(source) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|problem| problem.code).collect(),
    }
}

fn repeated(start: &str, part: &str, end: &str) -> String {
    format!("{start}{}{end}", part.repeat(SIZE / part.len()))
}

fn numbered(start: &str, part: impl Fn(usize) -> String, end: &str) -> String {
    let mut source = String::from(start);
    let mut at = 0;
    while source.len() < SIZE {
        source.push_str(&part(at));
        at += 1;
    }
    source + end
}

#[test]
fn long_chains_and_deep_nesting_are_refused() {
    for source in [
        repeated("const a = ", "{ x -> ", ""),
        repeated("const a = ", "{", ""),
        repeated("const a = 1", " + 1", ""),
        repeated("type A = ", "fn() -> ", "int"),
        repeated("const a = ", "b ? c : ", "d"),
        repeated("const a = ", "!", "true"),
        repeated("fn f() { if a {}", " else if a {}", " }"),
        repeated("", "fn ", &")".repeat(SIZE)),
        repeated(&"guard ".repeat(1000), "fn ", &"else ".repeat(SIZE / 5)),
    ] {
        assert_eq!(
            codes(&source)[..1],
            [HarnCode::NestedTooDeep],
            "{:.40}",
            source
        );
    }
}

#[test]
fn many_different_things_in_one_function_are_refused() {
    for source in [
        numbered("fn f(x) {\n", |at| format!("x.p{at}\n"), "}"),
        numbered("fn f() {\n", |at| format!("let v{at} = 1\n"), "}"),
        numbered("fn f(x) {\nreturn [", |at| format!("x.p{at}, "), "]\n}"),
        numbered(
            "fn f(x) {\n",
            |at| format!("regex_match(\"p{at}\", x)\n"),
            "}",
        ),
    ] {
        assert_eq!(
            codes(&source),
            [HarnCode::FunctionTooLarge],
            "{:.40}",
            source
        );
    }
}

#[test]
fn what_is_compiled_again_and_again_is_bounded() {
    let twice = |at: usize| {
        format!(
            "type A{at} = {}\n",
            vec![format!("A{}", at + 1); 40].join("|")
        )
    };
    let types: String = (0..15).map(twice).collect();
    let types = types + "type A15 = int\nfn f(x: A0) { return 1 }\n";
    assert_eq!(codes(&types), [HarnCode::FunctionTooLarge]);

    let tries = "try { return 1 } finally {".repeat(30);
    let finally = format!("fn f() {{ {tries} {}", "}".repeat(31));
    assert_eq!(codes(&finally), [HarnCode::FunctionTooLarge]);

    let import = "import { a } from \"./a\"\n".repeat(1000);
    let many = codes(&import);
    assert!(
        many.iter().all(|code| *code == HarnCode::Import),
        "{many:?}"
    );
}

#[test]
fn many_line_ends_and_declarations_cost_little() {
    for source in [
        repeated("const a = 1", "\n", "+ 1"),
        numbered("", |at| format!("fn f{at}() {{}}\n"), ""),
        numbered("const a = 1\n", |at| format!("const b{at} = [a]\n"), ""),
    ] {
        assert_eq!(codes(&source), [], "{:.40}", source);
    }
}

#[test]
fn no_more_than_fifty_errors_are_told() {
    let told = codes(&repeated("", ";", ""));
    assert_eq!(told, vec![HarnCode::UnexpectedToken; 50]);
}

/// A predicate that searches a text with so many patterns, each of which takes much
/// memory when it is built.
fn large_patterns(count: usize) -> Module {
    let mut source = String::new();
    for at in 0..count {
        let pattern = format!("needle{at}\\pL{{0,25}}");
        source += &format!("fn f{at}(t) {{ return regex_match(r\"{pattern}\", t) }}\n");
    }
    source += "@invariant\n@deterministic\n@archivist(evidence: [\"x\"], confidence: 0.9, \
               source_date: \"2026-05-01\", coverage_examples: [\"a\"])\n\
               pub fn p(slice, _ctx, _base) {\n  const t = slice.files[0].text\n";
    for at in 0..count {
        source += &format!("  f{at}(t)\n");
    }
    source += "  return {verdict: \"Allow\", rule: \"p\", findings: []}\n}\n";
    Module::compile(&source).expect("it is sound")
}

#[test]
fn patterns_that_are_built_are_paid_for_whoever_builds_them() {
    let slice = Slice::new(vec![SliceFile::new("a.txt", "nothing of it, needle3x")]);
    // More than are kept with a module, and more than any evaluation can pay for.
    for (count, code) in [(30, None), (300, Some("budget_exceeded"))] {
        let module = large_patterns(count);
        let patterns = Patterns::new(std::slice::from_ref(&module));
        let limits = Limits::default();
        let judge = |slice: &Prepared<'_>| {
            let judged = evaluate(
                &module,
                &module.predicates()[0],
                slice,
                &Context::default(),
                &limits,
            );
            assert_eq!(judged.result.verdict.code(), code, "{:?}", judged.result);
            judged.usage.fuel
        };
        let plain = Prepared::new(&slice);
        let sifted = Prepared::sift(&slice, &patterns);
        let fuel = [&plain, &plain, &sifted, &sifted].map(judge);
        assert!(fuel[0] > 1_000_000, "{fuel:?}");
        assert_eq!(fuel, [fuel[0]; 4], "{count} patterns");
    }
}
