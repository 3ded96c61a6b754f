//! The scripts of the action, run by bash as a runner of GitHub runs them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::hooks::guarded;
use super::{action, keys, list, string};
use crate::bin::Bench;
use crate::git::{commit_all, git};

/// A job of a workflow that has checked out a repository.
struct Job {
    bench: Bench,
    action: Json,
    workspace: PathBuf,
    /// Searched for programs before all others.
    programs: PathBuf,
}

/// What a step came to.
struct Step {
    status: i32,
    printed: String,
    /// What it set, one a line.
    outputs: String,
}

impl Step {
    fn output(&self, name: &str) -> Option<&str> {
        let mut lines = self.outputs.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }
}

impl Job {
    fn new(bench: Bench) -> Self {
        let (temp, programs) = (bench.outside("temp"), bench.outside("programs"));
        fs::create_dir(temp).expect("made");
        fs::create_dir(&programs).expect("made");
        Self {
            workspace: bench.root(),
            action: action(),
            programs,
            bench,
        }
    }

    /// Puts a script of the shell where programs are looked for.
    fn program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.programs.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        path
    }

    /// Runs a step with the variables that its expressions come to.
    fn step(&self, name: &str, variables: &[(&str, &str)]) -> Step {
        let steps = list(&self.action["runs"], "steps");
        let step = steps.iter().find(|step| string(step, "name") == name);
        let step = step.expect("a step");
        let given = variables.iter().map(|(name, _)| *name).collect();
        assert_eq!(keys(&step["env"]), given, "{name}");
        let (script, outputs) = (self.bench.outside("script"), self.bench.outside("outputs"));
        fs::write(&script, string(step, "run")).expect("written");
        fs::write(&outputs, "").expect("written");
        let mut path = OsString::from(&self.programs);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let output = Command::new("bash")
            .args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(script)
            .current_dir(&self.workspace)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.bench.outside("home"))
            .env("RUNNER_TEMP", self.bench.outside("temp"))
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .env("GITHUB_OUTPUT", &outputs)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("bash");
        let printed = [output.stdout, output.stderr].concat();
        Step {
            status: output.status.code().expect("a status"),
            printed: String::from_utf8(printed).expect("UTF-8"),
            outputs: fs::read_to_string(outputs).expect("outputs"),
        }
    }

    /// Judges with inputs that are not the defaults, and gives what the action ends with.
    fn gate(&self, program: &Path, inputs: &[(&str, &str)]) -> (i32, Step) {
        let mut variables = vec![
            ("PROBITY", program.to_str().expect("a path")),
            ("BASE", ""),
            ("HEAD", "HEAD"),
            ("ROOT", "."),
            ("APPROVED_BY", ""),
            ("ARGS", ""),
        ];
        for (name, value) in inputs {
            let known = variables.iter_mut().find(|(known, _)| known == name);
            known.expect("a variable").1 = value;
        }
        let gate = self.step("Judge the change", &variables);
        assert_eq!(gate.status, 0, "{}", gate.printed);
        let status = gate.output("status").unwrap_or_default();
        let end = self.step("End with the status of the gate", &[("STATUS", status)]);
        (end.status, gate)
    }
}

fn probity() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_probity"))
}

#[test]
fn arguments_arrive_as_they_were_given() {
    let job = Job::new(guarded());
    let base = git(&job.workspace, &["rev-parse", "HEAD"]);
    let got = job.bench.outside("got");
    let script = format!("printf '%s\\0' \"$@\" >> '{}'", got.display());
    let stub = job.program("probity", &script);
    let odd = "a 'b' \"c\" $(touch made) `touch made` ;touch made & * \\ ${{ x }} %0A ü";
    let approved = format!("role:security\n\nuser:{odd}\n");
    let args = format!("--rules=base\n--ctx={odd}");
    let inputs = [
        ("BASE", "main"),
        ("HEAD", odd),
        ("ROOT", odd),
        ("APPROVED_BY", &approved),
        ("ARGS", &args),
    ];
    let (status, gate) = job.gate(&stub, &inputs);
    assert_eq!(status, 0, "{}", gate.printed);
    let report = job.bench.outside("temp").join("probity-gate.sarif");
    let given = [
        "gate".into(),
        format!("--base={base}"),
        format!("--head={odd}"),
        format!("--root={odd}"),
        "--approved-by=role:security".into(),
        format!("--approved-by=user:{odd}"),
        "--rules=base".into(),
        format!("--ctx={odd}"),
    ];
    let sarif = [
        "--format=sarif".into(),
        format!("--output={}", report.display()),
    ];
    let expected = [&given[..], &sarif, &given, &["--format=github".into()]].concat();
    let got = fs::read_to_string(got).expect("arguments");
    let got: Vec<&str> = got.split_terminator('\0').collect();
    assert_eq!(got, expected);
    for directory in [&job.workspace, &job.bench.outside("temp")] {
        assert!(!directory.join("made").exists());
    }
    // The stub wrote no report, so there is none to upload.
    assert_eq!(gate.output("sarif"), None);
}

#[test]
fn the_action_ends_with_the_status_of_the_gate() {
    let job = Job::new(guarded());
    for (first, second, expected) in [
        (0, 0, 0),
        (1, 1, 1),
        (2, 2, 2),
        (3, 3, 3),
        (130, 130, 130),
        (0, 1, 1),
        (3, 0, 3),
    ] {
        let script = format!("case $* in *github*) exit {second};; esac; exit {first}");
        let stub = job.program("probity", &script);
        let (status, gate) = job.gate(&stub, &[("BASE", "main")]);
        assert_eq!(status, expected, "{}", gate.printed);
    }
    let (status, gate) = job.gate(&job.programs.join("not-built"), &[("BASE", "main")]);
    assert_eq!(status, 127, "{}", gate.printed);
    // As after a step that did not come to its end.
    let end = job.step("End with the status of the gate", &[("STATUS", "")]);
    assert_eq!(end.status, 2);
}

#[test]
fn what_is_printed_is_no_command_of_the_runner_but_annotations() {
    let job = Job::new(guarded());
    let stub = job.program(
        "probity",
        "echo '::set-output name=x::y' >&2\necho \"::notice::$*\"\necho '::add-mask::a' >&2",
    );
    let (_, gate) = job.gate(&stub, &[("BASE", "main")]);
    let lines: Vec<&str> = gate.printed.lines().collect();
    let start = lines
        .iter()
        .position(|line| line.starts_with("::stop-commands::"));
    let start = start.expect("commands are stopped");
    let token = lines[start].trim_start_matches("::stop-commands::");
    assert_eq!(token.len(), 32);
    assert_eq!(lines.last(), Some(&&*format!("::{token}::")));
    let (before, behind) = lines.split_at(start);
    assert!(
        matches!(before, [line] if line.contains("--format=github")),
        "{before:?}"
    );
    assert_eq!(
        behind
            .iter()
            .filter(|line| line.contains("set-output"))
            .count(),
        2
    );
}

#[test]
fn a_change_is_judged_from_the_branch_that_it_is_to_be_merged_into() {
    let bench = guarded();
    let root = bench.root();
    let start = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["checkout", "--quiet", "-b", "feature"]);
    bench.file("b", "clean\n");
    commit_all(&root, "clean");
    let job = Job::new(bench);
    let (status, gate) = job.gate(probity(), &[("BASE", "main")]);
    assert_eq!(status, 0, "{}", gate.printed);
    job.bench.file("c d", "MARKER\n");
    commit_all(&root, "marked");
    for base in ["main", &start, "HEAD~1"] {
        let (status, gate) = job.gate(probity(), &[("BASE", base)]);
        assert_eq!(status, 1, "{}", gate.printed);
        let annotation = "::error file=invariants.harn";
        assert!(gate.printed.contains(annotation), "{}", gate.printed);
        let report = fs::read_to_string(gate.output("sarif").expect("a report")).expect("read");
        let report: Json = serde_json::from_str(&report).expect("JSON");
        assert_eq!(report["version"], "2.1.0");
        assert!(!list(&report["runs"][0], "results").is_empty());
    }
    // Nothing is changed, so nothing is judged, and no report of before is taken for it.
    let (status, gate) = job.gate(probity(), &[("BASE", "feature")]);
    assert_eq!(status, 3, "{}", gate.printed);
    let (status, gate) = job.gate(probity(), &[("BASE", "main"), ("ARGS", "--no-such")]);
    assert_eq!(status, 2, "{}", gate.printed);
    assert!(gate.printed.contains("--no-such"), "{}", gate.printed);
    assert_eq!(gate.output("sarif"), None);
}

#[test]
fn a_base_has_to_be_there() {
    let job = Job::new(guarded());
    let zeros = "0".repeat(40);
    let stub = job.program("probity", "echo was run");
    for base in [
        "",
        &zeros,
        "--upload-pack=touch made",
        "-x",
        "main:a",
        "a b",
        "no-such",
        &"1".repeat(40),
    ] {
        let (status, gate) = job.gate(&stub, &[("BASE", base)]);
        assert_eq!(status, 2, "{base}: {}", gate.printed);
        assert!(
            gate.printed.contains("::error title=probity gate::"),
            "{}",
            gate.printed
        );
        assert!(!gate.printed.contains("was run"), "{base}");
    }
    assert!(!job.workspace.join("made").exists());
}

#[test]
fn what_a_shallow_checkout_lacks_is_fetched() {
    let bench = guarded();
    let root = bench.root();
    let start = git(&root, &["rev-parse", "HEAD"]);
    git(&root, &["checkout", "--quiet", "-b", "feature"]);
    for name in ["b", "c"] {
        bench.file(name, "clean\n");
        commit_all(&root, name);
    }
    // A commit of no branch, as a pull request has one.
    git(&root, &["update-ref", "refs/pull/1/merge", "feature"]);
    git(&root, &["checkout", "--quiet", "main"]);
    bench.file("d", "MARKER\n");
    commit_all(&root, "of others");
    let clone = bench.outside("clone");
    fs::create_dir(&clone).expect("made");
    git(&clone, &["init", "--quiet"]);
    let url = format!("file://{}", root.display());
    git(&clone, &["remote", "add", "origin", &url]);
    let mut job = Job::new(bench);
    job.workspace = clone.clone();
    for base in ["main", &start] {
        drop(fs::remove_file(clone.join(".git/shallow")));
        let pull = [
            "fetch",
            "--quiet",
            "--depth=1",
            "origin",
            "refs/pull/1/merge",
        ];
        git(&clone, &pull);
        git(&clone, &["checkout", "--quiet", "--detach", "FETCH_HEAD"]);
        let (status, gate) = job.gate(probity(), &[("BASE", base)]);
        assert_eq!(status, 0, "{base}: {}", gate.printed);
        assert_eq!(git(&clone, &["rev-parse", "HEAD~2"]), start);
    }
    // A branch that came up meanwhile.
    git(&root, &["branch", "later", &start]);
    let (status, gate) = job.gate(probity(), &[("BASE", "later")]);
    assert_eq!(status, 0, "{}", gate.printed);
    // A branch of origin goes before one of the same name here.
    git(&clone, &["branch", "--force", "main", "HEAD"]);
    let (status, gate) = job.gate(probity(), &[("BASE", "main")]);
    assert_eq!(status, 0, "{}", gate.printed);
}

#[test]
fn the_program_is_built_where_no_workspace_has_a_say() {
    let job = Job::new(guarded());
    let source = job.bench.outside("the action");
    let at = source.to_str().expect("a path");
    for (path, text) in [
        ("src/main.rs", "fn main() {}"),
        ("grammar/a", ""),
        ("build.rs", ""),
        ("Cargo.toml", ""),
        ("Cargo.lock", ""),
    ] {
        let path = source.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }
    job.program("rustc", "echo rustc 1.88");
    let log = job.bench.outside("log");
    let script = format!(
        "pwd > '{0}'\nprintf '%s\\n' \"$@\" >> '{0}'\nmkdir -p \"$6/bin\"\n\
         printf '#!/bin/sh\\n' > \"$6/bin/probity\"\nchmod +x \"$6/bin/probity\"",
        log.display()
    );
    job.program("cargo", &script);
    let name = || {
        let step = job.step("Name the build", &[("ACTION_PATH", at)]);
        assert_eq!(step.status, 0, "{}", step.printed);
        step
    };
    let named = name();
    let key = named.output("key").expect("a key").to_owned();
    assert!(key.starts_with("probity-Linux-X64-"), "{key}");
    assert_eq!(name().output("key"), Some(&*key));
    let root = named.output("root").expect("a directory");
    let build = || {
        let variables = [("ACTION_PATH", at), ("INSTALL_ROOT", root)];
        let step = job.step("Build the program", &variables);
        assert_eq!(step.status, 0, "{}", step.printed);
    };
    build();
    let temp = job.bench.outside("temp");
    let said = fs::read_to_string(&log).expect("cargo was run");
    let expected = format!(
        "{at}\ninstall\n--locked\n--path\n.\n--root\n{root}\n--target-dir\n{}/probity-build\n",
        temp.display()
    );
    assert_eq!(said, expected);
    // What came out of the cache is not built again.
    fs::remove_file(&log).expect("removed");
    build();
    assert!(!log.exists());
    // Other sources and other compilers make other programs.
    fs::write(source.join("src/main.rs"), "fn main() { }").expect("written");
    let changed = name().output("key").expect("a key").to_owned();
    job.program("rustc", "echo rustc 1.89");
    let newer = name().output("key").expect("a key").to_owned();
    assert!(key != changed && changed != newer && key != newer);
    // A build that fails is no program.
    fs::remove_dir_all(root).expect("removed");
    job.program("cargo", "exit 101");
    let variables = [("ACTION_PATH", at), ("INSTALL_ROOT", root)];
    assert_eq!(job.step("Build the program", &variables).status, 101);
}
