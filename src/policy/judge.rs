//! The section `[judge]`: within which bounds a judge is executed.

use std::num::NonZeroU32;

use serde::Deserialize;

use crate::policy::units::{Size, Time};
use crate::policy::words::{Absolute, Inside, Variable};
use crate::policy::{Bounds, Confinement};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawJudge {
    path: Option<Vec<Absolute>>,
    env: Option<Vec<Variable>>,
    read: Option<Vec<Absolute>>,
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
}

impl RawJudge {
    /// The bounds of `[run]` where it says nothing. What a command of a claim may write
    /// and reach is nothing that a judge may: that it has to say itself.
    pub(super) fn bounds(self, run: &Bounds) -> Bounds {
        let paths = |paths: Vec<Absolute>| paths.into_iter().map(|path| path.0).collect();
        let env = self.env;
        let env = env.map(|names| names.into_iter().map(|name| name.0).collect());
        let output = self.output.map(|size| Bounds::output_of(size.0));
        Bounds {
            path: self.path.map_or_else(|| run.path.clone(), paths),
            env: env.unwrap_or_else(|| run.env.clone()),
            read: self.read.map_or_else(|| run.read.clone(), paths),
            write: self.write.into_iter().map(|path| path.0).collect(),
            timeout: self.timeout.map_or(run.timeout, |time| time.0),
            cpu: self.cpu.map_or(run.cpu, |time| time.0),
            memory: self.memory.map_or(run.memory, |size| size.0),
            output: output.unwrap_or(run.output),
            processes: self.processes.map_or(run.processes, NonZeroU32::get),
            network: self.network,
            confinement: self.confinement.unwrap_or(run.confinement),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::policy::Policy;

    const RUN: &str = r#"
[run]
path = ["/usr/bin"]
env = ["HOME"]
read = ["/srv"]
write = ["target"]
timeout = "5s"
cpu = "6s"
memory = "64MiB"
output = "2KiB"
processes = 7
network = true
confinement = "best-effort"
"#;

    #[test]
    fn what_it_does_not_say_is_that_of_run_but_for_the_network_and_writing() {
        for text in [RUN.to_owned(), format!("{RUN}[judge]\n")] {
            let policy = Policy::parse(&text).unwrap();
            let expected = Bounds {
                write: Vec::new(),
                network: false,
                ..policy.bounds.clone()
            };
            assert_eq!(policy.judge, expected);
            assert!(policy.bounds.network);
        }
        let nothing = Policy::parse("").unwrap();
        assert_eq!(nothing.judge, nothing.bounds);
    }

    #[test]
    fn every_key_is_its_own() {
        let judge = r#"
[judge]
path = ["/bin"]
env = []
read = []
write = ["out"]
timeout = "1s"
cpu = "2s"
memory = "3MiB"
output = "4KiB"
processes = 5
network = true
confinement = "required"
"#;
        let policy = Policy::parse(&format!("{RUN}{judge}")).unwrap();
        let expected = Bounds {
            path: vec![PathBuf::from("/bin")],
            env: Vec::new(),
            read: Vec::new(),
            write: vec![PathBuf::from("out")],
            timeout: Duration::from_secs(1),
            cpu: Duration::from_secs(2),
            memory: 3 << 20,
            output: 4 << 10,
            processes: 5,
            network: true,
            confinement: Confinement::Required,
        };
        assert_eq!(policy.judge, expected);
        assert_eq!(policy.bounds.processes, 7);
    }

    #[test]
    fn what_it_may_not_say_is_an_error_that_names_it() {
        for (text, named) in [
            ("[judge]\nallow = [\"sh\"]", "allow"),
            ("[judge]\njobs = 2", "jobs"),
            ("[judge]\npath = [\"bin\"]", "bin"),
            ("[judge]\nread = [\"../x\"]", "../x"),
            ("[judge]\nwrite = [\"/x\"]", "/x"),
            ("[judge]\nenv = [\"A=B\"]", "A=B"),
            ("[judge]\ntimeout = \"1\"", "timeout"),
            ("[judge]\nnetwork = \"yes\"", "network"),
            ("[judge]\nconfinement = \"none\"", "confinement"),
        ] {
            let error = Policy::parse(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }
}
