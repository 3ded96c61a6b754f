//! The helper: a small process of one thread that executes one command after the
//! other. It can fork cheaply and safely where the engine cannot.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use crate::exec::job::Job;
use crate::exec::stand::Stand;
use crate::exec::{frame, supervise};

/// The only argument of a helper.
pub(super) const ARGUMENT: &str = "__execute-confined";

/// Serves as a helper if the arguments say so. A host whose own program is to be the
/// helper calls this first in `main`, before it starts any thread, and ends with the
/// status if there is one.
#[must_use]
pub fn serve_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let is_asked = arguments.next().as_deref() == Some(OsStr::new(ARGUMENT));
    (is_asked && arguments.next().is_none()).then(|| match serve() {
        Ok(()) => ExitCode::SUCCESS,
        // The engine sees that it is gone.
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> io::Result<()> {
    let stdin: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let mut engine = UnixStream::from(stdin);
    // The terminal belongs to the engine.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut stand = None;
    while let Some(job) = frame::receive::<Job>(&mut engine)? {
        let stand = stand.get_or_insert_with(|| Stand::new(job.network));
        let finished = supervise::execute(&job, stand, engine.as_fd());
        frame::send(&mut engine, &finished.ended)?;
        engine.write_all(&finished.stdout)?;
        engine.write_all(&finished.stderr)?;
    }
    Ok(())
}
