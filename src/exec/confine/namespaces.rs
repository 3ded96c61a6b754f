//! Namespaces: the command sees no process, no network and no mount of others.

use std::fs;

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid};

use crate::exec::layers::Layer;

/// The layers that are namespaces.
pub(in crate::exec) const NAMESPACES: [Layer; 4] = [
    Layer::UserNamespace,
    Layer::PidNamespace,
    Layer::MountNamespace,
    Layer::NetworkNamespace,
];

/// What a fork needs to be in all of them.
pub(in crate::exec) const fn flags(network: bool) -> i32 {
    let shared = if network { 0 } else { libc::CLONE_NEWNET };
    shared
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP
}

/// Who the caller is outside. Has to be asked before the fork.
pub(in crate::exec) fn enter(uid: u32, gid: u32) -> Result<(), (Layer, String)> {
    let map = |file: &str, text: String| {
        fs::write(format!("/proc/self/{file}"), text)
            .map_err(|error| (Layer::UserNamespace, format!("{file}: {error}")))
    };
    map("setgroups", "deny".into())?;
    map("uid_map", format!("{uid} {uid} 1"))?;
    map("gid_map", format!("{gid} {gid} 1"))?;
    if (geteuid().as_raw(), getegid().as_raw()) != (uid, gid) {
        return Err((Layer::UserNamespace, "the user changed".into()));
    }
    let mounts =
        |what: &str, error: rustix::io::Errno| (Layer::MountNamespace, format!("{what}: {error}"));
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| mounts("private mounts", error))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).map_err(|error| mounts("/proc", error))?;
    // Sockets of services: of what runs containers, of agents that hold keys.
    for directory in ["/run", "/var/run"] {
        if fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir()) {
            mount(
                "tmpfs",
                directory,
                "tmpfs",
                flags,
                Some(c"size=64k,mode=755"),
            )
            .map_err(|error| mounts(directory, error))?;
        }
    }
    Ok(())
}
