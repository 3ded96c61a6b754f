//! A control group (version 2) for the commands of a helper. The kernel holds them to
//! the limits of memory and processes together, where a group is delegated to the user:
//! one in which this process may make another, with both controllers switched on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where groups are, and which this process is in.
const MOUNTS: &str = "/proc/self/mountinfo";
const OWN: &str = "/proc/self/cgroup";

/// What is needed in it, and the file that holds the limit.
const CONTROLLERS: [(&str, &str); 2] = [("memory", "memory.max"), ("pids", "pids.max")];

/// A group of which every process ends with it.
#[derive(Debug)]
pub(in crate::exec) struct Group {
    path: PathBuf,
}

/// How often a group was in the way of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::exec) struct Events {
    /// Processes killed for its memory.
    pub(in crate::exec) kills: u64,
    /// Processes and threads that were not to be had any more.
    pub(in crate::exec) refused: u64,
}

impl Group {
    /// Makes a group below the own one or beside it.
    pub(in crate::exec) fn new() -> Result<Self, String> {
        let read =
            |file: &str| fs::read_to_string(file).map_err(|error| format!("{file}: {error}"));
        let mount = mount(&read(MOUNTS)?).ok_or("no control groups of version 2 are mounted")?;
        let own = read(OWN)?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let own = mount.join(own.ok_or("this process is in no control group of version 2")?);
        Self::near(&own, &mount)
    }

    fn near(own: &Path, mount: &Path) -> Result<Self, String> {
        let beside = own.parent().filter(|parent| parent.starts_with(mount));
        let mut lacking = String::new();
        for parent in [Some(own), beside].into_iter().flatten() {
            let controllers = fs::read_to_string(parent.join("cgroup.subtree_control"));
            let controllers = controllers.unwrap_or_default();
            let has = |wanted: &str| controllers.split_whitespace().any(|it| it == wanted);
            match CONTROLLERS.iter().find(|(wanted, _)| !has(wanted)) {
                Some((wanted, _)) => {
                    lacking = format!("the controller `{wanted}` is not delegated");
                }
                None => return Self::below(parent).map_err(|error| error.to_string()),
            }
        }
        Err(lacking)
    }

    fn below(parent: &Path) -> io::Result<Self> {
        // What helpers left that were killed.
        for entry in fs::read_dir(parent)?.flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_prefix("probity-"));
            if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
                // A group in use is not removed.
                let _ = fs::remove_dir(entry.path());
            }
        }
        let path = parent.join(format!("probity-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self { path })
    }

    /// Takes this process into the group.
    pub(in crate::exec) fn join(&self) -> Result<(), String> {
        let joined = fs::write(self.path.join("cgroup.procs"), "0");
        joined.map_err(|error| error.to_string())
    }

    /// Holds the processes of the group to limits. The first process counts as well.
    pub(in crate::exec) fn limit(&self, memory: u64, processes: u32) -> Result<(), String> {
        let limits = [memory, u64::from(processes) + 1];
        for ((_, file), limit) in CONTROLLERS.iter().zip(limits) {
            fs::write(self.path.join(file), limit.to_string())
                .map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(())
    }

    /// How often the group was in the way of a process so far.
    pub(in crate::exec) fn events(&self) -> Events {
        let count = |file: &str, event: &str| {
            let events = fs::read_to_string(self.path.join(file)).unwrap_or_default();
            let count = events.lines().find_map(|line| line.strip_prefix(event));
            count.and_then(|it| it.trim().parse().ok()).unwrap_or(0)
        };
        Events {
            kills: count("memory.events", "oom_kill "),
            refused: count("pids.events", "max "),
        }
    }

    /// Kills what is in the group and removes it.
    pub(in crate::exec) fn end(self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
        for _ in 0..100 {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// Where groups of version 2 are mounted.
fn mount(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let is_of_groups = after.split_whitespace().next()? == "cgroup2";
        is_of_groups
            .then(|| before.split_whitespace().nth(4))
            .flatten()
            .map(PathBuf::from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_of_version_two_is_found() {
        let mounts = "31 23 0:27 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n\
                      32 31 0:28 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";
        assert_eq!(mount(mounts).unwrap(), Path::new("/sys/fs/cgroup/unified"));
        assert_eq!(mount("31 23 0:27 / / rw - ext4 /dev/x rw\n"), None);
    }

    #[test]
    fn a_group_is_made_where_both_controllers_are_delegated_and_nowhere_else() {
        let mount = tempfile::tempdir().unwrap();
        let own = mount.path().join("user/app");
        fs::create_dir_all(&own).unwrap();
        let control = |at: &Path, text: &str| fs::write(at.join("cgroup.subtree_control"), text);
        control(&own, "").unwrap();
        control(mount.path().join("user").as_path(), "cpu memory").unwrap();
        let reason = Group::near(&own, mount.path()).unwrap_err();
        assert!(reason.contains("`pids`"), "{reason}");

        control(mount.path().join("user").as_path(), "cpu memory pids").unwrap();
        let group = Group::near(&own, mount.path()).unwrap();
        assert_eq!(
            group.path.parent(),
            Some(mount.path().join("user").as_path())
        );
        group.limit(4096, 7).unwrap();
        let limit = |file: &str| fs::read_to_string(group.path.join(file)).unwrap();
        assert_eq!(
            (limit("memory.max"), limit("pids.max")),
            ("4096".into(), "8".into())
        );
        fs::write(group.path.join("memory.events"), "oom 3\noom_kill 2\n").unwrap();
        fs::write(group.path.join("pids.events"), "max 5\n").unwrap();
        let events = group.events();
        assert_eq!((events.kills, events.refused), (2, 5));
        // What is no parent of the own group is never looked at.
        assert!(Group::near(mount.path(), mount.path()).is_err());
    }
}
