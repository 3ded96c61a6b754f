//! Facts that need execution. This source executes nothing, so it refuses them.

use crate::facts::{FactKey, FactValue, Fetched};
use crate::reason::{Reason, ReasonCode};

/// The answer to `run` and `test`.
pub(super) fn refuse(key: &FactKey) -> Fetched {
    Fetched::from(FactValue::Unknown(Reason::new(
        ReasonCode::CommandNotAllowed,
        format!("{key} was not executed: no policy allows it, and this version executes nothing"),
    )))
}
