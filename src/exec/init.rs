//! The first process of a command: it confines itself, starts the program and sees
//! to it that nothing is left when the program ends or the helper goes.

use std::ffi::CString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{PidfdFlags, Signal, pidfd_open};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use crate::exec::confine::{self, Filters, Rules};
use crate::exec::job::{Job, Text};
use crate::exec::layers::{Isolation, Lacking, Layer};
use crate::exec::sys::{self, Forked};
use crate::exec::tree;

/// What the first process says to the helper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Word {
    /// The program is about to start.
    Ready {
        isolation: Isolation,
        lacking: Vec<Lacking>,
    },
    /// It was not started for lack of layers.
    Unconfined { lacking: Vec<Lacking> },
    /// It could not be started.
    NotStarted(String),
    /// How it ended.
    Ended { status: i32 },
}

/// What the first process holds.
pub(super) struct Ends {
    /// Closed by the helper when everything has to end.
    pub(super) control: OwnedFd,
    pub(super) words: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// What confines the first process already, and what is to confine the program.
pub(super) struct Confinement {
    pub(super) isolation: Isolation,
    pub(super) lacking: Vec<Lacking>,
    pub(super) rules: Result<Rules, String>,
    pub(super) filters: Result<Filters, String>,
    /// Whether the first process is that of a namespace.
    pub(super) has_namespace: bool,
}

/// Goes on in the fork of the helper, to its end.
pub(super) fn run(job: &Job, ends: Ends, confinement: Confinement) -> ! {
    let mut words = File::from(ends.words);
    let init = Init {
        job,
        control: ends.control,
        stdout: ends.stdout,
        stderr: ends.stderr,
        confinement,
    };
    if let Err(problem) = init.run(&mut words) {
        say(&mut words, &problem);
    }
    sys::exit(0)
}

fn say(words: &mut File, word: &Word) {
    let mut line = serde_json::to_vec(word).unwrap_or_default();
    line.push(b'\n');
    // Nobody listens any more if it fails.
    let _ = words.write_all(&line);
}

struct Init<'a> {
    job: &'a Job,
    control: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    confinement: Confinement,
}

impl Init<'_> {
    fn run(mut self, words: &mut File) -> Result<(), Word> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            Word::NotStarted(format!("{what}: {error}"))
        };
        let of_os = |error: rustix::io::Errno| failed("preparing", &error);
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(of_os)?;
        if self.confinement.has_namespace {
            self.confinement.isolation.insert(Layer::PidNamespace);
            if let Err(reason) = confine::own_proc() {
                let layer = Layer::MountNamespace;
                self.confinement.lacking.push(Lacking { layer, reason });
            }
        } else {
            rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(of_os)?;
        }
        // The program is held back until it is known what confines it.
        let (told, tell) = pipe().map_err(of_os)?;
        let (go, start) = pipe().map_err(of_os)?;
        let program = match sys::fork(0).map_err(|error| failed("forking", &error))? {
            Forked::Child => {
                drop((told, start));
                self.start(tell, go);
            }
            Forked::Parent(pid) => pid,
        };
        drop((tell, go));
        let mut told = BufReader::new(File::from(told));
        let mut line = String::new();
        told.read_line(&mut line)
            .map_err(|error| failed("confining", &error))?;
        let confined: Result<Confined, _> = serde_json::from_str(&line);
        let confined = confined.map_err(|error| failed("confining", &error))?;
        if let Some(problem) = confined.problem {
            return Err(Word::NotStarted(problem));
        }
        let lacking = confined.lacking;
        if self.job.strict && !lacking.is_empty() {
            drop(start);
            self.end_all();
            return Err(Word::Unconfined { lacking });
        }
        let ready = Word::Ready {
            isolation: confined.isolation,
            lacking,
        };
        say(words, &ready);
        // Only the program writes to them from here on.
        let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        if let Ok(null) = null {
            self.stdout = null.try_clone().unwrap_or(self.stdout);
            self.stderr = null;
        }
        let mut starting = File::from(start);
        let _ = starting.write_all(b"!");
        drop(starting);
        // Ends without a word once the program is executed.
        let mut problem = String::new();
        let _ = told.read_to_string(&mut problem);
        if !problem.is_empty() {
            return Err(Word::NotStarted(problem));
        }
        let status = self.wait_for(program.as_raw_nonzero().get());
        self.end_all();
        if let Some(status) = status {
            say(words, &Word::Ended { status });
        }
        Ok(())
    }

    /// Waits until the program ends or the helper lets go. Reaps whatever ends
    /// meanwhile.
    fn wait_for(&self, program: i32) -> Option<i32> {
        let pidfd = rustix::process::Pid::from_raw(program)
            .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        loop {
            while let Some(waited) = sys::wait(-1, false) {
                if waited.pid == program {
                    return Some(waited.status);
                }
            }
            let mut wanted = vec![PollFd::new(&self.control, PollFlags::empty())];
            wanted.extend(pidfd.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
            let wait = Timespec {
                tv_sec: 0,
                tv_nsec: 50_000_000,
            };
            let _ = poll(&mut wanted, Some(&wait));
            if wanted[0]
                .revents()
                .intersects(PollFlags::HUP | PollFlags::ERR)
            {
                return None;
            }
        }
    }

    /// Kills and reaps every process but this one.
    fn end_all(&self) {
        let me = rustix::process::getpid().as_raw_nonzero().get();
        loop {
            if me == 1 {
                sys::kill_namespace();
            } else {
                tree::kill_below(me);
            }
            let mut left = false;
            while let Some(waited) = sys::wait(-1, me == 1) {
                left |= waited.pid > 0;
            }
            if me == 1 || !(left || tree::has_children(me)) {
                return;
            }
        }
    }

    /// Becomes the program.
    fn start(mut self, tell: OwnedFd, go: OwnedFd) -> ! {
        let mut confined = Confined {
            isolation: self.confinement.isolation,
            lacking: std::mem::take(&mut self.confinement.lacking),
            problem: None,
        };
        confined.problem = self.prepare(&mut confined).err();
        let mut tell = File::from(tell);
        let mut told = serde_json::to_vec(&confined).unwrap_or_default();
        told.push(b'\n');
        let _ = tell.write_all(&told);
        let mut answer = [0];
        let answered = rustix::io::read(&go, &mut answer);
        if confined.problem.is_none() && answered == Ok(1) {
            let error = self.execute();
            let _ = write!(
                tell,
                "executing `{}`: {error}",
                self.job.program.path().display()
            );
        }
        sys::exit(1)
    }

    fn prepare(&mut self, confined: &mut Confined) -> Result<(), String> {
        let job = self.job;
        let text = |error: rustix::io::Errno| error.to_string();
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(text)?;
        rustix::process::setsid().map_err(text)?;
        rustix::process::umask(Mode::from_raw_mode(0o077));
        rustix::process::chdir(job.directory.path()).map_err(text)?;
        sys::reset_signals();
        rustix::thread::set_no_new_privs(true).map_err(text)?;
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        rustix::stdio::dup2_stdin(null.map_err(text)?).map_err(text)?;
        let mut layer = |layer: Layer, done: Result<(), String>| match done {
            Ok(()) => confined.isolation.insert(layer),
            Err(reason) => confined.lacking.push(Lacking { layer, reason }),
        };
        let paths = |paths: &[Text]| -> Vec<PathBuf> { paths.iter().map(Text::path).collect() };
        let limits = confine::restrict_resources(job.cpu, job.memory, job.processes);
        layer(Layer::Rlimits, limits);
        let files = confine::Files {
            write: paths(&job.write),
            write_inside: paths(&job.write_inside),
        };
        let rules = std::mem::replace(&mut self.confinement.rules, Err("it is used".into()));
        let files = rules.and_then(|rules| rules.restrict(&files));
        layer(Layer::Landlock, files);
        drop_capabilities().map_err(text)?;
        let filters = self.confinement.filters.as_ref();
        let filtered = filters.map_err(Clone::clone).and_then(Filters::restrict);
        layer(Layer::Seccomp, filtered);
        Ok(())
    }

    fn execute(&self) -> std::io::Error {
        let text = |text: &Text| CString::new(text.bytes()).unwrap_or_default();
        let words: Vec<CString> = self.job.words.iter().map(text).collect();
        let env: Vec<CString> = self
            .job
            .env
            .iter()
            .map(|(name, value)| {
                let pair = [name.bytes(), b"=", value.bytes()].concat();
                CString::new(pair).unwrap_or_default()
            })
            .collect();
        let program = text(&self.job.program);
        if let Err(error) = rustix::stdio::dup2_stdout(self.stdout.as_fd()) {
            return error.into();
        }
        if let Err(error) = rustix::stdio::dup2_stderr(self.stderr.as_fd()) {
            return error.into();
        }
        if let Err(error) = sys::close_on_exec_from(3) {
            return error;
        }
        sys::execute(&program, &words, &env)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Confined {
    isolation: Isolation,
    lacking: Vec<Lacking>,
    problem: Option<String>,
}

fn pipe() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

/// In a user namespace of its own a process would have all capabilities of it.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
}
