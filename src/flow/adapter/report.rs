//! What the evaluation of a file came to. (flow.md, section 10.2.)

use serde::{Serialize, Serializer};

use crate::diagnostic::Severity;
use crate::flow::discovery::{DiscoveryDiagnostic, Place};
use crate::flow::executor::{Record, Skip};

/// What the predicates of a file came to, as
/// `{"ok","status","diagnostics","records","skipped"}`.
#[derive(Clone, Debug, Serialize)]
pub struct EvaluationReport {
    /// Whether something was evaluated, all that was asked for, and nothing blocks.
    pub ok: bool,
    /// The same with the reason.
    pub status: EvaluationStatus,
    /// What is to be said of the file, the options, and what has no record.
    pub diagnostics: Vec<EvaluationDiagnostic>,
    /// What ran, sorted by hash.
    pub records: Vec<Record>,
    /// What did not, in the order of the source.
    pub skipped: Vec<Skip>,
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationStatus {
    /// Nothing blocks.
    Pass,
    /// A predicate blocks, or one that was asked for is not there.
    Fail,
    /// The file, or a declaration in it, is in no order: nothing was evaluated.
    DiscoveryError,
    /// No predicate was evaluated.
    NothingEvaluated,
}

/// One remark. Written as `{"severity","code","message","span":null|{"start","end"}}`, or
/// as `{"severity","code","predicate","message"}` if it is about what a predicate came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationDiagnostic {
    /// An error keeps the report from being ok.
    pub severity: Severity,
    /// A stable code.
    pub code: String,
    /// For people.
    pub message: String,
    /// The predicate that it is about, after the evaluation.
    pub predicate: Option<String>,
    /// The function that it is about, before it.
    pub place: Option<Place>,
}

impl EvaluationDiagnostic {
    pub(super) fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: code.into(),
            message: message.into(),
            predicate: None,
            place: None,
        }
    }

    /// The same about a predicate.
    pub(super) fn of(mut self, predicate: &str) -> Self {
        self.predicate = Some(predicate.into());
        self
    }

    /// What discovery says.
    pub(super) fn found(diagnostic: &DiscoveryDiagnostic) -> Self {
        Self {
            place: diagnostic.place,
            ..Self::new(diagnostic.severity, diagnostic.code(), &*diagnostic.message)
        }
    }
}

impl Serialize for EvaluationDiagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Shape<'d> {
            OfPredicate {
                severity: &'static str,
                code: &'d str,
                predicate: &'d str,
                message: &'d str,
            },
            OfSource {
                severity: &'static str,
                code: &'d str,
                message: &'d str,
                span: Option<Place>,
            },
        }
        let (severity, code) = (self.severity.name(), &*self.code);
        let message = &*self.message;
        match &self.predicate {
            Some(predicate) => Shape::OfPredicate {
                severity,
                code,
                predicate,
                message,
            },
            None => Shape::OfSource {
                severity,
                code,
                message,
                span: self.place,
            },
        }
        .serialize(serializer)
    }
}
