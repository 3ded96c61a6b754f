//! Approvals of slices. (flow.md, section 1.4.)

use serde::{Deserialize, Serialize};

/// Somebody's approval of a slice, in words. That it is there proves nothing: no field
/// of it is verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who approved.
    pub reviewer: String,
    /// When.
    pub approved_at: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A signature of whatever kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}
