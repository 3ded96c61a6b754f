//! A helper, from the engine's side.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::budget::CancelToken;
use crate::exec::frame;
use crate::exec::helper::{ARGUMENT, NETWORK};
use crate::exec::job::{Ended, Job};

/// How often it is looked whether the batch is to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// A helper that does not answer so long after the time limit is given up.
const PATIENCE: Duration = Duration::from_secs(5);

/// A helper process. It and all it started end with this value.
pub(super) struct Client {
    child: Child,
    stream: UnixStream,
}

impl Client {
    pub(super) fn start(helper: &Path, network: bool) -> io::Result<Self> {
        let (stream, theirs) = UnixStream::pair()?;
        // No hook before the execution, so that nothing of the engine is copied.
        let child = Command::new(helper)
            .args([ARGUMENT, NETWORK[usize::from(network)]])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, stream })
    }

    /// Executes a command. `None` if it was cancelled; the helper is then of no
    /// further use, as after an error or if it says that it is spent.
    pub(super) fn execute(&mut self, job: &Job, cancel: &CancelToken) -> io::Result<Option<Ended>> {
        frame::send(&mut self.stream, job)?;
        let latest = Instant::now() + job.timeout + PATIENCE;
        loop {
            let mut wanted = [PollFd::new(&self.stream, PollFlags::IN)];
            let wait = Timespec {
                tv_sec: 0,
                tv_nsec: GLANCE.subsec_nanos().into(),
            };
            if poll(&mut wanted, Some(&wait)).unwrap_or(0) > 0 {
                break;
            }
            if cancel.is_cancelled() {
                return Ok(None);
            }
            if Instant::now() > latest {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the helper does not answer",
                ));
            }
        }
        let ended = frame::receive(&mut self.stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Some(ended))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let deadline = Instant::now() + Duration::from_secs(2);
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return,
            }
        }
        // What it started ends with it: see `init.rs`.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
