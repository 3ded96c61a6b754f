//! One source for each trap of the language, with what must be said about it.

use bumpalo::Bump;

use super::{Options, check, lint};
use crate::Language::{self, ElenchV1, ElenchV2};
use crate::diagnostic::{Code, Diagnostic};

/// Everything that is said about a source, advice included.
fn remarks(language: Language, source: &str) -> Vec<Diagnostic> {
    let arena = Bump::new();
    match check(language, source, &arena, Options::default()) {
        Ok(checked) => {
            let advice = lint(language, source, &checked);
            let mut all = checked.warnings;
            all.extend(advice);
            all
        }
        Err(all) => {
            assert!(all.iter().any(Diagnostic::is_error), "{source}");
            all
        }
    }
}

/// The codes in order, with a check that each has a place and a hint.
fn codes(language: Language, source: &str) -> Vec<Code> {
    let all = remarks(language, source);
    for remark in &all {
        assert!(source.get(remark.span.range()).is_some(), "{remark:?}");
        assert!(remark.help.is_some(), "{source}: {remark:?}");
        assert!(!remark.message.ends_with('.'), "{remark:?}");
    }
    all.iter().map(|remark| remark.code).collect()
}

#[test]
fn each_trap_has_its_code_and_hint() {
    use Code::*;
    for (source, wanted) in [
        ("Input validation is now handled correctly.", &[Prose][..]),
        ("I don't care and/or know", &[Prose]),
        ("cargo test -p x", &[ShellCommand]),
        ("ls crates | wc -l", &[ShellCommand]),
        ("src/main.rs", &[UnknownWord]),
        (
            "exists(\"a\") && (exists(\"b\") || exists(\"c\"))",
            &[NeedsV2],
        ),
        ("grep(/src/main.rs/, \"f\") >= 1", &[UnescapedSlash]),
        (
            "grep(/a/b/, \"f\") >= 1 && exists('x')",
            &[UnescapedSlash, SingleQuotes],
        ),
        ("grep(/x/, \"f\") >= -1", &[NeedsV2]),
        ("exists('a')", &[SingleQuotes]),
        ("run(\"x\").exit = 0", &[SingleEquals]),
        ("exists(\"a\") and exists(\"b\")", &[WordOperator]),
        (
            "not exists(\"a\") or exists(\"b\")",
            &[WordOperator, WordOperator],
        ),
        (
            "exists(\"a\") & exists(\"b\") | exists(\"c\")",
            &[WordOperator, WordOperator],
        ),
        ("grep(/x/, \"f\")", &[NotABool]),
        ("test(\"x\")", &[NotABool]),
        ("run(\"x\")", &[NotABool]),
        ("Grep(/x/, \"f\") >= 1", &[UnknownWord]),
        ("run(\"true\").code == 0", &[UnknownWord]),
        ("exists(\"a\") extra", &[UnknownWord]),
        ("safe_truncate(\"héllo\", 4) == \"hél\"", &[UnknownWord]),
        ("grep(/a(?=b)/, \"f\") == 0", &[UnsupportedRegex]),
        ("grep(/(a)\\1/, \"f\") == 0", &[UnsupportedRegex]),
        ("grep(/a{2,1}/, \"f\") == 0", &[InvalidRegex]),
        ("run(\"a > b\").exit == 0", &[ShellSyntax]),
        ("exists(\"a\") == !exists(\"b\")", &[UnexpectedToken]),
        ("1 < grep(/x/, \"f\") < 3", &[ChainedComparison]),
        ("grep(/x/i, \"f\") >= 1", &[RegexFlags]),
        ("grep(/x/, \"f\" >= 1", &[UnexpectedToken]),
        ("|| exists(\"a\")", &[UnexpectedToken]),
        ("exists(\"a\") &&", &[UnexpectedEnd]),
        ("grep(/x/, \"a\", \"b\") >= 1", &[WrongArgumentCount]),
        ("  \t\n", &[EmptySource]),
        ("\u{feff}exists(\"a\")", &[ControlCharacter]),
        ("exists(\"a", &[UnterminatedLiteral]),
        ("exists(\"a\nb\")", &[UnterminatedLiteral]),
        ("exists(\"a\\d\")", &[UnknownEscape]),
        ("grep(//, \"f\") == 0", &[EmptyRegex]),
        (
            "run(\"x\").stdout.contains(\"a\").matches(/b/)",
            &[UnexpectedToken],
        ),
        ("exists(\"a\") >= 1", &[TypeMismatch]),
        ("run(\"true\") == 0", &[TypeMismatch]),
        ("run(\"true\").stdout", &[NotABool]),
        ("\"abc\".exit == 0", &[NoSuchField]),
        ("run(\"x\").contains(\"y\")", &[NoSuchField]),
        ("exists(/x/)", &[WrongArgument]),
        ("grep(\"src\", /x/) == 0", &[WrongArgument]),
        ("grep(/x/, \"../a\") == 0", &[SuspiciousPath]),
        ("run(\"a\").stderr.contains(\"b\")", &[StderrField]),
        ("run(\"a 'b\").exit == 0", &[BadCommand]),
        ("run(\"a\").stdout.contains(\"255 passed\")", &[LooseNumber]),
        ("run(\"a\").stdout == \"x\"", &[MissingNewline]),
        ("grep(/x/, \"f\") == 4", &[CountsLines]),
        ("grep(/^x/, \"f\") == 4", &[]),
        ("grep(/x/, \"f\") >= 2", &[CountsLines]),
        ("2 > grep(/x/, \"f\")", &[CountsLines]),
        ("grep(/x/, \"f\") >= 1 && 1 > grep(/y/, \"f\")", &[]),
        ("exists(\"src/*.rs\")", &[SuspiciousPath]),
        ("exists(\"a\") || !exists(\"./a\")", &[Vacuous]),
        ("exists(\"a\") || !exists(\"a/\")", &[]),
        ("grep(/x*/, \"f\") >= 1", &[MatchesEverything]),
        ("grep(/a\\nb/, \"f\") == 0", &[MatchesNothing]),
        ("grep(/\\d+/, \"f\") >= 1", &[SlowPattern]),
    ] {
        assert_eq!(codes(ElenchV1, source), wanted, "{source}");
    }
}

#[test]
fn version_two_has_the_newer_forms() {
    use Code::*;
    for (source, wanted) in [
        (
            "(exists(\"a\") || exists(\"b\")) && !(exists(\"c\") && exists(\"d\")) # so",
            &[][..],
        ),
        ("count(/a.b/s, \"crates/*/src/**/*.rs\") >= 2", &[]),
        ("count(/a\\nb/, \"f\") == 0", &[MatchesNothing]),
        ("count(/a\\nb/s, \"f\") == 0", &[]),
        (
            "run(\"x\").stdout.lines == 3 && run(\"x\").stdout.starts_with(\"a\")",
            &[],
        ),
        ("run(\"x\").stdout.matches(/a/ims)", &[]),
        ("(run(\"x\")).exit != -1", &[]),
        ("grep(/a/m, \"f\") == 1", &[RegexFlags]),
        ("grep(/a/ii, \"f\") == 1", &[RegexFlags]),
        ("exists(\"a[\")", &[InvalidGlob]),
        ("\"x\".lines == 1", &[NoSuchField]),
    ] {
        assert_eq!(codes(ElenchV2, source), wanted, "{source}");
    }
    for source in [
        "count(/a/, \"f\") >= 1",
        "run(\"x\").stdout.lines == 1",
        "run(\"x\").stdout.ends_with(\"a\")",
        "run(\"x\").stdout.starts_with(\"a\")",
        "exists(\"a\") # so",
    ] {
        assert_eq!(codes(ElenchV1, source), [NeedsV2], "{source}");
    }
    // In v1 a star in a path is a star.
    assert_eq!(codes(ElenchV1, "exists(\"a[\")"), [SuspiciousPath]);
}

#[test]
fn independent_errors_come_together_and_cascades_do_not() {
    use Code::*;
    for (source, wanted) in [
        (
            "Grep(/x/, 'f') = 1 and (exists(5))",
            &[
                UnknownWord,
                SingleQuotes,
                SingleEquals,
                WordOperator,
                NeedsV2,
                WrongArgument,
            ][..],
        ),
        (
            "exists(\"a\" \"b\") && grep(\"x\") == 1",
            &[UnexpectedToken, WrongArgumentCount],
        ),
        (
            "exists(\"a\") extra && foo(3) == 2 && exists(5)",
            &[UnknownWord, UnknownWord, WrongArgument],
        ),
        (
            "grep(grep(/x/, \"f\"), \"f\") >= 1 && exists(3)",
            &[UnexpectedToken, WrongArgument],
        ),
        ("exists(\"a) && exists(\"b\")", &[UnterminatedLiteral]),
        ("foo.bar.baz == 1", &[UnknownWord]),
        (
            "test(\"a\") == 1 && run(\"b\") == 1",
            &[TypeMismatch, TypeMismatch],
        ),
        (
            "grep(/a(/, \"f\") == 0 && grep(/b)/, \"f\") == 0",
            &[InvalidRegex, InvalidRegex],
        ),
    ] {
        let found = codes(ElenchV1, source);
        assert_eq!(found, wanted, "{source}");
    }
}

#[test]
fn hints_name_the_cure() {
    for (source, cure) in [
        ("cargo test -p x", "run(\"cargo test -p x\").exit == 0"),
        (
            "cargo a && cargo b",
            "run(\"cargo a\").exit == 0 && run(\"cargo b\").exit == 0",
        ),
        ("grep(/src/main.rs/, \"f\") >= 1", "/src\\/main.rs/"),
        ("grep(/x/i, \"f\") >= 1", "/(?i)x/"),
        ("exists('a')", "\"a\""),
        ("grep(/x/, \"f\")", "grep(/x/, \"f\") >= 1"),
        ("test(\"x\")", "test(\"x\").passed"),
        ("run(\"x\")", "run(\"x\").exit == 0"),
        ("exist(\"a\")", "`exists`"),
        ("run(\"a | b\").exit == 0", "run(\"sh -c 'a | b'\")"),
        ("run(\"a\").stdout == \"x\"", "\"x\\n\""),
        ("run(\"a\").stdout.contains(\"5 of 6\")", "/\\b5 of 6\\b/"),
        ("Input is validated now.", "annotation"),
        ("src/main.rs", "exists(\"src/main.rs\")"),
    ] {
        let all = remarks(ElenchV1, source);
        let help = all[0].help.as_deref().unwrap_or_default();
        assert!(help.contains(cure), "{source}: {help}");
    }
}

#[test]
fn hostile_sources_get_one_diagnostic_quickly() {
    use Code::*;
    let limit = crate::syntax::MAX_SOURCE;
    for (unit, wanted) in [
        ("!", NestedTooDeep),
        ("(", NestedTooDeep),
        ("&&", UnexpectedToken),
        ("[", UnexpectedCharacter),
        ("[ ", UnexpectedCharacter),
        ("a ", Prose),
        ("\0", ControlCharacter),
        ("exists(", TooManyPrimitives),
        (".", UnexpectedToken),
        ("1 <", ChainedComparison),
    ] {
        let small = unit.repeat(limit / unit.len());
        let started = std::time::Instant::now();
        assert_eq!(codes(ElenchV2, &small), [wanted], "{unit}");
        // Far above what it takes, far below what a square would take.
        assert!(started.elapsed().as_secs() < 5, "{unit}");
        let large = unit.repeat(1 << 20);
        assert_eq!(codes(ElenchV2, &large), [SourceTooLarge], "{unit}");
    }
    let deep = format!("{}exists(\"a\"){}", "!(".repeat(128), ")".repeat(128));
    assert_eq!(codes(ElenchV2, &deep), []);
    let deep = format!("{}exists(\"a\"){}", "!(".repeat(129), ")".repeat(129));
    assert_eq!(codes(ElenchV2, &deep), [NestedTooDeep]);
    let unit = "(true || true && !true == ";
    let mixed = format!("{}exists(\"a\"){}", unit.repeat(128), ")".repeat(128));
    assert_eq!(codes(ElenchV2, &mixed), [Vacuous]);
    let fields = format!("run(\"a\"){}", ".stdout".repeat(9000));
    assert_eq!(codes(ElenchV1, &fields), [NoSuchField]);
    let wide = vec!["exists(\"a\")"; 256].join(" && ");
    assert_eq!(codes(ElenchV1, &wide), []);
    let wide = vec!["exists(\"a\")"; 257].join(" && ");
    assert_eq!(codes(ElenchV1, &wide), [TooManyPrimitives]);
    let many = "1 = ".repeat(1000);
    assert!(codes(ElenchV1, &many).len() <= crate::syntax::MAX_DIAGNOSTICS);
}
