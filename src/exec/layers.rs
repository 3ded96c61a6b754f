//! What confines a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A layer of confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Layer {
    /// Landlock: files are read and written only where the policy says.
    Landlock,
    /// Seccomp: system calls that reach past the other layers are refused, and
    /// sockets where the network is denied.
    Seccomp,
    /// A user namespace without capabilities.
    UserNamespace,
    /// A process namespace: when it ends, everything in it ends.
    PidNamespace,
    /// A mount namespace with its own `/proc`.
    MountNamespace,
    /// A network namespace without any interface that is up.
    NetworkNamespace,
    /// Resource limits on each process.
    Rlimits,
    /// A control group of version 2 that holds the limits of memory and processes.
    /// Wanted only where one is delegated.
    Cgroup,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Self; 8] = [
        Self::Landlock,
        Self::Seccomp,
        Self::UserNamespace,
        Self::PidNamespace,
        Self::MountNamespace,
        Self::NetworkNamespace,
        Self::Rlimits,
        Self::Cgroup,
    ];

    /// Whether commands are executed without it under `confinement = "required"`.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Cgroup)
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
            Self::UserNamespace => "user-namespace",
            Self::PidNamespace => "pid-namespace",
            Self::MountNamespace => "mount-namespace",
            Self::NetworkNamespace => "network-namespace",
            Self::Rlimits => "rlimits",
            Self::Cgroup => "cgroup",
        }
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Layers that are active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Isolation(u16);

impl Isolation {
    /// Adds a layer.
    pub fn insert(&mut self, layer: Layer) {
        self.0 |= layer.bit();
    }

    fn remove(&mut self, layer: Layer) {
        self.0 &= !layer.bit();
    }

    /// Whether a layer is active.
    #[must_use]
    pub const fn contains(self, layer: Layer) -> bool {
        self.0 & layer.bit() != 0
    }

    /// The active layers.
    pub fn iter(self) -> impl Iterator<Item = Layer> {
        Layer::ALL
            .into_iter()
            .filter(move |layer| self.contains(*layer))
    }
}

/// A layer that was wanted and is not to be had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lacking {
    /// Which.
    pub layer: Layer,
    /// Why.
    pub reason: String,
}

/// What came of the layers that were wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Layers {
    pub(super) isolation: Isolation,
    pub(super) lacking: Vec<Lacking>,
}

impl Layers {
    pub(super) fn note(&mut self, layer: Layer, done: Result<(), String>) {
        match done {
            Ok(()) => self.isolation.insert(layer),
            Err(reason) => {
                self.isolation.remove(layer);
                self.lacking.push(Lacking { layer, reason });
            }
        }
    }

    /// Whether all are active that a command needs.
    pub(super) fn are_whole(&self) -> bool {
        self.lacking.iter().all(|it| it.layer.is_optional())
    }
}
