//! One command, from the side of the first process: started, watched, its output kept,
//! and ended with everything it started.

use std::fs::File;
use std::io::{Read as _, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};

use crate::exec::capture::Capture;
use crate::exec::confine::{self, Events, Group};
use crate::exec::job::{End, Ended, Job};
use crate::exec::layers::{Layer, Layers};
use crate::exec::stand::Stand;
use crate::exec::start::{Confined, Ends, Refusal, start};
use crate::exec::sys::{self, Forked, Reaped};
use crate::exec::{frame, tree};

/// How often it is looked what a command uses: more often in the beginning.
const SAMPLES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(25)];

/// What does not end so soon after it was killed is left to the end of the helper.
const PATIENCE: Duration = Duration::from_millis(500);

/// Executes a command to its end. Something to read or a hang-up on `engine` means
/// that nobody waits for it any more.
pub(super) fn execute(job: &Job, stand: &mut Stand, engine: &UnixStream) -> Ended {
    let before = events(stand);
    match Running::start(job, stand) {
        Ok(mut running) => {
            running.watch(engine.as_fd());
            let is_spent = !running.end_all();
            running.finish(before, events(stand), is_spent)
        }
        Err(error) => Ended {
            end: End::NotStarted(error.to_string()),
            layers: Layers::default(),
            cpu_ns: 0,
            wall_ns: 0,
            peak: 0,
            stdout_truncated: false,
            stderr_truncated: false,
            stdout: Vec::new(),
            stderr: Vec::new(),
            is_spent: false,
        },
    }
}

fn events(stand: &Stand) -> Events {
    let group = stand.group.as_ref();
    group.map(Group::events).unwrap_or_default()
}

struct Running<'a> {
    job: &'a Job,
    has_namespace: bool,
    /// Of the first process.
    number: i32,
    started: Instant,
    program: i32,
    pidfd: Option<OwnedFd>,
    /// What the fork tells, until the program is executed.
    telling: Option<File>,
    told: Vec<u8>,
    stdout: Capture,
    stderr: Capture,
    /// Of the program, once it ended.
    status: Option<i32>,
    /// Why it is being ended.
    stopped: Option<End>,
    /// CPU time of processes that were waited for.
    reaped: Duration,
    cpu: Duration,
    peak: u64,
}

impl<'a> Running<'a> {
    fn start(job: &'a Job, stand: &mut Stand) -> std::io::Result<Self> {
        let (telling, tell) = pipe()?;
        let (stdout, stdout_write) = pipe()?;
        let (stderr, stderr_write) = pipe()?;
        if job.network != stand.network {
            return Err(std::io::Error::other("a helper has one kind of network"));
        }
        let rules = stand.rules(job);
        stand.limit_processes(job.processes);
        let mut layers = stand.layers.clone();
        if let Some(group) = &stand.group
            && let Err(reason) = group.limit(job.memory, job.processes)
        {
            layers.note(Layer::Cgroup, Err(reason));
        }
        let started = Instant::now();
        let program = match sys::fork(confine::OF_A_COMMAND).or_else(|_| sys::fork(0))? {
            Forked::Parent(pid) => pid,
            Forked::Child => {
                let ends = Ends {
                    tell: tell.into(),
                    stdout: stdout_write.into(),
                    stderr: stderr_write.into(),
                };
                start(job, ends, layers, rules)
            }
        };
        Ok(Self {
            job,
            has_namespace: stand.has_namespace,
            number: stand.number,
            started,
            program: program.as_raw_nonzero().get(),
            pidfd: pidfd_open(program, PidfdFlags::empty()).ok(),
            telling: Some(File::from(OwnedFd::from(telling))),
            told: Vec::new(),
            stdout: Capture::new(stdout.into(), job.output)?,
            stderr: Capture::new(stderr.into(), job.output)?,
            status: None,
            stopped: None,
            reaped: Duration::ZERO,
            cpu: Duration::ZERO,
            peak: 0,
        })
    }

    /// Waits until the program ends or is to be ended.
    fn watch(&mut self, engine: BorrowedFd<'_>) {
        let mut next_sample = self.started + SAMPLES[0];
        while self.status.is_none() && self.stopped.is_none() {
            let now = Instant::now();
            if now >= next_sample {
                self.sample();
                let age = self.started.elapsed();
                next_sample = Instant::now() + SAMPLES[usize::from(age > SAMPLES[0] * 20)];
                continue;
            }
            let [mut is_engine, mut is_told, mut is_stdout, mut is_stderr] = [false; 4];
            {
                let readable = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
                let mut polled = vec![readable(engine)];
                let mut wanted = vec![&mut is_engine];
                let streams = [
                    (self.telling.as_ref(), &mut is_told),
                    (self.stdout.open(), &mut is_stdout),
                    (self.stderr.open(), &mut is_stderr),
                ];
                for (stream, flag) in streams {
                    if let Some(open) = stream {
                        polled.push(readable(open.as_fd()));
                        wanted.push(flag);
                    }
                }
                polled.extend(self.pidfd.as_ref().map(|fd| readable(fd.as_fd())));
                let wait = Timespec {
                    tv_sec: 0,
                    tv_nsec: (next_sample - now).subsec_nanos().into(),
                };
                let _ = poll(&mut polled, Some(&wait));
                for (polled, wanted) in polled.iter().zip(wanted) {
                    *wanted = !polled.revents().is_empty();
                }
            }
            if is_engine {
                self.stop(End::Cancelled);
            }
            if is_told {
                self.listen();
            }
            if is_stdout {
                self.stdout.take();
            }
            if is_stderr {
                self.stderr.take();
            }
            while let Reaped::Child(_) = self.reap() {}
        }
    }

    /// Looks whether a limit is reached.
    fn sample(&mut self) {
        let job = self.job;
        let usage = tree::usage(self.number, u64::from(job.processes) + 1);
        let cpu = self.reaped + usage.cpu;
        self.cpu = self.cpu.max(cpu);
        self.peak = self.peak.max(usage.memory);
        if usage.tasks > u64::from(job.processes) {
            self.stop(End::OverProcesses);
        } else if usage.memory > job.memory {
            self.stop(End::OverMemory);
        } else if cpu > job.cpu {
            self.stop(End::OverCpu);
        } else if self.started.elapsed() >= job.timeout {
            self.stop(End::TimedOut);
        }
    }

    fn stop(&mut self, end: End) {
        if self.stopped.is_none() {
            self.stopped = Some(end);
        }
    }

    /// Takes what the fork tells.
    fn listen(&mut self) {
        let mut buffer = [0; 4096];
        let Some(telling) = &mut self.telling else {
            return;
        };
        match telling.read(&mut buffer) {
            Ok(0) | Err(_) => self.telling = None,
            Ok(read) => self.told.extend_from_slice(&buffer[..read]),
        }
    }

    fn reap(&mut self) -> Reaped {
        let reaped = sys::reap(-1, false);
        if let Reaped::Child(waited) = &reaped {
            if waited.pid == self.program {
                self.status = Some(waited.status);
            }
            self.reaped += waited.cpu;
            self.cpu = self.cpu.max(self.reaped);
            self.peak = self.peak.max(waited.peak);
        }
        reaped
    }

    /// Kills and reaps every process but this one. False if one does not go.
    fn end_all(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        loop {
            if self.has_namespace {
                sys::kill_namespace();
            } else {
                tree::kill_below(self.number);
            }
            loop {
                match self.reap() {
                    Reaped::Child(_) => {}
                    Reaped::Running => break,
                    Reaped::Childless => return true,
                }
            }
            if Instant::now() > until {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// After everything ended.
    fn finish(mut self, before: Events, after: Events, is_spent: bool) -> Ended {
        while self.telling.is_some() && !is_spent {
            self.listen();
        }
        self.stdout.drain();
        self.stderr.drain();
        let mut rest = &self.told[..];
        let (layers, refused) = match frame::receive::<Confined>(&mut rest) {
            Ok(Some(Confined { layers, refused })) => (layers, refused),
            _ => {
                let why = "its fork ended without a word".into();
                (Layers::default(), Some(Refusal::Failed(why)))
            }
        };
        let refused = match refused {
            None if !rest.is_empty() => Some(Refusal::Failed(String::from_utf8_lossy(rest).into())),
            refused => refused,
        };
        let end = match (self.stopped.take(), refused, self.status) {
            (Some(end), ..) => end,
            (None, Some(Refusal::Unconfined), _) => End::Unconfined,
            (None, Some(Refusal::Failed(problem)), _) => End::NotStarted(problem),
            (None, None, Some(status)) => ended(status),
            (None, None, None) => End::NotStarted("it ended without a status".into()),
        };
        let end = match end {
            // A limit of the kernel's came before the next look.
            End::Signaled(libc::SIGXCPU) => End::OverCpu,
            // It got there between two looks, and died of what it was refused or did without.
            End::Exited(_) | End::Signaled(_)
                if after.kills != before.kills || self.peak > self.job.memory =>
            {
                End::OverMemory
            }
            End::Exited(_) | End::Signaled(_) if after.refused != before.refused => {
                End::OverProcesses
            }
            end => end,
        };
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (stdout, stdout_truncated) = self.stdout.kept();
        let (stderr, stderr_truncated) = self.stderr.kept();
        Ended {
            end,
            layers,
            cpu_ns: nanoseconds(self.cpu),
            wall_ns: nanoseconds(self.started.elapsed()),
            peak: self.peak,
            stdout_truncated,
            stderr_truncated,
            stdout,
            stderr,
            is_spent,
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
