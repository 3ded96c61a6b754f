//! A batch of programs that try to leave something behind: nothing is left.

use std::time::Duration;

use crate::bin::log_of;
use crate::cell::{Cell, POLICY, is_confined, processes_with};

/// How many runs, if not 100.
const RUNS: &str = "PROBITY_SURVIVOR_RUNS";

/// The ways to hide. Each script has `MARK` among the arguments of what it leaves behind
/// and says `ready` at its own end.
const WAYS: [&str; 6] = [
    // A new session, and a double fork below it.
    r#"setsid sleep MARK >/dev/null 2>&1 & (setsid sh -c "sleep MARK & sleep MARK & :" >/dev/null 2>&1 &); sleep 0.003; echo ready"#,
    r#"nohup sleep MARK >/dev/null 2>&1 & nohup sh -c "sleep MARK; :" >/dev/null 2>&1 & sleep 0.003; echo ready"#,
    // Ignored signals stay ignored in what is executed.
    r#"trap "" TERM HUP INT QUIT; sleep MARK & (sleep MARK &); (while :; do sleep 0.01; : MARK; done) & sleep 0.003; echo ready"#,
    // Each process forks the next and is gone, so there is always a fork in flight.
    r#"hop() { [ $1 -gt 0 ] && (hop $(($1 - 1)) &); }; : MARK; hop 100000 & sleep 0.003; echo ready"#,
    // The same with new sessions, and no time to get anywhere.
    r#"for i in 1 2 3 4 5 6; do (setsid sleep MARK &) & done; echo ready"#,
    // An orphan keeps both streams open.
    r#"(setsid sleep MARK &); (sleep MARK 2>&1 &); sleep 0.003; echo ready"#,
];

/// The claims about the runs with these numbers.
fn log(mark: &str, numbers: std::ops::Range<usize>, end: &str) -> String {
    let claims: Vec<String> = numbers
        .map(|number| {
            // All marks begin alike, and each run is another command.
            let script = WAYS[number % WAYS.len()].replace("MARK", &format!("{mark}{number:05}"));
            assert!(!script.contains('\''), "{script}");
            let script = format!("{script}{end}")
                .replace('\\', "\\\\")
                .replace('"', "\\\"");
            format!(r#"run("sh -c '{script}'").stdout.contains("ready")"#)
        })
        .collect();
    log_of(&claims.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_batch_of_programs_that_hide_leaves_no_survivor() {
    if !is_confined() {
        return;
    }
    let runs = match std::env::var(RUNS) {
        Ok(runs) => runs.parse().expect("a number of runs"),
        Err(_) => 100,
    };
    // A length of sleep that no other process has.
    let mark = format!("86405.{}0", std::process::id());
    let count = || processes_with(&mark);
    assert_eq!(count(), 0);
    // A few that have to be ended at their time limit, and do not care for signals.
    let limited = runs / 20;
    for (numbers, timeout, end) in [
        (0..runs - limited, "\"30s\"", ""),
        (
            runs - limited..runs,
            "\"200ms\"",
            r#"; trap "" TERM HUP INT; while :; do sleep 1; done"#,
        ),
    ] {
        let cell = Cell::new(&POLICY.replace("\"2s\"", timeout));
        let expected = numbers.len();
        let log = cell.bench.log("log.jsonl", log(&mark, numbers, end));
        let policy = cell.policy.to_str().expect("a path in UTF-8");
        let mut was_seen = false;
        let (results, left) = std::thread::scope(|scope| {
            let batch = scope.spawn(|| {
                let (results, _, _) = cell.bench.check(&log, &["--policy", policy, "--no-cache"]);
                // Before anything else, so that nothing gets the time to end by itself.
                (results, count())
            });
            // It ends with the batch, also if that panics.
            while !was_seen && !batch.is_finished() {
                was_seen = count() > 0;
                std::thread::sleep(Duration::from_millis(1));
            }
            batch.join().expect("the batch was checked")
        });
        assert_eq!(left, 0);
        assert!(was_seen, "what is looked for is never found");
        assert_eq!(results.len(), expected);
        for result in &results {
            match end {
                "" => assert_eq!(result["verdict"], "pass", "{result}"),
                _ => assert_eq!(result["code"], "command_timed_out", "{result}"),
            }
        }
    }
}
