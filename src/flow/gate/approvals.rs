//! Approvals that come with a slice, and what they satisfy. (flow.md, sections 1.4 and 3.1.)

use std::str::FromStr;

use crate::flow::model::Approval;
use crate::flow::result::Approver;

/// Who approved a slice. Nothing here proves that they did: that is for whoever hands
/// them over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    given: Vec<Approval>,
    approvers: Vec<Approver>,
}

/// Somebody who cannot approve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no approver: write `user:NAME` or `role:NAME`")]
pub struct ApproverError {
    /// What was given.
    pub text: Box<str>,
}

impl FromStr for Approver {
    type Err = ApproverError;

    /// Reads `user:NAME` or `role:NAME`. (flow.md, section 6.1.)
    fn from_str(text: &str) -> Result<Self, ApproverError> {
        let named = text.trim().split_once(':');
        match named.map(|(kind, name)| (kind, name.trim())) {
            Some(("role", name)) if !name.is_empty() => Ok(Self::Role { name: name.into() }),
            Some(("user", name)) if !name.is_empty() => Ok(Self::Principal {
                id: format!("user:{name}"),
            }),
            _ => Err(ApproverError { text: text.into() }),
        }
    }
}

impl Approvals {
    /// Adds an approval.
    pub fn add(&mut self, approver: Approver, approved_at: impl Into<String>) {
        self.given.push(Approval {
            reviewer: shown(&approver),
            approved_at: approved_at.into(),
            reason: None,
            signature: None,
        });
        self.approvers.push(approver);
    }

    /// All of them.
    #[must_use]
    pub fn given(&self) -> &[Approval] {
        &self.given
    }

    /// The reviewer whose approval stands for one that is asked for. A principal is asked
    /// for as `user:NAME` or as `NAME`.
    #[must_use]
    pub fn of(&self, wanted: &Approver) -> Option<&str> {
        let is_one = |approver: &Approver| match (approver, wanted) {
            (Approver::Role { name }, Approver::Role { name: wanted }) => name == wanted,
            (Approver::Principal { id }, Approver::Principal { id: wanted }) => {
                id == wanted || id.strip_prefix("user:") == Some(wanted)
            }
            _ => false,
        };
        let at = self.approvers.iter().position(is_one)?;
        self.given.get(at).map(|approval| &*approval.reviewer)
    }
}

/// An approver as people write it.
pub(super) fn shown(approver: &Approver) -> String {
    match approver {
        Approver::Principal { id } => id.clone(),
        Approver::Role { name } => format!("role:{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(id: &str) -> Approver {
        Approver::Principal { id: id.into() }
    }

    fn role(name: &str) -> Approver {
        Approver::Role { name: name.into() }
    }

    #[test]
    fn approvers_are_read() {
        assert_eq!("user: alice".parse(), Ok(principal("user:alice")));
        assert_eq!(" role:a:b".parse(), Ok(role("a:b")));
        for text in ["alice", "role:", "user: ", "", "group:x"] {
            assert!(text.parse::<Approver>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_approval_stands_for_its_own_approver_only() {
        let mut approvals = Approvals::default();
        approvals.add(principal("user:alice"), "");
        approvals.add(role("security"), "");
        assert_eq!(approvals.of(&principal("alice")), Some("user:alice"));
        assert_eq!(approvals.of(&principal("user:alice")), Some("user:alice"));
        assert_eq!(approvals.of(&role("security")), Some("role:security"));
        for other in [principal("security"), role("alice"), principal("user:bob")] {
            assert_eq!(approvals.of(&other), None, "{other:?}");
        }
    }
}
