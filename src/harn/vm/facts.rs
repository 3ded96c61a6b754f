//! What an evaluation asks about the workspace, and what that costs it.

use std::collections::HashMap;

use crate::facts::{Cost, FactKey, FactValue};
use crate::harn::fault::{Fault, Limit};
use crate::harn::value::Charge;
use crate::harn::workspace::size;
use crate::reason::{Reason, ReasonCode};
use crate::scan::fuel;

use super::machine::Machine;

/// Most characters of a call in a message.
const MOST_SHOWN: usize = 80;

/// The facts of one evaluation. Each is paid for once, and stays what it was found to be.
#[derive(Default)]
pub(super) struct Facts {
    known: HashMap<FactKey, (FactValue, Charge)>,
    cost: Cost,
}

impl Facts {
    pub(super) const fn bytes(&self) -> u64 {
        self.cost.bytes
    }

    pub(super) const fn cpu_ns(&self) -> u64 {
        self.cost.cpu_ns
    }
}

impl Machine<'_> {
    /// A fact of the workspace. It costs what it would cost alone, whoever asked for it
    /// before; the second time that the same evaluation asks, only the question.
    pub(super) fn fact_of(&mut self, key: FactKey) -> Result<FactValue, Fault> {
        let size = size(&key);
        self.spend(size as u64 / 16)?;
        if let Some((value, _)) = self.facts.known.get(&key) {
            return Ok(value.clone());
        }
        let Some(workspace) = self.workspace else {
            return Err(no_workspace(&key));
        };
        let charge = self.heap.charge(size)?;
        let host = self.cancel.clone().unwrap_or_default();
        let fetched = match self.cpu_left() {
            None => workspace.establish(&key, self.fuel, &host),
            Some(left) => {
                let token = host.with_cpu_budget(Some(left));
                let fetched = workspace.establish(&key, self.fuel, &token);
                host.charge_cpu(token.cpu_spent_ns());
                fetched
            }
        };
        self.facts.cost += fetched.cost;
        let value = match &fetched.value {
            FactValue::Unknown(reason) => match (reason.code, reason.deterministic) {
                (ReasonCode::BudgetExceeded, true) => {
                    self.fuel = 0;
                    return Err(Fault::Limit(Limit::Fuel));
                }
                (ReasonCode::BudgetExceeded, false) => return Err(Fault::Limit(Limit::Cpu)),
                (ReasonCode::Cancelled, _) => return Err(Fault::Limit(Limit::Cancelled)),
                _ => Err(unknown(&key, reason)),
            },
            value => Ok(value.clone()),
        };
        self.spend(fetched.cost.fuel.max(fuel::RESOLVE))?;
        self.look()?;
        let value = value?;
        self.facts.known.insert(key, (value.clone(), charge));
        Ok(value)
    }
}

fn shown(key: &FactKey) -> String {
    let arguments = key.arguments().into_iter().map(|it| format!("{it:?}"));
    let arguments: Vec<String> = arguments.collect();
    let call = format!("{}({})", key.primitive().name(), arguments.join(", "));
    match call.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &call[..end]),
        None => call,
    }
}

fn no_workspace(key: &FactKey) -> Fault {
    let detail = format!(
        "there is no workspace for `{}` to look into; the host has to give one, \
         `probity flow` with --root DIR",
        shown(key)
    );
    Fault::Unknown(Reason::new(ReasonCode::FactMissing, detail))
}

fn unknown(key: &FactKey, reason: &Reason) -> Fault {
    let hint = match (key, reason.code) {
        (FactKey::Grep(..), ReasonCode::PathNotFound) => {
            "; a missing path is not a count of 0: ask `exists` before"
        }
        _ => "",
    };
    let detail = format!("`{}`: {}{hint}", shown(key), reason.detail);
    Fault::Unknown(Reason {
        detail: detail.into(),
        ..reason.clone()
    })
}
