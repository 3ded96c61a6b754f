//! Namespaces: a command sees no process, no network and no mount of others.
//!
//! The helper enters those that its commands may share, once: they run one after the
//! other, and nothing of one is left when the next starts. Only what is kept in the
//! namespace of IPC would stay, so that each command gets one with its fork.

use std::fs;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};

use crate::exec::layers::{Layer, Layers};
use crate::exec::sys;

/// What the fork of each command adds.
pub(in crate::exec) const OF_A_COMMAND: i32 = libc::CLONE_NEWIPC;

/// The namespaces that the helper is in.
pub(in crate::exec) struct Shelter {
    /// With the network or without.
    pub(in crate::exec) network: bool,
    pub(in crate::exec) layers: Layers,
}

impl Shelter {
    /// Takes this process into new namespaces, for good.
    pub(in crate::exec) fn enter(network: bool) -> Self {
        let mut layers = Layers::default();
        let entered = enter(network);
        layers.note(Layer::UserNamespace, entered.clone());
        layers.note(Layer::MountNamespace, entered.clone());
        if !network {
            layers.note(Layer::NetworkNamespace, entered);
        }
        Self { network, layers }
    }
}

fn enter(network: bool) -> Result<(), String> {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let others = libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
    let net = if network { 0 } else { libc::CLONE_NEWNET };
    sys::unshare(libc::CLONE_NEWUSER | others | net).map_err(|error| error.to_string())?;
    let map = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| format!("{file}: {error}"))
    };
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{uid} {uid} 1"))?;
    map("gid_map", format!("{gid} {gid} 1"))?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| format!("private mounts: {error}"))?;
    // Sockets of services: of what runs containers, of agents that hold keys.
    for directory in ["/run", "/var/run"] {
        if fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) {
            mount(
                "tmpfs",
                directory,
                "tmpfs",
                FLAGS,
                Some(c"size=64k,mode=755"),
            )
            .map_err(|error| format!("{directory}: {error}"))?;
        }
    }
    Ok(())
}

const FLAGS: MountFlags = MountFlags::NOSUID
    .union(MountFlags::NODEV)
    .union(MountFlags::NOEXEC);

/// Shows the processes of the own namespace in `/proc`, and no others.
pub(in crate::exec) fn own_proc() -> Result<(), String> {
    mount("proc", "/proc", "proc", FLAGS, None).map_err(|error| format!("/proc: {error}"))
}
