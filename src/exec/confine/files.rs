//! Landlock: which files may be read and written, and with the network denied that
//! no TCP port may be reached.

use std::path::Path;

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
    "/proc",
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

/// Restricts this process and those it starts, for good.
pub(in crate::exec) fn restrict(
    read: &[impl AsRef<Path>],
    write: &[impl AsRef<Path>],
    network: bool,
) -> Result<(), String> {
    let rules = ruleset(read, write, network).map_err(|error| error.to_string())?;
    let status = rules.restrict_self().map_err(|error| error.to_string())?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err("the kernel does not enforce it".into()),
        _ => Ok(()),
    }
}

fn ruleset(
    read: &[impl AsRef<Path>],
    write: &[impl AsRef<Path>],
    network: bool,
) -> Result<RulesetCreated, RulesetError> {
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
        rules = allow(rules, path.as_ref(), false)?;
    }
    for path in write {
        rules = allow(rules, path.as_ref(), true)?;
    }
    Ok(rules)
}

/// Allows a file or a directory with all below it. What is not there needs no rule.
fn allow(rules: RulesetCreated, path: &Path, write: bool) -> Result<RulesetCreated, RulesetError> {
    let Ok(opened) = PathFd::new(path) else {
        return Ok(rules);
    };
    let mut access = if write {
        AccessFs::from_all(WANTED)
    } else {
        AccessFs::from_read(WANTED)
    };
    access.remove(AccessFs::MakeChar | AccessFs::MakeBlock);
    if !path.is_dir() {
        access &= AccessFs::from_file(WANTED);
    }
    rules.add_rule(PathBeneath::new(opened, access))
}
