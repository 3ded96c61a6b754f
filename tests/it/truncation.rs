//! Files that are truncated and grow again while they are scanned, large enough to
//! be mapped.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use probity::batch::Verdict;
use probity::files::MAP_BYTES;
use probity::{Engine, Language};

use crate::bin::Bench;

const TRUNCATIONS: u64 = 10_000;

const LINE: &str = "some match\r\nplain line\n";

/// Where the file may end: whole numbers of pages of any size.
const STEP: u64 = 64 << 10;
const STEPS: u64 = MAP_BYTES / STEP * 3 / 2;
const LEAST: u64 = STEPS / 2;

fn text() -> Vec<u8> {
    let full = STEPS * STEP;
    LINE.bytes().cycle().take(full as usize).collect()
}

/// What holds in every state of the file, by every way of searching: nothing but a
/// page that lost its file holds a NUL.
fn predicates() -> Vec<String> {
    let lines = |bytes: u64| bytes / LINE.len() as u64;
    let (least, most) = (lines(LEAST * STEP), lines(STEPS * STEP) + 1);
    let mut predicates = vec![r#"grep(/\x00/, "f") == 0 && grep(/[^ -~\s]/, ".") == 0"#.to_owned()];
    for count in [
        r#"grep(/match/, "f")"#,
        r#"grep(/\b[a-z]+ ma[s-u]ch$/, "f")"#,
        r#"grep(/(?i)SOME.*H/, ".")"#,
        r#"count(/[sx]o\w+ m[a-z]*h/, "f")"#,
        r#"count(/(so|to)me (mat|nat)ch\b/, "*")"#,
    ] {
        predicates.push(format!("{count} >= {least} && {count} <= {most}"));
    }
    predicates
}

#[test]
fn a_file_truncated_ten_thousand_times_gives_one_state_or_file_changed() {
    let bench = Bench::new();
    let text = text();
    bench.file("f", &text);
    let path = bench.root().join("f");
    let engine = Engine::builder(bench.root()).build().unwrap();
    let compile = |source: &String| engine.compile(Language::ElenchV2, source).unwrap();
    let programs: Vec<_> = predicates().iter().map(compile).collect();
    let done = AtomicBool::new(false);
    let changed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = fs::File::options().write(true).open(&path).unwrap();
            let mut seed = 1_u64;
            for _ in 0..TRUNCATIONS {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let end = (LEAST + (seed >> 33) % (STEPS - LEAST)) * STEP;
                file.set_len(end).unwrap();
                file.write_all_at(&text[end as usize..], end).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        for first in 0..2 {
            let (programs, engine, done, changed) = (&programs, &engine, &done, &changed);
            scope.spawn(move || {
                for program in programs.iter().cycle().skip(first * 3) {
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                    let evaluation = engine.evaluate(program).unwrap();
                    let code = evaluation.reason.as_ref().map(|reason| reason.code.name());
                    match (evaluation.verdict, code) {
                        (Verdict::Pass, None) => {}
                        (Verdict::Unevaluated, Some("file_changed")) => {
                            changed.fetch_add(1, Ordering::Relaxed);
                        }
                        _ => panic!("{evaluation:?}"),
                    }
                }
            });
        }
    });
    assert!(changed.into_inner() > 0, "no scan met a truncation");
    for program in &programs {
        assert_eq!(engine.evaluate(program).unwrap().verdict, Verdict::Pass);
    }
}
