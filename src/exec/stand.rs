//! What the first process keeps from one command to the next.

use std::path::{Path, PathBuf};

use crate::exec::confine::{Group, Rules};
use crate::exec::job::{Job, Text};
use crate::exec::layers::Layers;

/// Rules are made anew after so many commands, each of which adds some.
const MOST_COMMANDS: u32 = 16;

/// What the commands of a helper have in common.
pub(super) struct Stand {
    pub(super) network: bool,
    /// Layers that are active already, or will never be.
    pub(super) layers: Layers,
    pub(super) group: Option<Group>,
    /// Whether this is the first process of a namespace.
    pub(super) has_namespace: bool,
    /// The number of this process in `/proc`, which may be that of another namespace.
    pub(super) number: i32,
    rules: Option<(Vec<Text>, u32, Rules)>,
    /// The most processes that the namespace was told of.
    most: Option<u32>,
}

impl Stand {
    pub(super) fn new(
        network: bool,
        layers: Layers,
        group: Option<Group>,
        has_namespace: bool,
    ) -> Self {
        let own = std::fs::read_link("/proc/self").ok();
        let number = own.as_deref().and_then(Path::to_str);
        Self {
            network,
            layers,
            group,
            has_namespace,
            number: number.and_then(|it| it.parse().ok()).unwrap_or(0),
            rules: None,
            most: None,
        }
    }

    /// Keeps the namespace from having many more processes than a command may have, from
    /// Linux 6.14 on. The limit of the user does not hold for root.
    pub(super) fn limit_processes(&mut self, processes: u32) {
        if self.has_namespace && self.most != Some(processes) {
            self.most = Some(processes);
            // The kernel keeps the first 300 numbers back once all were used.
            let most = processes.saturating_add(320);
            // Where it cannot be told, the looks at what is used have to do.
            let _ = std::fs::write("/proc/sys/kernel/pid_max", most.to_string());
        }
    }

    /// The rules for a command.
    pub(super) fn rules(&mut self, job: &Job) -> Result<Rules, String> {
        if let Some((read, commands, rules)) = &mut self.rules
            && *read == job.read
            && *commands < MOST_COMMANDS
        {
            *commands += 1;
            return rules.try_clone();
        }
        let read: Vec<PathBuf> = job.read.iter().map(Text::path).collect();
        let made = Rules::new(&read, self.network)?;
        let rules = made.try_clone();
        self.rules = Some((job.read.clone(), 0, made));
        rules
    }
}
