//! Predicate files through the public API: bombs end within their limits, and nothing
//! depends on what was searched for before.

use probity::flow::{Context, Patterns, Prepared, Slice, SliceFile, Verdict, evaluate};
use probity::harn::{Fault, Limits, MOST_PROBLEMS, Machine, Module, Problem};

fn compile(source: &str) -> Module {
    Module::compile(source).unwrap_or_else(|problems| panic!("{source}\n{problems:#?}"))
}

#[derive(serde::Deserialize)]
struct Bomb {
    name: String,
    code: String,
    /// As `Limit` is called.
    limit: String,
}

fn bombs() -> Vec<Bomb> {
    #[derive(serde::Deserialize)]
    struct Bombs {
        bomb: Vec<Bomb>,
    }
    let text = include_str!("../data/programs/bombs.toml");
    toml::from_str::<Bombs>(text).expect("it is TOML").bomb
}

/// Runs statements as the body of a function.
fn run(code: &str, limits: &Limits) -> Result<String, Fault> {
    let module = compile(&format!(
        "pub fn main() {{\n return (fn() {{\n{code}\n}})()\n}}"
    ));
    let mut machine = Machine::new(&module, limits);
    machine.start()?;
    machine.run("main", &[]).map(|value| value.to_source())
}

#[test]
fn bombs_end_at_a_limit_that_cannot_be_caught() {
    for Bomb { name, code, limit } in bombs() {
        let caught = format!("try {{\n{code}\n}} catch (e) {{ 1 }}");
        for code in [code, caught] {
            let ended = run(&code, &Limits::default());
            assert!(
                matches!(&ended, Err(Fault::Limit(found)) if format!("{found:?}") == limit),
                "{name}: {code}\n{ended:?}"
            );
        }
    }
}

#[test]
fn the_longest_range_has_items() {
    let code = "const r = -9223372036854775807..9223372036854775807\n\
        [r[0], r[-1], r[9223372036854775807], r[-9223372036854775807], len(r), 0 in r]";
    assert_eq!(
        run(code, &Limits::default()).unwrap(),
        "[-9223372036854775807, 9223372036854775806, 0, 0, 9223372036854775807, true]"
    );
}

#[test]
fn memory_of_values_is_given_back() {
    let limits = Limits {
        memory: 1 << 20,
        ..Limits::default()
    };
    let code = "let n = 0\nfor i in 0..500 {\n const s = \"x\" * 100000\n n += len(s)\n }\nn";
    assert_eq!(run(code, &limits).unwrap(), "50000000");
    let code = "let prev = nil\nfor i in 0..100000 {\n let c = nil\n const k = { -> c }\n c = prev\n prev = k\n }\n1";
    let limits = Limits {
        memory: 64 << 20,
        ..Limits::default()
    };
    assert_eq!(run(code, &limits).unwrap(), "1");
}

#[test]
fn appending_costs_what_is_appended() {
    let fuel = |count: usize, step: &str| {
        let module = compile(&format!(
            "pub fn main() {{\nlet x = {}\nfor i in 0..{count} {{ {step} }}\nreturn len(x) }}",
            if step.contains('"') { "\"\"" } else { "[]" }
        ));
        let mut machine = Machine::new(&module, &Limits::default());
        machine.start().unwrap();
        machine.run("main", &[]).unwrap();
        machine.usage().fuel
    };
    for step in [
        "x = x.push(i)",
        "x.push(i)",
        "x = x + [i]",
        "x += [i]",
        "x = x + \"ab\"",
    ] {
        let (small, large) = (fuel(1000, step), fuel(10_000, step));
        assert!(large < small * 11, "{step}: {small} and {large}");
    }
}

const RULES: &str = r#"
const WORDS = ["todo", "fixme"]

fn found(slice, test) {
  return slice.files.filter(test)
}

@invariant
@deterministic
@archivist(evidence: WORDS, confidence: 0.5, source_date: "2026-01-01")
pub fn no_unwrap(slice, _ctx, _base) {
  const bad = found(slice, { f -> regex_match(r"\.unwrap\(\)", f.text, "") != nil })
  return {verdict: if bad.none() { "Allow" } else { "Block" }, rule: "unwrap", findings: bad}
}

@invariant
@deterministic
@archivist(evidence: WORDS, confidence: 0.5, source_date: "2026-01-01")
pub fn no_todo(slice) {
  const bad = found(slice, { f -> regex_match("todo|fixme", f.text, "i") != nil })
  return {verdict: if bad.none() { "Allow" } else { "Warn" }, rule: "todo", findings: bad}
}

@invariant
@deterministic
@archivist(evidence: WORDS, confidence: 0.5, source_date: "2026-01-01")
pub fn ends_well(slice) {
  const bad = found(slice, { f -> regex_match("^\\s*$", f.text, "m") == nil })
  return {verdict: if bad.none() { "Allow" } else { "Warn" }, rule: "end", findings: bad}
}
"#;

#[test]
fn one_pass_for_all_patterns_changes_no_verdict_and_no_fuel() {
    let module = compile(RULES);
    let slice = Slice::new(vec![
        SliceFile::new("a.rs", "fn a() { b().unwrap() }\n"),
        SliceFile::new("b.rs", "// ToDo\n\n"),
        SliceFile::new("c.rs", ""),
    ]);
    let patterns = Patterns::new(std::slice::from_ref(&module));
    let sifted = Prepared::sift(&slice, &patterns);
    let plain = Prepared::new(&slice);
    let mut words = Vec::new();
    for predicate in module.predicates() {
        let judge = |slice| {
            let context = Context::default();
            evaluate(&module, predicate, slice, &context, &Limits::default())
        };
        let (with, without) = (judge(&sifted), judge(&plain));
        assert_eq!(with.result, without.result, "{}", predicate.name);
        assert_eq!(with.raw, without.raw);
        assert_eq!(with.usage.fuel, without.usage.fuel);
        words.push(with.result.verdict.word());
    }
    assert_eq!(words, ["Block", "Warn", "Allow"]);
}

#[test]
fn whatever_goes_wrong_blocks() {
    let header = "@invariant\n@deterministic\n@archivist(evidence: [\"u\"], confidence: 1.0)\n";
    for (body, code) in [
        ("fn p(slice) { return true }", "invalid_predicate_result"),
        (
            "fn p(slice) { return {verdict: {kind: \"allow\"}, confidence: 1.0, evidence: [1]} }",
            "invalid_predicate_result",
        ),
        (
            "fn p(slice) { return {verdict: \"Deny\"} }",
            "invalid_predicate_result",
        ),
        (
            "fn p(slice) { slice.files.map(3) }",
            "predicate_runtime_error",
        ),
        ("fn p(slice) { throw \"no\" }", "predicate_runtime_error"),
        ("fn p(a, b, c, d) { return nil }", "predicate_runtime_error"),
        ("fn p(slice) { while true { } }", "budget_exceeded"),
        (
            "fn p(slice, ctx) { return ctx.semantic_judge({}) }",
            "predicate_runtime_error",
        ),
        (
            "fn p(slice) { return LATE.x }\nconst LATE = nil.y",
            "predicate_load_error",
        ),
    ] {
        let module = compile(&format!("{header}{body}"));
        let slice = Slice::new(Vec::new());
        let [predicate] = module.predicates() else {
            panic!("{body}: one predicate")
        };
        let judged = evaluate(
            &module,
            predicate,
            &Prepared::new(&slice),
            &Context::default(),
            &Limits::default(),
        );
        assert_eq!(judged.result.verdict.code(), Some(code), "{body}");
    }
    assert_eq!(Verdict::Allow.code(), None);
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_a_code() {
    for (source, code) in [
        ("const x = ", "HARN-PAR-002"),
        ("const x = \"a", "HARN-PAR-003"),
        ("const x = 9223372036854775808", "HARN-PAR-006"),
        ("struct X {}", "HARN-PAR-007"),
        ("fn f() { 1 = 2 }", "HARN-PAR-008"),
        ("fn f(a = 1, b) {}", "HARN-PAR-009"),
        ("fn f() { break }", "HARN-PAR-010"),
        ("fn f() { try { } }", "HARN-PAR-012"),
        ("fn f() { return x }", "HARN-NAM-001"),
        ("fn f() { return g() }", "HARN-NAM-002"),
        ("fn f() { return exec(\"ls\") }", "HARN-NAM-002"),
        ("fn f() {}\nfn f() {}", "HARN-NAM-006"),
        ("fn f(x: Thing) {}", "HARN-NAM-007"),
        ("fn f(xs) { return xs.pop() }", "HARN-NAM-013"),
        ("fn f(xs) { xs.push(1) }", "HARN-OWN-001"),
        ("fn f(a) {}\nfn g() { return f() }", "HARN-TYP-003"),
        ("import { a } from \"./b\"", "HARN-IMP-001"),
        ("@invariant\n@semantic\nfn f(slice) {}", "HARN-ORC-009"),
        ("@invariant\nfn f(fs: HarnessFs, slice) {}", "HARN-ORC-009"),
    ] {
        let problems = Module::compile(source).expect_err(source);
        let codes: Vec<_> = problems.iter().map(|problem| problem.code.name()).collect();
        assert!(codes.contains(&code), "{source}: {codes:?}");
    }
}

#[test]
fn attributes_say_what_is_a_predicate() {
    let module = compile(
        "const SRC = [\"u1\", \"u2\"]\n\
         @invariant\n@deterministic\n\
         @archivist(evidence: SRC, confidence: 0.9, source_date: \"2026-01-01\")\n\
         fn judged(slice) { return {verdict: \"Warn\", rule: \"r\", findings: [], remediation: \"\"} }\n\
         @invariant(\"fs.writes\", \"src/**\")\nfn other(x) { return x }\n\
         fn helper() { return 1 }",
    );
    let [predicate] = module.predicates() else {
        panic!("{:?}", module.predicates())
    };
    assert_eq!(&*predicate.name, "judged");
    let archivist = predicate.archivist.as_ref().unwrap();
    assert_eq!(archivist.evidence, ["u1".into(), "u2".into()]);
    assert_eq!(archivist.confidence, Some(0.9));
    assert_eq!(module.warnings(), []);
    // From the first attribute to the brace.
    let text = &module.source()[predicate.span.range()];
    assert!(
        text.starts_with("@invariant\n") && text.ends_with("} }"),
        "{text}"
    );
    let slice = Slice::new(Vec::new());
    let judged = evaluate(
        &module,
        predicate,
        &Prepared::new(&slice),
        &Context::default(),
        &Limits::default(),
    );
    let reason = "r".to_owned();
    assert_eq!(judged.result.verdict, Verdict::Warn { reason });

    // Exactly one mode is wanted.
    for modes in ["", "@deterministic\n@semantic(fallback: p)\n"] {
        let source = format!("@invariant\n{modes}fn p(slice) {{ return {{verdict: \"Allow\"}} }}");
        let problems = Module::compile(&source).expect_err(&source);
        let [error, warning] = &*problems else {
            panic!("{problems:?}")
        };
        assert!(
            error.is_error() && !warning.is_error(),
            "{error:?} {warning:?}"
        );
    }
}

#[test]
fn warnings_however_many_hide_no_error() {
    let warned = "@nothing\nfn f() {}\n";
    let mut source: String = (0..200)
        .map(|number| warned.replace("f()", &format!("f{number}()")))
        .collect();
    assert_eq!(compile(&source).warnings().len(), MOST_PROBLEMS);
    source.push_str("fn last() { return missing }");
    let problems = Module::compile(&source).expect_err("a name is missing");
    assert!(problems.iter().any(Problem::is_error), "{problems:?}");
}
