//! The helper: a small process of one thread, started by the engine, that can fork
//! cheaply and safely where the engine cannot. It enters the namespaces that its
//! commands share and starts their first process, which does the rest.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use crate::exec::confine::{Group, Shelter};
use crate::exec::init::{self, Origin};
use crate::exec::layers::Layer;
use crate::exec::sys::{self, Forked};

/// The first argument of a helper.
pub(super) const ARGUMENT: &str = "__execute-confined";

/// The second, which says whether its commands have the network.
pub(super) const NETWORK: [&str; 2] = ["without-network", "with-network"];

/// Serves as a helper if the arguments say so. A host whose own program is to be the
/// helper calls this first in `main`, before it starts any thread, and ends with the
/// status if there is one.
#[must_use]
pub fn serve_if_asked(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(ARGUMENT)) {
        return None;
    }
    let network = arguments.next()?;
    let network = NETWORK.iter().position(|known| *known == network)? == 1;
    arguments.next().is_none().then(|| match serve(network) {
        Ok(()) => ExitCode::SUCCESS,
        // The engine sees that it is gone.
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve(network: bool) -> io::Result<()> {
    let stdin: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let engine = UnixStream::from(stdin);
    // The terminal belongs to the engine.
    let _ = rustix::process::setsid();
    let (group, no_group) = match Group::new() {
        Ok(group) => (Some(group), None),
        Err(reason) => (None, Some(reason)),
    };
    let mut shelter = Shelter::enter(network);
    if let Some(reason) = no_group {
        shelter.layers.note(Layer::Cgroup, Err(reason));
    }
    let (forked, has_namespace) = match sys::fork(libc::CLONE_NEWPID) {
        Ok(forked) => (forked, true),
        Err(error) => {
            let reason = error.to_string();
            shelter.layers.note(Layer::PidNamespace, Err(reason));
            (sys::fork(0)?, false)
        }
    };
    match forked {
        Forked::Child => {
            let origin = Origin {
                shelter,
                group,
                has_namespace,
            };
            init::serve(engine, origin)
        }
        Forked::Parent(first) => {
            drop(engine);
            let _ = sys::reap(first.as_raw_nonzero().get(), true);
            if let Some(group) = group {
                group.end();
            }
            Ok(())
        }
    }
}
