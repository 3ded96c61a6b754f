//! Which atoms were made for one goal. (flow.md, section 1.3.)

use std::collections::BTreeSet;
use std::collections::HashSet;

use crate::flow::model::ids::AtomId;
use crate::flow::model::intent::{Intent, IntentError, TranscriptSpan, confidence};

/// How sure an intent is that nothing else is known of.
const CONFIDENCE: f32 = 0.75;

/// An atom, seen in a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The atom.
    pub atom: AtomId,
    /// The transcript.
    pub transcript_ref: String,
    /// The run of the agent.
    pub agent_run_id: String,
    /// Where in the transcript.
    pub event_index: u64,
    /// The call of a tool that made it.
    pub tool_call_id: Option<String>,
    /// What it may have been made for.
    pub goal_hint: Option<String>,
}

/// What a classifier says of the place between two observations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Boundary {
    /// Something else begins.
    Split,
    /// It goes on.
    Merge {
        /// How sure that is, from 0 to 1. It lowers the confidence of the intent and
        /// never raises it.
        confidence: f32,
    },
}

/// Says whether an observation goes on with what was before it, where the distance in
/// the transcript does not.
pub trait BoundaryClassifier {
    /// Whether `next` goes on with `intent`, the observations of one run so far.
    fn classify(&mut self, intent: &[Observation], next: &Observation) -> Boundary;
}

/// How observations are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clustering {
    /// The largest difference of event indexes that goes on with an intent by itself.
    /// Default: 8.
    pub max_event_gap: u64,
    /// How many times a classifier may be asked. Default: 0.
    pub semantic_boundary_budget: u64,
}

impl Default for Clustering {
    fn default() -> Self {
        Self {
            max_event_gap: 8,
            semantic_boundary_budget: 0,
        }
    }
}

impl Clustering {
    /// Puts observations together to intents, ordered by transcript, run and event. An
    /// atom that was seen several times for one intent is in it once.
    ///
    /// # Errors
    /// [`IntentError::Confidence`] if the classifier is sure of what is no confidence.
    pub fn cluster(
        &self,
        mut observations: Vec<Observation>,
        mut classifier: Option<&mut dyn BoundaryClassifier>,
    ) -> Result<Vec<Intent>, IntentError> {
        observations.sort_by(|one, other| key(one).cmp(&key(other)));
        let mut budget = self.semantic_boundary_budget;
        let mut intents = Vec::new();
        let (mut start, mut sure) = (0, CONFIDENCE);
        for at in 1..=observations.len() {
            let (before, next) = (&observations[start..at], observations.get(at));
            let boundary = match (next, before) {
                (Some(next), [.., last]) if same_run(last, next) => {
                    if next.event_index - last.event_index <= self.max_event_gap {
                        continue;
                    }
                    match classifier.as_deref_mut().filter(|_| budget > 0) {
                        Some(classifier) => {
                            budget -= 1;
                            classifier.classify(before, next)
                        }
                        None => Boundary::Split,
                    }
                }
                _ => Boundary::Split,
            };
            if let Boundary::Merge { confidence: merged } = boundary {
                sure = confidence(merged)?.min(sure);
            } else {
                intents.push(intent(before, sure)?);
                (start, sure) = (at, CONFIDENCE);
            }
        }
        Ok(intents)
    }
}

fn key(observation: &Observation) -> (&str, &str, u64, &AtomId) {
    (
        &observation.transcript_ref,
        &observation.agent_run_id,
        observation.event_index,
        &observation.atom,
    )
}

fn same_run(one: &Observation, other: &Observation) -> bool {
    one.transcript_ref == other.transcript_ref && one.agent_run_id == other.agent_run_id
}

fn intent(observations: &[Observation], confidence: f32) -> Result<Intent, IntentError> {
    let [first, ..] = observations else {
        return Err(IntentError::NoAtoms);
    };
    let span = TranscriptSpan {
        transcript_ref: first.transcript_ref.clone(),
        start_event_index: first.event_index,
        end_event_index: observations
            .last()
            .map_or(first.event_index, |last| last.event_index),
    };
    let mut seen = HashSet::new();
    let atoms = observations.iter().map(|observation| observation.atom);
    let atoms = atoms.filter(|atom| seen.insert(*atom)).collect();
    let goal = goal(observations, &first.agent_run_id, &span);
    Intent::new(atoms, goal, span, confidence)
}

/// The texts of one kind that are not blank, each once, in order.
fn texts<'o>(
    observations: &'o [Observation],
    of: impl Fn(&'o Observation) -> &'o Option<String>,
) -> BTreeSet<&'o str> {
    let texts = observations.iter().filter_map(|seen| of(seen).as_deref());
    texts
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect()
}

fn goal(observations: &[Observation], run: &str, span: &TranscriptSpan) -> String {
    let hints = texts(observations, |seen| &seen.goal_hint);
    if !hints.is_empty() {
        return hints.into_iter().collect::<Vec<_>>().join("; ");
    }
    let calls = texts(observations, |seen| &seen.tool_call_id);
    match (calls.first(), calls.len()) {
        (Some(call), 1) => format!("tool call {call}"),
        _ => format!(
            "agent run {run} in {}, events {} to {}",
            span.transcript_ref, span.start_event_index, span.end_event_index
        ),
    }
}
