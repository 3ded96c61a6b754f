//! Intents, and which observations come to one.

use proptest::prelude::*;

use probity::flow::model::{
    AtomId, Boundary, BoundaryClassifier, Clustering, Intent, IntentError, Observation,
    SealedIntent, TranscriptSpan,
};

fn atom(number: u64) -> AtomId {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&number.to_be_bytes());
    AtomId::from_bytes(bytes)
}

fn seen(transcript: &str, run: &str, event_index: u64) -> Observation {
    Observation {
        atom: atom(event_index),
        transcript_ref: transcript.into(),
        agent_run_id: run.into(),
        event_index,
        tool_call_id: None,
        goal_hint: None,
    }
}

/// Transcript, first and last event, atoms.
fn shape(intents: &[Intent]) -> Vec<(String, u64, u64, usize)> {
    let shape = |intent: &Intent| {
        let span = intent.origin_transcript_span();
        let (start, end) = (span.start_event_index, span.end_event_index);
        (
            span.transcript_ref.clone(),
            start,
            end,
            intent.atoms().len(),
        )
    };
    intents.iter().map(shape).collect()
}

fn cluster(observations: Vec<Observation>) -> Vec<Intent> {
    let clusters = Clustering::default().cluster(observations, None);
    clusters.expect("nobody is asked")
}

/// Answers always the same, and counts how often it is asked.
struct Always(Boundary, Vec<(usize, u64)>);

impl BoundaryClassifier for Always {
    fn classify(&mut self, intent: &[Observation], next: &Observation) -> Boundary {
        self.1.push((intent.len(), next.event_index));
        self.0
    }
}

#[test]
fn runs_and_gaps_part_intents() {
    let intents = cluster(vec![
        seen("t2", "a", 1),
        seen("t1", "b", 10),
        seen("t1", "a", 20),
        seen("t1", "a", 3),
        seen("t1", "a", 11),
        seen("t1", "b", 4),
    ]);
    let wanted = [
        ("t1".to_owned(), 3, 11, 2),
        // 9 events on.
        ("t1".to_owned(), 20, 20, 1),
        ("t1".to_owned(), 4, 10, 2),
        ("t2".to_owned(), 1, 1, 1),
    ];
    assert_eq!(shape(&intents), wanted);
    assert!(intents.iter().all(|intent| intent.confidence() == 0.75));
    assert!(cluster(Vec::new()).is_empty());
}

#[test]
fn a_classifier_is_asked_while_the_budget_lasts() {
    let clustering = Clustering {
        max_event_gap: 1,
        semantic_boundary_budget: 2,
    };
    let events = || [0, 1, 10, 20, 30].map(|at| seen("t", "a", at)).to_vec();
    let mut sure = Always(Boundary::Merge { confidence: 0.9 }, Vec::new());
    let intents = clustering
        .cluster(events(), Some(&mut sure))
        .expect("it is a confidence");
    let wanted = [("t".to_owned(), 0, 20, 4), ("t".to_owned(), 30, 30, 1)];
    assert_eq!(shape(&intents), wanted);
    assert_eq!(sure.1, [(2, 10), (3, 20)]);
    // It is only ever lowered.
    assert_eq!(intents[0].confidence(), 0.75);

    let mut unsure = Always(Boundary::Merge { confidence: 0.5 }, Vec::new());
    let intents = clustering
        .cluster(events(), Some(&mut unsure))
        .expect("it is a confidence");
    let sure: Vec<f32> = intents.iter().map(Intent::confidence).collect();
    assert_eq!(sure, [0.5, 0.75]);

    let mut split = Always(Boundary::Split, Vec::new());
    let intents = clustering
        .cluster(events(), Some(&mut split))
        .expect("nothing is merged");
    assert_eq!(intents.len(), 4);
    assert_eq!(split.1.len(), 2, "a split uses the budget too");

    let mut default = Always(Boundary::Merge { confidence: 0.9 }, Vec::new());
    let all = Clustering::default().cluster(events(), Some(&mut default));
    assert_eq!(all.expect("nobody is asked").len(), 4);
    assert!(default.1.is_empty(), "the default budget is 0");

    for wrong in [1.5, -0.1, f32::NAN, f32::INFINITY] {
        let mut wrong = Always(Boundary::Merge { confidence: wrong }, Vec::new());
        let error = clustering.cluster(events(), Some(&mut wrong));
        assert!(matches!(error, Err(IntentError::Confidence(_))));
    }
}

#[test]
fn goals_come_from_hints_then_from_calls_then_from_runs() {
    let with = |at, hint: Option<&str>, call: Option<&str>| Observation {
        goal_hint: hint.map(Into::into),
        tool_call_id: call.map(Into::into),
        ..seen("tr-1", "run-1", at)
    };
    let goal = |observations| cluster(observations)[0].goal_description().to_owned();
    let hints = vec![
        with(1, Some("write tests"), Some("c1")),
        with(2, Some("  "), None),
        with(3, Some("fix it"), None),
        with(4, Some("write tests"), None),
    ];
    assert_eq!(goal(hints), "fix it; write tests");
    let calls = vec![with(1, None, Some("c1")), with(2, Some(""), Some("c1"))];
    assert_eq!(goal(calls), "tool call c1");
    let runs = vec![with(1, None, Some("c1")), with(2, None, Some("c2"))];
    assert_eq!(goal(runs), "agent run run-1 in tr-1, events 1 to 2");
}

#[test]
fn an_atom_that_was_seen_twice_is_in_an_intent_once() {
    let mut again = seen("t", "a", 2);
    again.atom = atom(1);
    let intents = cluster(vec![again, seen("t", "a", 1), seen("t", "a", 3)]);
    assert_eq!(intents[0].atoms(), [atom(1), atom(3)]);
    assert_eq!(intents[0].verify_id(), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_observations_does_not_count(
        events in prop::collection::vec((0..2_u8, 0..2_u8, 0..40_u64), 0..16)
            .prop_flat_map(|events| (Just(events.clone()), Just(events).prop_shuffle())),
    ) {
        let clusters = |events: Vec<(u8, u8, u64)>| {
            let events = events.into_iter();
            cluster(events.map(|(t, r, at)| seen(&t.to_string(), &r.to_string(), at)).collect())
        };
        let (one, other) = events;
        prop_assert_eq!(clusters(one), clusters(other));
    }

    #[test]
    fn intents_come_back_from_json(
        atoms in prop::collection::vec(any::<u64>(), 1..4),
        goal in ".{0,12}",
        confidence in 0.0..=1.0_f32,
        start in any::<u64>(),
    ) {
        let span = TranscriptSpan {
            transcript_ref: "tr".into(),
            start_event_index: start,
            end_event_index: start.saturating_add(3),
        };
        let atoms = atoms.into_iter().map(atom).collect();
        let intent = Intent::new(atoms, goal, span, confidence).expect("it means something");
        let json = serde_json::to_string(&intent).expect("intents are written");
        let read: Intent = serde_json::from_str(&json).expect("intents are read");
        prop_assert_eq!(&read, &intent);
        prop_assert_eq!(read.verify_id(), Ok(()));
        let sealed = intent.seal();
        prop_assert_eq!(serde_json::to_string(&sealed).expect("intents are written"), json);
        prop_assert_eq!(sealed.id(), read.id());
    }
}

#[test]
fn an_intent_has_this_json_and_others_are_refused() {
    let span = TranscriptSpan {
        transcript_ref: "tr-1".into(),
        start_event_index: 1,
        end_event_index: 3,
    };
    let mut intent = Intent::new(vec![atom(1)], "goal", span, 0.75).expect("it means something");
    intent.lower_confidence(0.9).expect("it is a confidence");
    assert_eq!(intent.confidence(), 0.75);
    intent.lower_confidence(0.1).expect("it is a confidence");
    assert!(intent.lower_confidence(f32::NAN).is_err());
    let json = serde_json::to_string(&intent).expect("intents are written");
    let (id, one) = (intent.id(), atom(1));
    assert_eq!(
        json,
        format!(
            r#"{{"id":"{id}","atoms":["{one}"],"goal_description":"goal","origin_transcript_span":{{"transcript_ref":"tr-1","start_event_index":1,"end_event_index":3}},"confidence":0.1}}"#
        )
    );
    for (from, to, said) in [
        (format!("[\"{one}\"]"), "[]", "at least one atom"),
        ("0.1".into(), "1.1", "from 0 to 1"),
        ("0.1".into(), "-0.5", "from 0 to 1"),
        (
            "\"end_event_index\":3".into(),
            "\"end_event_index\":0",
            "which is before",
        ),
        ("0.1".into(), "null", "invalid type"),
    ] {
        assert!(json.contains(&from), "{from}");
        let wrong = json.replace(&from, to);
        let error = serde_json::from_str::<SealedIntent>(&wrong)
            .expect_err(to)
            .to_string();
        assert!(error.contains(said), "{error}");
    }
    let forged = json.replace("goal\"", "gaol\"");
    let forged: Intent = serde_json::from_str(&forged).expect("intents are read");
    assert!(matches!(forged.verify_id(), Err(IntentError::Id { .. })));
}

#[test]
fn many_observations_of_one_run_are_one_intent() {
    let count = 100_000;
    let all = (0..count).rev().map(|at| seen("t", "a", at)).collect();
    let intents = cluster(all);
    assert_eq!(shape(&intents), [("t".to_owned(), 0, count - 1, 100_000)]);
}
