//! Acceptance rows of Flow, one test for each. (flow.md, section 13.)

use probity::flow::model::{
    AtomBody, AtomId, FlowSlice, Intent, Provenance, TextOp, TranscriptSpan,
};

fn atom(byte: u8) -> AtomId {
    AtomId::from_bytes([byte; 32])
}

#[test]
fn row_08_flow_slice_id() {
    let slice = FlowSlice::new(vec![atom(1), atom(2)]).expect("it has atoms");
    assert_eq!(
        slice.id().to_string(),
        "8a628b72f26fc461a16f7c0876de5d136a99e5a95e29f763b2a7d64dfb1fdee7"
    );
}

#[test]
fn row_09_atom_id() {
    let body = AtomBody {
        ops: vec![TextOp::insert(0, "hello")],
        parents: Vec::new(),
        provenance: Provenance {
            principal: "user:alice".into(),
            persona: "ship_captain".into(),
            agent_run_id: "run-1".into(),
            tool_call_id: None,
            trace_id: "trace-1".into(),
            transcript_ref: "tr-1".into(),
            timestamp: "2026-04-26T00:00:00Z".parse().expect("it is a time"),
        },
        inverse_of: None,
    };
    assert_eq!(body.canonical().expect("it is small").len(), 115);
    assert_eq!(
        body.id().expect("it is small").to_string(),
        "fc7ded75c78719e2b46eb976b05178fb41c44ee84760dae303cb85bd8f2ddccb"
    );
}

#[test]
fn row_10_intent_id() {
    let span = TranscriptSpan {
        transcript_ref: "tr-1".into(),
        start_event_index: 1,
        end_event_index: 3,
    };
    let intent = Intent::new(vec![atom(1)], "goal", span, 0.75).expect("it has an atom");
    assert_eq!(
        intent.id().to_string(),
        "389c67c90b8e230b4413a0ca097a52c7b06d480d680f30f412f8a66a30554942"
    );
}
