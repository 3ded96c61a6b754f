//! A machine on which eight times as many threads want to run as it has cores.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use crate::bin::{Bench, claim};
use crate::changes::repository;
use crate::gate::rule;
use crate::git::{commit_all, git};

/// Keeps every core busy eight times over while some work is done.
fn oversubscribed<R>(work: impl FnOnce() -> R) -> R {
    let done = AtomicBool::new(false);
    let threads = 8 * available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn budgets_give_the_same_verdicts_under_eightfold_oversubscription() {
    let bench = Bench::new();
    for number in 0..40 {
        let line = format!("fn f{number}() {{ call(a, b, c); }} // {number:05} of all\n");
        bench.file(&format!("src/m{number}.rs"), line.repeat(60));
    }
    let mut log = String::new();
    for number in 0..60 {
        // Some over the whole tree, over a fuel limit; some over one file.
        log += &claim(&match number % 3 {
            0 => format!(r#"grep(/f{number}\(\)/, ".") >= {number}"#),
            1 => format!(r#"grep(/[a-z]+\(a, (b|{number}), \w\)/, "src") == 2400"#),
            _ => format!(r#"grep(/{number}/, "src/m{}.rs") == 60"#, number % 40),
        });
    }
    let log = bench.log("log.jsonl", log);
    let args = [
        "check",
        log.to_str().unwrap(),
        "--no-cache",
        "--no-timings",
        "--format",
        "json",
        "--fuel",
        "6000",
        // Far more than it takes by the CPU clock.
        "--predicate-cpu",
        "60s",
        "--cpu-budget",
        "300s",
    ];
    let started = Instant::now();
    let quiet = bench.run(&args);
    let alone = started.elapsed();
    assert!(quiet.stdout.contains("budget_exceeded") && quiet.stdout.contains("\"pass\""));
    let started = Instant::now();
    let (few, many) = oversubscribed(|| {
        let few = bench.run(&args);
        (few, bench.run(&[&args[..], &["--jobs", "16"]].concat()))
    });
    println!("{alone:?} alone, {:?} twice among many", started.elapsed());
    assert_eq!((few.status, many.status), (quiet.status, quiet.status));
    assert_eq!(few.stdout, quiet.stdout);
    assert_eq!(many.stdout, quiet.stdout);
}

#[test]
fn the_gate_says_the_same_under_eightfold_oversubscription() {
    let bench = repository();
    let mut rules = String::new();
    for number in 0..40 {
        // Some never end, some come close to their fuel, others only look.
        rules += &rule(
            &format!("r{number}"),
            &match number % 4 {
                0 => "  while true { }\n  return flow_invariant_allow()".to_owned(),
                1 => format!(
                    "  let n = 0\n  while n < {} {{ n = n + 1 }}\n  return flow_invariant_allow()",
                    number * 400
                ),
                2 => "  return {verdict: \"Warn\", rule: \"r\", findings: slice.files}".to_owned(),
                _ => format!(
                    "  if grep(r\"f{number}\\(\", \"src\") > 0 {{ return flow_invariant_allow() }}\n  \
                     return flow_invariant_warn(\"none\")"
                ),
            },
        );
    }
    bench.file("invariants.harn", rules).file("src/a.rs", "\n");
    commit_all(&bench.root(), "base");
    git(&bench.root(), &["branch", "before"]);
    for number in 0..40 {
        let text = format!("fn f{number}() {{ call(a, b, c); }}\n").repeat(60);
        bench.file(&format!("src/m{number}.rs"), text);
    }
    let gate = "gate --base before --format json --no-timings --fuel 60000";
    // Far more than it takes by the CPU clock of a slow build.
    let limits = "--predicate-cpu 60s --cpu-budget 300s";
    let args: Vec<&str> = gate.split(' ').chain(limits.split(' ')).collect();
    let quiet = bench.run(&args);
    assert_eq!(quiet.status, 1, "{}", quiet.stderr);
    for expected in ["budget_exceeded", "\"allow\"", "\"warn\""] {
        assert!(quiet.stdout.to_lowercase().contains(expected), "{expected}");
    }
    let (few, many) = oversubscribed(|| {
        let few = bench.run(&args);
        (few, bench.run(&[&args[..], &["--jobs", "16"]].concat()))
    });
    assert_eq!(few.stdout, quiet.stdout);
    assert_eq!(many.stdout, quiet.stdout);
    assert_eq!((few.status, many.status), (quiet.status, quiet.status));
}
