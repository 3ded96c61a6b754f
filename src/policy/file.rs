//! `probity.toml`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::digest::Digest;
use crate::files::read_text;
use crate::policy::allow::Allowed;
use crate::policy::judge::RawJudge;
use crate::policy::units::{Size, Time};
use crate::policy::words::{Absolute, Inside, Variable};

/// Where a policy stands in a workspace.
pub const FILE_NAME: &str = "probity.toml";

/// Longer files are refused.
pub const MAX_POLICY_BYTES: u64 = 256 << 10;

/// Where programs are looked up if the policy does not say.
const PATH: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

/// What claims may execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The programs of `run`; none without a `[run]` section.
    pub allow: Vec<Allowed>,
    /// The bounds of `run`.
    pub bounds: Bounds,
    /// The runner of `test`; without one no test is run.
    pub test: Option<TestPolicy>,
    /// The bounds of a judge, which is named by whoever judges and never by a claim:
    /// [`Policy::allow`] says nothing of it.
    pub judge: Bounds,
    /// Commands and runners that are executed at the same time.
    pub jobs: usize,
    /// SHA-256 of the text.
    pub digest: Digest,
}

/// Within which bounds a command is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Directories in which programs are looked up, in this order.
    pub path: Vec<PathBuf>,
    /// Names of the environment variables that are passed through.
    pub env: Vec<Box<str>>,
    /// More files and directories that may be read, absolute.
    pub read: Vec<PathBuf>,
    /// Paths in the workspace that may be written.
    pub write: Vec<PathBuf>,
    /// Wall-clock time.
    pub timeout: Duration,
    /// CPU time of all its processes together.
    pub cpu: Duration,
    /// Resident memory of all its processes together, in bytes.
    pub memory: u64,
    /// Kept of each of standard output and standard error, in bytes.
    pub output: usize,
    /// Processes and threads at the same time.
    pub processes: u32,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it is executed where the machine lacks a layer of confinement.
    pub confinement: Confinement,
}

/// What to do where the machine lacks a layer of confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Execute nothing.
    Required,
    /// Execute with the layers there are, and report them.
    BestEffort,
}

/// How `test` is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestPolicy {
    /// What runs the tests.
    pub runner: Runner,
    /// More arguments for it.
    pub args: Vec<Box<str>>,
    /// The bounds of one invocation.
    pub bounds: Bounds,
}

/// What runs tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runner {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest`.
    Nextest,
    /// `pytest`.
    Pytest,
    /// `go test`.
    Go,
    /// Any command that writes JUnit XML.
    Custom {
        /// Program and arguments; the argument `{names}` stands for the names.
        command: Vec<Box<str>>,
        /// Where it writes JUnit XML, in the workspace.
        junit: PathBuf,
    },
}

/// A policy that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("cannot read the policy `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is none, with the place.
    #[error("the policy `{}` cannot be used: {reason}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// [`PolicyError`] if the file cannot be read, is longer than
    /// [`MAX_POLICY_BYTES`] or is no policy.
    pub fn read(path: &Path) -> Result<Self, PolicyError> {
        let text = read_text(path, MAX_POLICY_BYTES).map_err(|source| PolicyError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text).map_err(|reason| PolicyError::Invalid {
            path: path.to_owned(),
            reason,
        })
    }

    /// Reads the policy of a workspace, if it has one.
    ///
    /// # Errors
    /// As [`Policy::read`].
    pub fn of_workspace(root: &Path) -> Result<Option<Self>, PolicyError> {
        let path = root.join(FILE_NAME);
        match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            _ => Self::read(&path).map(Some),
        }
    }

    /// Reads the text of a policy.
    ///
    /// # Errors
    /// Where it is no policy, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: RawPolicy = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut run = raw.run.unwrap_or_default();
        let allow = std::mem::take(&mut run.allow);
        let jobs = usize::from(run.jobs.unwrap_or(2)).clamp(1, 64);
        let bounds = run.bounds();
        let test = raw.test.map(|test| test.policy(&bounds));
        let judge = raw.judge.unwrap_or_default().bounds(&bounds);
        Ok(Self {
            allow,
            bounds,
            test,
            judge,
            jobs,
            digest: Digest::of(text.as_bytes()),
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPolicy {
    run: Option<RawRun>,
    test: Option<Tests>,
    judge: Option<RawJudge>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRun {
    #[serde(default)]
    allow: Vec<Allowed>,
    path: Option<Vec<Absolute>>,
    #[serde(default)]
    env: Vec<Variable>,
    #[serde(default)]
    read: Vec<Absolute>,
    #[serde(default)]
    write: Vec<Inside>,
    timeout: Option<Time>,
    cpu: Option<Time>,
    memory: Option<Size>,
    output: Option<Size>,
    processes: Option<NonZeroU32>,
    #[serde(default)]
    network: bool,
    confinement: Option<Confinement>,
    jobs: Option<u8>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTest {
    runner: RawRunner,
    #[serde(default)]
    args: Vec<Box<str>>,
    command: Option<Vec<Box<str>>>,
    junit: Option<Inside>,
    timeout: Option<Time>,
    cpu: Option<Time>,
}

/// The section `[test]`, once it fits together.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RawTest")]
struct Tests {
    runner: Runner,
    args: Vec<Box<str>>,
    timeout: Option<Time>,
    cpu: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawRunner {
    Cargo,
    Nextest,
    Pytest,
    Go,
    Custom,
}

impl RawRun {
    fn bounds(self) -> Bounds {
        let paths = |paths: Vec<Absolute>| paths.into_iter().map(|path| path.0).collect();
        let time = |time: Option<Time>| time.map_or(Duration::from_secs(60), |time| time.0);
        let size = |size: Option<Size>, default| size.map_or(default, |size| size.0);
        let output = size(self.output, 1 << 20);
        Bounds {
            path: self
                .path
                .map_or_else(|| PATH.map(PathBuf::from).into(), paths),
            env: self.env.into_iter().map(|name| name.0).collect(),
            read: paths(self.read),
            write: self.write.into_iter().map(|path| path.0).collect(),
            timeout: time(self.timeout),
            cpu: time(self.cpu),
            memory: size(self.memory, 2 << 30),
            output: Bounds::output_of(output),
            processes: self.processes.map_or(256, NonZeroU32::get),
            network: self.network,
            confinement: self.confinement.unwrap_or(Confinement::Required),
        }
    }
}

impl Bounds {
    /// What may be kept of a stream, if a policy says so many bytes.
    pub(super) fn output_of(bytes: u64) -> usize {
        usize::try_from(bytes.min(1 << 30)).unwrap_or(usize::MAX)
    }
}

impl TryFrom<RawTest> for Tests {
    type Error = &'static str;

    fn try_from(raw: RawTest) -> Result<Self, &'static str> {
        let is_custom = raw.runner == RawRunner::Custom;
        if !is_custom && (raw.command.is_some() || raw.junit.is_some()) {
            return Err("`command` and `junit` are for `runner = \"custom\"`");
        }
        let runner = match raw.runner {
            RawRunner::Cargo => Runner::Cargo,
            RawRunner::Nextest => Runner::Nextest,
            RawRunner::Pytest => Runner::Pytest,
            RawRunner::Go => Runner::Go,
            RawRunner::Custom => custom(raw.command, raw.junit)?,
        };
        Ok(Self {
            runner,
            args: raw.args,
            timeout: raw.timeout,
            cpu: raw.cpu,
        })
    }
}

impl Tests {
    fn policy(self, run: &Bounds) -> TestPolicy {
        // A build takes longer than a command.
        let time = |time: Option<Time>| time.map_or(Duration::from_secs(600), |time| time.0);
        TestPolicy {
            runner: self.runner,
            args: self.args,
            bounds: Bounds {
                timeout: time(self.timeout),
                cpu: time(self.cpu),
                ..run.clone()
            },
        }
    }
}

fn custom(command: Option<Vec<Box<str>>>, junit: Option<Inside>) -> Result<Runner, &'static str> {
    let (Some(command), Some(Inside(junit))) = (command, junit) else {
        return Err("`runner = \"custom\"` needs `command` and `junit`");
    };
    if !command.iter().any(|word| &**word == "{names}") {
        return Err("`command` lacks the argument `{names}`");
    }
    Ok(Runner::Custom { command, junit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_policy_allows_nothing() {
        let policy = Policy::parse("").unwrap();
        assert!(policy.allow.is_empty() && policy.test.is_none());
        assert_eq!(policy.bounds.confinement, Confinement::Required);
        assert!(!policy.bounds.network);
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
[run]
allow = ["git", { program = "/usr/bin/make", args = ["check"], nondeterministic = true }]
path = ["/usr/bin"]
env = ["HOME"]
read = ["/srv"]
write = ["target", "./out/x"]
timeout = "5s"
cpu = "1500ms"
memory = "64MiB"
output = "2KiB"
processes = 7
network = true
confinement = "best-effort"
jobs = 3

[test]
runner = "custom"
command = ["sh", "t.sh", "{names}"]
junit = "out/j.xml"
timeout = "2m"
"#;
        let policy = Policy::parse(text).unwrap();
        assert_eq!(policy.allow.len(), 2);
        assert!(policy.allow[1].nondeterministic);
        assert_eq!(policy.jobs, 3);
        let bounds = &policy.bounds;
        assert_eq!(bounds.cpu, Duration::from_millis(1500));
        assert_eq!((bounds.memory, bounds.output), (64 << 20, 2048));
        assert_eq!((bounds.processes, bounds.network), (7, true));
        assert_eq!(bounds.confinement, Confinement::BestEffort);
        let test = policy.test.unwrap();
        assert_eq!(test.bounds.timeout, Duration::from_secs(120));
        assert_eq!(test.bounds.memory, 64 << 20);
    }

    #[test]
    fn what_is_no_policy_is_an_error_that_names_the_fault() {
        for (text, named) in [
            ("[run]\nalow = []", "alow"),
            ("[runs]", "runs"),
            ("[run]\nallow = [\"./x\"]", "./x"),
            ("[run]\nallow = [\"\"]", "allow"),
            ("[run]\nallow = [{ program = \"a\", arg = 1 }]", "program"),
            ("[run]\npath = [\"bin\"]", "bin"),
            ("[run]\nread = [\"../x\"]", "../x"),
            ("[run]\nwrite = [\"/x\"]", "/x"),
            ("[run]\nwrite = [\"a/../../x\"]", "a/../../x"),
            ("[run]\nwrite = [\"\"]", "write"),
            ("[run]\nenv = [\"A=B\"]", "A=B"),
            ("[run]\ntimeout = \"1\"", "timeout"),
            ("[run]\nmemory = \"1GB\"", "memory"),
            ("[run]\nprocesses = 0", "processes"),
            ("[run]\nconfinement = \"none\"", "confinement"),
            ("[test]\nrunner = \"jest\"", "runner"),
            ("[test]", "runner"),
            ("[test]\nrunner = \"custom\"", "command"),
            ("[test]\nrunner = \"cargo\"\njunit = \"x\"", "custom"),
            (
                "[test]\nrunner = \"custom\"\ncommand = [\"a\"]\njunit = \"x\"",
                "{names}",
            ),
            (
                "[test]\nrunner = \"custom\"\ncommand = [\"{names}\"]\njunit = \"../x\"",
                "junit",
            ),
        ] {
            let error = Policy::parse(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
