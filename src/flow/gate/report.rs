//! What a run of the gate came to: plain data that every form of report is made from.
//! (flow.md, sections 4.7, 5 and 10.2.)

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::digest::Digest;
use crate::flow::ceiling::{CeilingLevel, CeilingOutcome};
use crate::flow::discovery::DiscoveryDiagnostic;
use crate::flow::model::Approval;
use crate::flow::result::{InvariantResult, Verdict};
use crate::harn::{FallbackPolicy, Mode};

/// A run of the gate.
#[derive(Clone, Debug)]
pub struct GateReport {
    /// What was judged.
    pub slice: GateSlice,
    /// The directories that it touches, relative to the root; `.` for the root.
    pub touched: Vec<Box<str>>,
    /// What discovery had to say.
    pub diagnostics: Vec<GateDiagnostic>,
    /// Whether there were too many predicates. From a hard ceiling on none is evaluated.
    pub ceiling: CeilingOutcome,
    /// Who has to approve, if the soft ceiling wants it, and whether somebody did.
    pub ceiling_approval: Option<GateApproval>,
    /// One for each predicate that was evaluated or refused, in the order of evaluation.
    pub records: Vec<GateRecord>,
    /// Predicates that were left out, and why.
    pub skipped: Vec<GateSkip>,
    /// The approvals that came with the slice.
    pub approvals: Vec<Approval>,
    /// Wall-clock time of everything, in nanoseconds.
    pub wall_ns: u64,
    /// True if a slice without files may pass.
    pub allow_empty: bool,
    /// True if a signal ended the run before its end.
    pub interrupted: bool,
}

/// The change that was judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateSlice {
    /// Its id, where it has one.
    pub id: Option<Box<str>>,
    /// The revision before it.
    pub base: Option<Box<str>>,
    /// The revision with it.
    pub head: Option<Box<str>>,
    /// How many files it changes.
    pub files: usize,
}

/// A remark on a predicate file, or on a file of the slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDiagnostic {
    /// The file, relative to the root.
    pub path: Box<str>,
    /// The remark.
    pub diagnostic: DiscoveryDiagnostic,
}

/// Where a predicate is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatePlace {
    /// The file, relative to the root.
    pub path: Box<str>,
    /// The line, from 1 on.
    pub line: usize,
}

/// An approval that a verdict asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateApproval {
    /// Who has to approve, as people read it.
    pub wanted: Box<str>,
    /// Who did.
    pub given_by: Option<Box<str>>,
}

/// What a predicate came to.
#[derive(Clone, Debug)]
pub struct GateRecord {
    /// `name` at the root, else `directory::name`.
    pub qualified_name: Box<str>,
    /// The name of the function.
    pub logical_name: Box<str>,
    /// The predicate hash. (flow.md, section 2.5.)
    pub hash: Digest,
    /// The closure hash, if the file can be compiled.
    pub closure_hash: Option<Digest>,
    /// How it is evaluated.
    pub mode: Mode,
    /// The hash of its fallback.
    pub fallback_hash: Option<Digest>,
    /// What the fallback is worth.
    pub fallback_policy: FallbackPolicy,
    /// Where it is declared.
    pub declared: GatePlace,
    /// What it came to by itself, with its fallback and before composition.
    pub own: InvariantResult,
    /// What it comes to together with those of its ancestors.
    pub result: InvariantResult,
    /// The qualified name of the predicate that `result` is of; its own if nothing above
    /// it is as strict.
    pub selected: Box<str>,
    /// Whether it counts for the verdict.
    pub enforced: bool,
    /// Who gave the approval that `result` asks for. What needs one and has none refuses
    /// the slice.
    pub approved_by: Option<Box<str>>,
    /// What the predicate returned, before it was read.
    pub raw: Option<Json>,
    /// Attempts: 2 if it was evaluated again to see that it comes to the same.
    pub attempts: u32,
    /// The hash of the first result, 64 hex digits. (flow.md, section 3.2.)
    pub first_result_hash: Option<Box<str>>,
    /// The hash of the second.
    pub second_result_hash: Option<Box<str>>,
    /// What the judge was asked. (flow.md, section 4.3.)
    pub semantic_replay_audit: Option<Json>,
    /// What it cost.
    pub cost: GateCost,
}

/// What predicates cost, all attempts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCost {
    /// Fuel.
    pub fuel: u64,
    /// CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Wall-clock time, waiting for a lane included, in nanoseconds.
    pub elapsed_ns: u64,
    /// Most bytes of values that were alive at a time.
    pub memory: u64,
}

/// A predicate that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateSkip {
    /// Its qualified name.
    pub qualified_name: Box<str>,
    /// The predicate hash.
    pub hash: Digest,
    /// How it would be evaluated.
    pub mode: Mode,
    /// Where it is declared.
    pub declared: GatePlace,
    /// Why.
    pub reason: Box<str>,
}

/// What the gate says of a slice. The later ones are stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateOutcome {
    /// It may ship.
    Allow,
    /// It may ship, and a person should look.
    Warn,
    /// It may ship once it is approved.
    RequireApproval,
    /// It must not ship.
    Block,
}

impl GateOutcome {
    /// The name that reports carry.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::RequireApproval => "require_approval",
            Self::Block => "block",
        }
    }
}

impl From<&Verdict> for GateOutcome {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Allow => Self::Allow,
            Verdict::Warn { .. } => Self::Warn,
            Verdict::RequireApproval { .. } => Self::RequireApproval,
            Verdict::Block { .. } => Self::Block,
        }
    }
}

impl GateRecord {
    /// What it means for the slice: nothing if it is not enforced, a warning if it wants
    /// an approval that was given, else its verdict.
    #[must_use]
    pub fn outcome(&self) -> GateOutcome {
        match GateOutcome::from(&self.result.verdict) {
            _ if !self.enforced => GateOutcome::Allow,
            GateOutcome::RequireApproval if self.approved_by.is_some() => GateOutcome::Warn,
            outcome => outcome,
        }
    }

    /// True if its result is its own.
    #[must_use]
    pub fn is_selected(&self) -> bool {
        self.selected == self.qualified_name
    }

    /// The places that it names. (flow.md, section 10.4.)
    #[must_use]
    pub fn findings(&self) -> Vec<GateFinding<'_>> {
        let findings = self.raw.as_ref().and_then(|raw| raw.get("findings"));
        let findings = findings.and_then(Json::as_array);
        let findings = findings.into_iter().flatten();
        findings.filter_map(GateFinding::read).collect()
    }
}

/// A place that a predicate names, or only what is wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateFinding<'r> {
    /// The file, as the predicate gives it.
    pub path: Option<&'r str>,
    /// The line, from 1 on.
    pub line: Option<u64>,
    /// What is wrong there.
    pub message: Option<&'r str>,
}

impl<'r> GateFinding<'r> {
    /// A finding is a text, or an object with `path`, `line` or `start_line`, and one of
    /// `message`, `reason` and `text`. What has neither place nor text is none.
    fn read(finding: &'r Json) -> Option<Self> {
        if let Some(message) = finding.as_str() {
            return Some(Self {
                path: None,
                line: None,
                message: Some(message),
            });
        }
        let text = |key: &str| finding.get(key).and_then(Json::as_str);
        let number = |key: &str| finding.get(key).and_then(Json::as_u64);
        let path = text("path").filter(|path| !path.is_empty());
        let line = number("line").or_else(|| number("start_line"));
        let messages = ["message", "reason", "text"].into_iter().filter_map(text);
        let message = messages.into_iter().find(|text| !text.trim().is_empty());
        (path.is_some() || message.is_some()).then_some(Self {
            path,
            line: line.filter(|line| *line > 0 && path.is_some()),
            message,
        })
    }
}

impl GateReport {
    /// The verdict on the slice: the strictest of all that is enforced. An error of
    /// discovery and the hard ceiling block, whatever the predicates say.
    #[must_use]
    pub fn outcome(&self) -> GateOutcome {
        let records = self.records.iter().map(GateRecord::outcome);
        let strictest = records.max().unwrap_or(GateOutcome::Allow);
        let discovery = match self.has_errors() {
            true => GateOutcome::Block,
            false => GateOutcome::Allow,
        };
        strictest.max(discovery).max(self.ceiling_outcome())
    }

    /// The exit status. 1: a predicate or the ceiling blocks, or an approval is wanted
    /// and not given. 3: nothing blocks, but a predicate file has an error, or nothing
    /// was judged. 130: interrupted. 0: it may ship.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        let records = self.records.iter().map(GateRecord::outcome);
        let refused = records
            .chain([self.ceiling_outcome()])
            .any(|outcome| outcome >= GateOutcome::RequireApproval);
        if self.interrupted {
            130
        } else if refused {
            1
        } else if self.has_errors() || !self.judged() {
            3
        } else {
            0
        }
    }

    /// True if there is a file, and a predicate that counts for the verdict. If not, that
    /// nothing blocks says nothing.
    #[must_use]
    pub fn judged(&self) -> bool {
        let is_there = self.slice.files > 0 || self.allow_empty;
        is_there && self.records.iter().any(|record| record.enforced)
    }

    /// True if a predicate file has an error, or a file could not be judged.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|it| it.diagnostic.is_error())
    }

    /// What the ceiling means for the slice.
    #[must_use]
    pub fn ceiling_outcome(&self) -> GateOutcome {
        let CeilingOutcome::Exceeded(violation) = &self.ceiling else {
            return GateOutcome::Allow;
        };
        let approval = self.ceiling_approval.as_ref();
        let is_approved = approval.is_some_and(|approval| approval.given_by.is_some());
        match violation.level {
            CeilingLevel::Block => GateOutcome::Block,
            CeilingLevel::RequireApproval if is_approved => GateOutcome::Warn,
            CeilingLevel::RequireApproval => GateOutcome::RequireApproval,
        }
    }

    /// What all predicates cost together; of memory the most that one took.
    #[must_use]
    pub fn cost(&self) -> GateCost {
        let costs = self.records.iter().map(|record| record.cost);
        costs.fold(GateCost::default(), |sum, cost| GateCost {
            fuel: sum.fuel.saturating_add(cost.fuel),
            cpu_ns: sum.cpu_ns.saturating_add(cost.cpu_ns),
            elapsed_ns: sum.elapsed_ns.saturating_add(cost.elapsed_ns),
            memory: sum.memory.max(cost.memory),
        })
    }

    /// What people have to know of, the strictest first: each result once, with all
    /// records that it counts for.
    #[must_use]
    pub fn entries(&self) -> Vec<GateEntry<'_>> {
        let records = self.records.iter();
        let by_name: HashMap<&str, &GateRecord> = records
            .map(|record| (&*record.qualified_name, record))
            .collect();
        let mut position: HashMap<&str, usize> = HashMap::new();
        let mut entries: Vec<GateEntry<'_>> = Vec::new();
        for record in &self.records {
            let selected = by_name.get(&*record.selected);
            let source = selected.copied().unwrap_or(record);
            let at = *position.entry(&record.selected).or_insert_with(|| {
                entries.push(GateEntry {
                    source,
                    result: &record.result,
                    counts_for: Vec::new(),
                });
                entries.len() - 1
            });
            if let Some(entry) = entries.get_mut(at) {
                entry.counts_for.push(record);
            }
        }
        // Equally strict ones stay in the order of evaluation.
        entries.sort_by_key(|entry| {
            let strictness = entry.result.verdict.strictness();
            std::cmp::Reverse((entry.outcome(), strictness))
        });
        entries
    }
}

/// A result and the predicates that it counts for.
#[derive(Clone, Debug)]
pub struct GateEntry<'r> {
    /// The predicate whose result it is.
    pub source: &'r GateRecord,
    /// The result.
    pub result: &'r InvariantResult,
    /// All records with this result, `source` among them unless something above it is
    /// stricter.
    pub counts_for: Vec<&'r GateRecord>,
}

impl GateEntry<'_> {
    /// What it means for the slice: the strictest of what it means for each record.
    #[must_use]
    pub fn outcome(&self) -> GateOutcome {
        let outcomes = self.counts_for.iter().map(|record| record.outcome());
        outcomes.max().unwrap_or(GateOutcome::Allow)
    }

    /// True if any of the records counts for the verdict.
    #[must_use]
    pub fn enforced(&self) -> bool {
        self.counts_for.iter().any(|record| record.enforced)
    }
}
