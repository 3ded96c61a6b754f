//! The commands as a user meets them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::bin::{Bench, claim, log_of};

fn bench() -> Bench {
    let bench = Bench::new();
    bench
        .file("src/lib.rs", "fn one() {}\nfn two() {}\n")
        .file("README.md", "# Title\n");
    bench
}

const PASSES: &str = r#"grep(/fn /, "src/lib.rs") == 2"#;
const FAILS: &str = r#"grep(/fn three/, "src/") >= 1"#;
const UNEVALUATED: &str = r#"grep(/x/, "missing.rs") == 0"#;
const INVALID: &str = "The tests all pass now.";

#[test]
fn the_exit_status_says_what_became_of_the_log() {
    let bench = bench();
    for (sources, status) in [
        (&[PASSES][..], 0),
        (&[PASSES, FAILS], 1),
        (&[UNEVALUATED, FAILS, INVALID], 1),
        (&[PASSES, UNEVALUATED], 3),
        (&[PASSES, INVALID], 3),
        (&[], 3),
    ] {
        let log = bench.log("log.jsonl", log_of(sources));
        let run = bench.run(&["check", log.to_str().unwrap()]);
        assert_eq!(
            run.status, status,
            "{sources:?}\n{}{}",
            run.stdout, run.stderr
        );
    }
}

#[test]
fn zero_claims_never_pass_in_silence() {
    let bench = bench();
    for log in ["", "\n\n", "[]"] {
        let run = bench.pipe(&["check", "-"], log.as_bytes());
        assert_eq!(run.status, 3, "{log:?}");
        assert!(run.stdout.contains("no claims"), "{}", run.stdout);
    }
}

#[test]
fn results_come_in_input_order_with_code_and_place() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[PASSES, FAILS, UNEVALUATED, INVALID]));
    let (results, summary, status) = bench.check(&log, &[]);
    let verdicts: Vec<_> = results
        .iter()
        .map(|r| r["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["pass", "fail", "unevaluated", "invalid"]);
    assert_eq!(status, 1);
    for (index, result) in results.iter().enumerate() {
        assert_eq!(result["index"], index);
        let source = result["source"].as_str().unwrap();
        assert!(
            source.ends_with(&format!("log.jsonl:{}", index + 1)),
            "{source}"
        );
    }
    assert_eq!(results[0]["facts"][0]["value"], 2);
    assert_eq!(results[1]["facts"][0]["value"], 0);
    assert_eq!(results[2]["code"], "path_not_found");
    assert_eq!(results[3]["code"], "prose");
    assert!(results[3]["diagnostics"][0]["help"].is_string());
    let counts = summary["verdicts"]
        .as_object()
        .unwrap_or_else(|| panic!("{summary}"));
    let total: u64 = counts.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, 4, "totals add up");
    assert_eq!(summary["records"], 4);
}

#[test]
fn a_text_report_shows_the_failure_with_a_caret_and_the_facts() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[PASSES, FAILS, UNEVALUATED, INVALID]));
    let run = bench.run(&["check", log.to_str().unwrap()]);
    assert!(run.stdout.contains(FAILS), "{}", run.stdout);
    assert!(run.stdout.contains('^'), "{}", run.stdout);
    assert!(run.stdout.contains("log.jsonl:2"), "{}", run.stdout);
    assert!(run.stdout.contains("path_not_found"), "{}", run.stdout);
    assert!(run.stdout.contains("help"), "{}", run.stdout);
    assert!(!run.stdout.contains('\x1b'), "no colour into a pipe");
}

#[test]
fn a_missing_log_is_an_error_and_the_others_are_judged() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[PASSES]));
    let missing = bench.outside("nowhere.jsonl");
    let run = bench.run(&["check", missing.to_str().unwrap(), log.to_str().unwrap()]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("nowhere.jsonl"), "{}", run.stderr);
    assert!(
        run.stdout.contains('1'),
        "the other log is judged: {}",
        run.stdout
    );
}

#[test]
fn usage_errors_exit_with_2() {
    let bench = bench();
    for args in [
        &["check", "--no-such-flag"][..],
        &["frobnicate"],
        &["eval"],
        &["check", "--format", "yaml", "-"],
        &["eval", "exists(\"a\")", "--root", "/no/such/directory"],
        &["eval", "exists(\"a\")", "--deadline", "soon"],
        &["eval", "exists(\"a\")", "--language", "elench-predicate-v9"],
    ] {
        let run = bench.run_bare(args);
        assert_eq!(run.status, 2, "{args:?}: {}{}", run.stdout, run.stderr);
        assert!(!run.stderr.is_empty(), "{args:?}");
        assert!(run.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn eval_explains_each_fact_and_where_it_was_found() {
    let bench = bench();
    let run = bench.run(&["eval", PASSES, "--explain"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("src/lib.rs:1"), "{}", run.stdout);
    assert!(run.stdout.contains("src/lib.rs:2"), "{}", run.stdout);
    assert!(run.stdout.contains("fuel"), "{}", run.stdout);
    assert_eq!(bench.run(&["eval", FAILS]).status, 1);
    assert_eq!(bench.run(&["eval", UNEVALUATED]).status, 3);
    assert_eq!(bench.run(&["eval", INVALID]).status, 3);
}

#[test]
fn run_and_test_are_refused_with_a_hint() {
    let bench = bench();
    for source in [r#"run("true").exit == 0"#, r#"test("t").passed"#] {
        let run = bench.run(&["eval", source]);
        assert_eq!(run.status, 3, "{}", run.stdout);
        assert!(run.stdout.contains("command_not_allowed"), "{}", run.stdout);
        assert!(run.stdout.contains("policy"), "{}", run.stdout);
    }
}

#[test]
fn lint_runs_nothing_and_finds_what_is_weak() {
    let bench = bench();
    let run = bench.run_bare(&["lint", "-e", r#"grep(/x/, "f") >= 0"#]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("vacuous"), "{}", run.stdout);
    let run = bench.run_bare(&["lint", "-e", PASSES]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    let log = bench.log("log.jsonl", log_of(&[PASSES, INVALID]));
    let run = bench.run_bare(&["lint", log.to_str().unwrap()]);
    assert_eq!(run.status, 1, "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("log.jsonl:2"), "{}", run.stdout);
}

#[test]
fn digest_takes_the_exact_bytes() {
    let bench = bench();
    let run = bench.run_bare(&["digest", r#"exists("Cargo.toml")"#]);
    let plain = "sha256:6a75306d87d7f95b4ad052d09a592dc279ef1934c56ef78ccb7c0826a27a0fc4\n";
    assert_eq!((run.status, run.stdout.as_str()), (0, plain));
}

#[test]
fn the_disk_cache_is_used_counted_and_cleared() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[PASSES, FAILS]));
    let dir = bench.outside("programs");
    let dir = dir.to_str().unwrap();
    let (_, cold, _) = bench.check(&log, &["--cache-dir", dir]);
    let (_, warm, _) = bench.check(&log, &["--cache-dir", dir]);
    assert_eq!(cold["cache"]["compiled"], 2, "{cold}");
    assert_eq!(warm["cache"]["compiled"], 0, "{warm}");
    assert_eq!(warm["cache"]["disk_hits"], 2, "{warm}");
    // Counts of a file that changed just now are not kept.
    std::thread::sleep(Duration::from_millis(3100));
    bench.check(&log, &["--cache-dir", dir]);
    // A line for the programs, and one for the counts.
    let cache = |action: &str| -> Vec<(u64, u64)> {
        let run = bench.run_bare(&["cache", action, "--cache-dir", dir]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let lines = run.stdout.lines().map(|line| {
            let said = line.strip_prefix(dir).unwrap();
            let words = said.split([' ', ':', ',']);
            let mut numbers = words.filter_map(|word| word.parse::<u64>().ok());
            (numbers.next().unwrap(), numbers.next().unwrap())
        });
        lines.collect()
    };
    let stats = cache("stats");
    assert_eq!((stats[0].0, stats[1].0), (2, 1), "{stats:?}");
    assert!(stats[0].1 > 0 && stats[1].1 > 0, "{stats:?}");
    assert_eq!(cache("clear"), stats);
    let (_, cleared, _) = bench.check(&log, &["--no-cache"]);
    assert_eq!(cleared["cache"]["compiled"], 2, "{cleared}");
    assert_eq!(cache("stats"), [(0, 0); 3]);
}

#[test]
fn a_report_file_is_whole_or_absent() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[PASSES]));
    let log = log.to_str().unwrap();
    let report = bench.outside("report.json");
    let path = report.to_str().unwrap();
    let run = bench.run(&["check", log, "--format", "json", "--output", path]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    let text = fs::read_to_string(&report).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["results"].as_array().unwrap().len(), 1);
    let head: String = text.split_whitespace().collect();
    assert!(head.starts_with("{\"schema\":1,\"summary\":"), "{text}");

    let nowhere = bench.outside("no/such/dir/report.json");
    let run = bench.run(&["check", log, "--output", nowhere.to_str().unwrap()]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(!nowhere.exists());
}

#[test]
fn completions_and_the_manual_come_from_the_same_definition() {
    let bench = bench();
    for shell in ["bash", "zsh", "fish"] {
        let run = bench.run_bare(&["completions", shell]);
        assert_eq!(run.status, 0);
        assert!(run.stdout.contains("disasm"), "{shell}");
    }
    let run = bench.run_bare(&["man"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.contains(".TH"), "{}", run.stdout);
    let run = bench.run_bare(&["check", "--help"]);
    assert!(run.stdout.contains("Examples"), "{}", run.stdout);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let bench = bench();
    let log = bench.log("log.jsonl", log_of(&[FAILS; 20_000]));
    let mut child = bench
        .command(&["check", log.to_str().unwrap(), "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut first).unwrap();
    drop(reader);
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    let status = child.wait().unwrap();
    assert_eq!(stderr, "");
    assert_ne!(status.code(), Some(0));
    assert!(first.starts_with('{'));
}

#[test]
fn ctrl_c_ends_it_within_a_second_with_what_was_decided() {
    let bench = bench();
    let mut child = bench
        .command(&["check", "-", "--format", "jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(claim(PASSES).as_bytes()).unwrap();
    stdin.flush().unwrap();
    // The log stays open: the program waits for more.
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let mut stdout = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{stdout}");
    // Generous for a loaded machine; the promise is a second.
    assert!(asked.elapsed() < Duration::from_secs(5));
    assert!(
        stdout.contains("\"pass\""),
        "what was decided is reported: {stdout}"
    );
    drop(stdin);
}

#[test]
fn equal_runs_print_equal_reports() {
    let bench = bench();
    for number in 0..40 {
        bench.file(
            &format!("src/m{number}.rs"),
            format!("fn f{number}() {{}}\n// x\n").repeat(50),
        );
    }
    let sources: Vec<String> = (0..200)
        .map(|n| match n % 4 {
            0 => format!(r#"grep(/fn f{}/, "src/") >= {}"#, n % 45, n % 60),
            1 => format!(r#"exists("src/m{n}.rs") || grep(/x/, "src") >= 3"#),
            2 => format!(r#"grep(/f{}/, "src/m{}.rs") == 50"#, n % 40, n % 41),
            _ => format!(r#"grep(/x/, "src") == {} && !exists("README.md")"#, n * 11),
        })
        .collect();
    let text: String = sources.iter().map(|source| claim(source)).collect();
    let log = bench.log("log.jsonl", text);
    let log = log.to_str().unwrap();
    let report = |more: &[&str]| {
        let mut args = vec!["check", log, "--no-timings", "--format", "json"];
        args.extend(more);
        let run = bench.run(&args);
        assert_eq!(run.status, 1, "{}", run.stderr);
        run.stdout
    };
    let first = report(&["--jobs", "1", "--no-cache"]);
    for jobs in ["1", "2", "8"] {
        assert_eq!(
            report(&["--jobs", jobs, "--no-cache"]),
            first,
            "{jobs} threads"
        );
        assert_eq!(report(&["--jobs", jobs]), first, "{jobs} threads, cached");
    }
}

#[test]
fn a_shuffled_log_gives_every_claim_the_same_result() {
    let bench = bench();
    let sources = [
        r#"grep(/fn/, "src") >= 1"#,
        r#"grep(/fn/, "src") == 2"#,
        r#"exists("README.md") || grep(/fn/, "src") == 9"#,
        r#"grep(/fn/, "src") >= 1 && grep(/Title/, "README.md") == 1"#,
        r#"grep(/x/, "nope") == 0 || exists("nope")"#,
        // Decided before the file that cannot be read, and not.
        r#"grep(/x/, "late") >= 1"#,
        r#"grep(/x/, "late") == 5"#,
    ];
    bench.file("late/a", "x\n");
    let too_large = fs::File::create(bench.root().join("late/z")).unwrap();
    too_large.set_len(1 << 30).unwrap();
    let results = |order: &[usize]| {
        let picked: Vec<&str> = order.iter().map(|&at| sources[at]).collect();
        let log = bench.log("log.jsonl", log_of(&picked));
        let more = ["--no-timings", "--places", "3", "--fuel", "1500"];
        let (results, _, _) = bench.check(&log, &more);
        let mut keyed: Vec<String> = results
            .into_iter()
            .map(|mut result| {
                // Place and share of the cost depend on the others; nothing else may.
                for key in ["index", "source", "cost"] {
                    result.as_object_mut().unwrap().remove(key);
                }
                result.to_string()
            })
            .collect();
        keyed.sort();
        keyed
    };
    let first = results(&[0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(results(&[6, 5, 4, 3, 2, 1, 0]), first);
    assert_eq!(results(&[2, 6, 0, 4, 1, 5, 3]), first);
    let alone: Vec<String> = (0..7).flat_map(|at| results(&[at])).collect();
    let mut alone = alone;
    alone.sort();
    assert_eq!(alone, first, "nor does it matter who else is there");
}

#[test]
fn progress_names_the_command_that_is_being_executed() {
    if !crate::cell::is_confined() {
        return;
    }
    let bench = Bench::new();
    let policy = bench.log("policy.toml", "[run]\nallow = [\"sh\"]\n");
    let policy = policy.to_str().unwrap();
    let log = bench.log(
        "log.jsonl",
        log_of(&[r#"run("sh -c 'exit 0' \"\u{1b}[2J\"").exit == 0"#]),
    );
    let log = log.to_str().unwrap();
    let run = bench.run(&["check", log, "--policy", policy, "--progress", "always"]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert!(
        run.stderr
            .contains("running sh -c 'exit 0' \"\\u{1b}[2J\"\n"),
        "{:?}",
        run.stderr
    );
    let run = bench.run(&["check", log, "--policy", policy]);
    assert!(!run.stderr.contains("running"), "{}", run.stderr);
}
