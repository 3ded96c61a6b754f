//! `run`, by claims that try to escape: what a policy does not allow does not happen.
//!
//! Where the machine lacks a layer of confinement, nothing is executed, and these tests
//! say so and end.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cell::{Cell, POLICY, is_confined, processes_with, wait_until};

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

#[test]
fn a_fork_bomb_and_a_memory_hog_are_contained() {
    if !is_confined() {
        return;
    }
    let cell = Cell::new(POLICY);
    // So many that stay are seen; what dies of what the kernel refuses it may not be.
    let done = cell.script("i=0; while [ $i -lt 100 ]; do sleep 1 & i=$((i+1)); done; wait");
    assert_eq!(done.code(), "command_over_processes", "{}", done.0);
    let started = Instant::now();
    cell.script("f() { f | f & }; f; sleep 1");
    assert!(started.elapsed() < Duration::from_secs(30));
    wait_until("the bomb is over", || {
        processes_with("f() { f | f & }") == 0
    });
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
