//! What a helper keeps from one command to the next.

use std::path::PathBuf;

use crate::exec::confine::{Filters, Rules, Shelter};
use crate::exec::job::{Job, Text};

/// Rules are made anew after so many commands, each of which adds some.
const MOST_COMMANDS: u32 = 256;

/// The namespaces of a helper, and the rules of its commands.
pub(super) struct Stand {
    pub(super) shelter: Shelter,
    pub(super) filters: Result<Filters, String>,
    rules: Option<(Vec<Text>, u32, Rules)>,
}

impl Stand {
    pub(super) fn new(network: bool) -> Self {
        Self {
            shelter: Shelter::enter(network),
            filters: Filters::new(network),
            rules: None,
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
        let made = Rules::new(&read, self.shelter.network)?;
        let rules = made.try_clone();
        self.rules = Some((job.read.clone(), 0, made));
        rules
    }
}
