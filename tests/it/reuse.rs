//! Results of commands from one run to the next.

use std::fs;

use serde_json::Value;

use crate::bin::{Bench, log_of};
use crate::cell::{POLICY, is_confined};

#[test]
fn results_are_reused_only_in_a_workspace_that_is_the_same() {
    if !is_confined() {
        return;
    }
    // The count lies where the workspace's own rules leave it out.
    let bench = Bench::new();
    bench.file(".gitignore", "/out\n");
    bench.file("inside.txt", "inside\n");
    bench.file("out/.keep", "");
    let policy = bench.log("policy.toml", POLICY);
    let source = r#"run("sh -c 'echo x >> out/count; cat inside.txt'").exit == 0"#;
    let log = bench.log("log.jsonl", log_of(&[source]));
    let cache = bench.outside("runs");
    let check = |more: &[&str]| {
        let mut args = vec!["--policy", policy.to_str().expect("a path in UTF-8")];
        args.extend(["--cache-dir", cache.to_str().expect("a path in UTF-8")]);
        args.extend(more);
        let (mut results, _, status) = bench.check(&log, &args);
        assert_eq!(status, 0, "{}", results[0]);
        results.remove(0)["facts"][0].take()
    };
    let runs = || {
        let count = fs::read_to_string(bench.root().join("out/count"));
        count.expect("it ran").lines().count()
    };
    let is_reused = |fact: &Value| fact["reused"] == true;
    let first = check(&["--reuse-runs"]);
    assert!(!is_reused(&first));
    let second = check(&["--reuse-runs"]);
    assert!(is_reused(&second), "{second}");
    assert_eq!((&second["stdout"], runs()), (&first["stdout"], 1));
    // Off by default.
    assert!(!is_reused(&check(&[])));
    assert_eq!(runs(), 2);
    let mut expected = 2;
    let mut changed = |what: &str| {
        expected += 1;
        assert!(!is_reused(&check(&["--reuse-runs"])), "{what}");
        assert_eq!(runs(), expected, "{what}");
        assert!(is_reused(&check(&["--reuse-runs"])), "{what}, again");
    };
    bench.file("inside.txt", "edited\n");
    changed("a file was edited");
    bench.file("new.txt", "");
    changed("a file was added");
    fs::rename(bench.root().join("new.txt"), bench.root().join("other.txt")).expect("renamed");
    changed("a file was renamed");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bench.root().join("other.txt"), mode).expect("it can be set");
    changed("a file became a program");
    let link = bench.root().join("link");
    std::os::unix::fs::symlink("inside.txt", &link).expect("a link can be made");
    changed("a link was added");
    fs::remove_file(&link).expect("it can be removed");
    std::os::unix::fs::symlink("other.txt", &link).expect("a link can be made");
    changed("a link leads elsewhere");
    fs::write(&policy, format!("{POLICY}jobs = 3\n")).expect("it can be written");
    changed("the policy is another");
    // What was tampered with is executed again.
    for entry in fs::read_dir(cache.join("runs"))
        .expect("it is there")
        .flatten()
    {
        let mut bytes = fs::read(entry.path()).expect("it can be read");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(entry.path(), bytes).expect("it can be written");
    }
    changed("the results were tampered with");
    // A command that changes the workspace proves nothing about the next run.
    let source = r#"run("sh -c 'echo x >> out/count'").exit == 0"#;
    fs::remove_file(bench.root().join(".gitignore")).expect("it can be removed");
    bench.log("log.jsonl", log_of(&[source]));
    assert!(!is_reused(&check(&["--reuse-runs"])));
    assert!(!is_reused(&check(&["--reuse-runs"])));
}
