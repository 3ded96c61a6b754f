//! One command, from the helper's side: started, watched, its output kept, and ended.

use std::fs::File;
use std::io::{Read as _, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::exec::capture::Capture;
use crate::exec::confine;
use crate::exec::init::{self, Confinement, Ends, Word};
use crate::exec::job::{End, Ended, Job};
use crate::exec::layers::{Isolation, Lacking, Layer};
use crate::exec::stand::Stand;
use crate::exec::sys::{self, Forked};
use crate::exec::tree;

/// How often it is looked what a command uses: more often in the beginning.
const SAMPLES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(25)];

/// The first process gets so long to end all others before it is killed itself.
const PATIENCE: Duration = Duration::from_millis(400);

/// What a command did, with what was kept of its output.
pub(super) struct Finished {
    pub(super) ended: Ended,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
}

/// Executes a command to its end. Something to read or a hang-up on `engine` means
/// that nobody waits for it any more.
pub(super) fn execute(job: &Job, stand: &mut Stand, engine: BorrowedFd<'_>) -> Finished {
    match Running::start(job, stand) {
        Ok(running) => running.watch(engine),
        Err(error) => Finished {
            ended: Ended {
                end: End::NotStarted(error.to_string()),
                isolation: Isolation::default(),
                lacking: Vec::new(),
                cpu_ns: 0,
                wall_ns: 0,
                peak: 0,
                stdout_truncated: false,
                stderr_truncated: false,
                stdout_len: 0,
                stderr_len: 0,
            },
            stdout: Vec::new(),
            stderr: Vec::new(),
        },
    }
}

struct Running<'a> {
    job: &'a Job,
    started: Instant,
    first: Pid,
    /// Dropped to have all end.
    control: Option<OwnedFd>,
    words: File,
    heard: Vec<u8>,
    stdout: Capture,
    stderr: Capture,
    /// Why it is being ended.
    stopped: Option<(End, Instant)>,
    cpu: Duration,
    peak: u64,
}

impl<'a> Running<'a> {
    fn start(job: &'a Job, stand: &mut Stand) -> std::io::Result<Self> {
        let (control_read, control) = pipe()?;
        let (words, words_write) = pipe()?;
        let (stdout, stdout_write) = pipe()?;
        let (stderr, stderr_write) = pipe()?;
        if job.network != stand.shelter.network {
            return Err(std::io::Error::other("a helper has one kind of network"));
        }
        let rules = stand.rules(job);
        let mut shelter = Confinement {
            isolation: stand.shelter.isolation,
            lacking: stand.shelter.lacking.clone(),
            rules,
            filters: stand.filters.clone(),
            has_namespace: true,
        };
        let forked = match sys::fork(confine::OF_A_COMMAND) {
            Ok(forked) => forked,
            Err(error) => {
                shelter.has_namespace = false;
                shelter.lacking.push(Lacking {
                    layer: Layer::PidNamespace,
                    reason: error.to_string(),
                });
                sys::fork(0)?
            }
        };
        let first = match forked {
            Forked::Parent(pid) => pid,
            Forked::Child => {
                drop((control, words, stdout, stderr));
                let ends = Ends {
                    control: control_read.into(),
                    words: words_write.into(),
                    stdout: stdout_write.into(),
                    stderr: stderr_write.into(),
                };
                init::run(job, ends, shelter)
            }
        };
        Ok(Self {
            job,
            started: Instant::now(),
            first,
            control: Some(control.into()),
            words: File::from(OwnedFd::from(words)),
            heard: Vec::new(),
            stdout: Capture::new(stdout.into(), job.output),
            stderr: Capture::new(stderr.into(), job.output),
            stopped: None,
            cpu: Duration::ZERO,
            peak: 0,
        })
    }

    fn watch(mut self, engine: BorrowedFd<'_>) -> Finished {
        let mut next_sample = self.started + SAMPLES[0];
        let mut is_talking = true;
        while is_talking || self.stdout.is_open() || self.stderr.is_open() {
            let now = Instant::now();
            if now >= next_sample {
                self.sample();
                let age = self.started.elapsed();
                next_sample = Instant::now() + SAMPLES[usize::from(age > SAMPLES[0] * 20)];
            }
            self.press(now);
            let wait = next_sample.saturating_duration_since(now);
            let [mut is_engine, mut is_word, mut is_stdout, mut is_stderr] = [false; 4];
            {
                let mut polled = Vec::with_capacity(4);
                let mut wanted = Vec::with_capacity(4);
                if self.stopped.is_none() {
                    polled.push(PollFd::from_borrowed_fd(engine, PollFlags::IN));
                    wanted.push(&mut is_engine);
                }
                if is_talking {
                    polled.push(PollFd::new(&self.words, PollFlags::IN));
                    wanted.push(&mut is_word);
                }
                for (capture, flag) in [
                    (&self.stdout, &mut is_stdout),
                    (&self.stderr, &mut is_stderr),
                ] {
                    if let Some(open) = capture.open() {
                        polled.push(PollFd::from_borrowed_fd(open.as_fd(), PollFlags::IN));
                        wanted.push(flag);
                    }
                }
                let wait = Timespec {
                    tv_sec: 0,
                    tv_nsec: wait.subsec_nanos().into(),
                };
                let _ = poll(&mut polled, Some(&wait));
                for (polled, wanted) in polled.iter().zip(wanted) {
                    *wanted = !polled.revents().is_empty();
                }
            }
            if is_engine {
                self.stop(End::Cancelled);
            }
            if is_word {
                is_talking = self.listen();
            }
            if is_stdout {
                self.stdout.take();
            }
            if is_stderr {
                self.stderr.take();
            }
        }
        self.finish()
    }

    /// Looks whether a limit is reached.
    fn sample(&mut self) {
        let job = self.job;
        let usage = tree::usage(
            self.first.as_raw_nonzero().get(),
            u64::from(job.processes) + 2,
        );
        self.cpu = self.cpu.max(usage.cpu);
        self.peak = self.peak.max(usage.memory);
        // The first process is no part of the command.
        if usage.tasks > u64::from(job.processes) + 1 {
            self.stop(End::OverProcesses);
        } else if usage.memory > job.memory {
            self.stop(End::OverMemory);
        } else if usage.cpu > job.cpu {
            self.stop(End::OverCpu);
        } else if self.started.elapsed() >= job.timeout {
            self.stop(End::TimedOut);
        }
    }

    fn stop(&mut self, end: End) {
        if self.stopped.is_none() {
            self.stopped = Some((end, Instant::now()));
            self.control = None;
        }
    }

    /// Kills what does not end by itself.
    fn press(&mut self, now: Instant) {
        if let Some((_, since)) = &self.stopped
            && now.saturating_duration_since(*since) > PATIENCE
        {
            tree::kill_below(rustix::process::getpid().as_raw_nonzero().get());
            let _ = kill_process(self.first, Signal::KILL);
        }
    }

    /// Takes what the first process says; false at the end.
    fn listen(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.words.read(&mut buffer) {
            Ok(0) | Err(_) => false,
            Ok(read) => {
                self.heard.extend_from_slice(&buffer[..read]);
                true
            }
        }
    }

    fn finish(mut self) -> Finished {
        self.control = None;
        let waited = sys::wait(self.first.as_raw_nonzero().get(), true);
        // Orphans, where there is no namespace that ended with the first process.
        let me = rustix::process::getpid().as_raw_nonzero().get();
        while tree::has_children(me) {
            tree::kill_below(me);
            while sys::wait(-1, false).is_some() {}
        }
        if let Some(waited) = waited {
            self.cpu = self.cpu.max(waited.cpu);
            self.peak = self.peak.max(waited.peak);
        }
        let (mut isolation, mut missing, mut end) = (Isolation::default(), Vec::new(), None);
        for line in self
            .heard
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            match serde_json::from_slice(line) {
                Ok(Word::Ready {
                    isolation: active,
                    lacking,
                }) => {
                    (isolation, missing) = (active, lacking);
                }
                Ok(Word::Unconfined { lacking }) => {
                    missing = lacking;
                    end = Some(End::Unconfined);
                }
                Ok(Word::NotStarted(problem)) => end = Some(End::NotStarted(problem)),
                Ok(Word::Ended { status }) => end = Some(ended(status)),
                Err(error) => end = Some(End::NotStarted(error.to_string())),
            }
        }
        let lost = || End::NotStarted("its first process ended without a word".into());
        let stopped = self.stopped.take().map(|(end, _)| end);
        // A limit of the kernel's may have come first.
        let over_cpu = end == Some(End::Signaled(libc::SIGXCPU));
        let end = match stopped.or(end) {
            Some(End::Signaled(_)) if over_cpu => End::OverCpu,
            // It got there between two looks, and died of what it was refused.
            Some(End::Exited(_) | End::Signaled(_)) if self.peak > self.job.memory => {
                End::OverMemory
            }
            end => end.unwrap_or_else(lost),
        };
        let (stdout, stdout_truncated) = self.stdout.kept();
        let (stderr, stderr_truncated) = self.stderr.kept();
        Finished {
            ended: Ended {
                end,
                isolation,
                lacking: missing,
                cpu_ns: u64::try_from(self.cpu.as_nanos()).unwrap_or(u64::MAX),
                wall_ns: u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
                peak: self.peak,
                stdout_truncated,
                stderr_truncated,
                stdout_len: stdout.len(),
                stderr_len: stderr.len(),
            },
            stdout,
            stderr,
        }
    }
}

fn ended(status: i32) -> End {
    if libc::WIFSIGNALED(status) {
        End::Signaled(libc::WTERMSIG(status))
    } else {
        End::Exited(libc::WEXITSTATUS(status))
    }
}
