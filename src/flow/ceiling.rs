//! How many predicates a slice may be under. (flow.md, section 5, "Ceiling".)

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::flow::compose::ResolvedPredicate;
use crate::flow::result::{Approver, InvariantResult, Verdict};

/// The most directories that a violation names.
const MOST_CONTRIBUTORS: usize = 5;

/// The code of the block.
const CODE: &str = "predicate_count_explosion";

/// Bounds on the number of predicates of a slice, checked before any is evaluated. They
/// are there so that a person sees the cost: each predicate may take 50 ms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateCeiling {
    /// From this many predicates on the slice is refused; 0 never. 1024 by default.
    pub block_threshold: usize,
    /// From this many on somebody has to approve; 0 never. 256 by default.
    pub require_approval_threshold: usize,
    /// Who has to approve: the role `flow-platform` by default.
    pub approver: Approver,
}

impl Default for PredicateCeiling {
    fn default() -> Self {
        Self {
            block_threshold: 1024,
            require_approval_threshold: 256,
            approver: Approver::Role {
                name: "flow-platform".into(),
            },
        }
    }
}

/// What the check of a ceiling came to. Written as
/// `{"status":"within","count":n}` or `{"status":"exceeded","level":…,…}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum CeilingOutcome {
    /// There are few enough.
    Within {
        /// How many.
        count: usize,
    },
    /// There are too many.
    Exceeded(CeilingViolation),
}

/// Too many predicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingViolation {
    /// What follows.
    pub level: CeilingLevel,
    /// How many predicates there are.
    pub count: usize,
    /// The threshold that they reach.
    pub threshold: usize,
    /// The directories with the most of them, at most five: the largest first, of equal
    /// ones the first by name.
    pub top_contributors: Vec<CeilingContributor>,
}

/// What follows from too many predicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CeilingLevel {
    /// Somebody has to approve: the soft ceiling.
    RequireApproval,
    /// The slice is refused: the hard ceiling.
    Block,
}

/// A directory and how many of the predicates are declared there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingContributor {
    /// The directory, `.` for the root.
    pub relative_dir: Box<str>,
    /// How many.
    pub count: usize,
}

impl PredicateCeiling {
    /// Counts predicates, as [`crate::flow::union_predicates`] gives them.
    #[must_use]
    pub fn check(&self, predicates: &[ResolvedPredicate]) -> CeilingOutcome {
        let count = predicates.len();
        let reaches = |threshold: usize| threshold > 0 && count >= threshold;
        let (level, threshold) = if reaches(self.block_threshold) {
            (CeilingLevel::Block, self.block_threshold)
        } else if reaches(self.require_approval_threshold) {
            let threshold = self.require_approval_threshold;
            (CeilingLevel::RequireApproval, threshold)
        } else {
            return CeilingOutcome::Within { count };
        };
        let mut directories: BTreeMap<&str, usize> = BTreeMap::new();
        for predicate in predicates {
            *directories
                .entry(&predicate.source.relative_dir)
                .or_default() += 1;
        }
        let mut contributors: Vec<_> = directories.into_iter().collect();
        // Equal counts stay in the order of the directories.
        contributors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        contributors.truncate(MOST_CONTRIBUTORS);
        let top_contributors = contributors.into_iter();
        CeilingOutcome::Exceeded(CeilingViolation {
            level,
            count,
            threshold,
            top_contributors: top_contributors
                .map(|(directory, count)| CeilingContributor {
                    relative_dir: directory.into(),
                    count,
                })
                .collect(),
        })
    }

    /// The result that stands for a violation: a block, or an approval by
    /// [`PredicateCeiling::approver`].
    #[must_use]
    pub fn result(&self, violation: &CeilingViolation) -> InvariantResult {
        match violation.level {
            CeilingLevel::Block => InvariantResult::block(CODE, violation.to_string()),
            CeilingLevel::RequireApproval => InvariantResult {
                verdict: Verdict::RequireApproval {
                    approver: self.approver.clone(),
                },
                evidence: Vec::new(),
                remediation: None,
                confidence: 1.0,
            },
        }
    }
}

impl fmt::Display for CeilingViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, threshold) = (self.count, self.threshold);
        let level = match self.level {
            CeilingLevel::RequireApproval => "soft",
            CeilingLevel::Block => "hard",
        };
        write!(
            f,
            "{count} predicates apply to this slice, and the {level} ceiling is {threshold}; \
             most are in "
        )?;
        for (at, contributor) in self.top_contributors.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            let (directory, count) = (&contributor.relative_dir, contributor.count);
            write!(f, "{comma}{directory} ({count})")?;
        }
        Ok(())
    }
}
