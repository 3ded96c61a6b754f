//! The examples of `docs/language.md` are what it says they are.

use bumpalo::Bump;
use probity::Language;
use probity::check::{Options, check, lint};
use probity::diagnostic::{Code, Diagnostic, Severity, Stage};

/// A fenced block of the document.
struct Example {
    info: String,
    source: String,
    line: usize,
}

fn examples() -> Vec<Example> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/language.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            continue;
        };
        let body: Vec<&str> = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| *line != "```")
            .collect();
        if info.starts_with("predicate") {
            found.push(Example {
                info: info.to_owned(),
                source: expand(&body.join("\n")),
                line: number + 1,
            });
        }
    }
    found
}

/// Writes out `⟨text×n⟩` and `⟨U+FEFF⟩`.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟨') {
        let (inside, behind) = after.split_once('⟩').unwrap();
        out.push_str(before);
        if let Some(number) = inside.strip_prefix("U+") {
            out.extend(char::from_u32(u32::from_str_radix(number, 16).unwrap()));
        } else {
            let (unit, times) = inside.rsplit_once('×').unwrap();
            out.push_str(&unit.repeat(times.parse().unwrap()));
        }
        rest = behind;
    }
    out + rest
}

/// All remarks on a source, and whether it is valid.
fn remarks(language: Language, source: &str) -> (bool, Vec<Diagnostic>) {
    let arena = Bump::new();
    match check(language, source, &arena, Options::default()) {
        Ok(checked) => {
            let mut all = lint(language, source, &checked);
            all.extend(checked.warnings);
            (true, all)
        }
        Err(all) => (false, all),
    }
}

#[test]
fn examples_are_what_they_claim_to_be() {
    let examples = examples();
    assert!(examples.len() > 60);
    for Example { info, source, line } in &examples {
        let mut words = info.split(' ');
        let kind = words.next().unwrap();
        let code = words.next();
        let language = if kind == "predicate-v2" || words.next() == Some("v2") {
            Language::ElenchV2
        } else {
            Language::ElenchV1
        };
        let (valid, found) = remarks(language, source);
        let severity = match kind {
            "predicate" | "predicate-v2" => {
                assert!(valid, "line {line}: {found:?}");
                // The ADR's own examples count lines.
                let expected = |found: &Diagnostic| found.code == Code::CountsLines;
                assert!(found.iter().all(expected), "line {line}: {found:?}");
                continue;
            }
            "predicate-error" => Severity::Error,
            "predicate-warning" => Severity::Warning,
            other => panic!("line {line}: {other}"),
        };
        assert_eq!(
            valid,
            severity == Severity::Warning,
            "line {line}: {found:?}"
        );
        let said = found
            .iter()
            .any(|one| one.severity == severity && Some(one.code.name()) == code);
        assert!(said, "line {line}: {found:?}");
    }
}

#[test]
fn v2_reads_everything_that_v1_reads() {
    for Example { info, source, line } in examples() {
        if info == "predicate" {
            let (valid, found) = remarks(Language::ElenchV2, &source);
            assert!(valid, "line {line}: {found:?}");
        }
    }
}

#[test]
fn every_code_of_the_front_end_has_an_example() {
    let examples = examples();
    for code in Code::ALL {
        let wanted = match code.stage() {
            Stage::Parse | Stage::Type | Stage::Vacuous => format!("predicate-error {code}"),
            Stage::Lint => format!("predicate-warning {code}"),
            Stage::Claim => continue,
        };
        let shown = examples.iter().any(|example| {
            example.info == wanted || example.info.strip_suffix(" v2") == Some(&wanted)
        });
        assert!(shown, "{wanted}");
    }
}
