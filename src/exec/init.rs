//! The first process of the commands of a helper: it confines itself as far as they
//! all share, and executes one after the other. When it ends, everything ends.

use std::os::unix::net::UnixStream;

use rustix::process::Signal;

use crate::exec::confine::{self, Group, Shelter};
use crate::exec::job::Job;
use crate::exec::layers::Layer;
use crate::exec::stand::Stand;
use crate::exec::{frame, supervise, sys};

/// What the helper did already.
pub(super) struct Origin {
    pub(super) shelter: Shelter,
    pub(super) group: Option<Group>,
    /// Whether this is the first process of a namespace.
    pub(super) has_namespace: bool,
}

/// Goes on in the fork of the helper, to its end.
pub(super) fn serve(mut engine: UnixStream, origin: Origin) -> ! {
    let status = match settle(origin) {
        Ok(mut stand) => loop {
            match frame::receive::<Job>(&mut engine) {
                Ok(Some(job)) => {
                    let ended = supervise::execute(&job, &mut stand, &engine);
                    if frame::send(&mut engine, &ended).is_err() || ended.is_spent {
                        break 1;
                    }
                }
                Ok(None) => break 0,
                Err(_) => break 1,
            }
        },
        Err(_) => 1,
    };
    sys::exit(status)
}

fn settle(origin: Origin) -> std::io::Result<Stand> {
    let Origin {
        shelter: Shelter {
            network,
            mut layers,
        },
        group,
        has_namespace,
    } = origin;
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    if has_namespace {
        layers.note(Layer::PidNamespace, Ok(()));
        if let Err(reason) = confine::own_proc() {
            layers.note(Layer::MountNamespace, Err(reason));
        }
    } else {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    }
    if let Some(group) = &group {
        layers.note(Layer::Cgroup, group.join());
    }
    rustix::thread::set_no_new_privs(true)?;
    // For good: what is started from here on inherits it.
    layers.note(Layer::Seccomp, confine::filter(network));
    Ok(Stand::new(network, layers, group, has_namespace))
}
