//! `run`, by claims that try to escape: what a policy does not allow does not happen.
//!
//! Where the machine lacks a layer of confinement, nothing is executed, and these tests
//! say so and end.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bin::{Bench, log_of};

const POLICY: &str = r#"
[run]
allow = ["sh", "bash", "cat", "true", "env", "setsid", "yes", "head", "ls", "sleep"]
write = ["out"]
timeout = "2s"
cpu = "20s"
memory = "200MiB"
output = "64KiB"
processes = 40
"#;

/// A policy, and a workspace with a directory that may be written.
struct Cell {
    bench: Bench,
    policy: PathBuf,
}

impl Cell {
    fn new(policy: &str) -> Self {
        let bench = Bench::new();
        bench.file("inside.txt", "inside\n");
        bench.file("out/kept.txt", "kept\n");
        let policy = bench.log("policy.toml", policy);
        Self { bench, policy }
    }

    /// What came of one command: its fact, and the whole result.
    fn run(&self, command: &str) -> Done {
        let quoted = command.replace('\\', "\\\\").replace('"', "\\\"");
        let source = format!(r#"run("{quoted}").exit == 0"#);
        let log = self.bench.log("log.jsonl", log_of(&[&source]));
        let policy = self.policy.to_str().expect("a path in UTF-8");
        let (mut results, _, _) = self.bench.check(&log, &["--policy", policy, "--no-cache"]);
        let result = results.remove(0);
        assert_ne!(result["verdict"], "invalid", "{result}");
        Done(result)
    }

    /// The same for a script.
    fn script(&self, script: &str) -> Done {
        assert!(!script.contains('\''), "{script}");
        self.run(&format!("sh -c '{script}'"))
    }
}

/// Whether this machine has every layer, as `probity doctor` finds.
pub(crate) fn is_confined() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let confined = *FOUND.get_or_init(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_probity"))
            .arg("doctor")
            .output();
        output.expect("it runs").status.success()
    });
    if !confined {
        eprintln!("skipped: this machine lacks a layer of confinement, see `probity doctor`");
    }
    confined
}

/// The result of a claim about a command.
struct Done(Value);

impl Done {
    fn fact(&self) -> &Value {
        &self.0["facts"][0]
    }

    fn exit(&self) -> i64 {
        let exit = self.fact()["exit"].as_i64();
        exit.unwrap_or_else(|| panic!("it has no exit status: {}", self.0))
    }

    fn stdout(&self) -> &str {
        self.fact()["stdout"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    fn stderr(&self) -> &str {
        self.fact()["stderr"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    fn code(&self) -> &str {
        self.0["code"]
            .as_str()
            .unwrap_or_else(|| panic!("{}", self.0))
    }

    fn has_layer(&self, name: &str) -> bool {
        let layers = self.fact()["isolation"].as_array();
        layers.is_some_and(|layers| layers.iter().any(|layer| layer == name))
    }
}

/// How many processes have the text among their arguments.
fn processes_with(text: &str) -> usize {
    let entries = fs::read_dir("/proc").expect("the processes can be listed");
    let lines = entries
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

#[test]
fn a_command_runs_without_a_shell_in_the_workspace_with_a_clean_environment() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let done = cell.run("cat inside.txt");
    assert_eq!((done.exit(), done.stdout()), (0, "inside\n"));
    let done = cell.run("env");
    for line in done.stdout().lines() {
        let name = line.split('=').next().unwrap_or_default();
        let known = [
            "LANG", "LC_ALL", "NO_COLOR", "TERM", "TZ", "HOME", "TMPDIR", "PATH",
        ];
        assert!(known.contains(&name), "{line}");
    }
    let done = cell.script("umask; ulimit -c; cat; ls /proc/self/fd | wc -l");
    // Four descriptors: the standard ones, and the directory that is listed.
    assert_eq!(done.stdout(), "0077\n0\n4\n");
    let done = cell.script("kill -9 $$");
    assert_eq!(done.exit(), 137);
    let done = cell.script("exit 7");
    assert_eq!(done.exit(), 7);
}

#[test]
fn layers_are_reported() {
    if !is_confined() {
        return;
    }
    let done = Cell::new(POLICY).run("true");
    for layer in [
        "landlock",
        "seccomp",
        "pid-namespace",
        "network-namespace",
        "rlimits",
    ] {
        assert!(done.has_layer(layer), "{layer}: {}", done.0);
    }
}

#[test]
fn what_the_policy_does_not_allow_is_not_executed() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    assert_eq!(cell.run("touch out/x").code(), "command_not_allowed");
    assert_eq!(cell.run("/bin/true").code(), "command_not_allowed");
    assert_eq!(cell.run("./inside.txt").code(), "command_not_allowed");
    let cell = Cell::new(
        "[run]\nallow = [\"no-such-program\", { program = \"sh\", args = [\"-c\", \"true\"] }, { program = \"env\", nondeterministic = true }]",
    );
    assert_eq!(cell.run("no-such-program").code(), "command_not_found");
    assert_eq!(cell.run("sh -c true").exit(), 0);
    assert_eq!(cell.run("sh -c false").code(), "command_not_allowed");
    assert_eq!(cell.run("env").code(), "command_nondeterministic");
}

#[test]
fn a_program_of_the_workspace_is_never_started() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file("bin/tool", "#!/bin/sh\necho owned\n");
    let tool = bench.root().join("bin/tool");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&tool, mode).expect("the mode can be set");
    let outside = bench.outside("links");
    fs::create_dir(&outside).expect("a directory can be made");
    std::os::unix::fs::symlink(&tool, outside.join("linked")).expect("a link can be made");
    let policy = format!(
        "[run]\nallow = [\"tool\", \"linked\", \"{}\"]\npath = [\"{}\", \"{}\"]",
        tool.display(),
        bench.root().join("bin").display(),
        outside.display()
    );
    let policy = bench.log("policy.toml", policy);
    let cell = Cell { bench, policy };
    for command in ["tool", "linked", tool.to_str().expect("a path in UTF-8")] {
        assert_eq!(cell.run(command).code(), "command_not_allowed", "{command}");
    }
}

#[test]
fn files_outside_are_neither_read_nor_written() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let secret = cell.bench.log("secret.txt", "secret\n");
    let done = cell.script(&format!("cat {}", secret.display()));
    assert_ne!(done.exit(), 0);
    assert_eq!(done.stdout(), "");
    for path in ["/etc/shadow", "/proc/1/environ", "/root/.bashrc"] {
        let done = cell.script(&format!("cat {path}"));
        assert_eq!(done.stdout(), "", "{path}");
    }
    let outside = cell.bench.outside("written.txt");
    let all = format!(
        "echo x > {0}; ln -s {0} out/link; echo x > out/link; echo x > new.txt; echo x > inside.txt; mv inside.txt out/; rm inside.txt; ln inside.txt out/hard; true",
        outside.display()
    );
    assert_eq!(cell.script(&all).exit(), 0);
    assert!(!outside.exists());
    assert!(!cell.bench.root().join("new.txt").exists());
    let inside = fs::read_to_string(cell.bench.root().join("inside.txt"));
    assert_eq!(inside.expect("it is still there"), "inside\n");
    let done = cell.script("echo x > out/new.txt; echo y > $TMPDIR/y; cat $TMPDIR/y out/new.txt");
    assert_eq!(done.stdout(), "y\nx\n");
    assert!(cell.bench.root().join("out/new.txt").exists());
}

#[test]
fn a_link_in_the_place_of_what_may_be_written_opens_nothing() {
    if !is_confined() {
        return;
    }
    let policy = POLICY.replace(r#"["out"]"#, r#"["linked", "made/new"]"#);
    let cell = Cell::new(&policy);
    let outside = cell.bench.outside("victim");
    fs::create_dir(&outside).expect("a directory can be made");
    let link = cell.bench.root().join("linked");
    std::os::unix::fs::symlink(&outside, link).expect("a link can be made");
    let done =
        cell.script("echo x > linked/f; echo y > made/new/f; echo z > made/f; cat made/new/f");
    assert_eq!(done.stdout(), "y\n");
    assert!(!outside.join("f").exists());
    assert!(!cell.bench.root().join("made/f").exists());
}

/// The most important of the above once more for a user without any rights, where the
/// tests run as root.
#[test]
fn an_ordinary_user_is_confined_as_well() {
    if !is_confined() {
        return;
    }
    use std::os::unix::fs::{PermissionsExt as _, chown};

    if !rustix::process::geteuid().is_root() {
        return;
    }
    let cell = Cell::new(POLICY);
    let program = cell.bench.outside("probity");
    fs::copy(env!("CARGO_BIN_EXE_probity"), &program).expect("the program can be copied");
    let secret = cell.bench.log("secret.txt", "secret\n");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = tcp.local_addr().expect("it is bound").port();
    let home = cell.bench.root().parent().expect("it has one").to_owned();
    for path in [
        home.clone(),
        cell.bench.root(),
        cell.bench.root().join("out"),
    ] {
        chown(&path, Some(65534), Some(65534)).expect("it can be given away");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be opened");
    }
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).expect("it can be opened");
    let eval = |script: &str| {
        assert!(!script.contains('\''), "{script}");
        let quoted = script.replace('\\', "\\\\").replace('"', "\\\"");
        let output = Command::new("setpriv")
            .args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "env",
                "-i",
            ])
            .arg(&program)
            .args(["eval", "--no-cache", "--explain", "--root"])
            .arg(cell.bench.root())
            .arg("--policy")
            .arg(&cell.policy)
            .arg(format!("run(\"sh -c '{quoted}'\").exit == 0"))
            .current_dir(&home)
            .output()
            .expect("setpriv is there");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = eval(&format!(
        "id -u; cat {}; echo x > ../new.txt; echo x > new.txt; bash -c \"echo hello > /dev/tcp/127.0.0.1/{port}\"; echo y > out/y; cat out/y",
        secret.display()
    ));
    assert!(said.starts_with("PASS"), "{said}");
    assert!(said.contains(r#".stdout = "65534\ny\n""#), "{said}");
    assert!(!home.join("new.txt").exists() && !cell.bench.root().join("new.txt").exists());
    tcp.set_nonblocking(true).expect("it can be set");
    assert!(tcp.accept().is_err());
    let said = eval("setsid sleep 86403.1 & (setsid sleep 86403.2 &); sleep 0.1");
    assert!(said.starts_with("PASS"), "{said}");
    assert_eq!(processes_with("sleep\x0086403"), 0);
    // Here the kernel counts the processes of the user, and refuses more.
    let said = eval("f() { f | f & }; f; sleep 1");
    assert!(!said.starts_with("PASS") || said.contains("fork"), "{said}");
    let said = eval("x=xxxxxxxx; while :; do x=$x$x; done");
    assert!(said.contains("command_over_memory"), "{said}");
}

#[test]
fn the_network_is_refused_unless_allowed() {
    if !is_confined() {
        return;
    }
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    tcp.set_nonblocking(true).expect("it can be set");
    udp.set_nonblocking(true).expect("it can be set");
    let port =
        |address: std::io::Result<std::net::SocketAddr>| address.expect("it is bound").port();
    let (tcp_port, udp_port) = (port(tcp.local_addr()), port(udp.local_addr()));
    let cell = Cell::new(POLICY);
    let send = |kind: &str, port| format!("bash -c 'echo hello > /dev/{kind}/127.0.0.1/{port}'");
    let mut buffer = [0; 16];
    for (kind, port) in [("tcp", tcp_port), ("udp", udp_port)] {
        let done = cell.run(&send(kind, port));
        assert_ne!(done.exit(), 0, "{kind}");
    }
    assert!(tcp.accept().is_err());
    assert!(udp.recv(&mut buffer).is_err());
    // The same commands reach them once they may.
    let cell = Cell::new(&format!("{POLICY}network = true\n"));
    for (kind, port) in [("tcp", tcp_port), ("udp", udp_port)] {
        let done = cell.run(&send(kind, port));
        assert_eq!(done.exit(), 0, "{kind}: {}", done.stderr());
    }
    assert!(tcp.accept().is_ok());
    assert!(udp.recv(&mut buffer).is_ok());
}

#[test]
fn nothing_survives_however_it_hides() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let marks = ["86401.1", "86401.2", "86401.3", "86401.4"];
    let [session, double, deaf, plain] = marks;
    let script = format!(
        "setsid sleep {session} & (setsid sh -c \"sleep {double} & sleep {double}\" &); (trap \"\" TERM HUP INT; sleep {deaf}) & sleep {plain} & sleep 0.1; echo ready"
    );
    for _ in 0..3 {
        assert_eq!(cell.script(&script).stdout(), "ready\n");
        for mark in marks {
            assert_eq!(processes_with(&format!("sleep\0{mark}")), 0, "{mark}");
        }
    }
    // The same at the time limit.
    let begun = Instant::now();
    let done = cell.script(&format!("{script}; trap \"\" TERM; sleep {plain}"));
    assert_eq!(done.code(), "command_timed_out");
    assert!(begun.elapsed() < Duration::from_secs(8));
    for mark in marks {
        assert_eq!(processes_with(&format!("sleep\0{mark}")), 0, "{mark}");
    }
}

#[test]
fn nothing_survives_a_batch_that_is_killed() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(&POLICY.replace("\"2s\"", "\"60s\""));
    let source = r#"run("sh -c 'setsid sleep 86402.1 & sleep 86402.2'").exit == 0"#;
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    for signal in ["-INT", "-KILL"] {
        let mut child = cell
            .bench
            .command(&["eval", source, "--no-cache", "--policy", policy])
            .process_group(0)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        wait_until("it runs", || processes_with("sleep\086402") == 2);
        let killed = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status();
        assert!(killed.expect("kill runs").success());
        child.wait().expect("it ends");
        wait_until("all ended", || processes_with("sleep\086402") == 0);
    }
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "not in time: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_fork_bomb_and_a_memory_hog_are_contained() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let done = cell.script("f() { f | f & }; f; sleep 1");
    assert_eq!(done.code(), "command_over_processes");
    let done = cell.script("x=xxxxxxxx; while :; do x=$x$x; done");
    assert_eq!(done.code(), "command_over_memory");
    let done =
        cell.script("while :; do head -c 30000000 /dev/zero | tr \"\\\\0\" x > $TMPDIR/x; done");
    assert!(
        ["command_timed_out", "command_over_cpu"].contains(&done.code()),
        "{}",
        done.0
    );
}

#[test]
fn a_flood_is_drained_and_what_was_kept_counts() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let done = cell.run("head -c 50000000 /dev/zero");
    assert_eq!(done.exit(), 0);
    let flood = r#"run("sh -c 'echo begin; head -c 5000000 /dev/zero; echo end'")"#;
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    for (rest, status) in [
        (r#".stdout.contains("begin")"#, 0),
        (r#".stdout.contains("end")"#, 3),
    ] {
        let run = cell
            .bench
            .run(&["eval", &format!("{flood}{rest}"), "--policy", policy]);
        assert_eq!(run.status, status, "{}", run.stdout);
        assert_eq!(
            status == 3,
            run.stdout.contains("output_truncated"),
            "{}",
            run.stdout
        );
    }
    assert_eq!(cell.run("yes").code(), "command_timed_out");
}

#[test]
fn cpu_time_is_limited_for_all_processes_together() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(
        &POLICY
            .replace("\"20s\"", "\"1s\"")
            .replace("\"2s\"", "\"60s\""),
    );
    let spin = "while :; do :; done";
    let done = cell.script(&format!("({spin}) & ({spin}) & {spin}"));
    assert_eq!(done.code(), "command_over_cpu");
    let many = "i=0; while [ $i -lt 1000000 ]; do sh -c : ; i=$((i+1)); done";
    assert_eq!(cell.script(many).code(), "command_over_cpu");
}

#[test]
fn budgets_and_deadlines_of_the_batch_end_commands() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(
        &POLICY
            .replace("\"2s\"", "\"60s\"")
            .replace("\"20s\"", "\"60s\""),
    );
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    let spin = r#"run("sh -c 'while :; do :; done'").exit == 0"#;
    let sleep = r#"run("sleep 86404.1").exit == 0"#;
    for (source, option, code) in [
        (spin, "--cpu-budget=500ms", "budget_exceeded"),
        (sleep, "--deadline=500ms", "cancelled"),
    ] {
        let begun = Instant::now();
        let other = r#"run("true").exit == 0"#;
        let log = cell.bench.log("log.jsonl", log_of(&[source, other]));
        let (results, _, _) = cell.bench.check(&log, &["--policy", policy, option]);
        assert_eq!(results[0]["code"], code, "{}", results[0]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{option}");
        wait_until("nothing is left", || processes_with("sleep\x0086404") == 0);
    }
    // What it took is charged to those that asked, in equal shares.
    let burn = "run(\"sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'\").exit";
    let claims = ["== 0", "!= 1", "< 2"].map(|rest| format!("{burn} {rest}"));
    let log = log_of(&claims.each_ref().map(String::as_str));
    let log = cell.bench.log("log.jsonl", log);
    let (results, _, status) = cell.bench.check(&log, &["--policy", policy]);
    assert_eq!(status, 0, "{}", results[0]);
    let costs: Vec<u64> = results
        .iter()
        .filter_map(|result| result["cost"]["cpu_ns"].as_u64())
        .collect();
    assert!(costs.iter().all(|cost| *cost > 10_000_000), "{costs:?}");
    let range = costs.iter().min().zip(costs.iter().max());
    assert!(
        range.is_some_and(|(least, most)| most - least < 2_000_000),
        "{costs:?}"
    );
}

#[test]
fn a_terminal_is_out_of_reach() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let done = cell.script("echo stolen > /dev/tty");
    assert_ne!(done.exit(), 0);
    // A session of its own, without a terminal: field 7 of the own status is 0.
    let done = cell.script("read -r a < /proc/self/stat; set -- $a; echo $6 $7");
    let fields: Vec<&str> = done.stdout().split_whitespace().collect();
    assert_eq!(fields[1], "0", "{}", done.stdout());
}

#[test]
fn one_command_is_executed_once_for_a_batch() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    let log: Vec<String> = (0..20)
        .map(|number| format!(r#"run("sh -c 'echo x >> out/count'").exit == 0 && grep(/x/, "inside.txt") == 0 && exists("absent{number}") == false"#))
        .map(|source| source.replace(" == false", "").replace("exists(", "!exists("))
        .collect();
    let log: Vec<&str> = log.iter().map(String::as_str).collect();
    let log = cell.bench.log("log.jsonl", log_of(&log));
    let policy = cell.policy.to_str().expect("a path in UTF-8");
    let (_, summary, status) = cell.bench.check(&log, &["--policy", policy]);
    assert_eq!(status, 0, "{summary}");
    let count = fs::read_to_string(cell.bench.root().join("out/count"));
    assert_eq!(count.expect("it was written"), "x\n");
}

#[test]
fn a_policy_in_the_workspace_is_used_and_named_and_another_takes_its_place() {
    if !is_confined() {
        return;
    }
    let bench = Bench::new();
    bench.file("probity.toml", "[run]\nallow = [\"true\"]\n");
    let claim = r#"run("true").exit == 0"#;
    let run = bench.run(&["eval", claim]);
    assert_eq!(run.status, 0, "{}", run.stdout);
    assert!(
        run.stderr.contains("a file of the workspace"),
        "{}",
        run.stderr
    );
    let other = bench.log("other.toml", "[run]\nallow = [\"false\"]\n");
    let run = bench.run(&[
        "eval",
        claim,
        "--policy",
        other.to_str().expect("a path in UTF-8"),
    ]);
    assert_eq!(run.status, 3, "{}", run.stdout);
    for bad in [
        "[run]\nalow = []\n",
        "[run]\ntimeout = \"soon\"\n",
        "run = 1",
        "[run]\nwrite = [\"../x\"]",
    ] {
        bench.file("probity.toml", bad);
        let run = bench.run(&["eval", claim]);
        assert_eq!(run.status, 2, "{bad}");
        assert!(run.stderr.contains("probity.toml"), "{}", run.stderr);
    }
}

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
