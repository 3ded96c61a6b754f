//! Landlock: which files may be read and written, and with the network denied that
//! no TCP port may be reached.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};

/// The oldest version that keeps files from being truncated.
const NEEDED: ABI = ABI::V3;

/// The newest that is made use of.
const WANTED: ABI = ABI::V6;

/// What may be read and executed on every machine.
const SYSTEM: &[&str] = &[
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    "/sbin",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/usr",
];

/// Names in `/etc` that hold secrets, and everything below them.
const SECRET: &[&str] = &[
    "cron.d",
    "gshadow",
    "krb5.keytab",
    "kubernetes",
    "letsencrypt",
    "master.passwd",
    "security",
    "shadow",
    "ssh",
    "sudoers",
    "sudoers.d",
    "wireguard",
];

/// Devices that say nothing of the machine.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// What one command may do with files, besides what the rules of all say.
pub(in crate::exec) struct Files {
    /// May be written.
    pub(in crate::exec) write: Vec<PathBuf>,
    /// May be written below the current directory, the workspace.
    pub(in crate::exec) write_inside: Vec<PathBuf>,
}

/// Rules that are the same for many commands, in the kernel already.
///
/// What is added for one command is added to all that are made of the same rules: they
/// run one after the other, and what is added is gone by then.
pub(in crate::exec) struct Rules(RulesetCreated);

impl Rules {
    /// Rules that let some be read and executed, with the network or without.
    pub(in crate::exec) fn new(read: &[PathBuf], network: bool) -> Result<Self, String> {
        ruleset(read, network)
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub(in crate::exec) fn try_clone(&self) -> Result<Self, String> {
        let rules = self.0.try_clone();
        rules.map(Self).map_err(|error| error.to_string())
    }

    /// Restricts this process and those it starts, for good.
    pub(in crate::exec) fn restrict(self, files: &Files) -> Result<(), String> {
        let rules = with_files(self.0, files).map_err(|error| error.to_string())?;
        let status = rules.restrict_self().map_err(|error| error.to_string())?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err("the kernel does not enforce it".into()),
            _ => Ok(()),
        }
    }
}

fn ruleset(read: &[PathBuf], network: bool) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        .scope(Scope::from_all(WANTED))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(WANTED))?;
    }
    let mut rules = rules.create()?;
    for path in SYSTEM.iter().chain(DEVICES) {
        rules = allow(rules, Path::new(path), false)?;
    }
    for path in ["/dev/null", "/dev/full"] {
        rules = allow(rules, Path::new(path), true)?;
    }
    for entry in std::fs::read_dir("/etc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_secret = |secret: &&str| name.trim_end_matches('-') == *secret;
        if !SECRET.iter().any(is_secret) {
            rules = allow(rules, &entry.path(), false)?;
        }
    }
    for path in read {
        rules = allow(rules, path, false)?;
    }
    Ok(rules)
}

fn with_files(mut rules: RulesetCreated, files: &Files) -> Result<RulesetCreated, RulesetError> {
    // The own one, which was mounted since.
    rules = allow(rules, Path::new("/proc"), false)?;
    for path in &files.write {
        rules = allow(rules, path, true)?;
    }
    for path in &files.write_inside {
        // Made if it is not there, and never anywhere else: a link may lead out.
        let Some(opened) = inside(path) else { continue };
        let is_directory = rustix::fs::fstat(&opened)
            .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir());
        rules = rules.add_rule(PathBeneath::new(opened, access(true, is_directory)))?;
    }
    Ok(rules)
}

/// Allows a file or a directory with all below it. What is not there needs no rule.
fn allow(rules: RulesetCreated, path: &Path, write: bool) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else {
        return Ok(rules);
    };
    rules.add_rule(PathBeneath::new(opened, access(write, path.is_dir())))
}

fn access(write: bool, is_directory: bool) -> landlock::BitFlags<AccessFs> {
    let mut access = if write {
        AccessFs::from_all(WANTED)
    } else {
        AccessFs::from_read(WANTED)
    };
    access.remove(AccessFs::MakeChar | AccessFs::MakeBlock);
    if !is_directory {
        access &= AccessFs::from_file(WANTED);
    }
    access
}

/// Opens a path below the current directory, and makes directories that are missing.
fn inside(path: &Path) -> Option<OwnedFd> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, mkdirat, openat2};

    let open = |at: BorrowedFd<'_>, path: &Path| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        openat2(at, path, flags, Mode::empty(), resolve)
    };
    let mut at = open(rustix::fs::CWD, Path::new(".")).ok()?;
    if let Ok(found) = open(at.as_fd(), path) {
        return Some(found);
    }
    for part in path.components() {
        let part = Path::new(part.as_os_str());
        // It is there already, or opening it says why not.
        let _ = mkdirat(&at, part, Mode::from_raw_mode(0o755));
        at = open(at.as_fd(), part).ok()?;
    }
    Some(at)
}
