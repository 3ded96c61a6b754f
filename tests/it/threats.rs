//! The promises of `docs/promises.md` under bad input and faults.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use probity::batch::{ClaimResult, Evaluation, Settings, Verdict};
use probity::claims::{Input, Options as LogOptions, check_logs};
use probity::{Engine, Language, Watch};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};

use crate::bin::{Bench, claim, log_of};

fn engine(root: &Path) -> Engine {
    Engine::builder(root).build().unwrap()
}

fn evaluate(engine: &Engine, source: &str) -> Evaluation {
    let program = engine.compile(Language::ElenchV1, source).unwrap();
    engine.evaluate(&program).unwrap()
}

fn code(evaluation: &Evaluation) -> &str {
    evaluation
        .reason
        .as_ref()
        .map_or("", |reason| reason.code.name())
}

#[test]
fn nothing_outside_is_read_however_the_path_is_swapped() {
    let bench = Bench::new();
    bench.file("dir/secret.txt", "public\n");
    bench.log("outside/secret.txt", "SECRET\n");
    let root = bench.root();
    symlink(bench.outside("outside"), root.join("other")).unwrap();
    let done = AtomicBool::new(false);
    let engine = engine(&root);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (dir, other) = (root.join("dir"), root.join("other"));
            for _ in 0..100_000 {
                renameat_with(CWD, &dir, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        while !done.load(Ordering::Relaxed) {
            for source in [
                r#"grep(/SECRET/, "dir/secret.txt") >= 1"#,
                r#"grep(/SECRET/, "dir") >= 1"#,
                r#"grep(/SECRET/, ".") >= 1"#,
            ] {
                let evaluation = evaluate(&engine, source);
                assert_ne!(
                    evaluation.verdict,
                    Verdict::Pass,
                    "{source}: {evaluation:?}"
                );
            }
        }
    });
}

#[test]
fn paths_that_leave_are_refused_whatever_leads_out() {
    let bench = Bench::new();
    bench.file("in/file", "x\n");
    bench.log("secret", "x\n");
    let root = bench.root();
    symlink("../secret", root.join("up")).unwrap();
    symlink(bench.outside("secret"), root.join("absolute")).unwrap();
    symlink("/proc/self/root/etc/passwd", root.join("magic")).unwrap();
    symlink("in/file", root.join("inside")).unwrap();
    let engine = engine(&root);
    for path in [
        "../secret",
        "in/../../secret",
        "/etc/passwd",
        "up",
        "absolute",
        "magic",
    ] {
        for source in [
            format!("exists({path:?})"),
            format!("grep(/x/, {path:?}) >= 1"),
        ] {
            let evaluation = evaluate(&engine, &source);
            assert_eq!(code(&evaluation), "path_outside_workspace", "{source}");
        }
    }
    for path in ["inside", "in/../in/file", "./in/file"] {
        let evaluation = evaluate(&engine, &format!("grep(/x/, {path:?}) == 1"));
        assert_eq!(evaluation.verdict, Verdict::Pass, "{path}: {evaluation:?}");
    }
}

#[test]
fn special_files_are_never_opened_for_reading() {
    let bench = Bench::new();
    let root = bench.root();
    let mode = Mode::from_raw_mode(0o644);
    mknodat(CWD, root.join("fifo"), FileType::Fifo, mode, 0).unwrap();
    let _listener = UnixListener::bind(root.join("socket")).unwrap();
    let engine = engine(&root);
    for path in ["fifo", "socket"] {
        let evaluation = evaluate(&engine, &format!("grep(/x/, {path:?}) == 0"));
        assert_eq!(code(&evaluation), "not_a_regular_file", "{path}");
        assert_eq!(
            evaluate(&engine, &format!("exists({path:?})")).verdict,
            Verdict::Pass
        );
    }
    // In a directory they are passed over.
    let evaluation = evaluate(&engine, r#"grep(/x/, ".") == 0"#);
    assert_eq!(evaluation.verdict, Verdict::Pass, "{evaluation:?}");
}

#[test]
fn files_and_lines_over_the_cap_are_unevaluated() {
    let bench = Bench::new();
    bench.file("line", vec![b'a'; 20 << 20]);
    fs::File::create(bench.root().join("sparse"))
        .unwrap()
        .set_len(40 << 30)
        .unwrap();
    let engine = engine(&bench.root());
    for path in ["line", "sparse"] {
        let evaluation = evaluate(&engine, &format!("grep(/b/, {path:?}) == 0"));
        assert_eq!(code(&evaluation), "too_large", "{path}");
    }
}

#[test]
fn hostile_patterns_are_refused_or_cheap() {
    let bench = Bench::new();
    bench.file("a", format!("{}b\n", "a".repeat(40_000)));
    bench.file("u", "ßσς 𝔘ñïçødé \u{0130}\n".repeat(500));
    let engine = engine(&bench.root());
    let long = "x".repeat(5000);
    let deep = format!("{}x{}", "(".repeat(200), ")".repeat(200));
    let alternation = (0..600)
        .map(|n| format!("w{n}"))
        .collect::<Vec<_>>()
        .join("|");
    for pattern in [
        "(a+)+$",
        "(a|a)*b$",
        "(a|aa)+$",
        "(.*)*$",
        "(x+x+)+y",
        ".*.*.*.*=.*",
        "(a{1,100}){1,100}",
        "((a{1,30}){1,30}){1,30}",
        r"\w{1000}",
        r"(?i)\pL{300}",
        r"[\s\S]{5000}",
        "a{100000}",
        r"(\b\w+\b\s*)+$",
        ".*[^A-Z]|[A-Z]",
        "(?:)*",
        "(|a)*",
        &long,
        &deep,
        &alternation,
    ] {
        for path in ["a", "u"] {
            let source = format!("grep({pattern:?}, {path:?}) >= 1");
            let Ok(program) = engine.compile(Language::ElenchV1, &source) else {
                continue;
            };
            let before = cpu();
            let evaluation = engine.evaluate(&program).unwrap();
            let spent = cpu() - before;
            let refused = code(&evaluation) == "pattern_too_large";
            // Unoptimised builds of the regex engines are some twenty times slower.
            let limit = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 50 });
            assert!(refused || spent < limit, "{pattern:.40}: {spent:?}");
            assert!(
                matches!(evaluation.verdict, Verdict::Pass | Verdict::Fail) || refused,
                "{pattern:.40}: {evaluation:?}"
            );
        }
    }
}

/// CPU time of the process: the engine may work on other threads.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}

#[test]
fn giant_and_nested_sources_get_a_diagnostic() {
    let bench = Bench::new();
    let engine = engine(&bench.root());
    let mega = 1 << 20;
    for source in [
        "!".repeat(mega),
        "&&".repeat(mega / 2),
        "[".repeat(mega),
        "(".repeat(mega),
        "!".repeat(60_000),
        "&&".repeat(30_000),
        "[".repeat(60_000),
        "(".repeat(60_000),
        "\"".repeat(60_000),
        format!("{}exists(\"a\")", "!".repeat(50_000)),
        format!("exists(\"a\"){}", " || exists(\"a\")".repeat(4_000)),
        format!("{}true{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("grep(/{}/, \"f\") >= 1", "(".repeat(3_000)),
        format!("grep(/{}/, \"f\") >= 1", "[".repeat(3_000)),
    ] {
        for language in Language::ALL {
            let error = engine.compile(language, &source).unwrap_err();
            assert!(error.diagnostics.iter().any(|found| found.is_error()));
            assert!(error.diagnostics.len() < 200, "no flood of diagnostics");
        }
    }
}

#[test]
fn a_chain_within_the_limits_is_evaluated() {
    let bench = Bench::new();
    bench.file("a", "x\n");
    let engine = engine(&bench.root());
    let chain = format!("exists(\"a\"){}", " && exists(\"a\")".repeat(255));
    assert_eq!(evaluate(&engine, &chain).verdict, Verdict::Pass);
    let nots = format!("{}exists(\"a\")", "!".repeat(128));
    assert_eq!(evaluate(&engine, &nots).verdict, Verdict::Pass);
    let nested = format!("{}exists(\"a\"){}", "(".repeat(100), ")".repeat(100));
    let program = engine.compile(Language::ElenchV2, &nested).unwrap();
    assert_eq!(engine.evaluate(&program).unwrap().verdict, Verdict::Pass);
}

#[test]
fn sixteen_processes_share_a_cache_and_some_are_killed() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    let sources: Vec<String> = (0..300)
        .map(|n| format!(r#"grep(/x|y{n}/, "f") == 1"#))
        .collect();
    let text: String = sources.iter().map(|source| claim(source)).collect();
    let log = bench.log("log.jsonl", text);
    let dir = bench.outside("shared");
    let args = [
        "check",
        log.to_str().unwrap(),
        "--cache-dir",
        dir.to_str().unwrap(),
    ];
    let mut children: Vec<_> = (0..16)
        .map(|_| bench.command(&args).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for (number, child) in children.iter_mut().enumerate() {
        if number % 3 == 0 {
            std::thread::sleep(Duration::from_millis(3));
            child.kill().unwrap();
        }
    }
    for (number, mut child) in children.into_iter().enumerate() {
        let status = child.wait().unwrap();
        assert!(
            number % 3 == 0 || status.success(),
            "process {number}: {status}"
        );
    }
    assert_eq!(bench.run(&args).status, 0);
}

#[test]
fn a_damaged_cache_costs_a_compile_and_never_a_verdict() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    let log = bench.log(
        "log.jsonl",
        log_of(&[r#"grep(/x/, "f") == 1"#, r#"grep(/y/, "f") == 1"#]),
    );
    let dir = bench.outside("cache-dir");
    let cache = ["--cache-dir", dir.to_str().unwrap()];
    let verdicts = |expected_hits: u64| {
        let (results, summary, status) = bench.check(&log, &cache);
        assert_eq!(status, 1);
        assert_eq!(results[0]["verdict"], "pass");
        assert_eq!(results[1]["verdict"], "fail");
        assert_eq!(summary["cache"]["disk_hits"], expected_hits, "{summary}");
    };
    verdicts(0);
    verdicts(2);
    let packs = |dir: &Path| -> Vec<std::path::PathBuf> {
        let files = fs::read_dir(dir.join("programs")).unwrap();
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let found = packs(&dir);
    assert_eq!(found.len(), 2);
    // The pack of one predicate under the name of the other, and a torn one.
    let (one, two) = (fs::read(&found[0]).unwrap(), fs::read(&found[1]).unwrap());
    fs::write(&found[0], &two).unwrap();
    fs::write(&found[1], &two[..two.len() / 2]).unwrap();
    verdicts(0);
    // They were written anew.
    verdicts(2);
    assert_eq!(fs::read(&found[0]).unwrap(), one);
    // Another secret: everything is foreign.
    fs::write(dir.join("secret"), [9; 32]).unwrap();
    verdicts(0);
    // Garbage, a directory and a link in the place of packs.
    fs::write(&found[0], b"garbage").unwrap();
    fs::remove_file(&found[1]).unwrap();
    symlink("/etc/passwd", &found[1]).unwrap();
    verdicts(0);
}

#[test]
fn a_cache_that_others_may_write_is_not_used() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    let dir = bench.outside("open");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o777)).unwrap();
    let run = bench.run(&[
        "eval",
        r#"exists("f")"#,
        "--cache-dir",
        dir.to_str().unwrap(),
    ]);
    assert_eq!(run.status, 2, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("--cache-dir"), "{}", run.stderr);
}

#[test]
fn an_unusable_default_cache_is_only_a_warning() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    bench.log("cache", "a file where the directory should be");
    let run = bench.run(&["eval", r#"exists("f")"#]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("cache"), "{}", run.stderr);
}

#[test]
fn every_record_of_a_broken_log_gets_a_result() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    let good = claim(r#"exists("f")"#);
    let mut log = Vec::new();
    log.extend_from_slice(b"\xef\xbb\xbf");
    log.extend_from_slice(good.as_bytes());
    log.extend_from_slice(b"{\"id\": \xff\xfe}\n");
    log.extend_from_slice(b"{\"id\": \"nul \0 byte\"}\n");
    log.extend_from_slice(format!("{}{}\n", "[".repeat(200), "]".repeat(200)).as_bytes());
    log.extend_from_slice(b"not json at all\n\n\r\n");
    log.extend_from_slice(b"{\"assertion\":{\"form\":\"predicate\",\"form\":\"annotation\"}}\n");
    log.extend_from_slice(b"42\n");
    log.extend_from_slice(good.trim_end().as_bytes());
    log.extend_from_slice(b"\r\n");
    log.extend_from_slice(&good.as_bytes()[..good.len() / 2]);
    let path = bench.log("log.jsonl", &log);
    let (results, summary, status) = bench.check(&path, &[]);
    let verdicts: Vec<_> = results
        .iter()
        .map(|r| r["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(
        verdicts,
        [
            "pass", "invalid", "invalid", "invalid", "invalid", "invalid", "invalid", "pass",
            "invalid"
        ],
        "{results:#?}"
    );
    assert_eq!(status, 3);
    assert_eq!(summary["records"], 9);
    assert_eq!(results[8]["code"], "truncated_record");
    assert!(results[4]["source"].as_str().unwrap().ends_with(":5"));
}

/// A line of `length` bytes that never was in memory.
struct EndlessLine {
    left: u64,
    tail: io::Cursor<Vec<u8>>,
}

impl Read for EndlessLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return self.tail.read(buffer);
        }
        let count = buffer.len().min(usize::try_from(self.left).unwrap());
        buffer[..count].fill(b'a');
        self.left -= count as u64;
        Ok(count)
    }
}

#[test]
fn a_line_of_a_gigabyte_is_one_invalid_result() {
    let bench = Bench::new();
    bench.file("f", "x\n");
    let line = EndlessLine {
        left: 1 << 30,
        tail: io::Cursor::new(format!("\n{}", claim(r#"exists("f")"#)).into_bytes()),
    };
    let mut results = Vec::new();
    let mut sink = Watch(|result: &ClaimResult| {
        results.push((result.verdict, result.code));
        Ok(())
    });
    let inputs = [Input::reader("endless", line)];
    let options = LogOptions::default();
    check_logs(
        &engine(&bench.root()),
        inputs,
        options,
        Settings::default(),
        &mut sink,
    )
    .unwrap();
    assert_eq!(
        results,
        [
            (Verdict::Invalid, Some("record_too_large")),
            (Verdict::Pass, None)
        ]
    );
}

#[test]
fn a_terminal_is_safe_from_what_a_log_holds() {
    let bench = Bench::new();
    let hostile = claim("grep(/\u{1b}[2Jx/, \"\u{1b}]0;title\u{7}\") >= 1");
    let log = bench.log("log.jsonl", hostile);
    let run = bench.run(&["check", log.to_str().unwrap()]);
    assert!(!run.stdout.contains('\u{1b}'), "{:?}", run.stdout);
    assert!(!run.stdout.contains('\u{7}'), "{:?}", run.stdout);
}
