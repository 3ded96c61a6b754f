//! What evaluations may use. (flow.md, section 4.1.)

use std::time::Duration;

/// What the predicates of slices may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutorConfig {
    /// For one attempt of a deterministic predicate, 50 ms: CPU time, or time on the wall
    /// if its runner may wait.
    pub deterministic_budget: Duration,
    /// For one attempt of a semantic predicate, 2 s, likewise.
    pub semantic_budget: Duration,
    /// Tokens of one attempt of a semantic predicate, 1024.
    pub semantic_token_cap: u64,
    /// Whether deterministic predicates run twice, to see that they are.
    pub replay_deterministic: bool,
    /// How many run at once.
    pub scheduler: SchedulerConfig,
}

/// How many predicates run at once, and what each slice may use in all. Lanes below 1
/// act as 1; an envelope of zero is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerConfig {
    /// Deterministic predicates at once, 16.
    pub max_deterministic_lanes: usize,
    /// Semantic predicates at once, 2.
    pub max_semantic_lanes: usize,
    /// Deterministic predicates of one slice at once, without a limit.
    pub max_deterministic_lanes_per_slice: usize,
    /// Semantic predicates of one slice at once, 1.
    pub max_semantic_lanes_per_slice: usize,
    /// For all deterministic predicates of a slice together, 5 s.
    pub slice_deterministic_envelope: Duration,
    /// For all semantic predicates of a slice together, 20 s.
    pub slice_semantic_envelope: Duration,
}

impl Default for ExecutorConfig {
    fn default() -> Self {
        Self {
            deterministic_budget: Duration::from_millis(50),
            semantic_budget: Duration::from_secs(2),
            semantic_token_cap: 1024,
            replay_deterministic: true,
            scheduler: SchedulerConfig::default(),
        }
    }
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        Self {
            max_deterministic_lanes: 16,
            max_semantic_lanes: 2,
            max_deterministic_lanes_per_slice: usize::MAX,
            max_semantic_lanes_per_slice: 1,
            slice_deterministic_envelope: Duration::from_secs(5),
            slice_semantic_envelope: Duration::from_secs(20),
        }
    }
}
