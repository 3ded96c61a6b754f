//! Facts that need execution. These sources execute nothing, so they refuse them.

use crate::facts::{FactKey, FactValue, Fetched};
use crate::reason::{Reason, ReasonCode};

/// The answer to `run` and `test` at a commit.
pub(super) fn needs_checkout(key: &FactKey) -> Fetched {
    Fetched::from(FactValue::Unknown(Reason::new(
        ReasonCode::NeedsCheckout,
        format!("{key} cannot be executed at a commit that is not checked out"),
    )))
}

/// The answer to `run` and `test` in a workspace.
pub(super) fn not_allowed(key: &FactKey) -> Fetched {
    Fetched::from(FactValue::Unknown(Reason::new(
        ReasonCode::CommandNotAllowed,
        format!(
            "{key} was not executed: no policy allows it; write one, `probity.toml`, or name one with --policy"
        ),
    )))
}
