//! Predicates that assert nothing: their value does not depend on the world,
//! and a gate must not be passed by a tautology (ADR-0004).

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::syntax::{Sink, clip};

use super::cases::{Cases, Undecided};
use super::entry::Options;
use super::possible::Possible;
use super::typed::{TBool, TBoolKind, TInt, TIntKind, TStrKind};
use super::variable::{Atom, IntFact, Variable};

/// Variables that are compared each with each other; more go through a table.
const FEW: usize = 16;

/// Refuses a vacuous predicate and warns about parts that are constant.
pub(super) fn examine<'a>(
    root: &TBool<'a>,
    source: &str,
    arena: &'a Bump,
    options: Options,
    sink: &mut Sink,
) {
    let mut facts = Facts {
        variables: BumpVec::new_in(arena),
        fixed: false,
        unknown: None,
    };
    facts.collect(root);
    let repeated = facts.are_repeated();
    // Where no atom is fixed and no variable comes twice, every part can come
    // out either way.
    if !facts.fixed && !repeated {
        return;
    }
    let mut examiner = Examiner {
        source,
        cases: repeated.then(Cases::new),
        sink,
    };
    let verdict = match facts.unknown {
        Some(part) => Err(Undecided).map_err(|undecided| (undecided, part)),
        None => examiner
            .constant(root)
            .map_err(|undecided| (undecided, root)),
    };
    let diagnostic = match verdict {
        Ok(None) => {
            examiner.report_parts(root);
            return;
        }
        Ok(Some(value)) => examiner.vacuous(root, value),
        Err((Undecided, part)) => Diagnostic::error(
            Code::VacuityUndecided,
            part.span,
            "whether this depends on the world takes too long to find out",
        )
        .help("split it into several claims"),
    };
    let severity = if options.allow_vacuous {
        Severity::Warning
    } else {
        Severity::Error
    };
    examiner.sink.push(Diagnostic {
        severity,
        ..diagnostic
    });
}

/// What the atoms look at.
struct Facts<'a, 't> {
    variables: BumpVec<'a, Variable<'a>>,
    /// True if an atom comes out one way only.
    fixed: bool,
    /// An atom that does, nobody knows which.
    unknown: Option<&'t TBool<'a>>,
}

impl<'a, 't> Facts<'a, 't> {
    fn collect(&mut self, node: &'t TBool<'a>) {
        match node.kind {
            TBoolKind::Not(inner) => self.collect(inner),
            TBoolKind::And(operands) | TBoolKind::Or(operands) => {
                operands.iter().for_each(|operand| self.collect(operand));
            }
            TBoolKind::EqualBool { left, right, .. } => {
                self.collect(left);
                self.collect(right);
            }
            _ => match Atom::of(node) {
                Some(atom @ Atom::Test(variable, ..)) => {
                    self.fixed |= atom.possible().constant().is_some();
                    self.variables.push(variable);
                }
                Some(Atom::Fixed(possible)) => {
                    self.fixed = true;
                    if possible.constant().is_none() {
                        self.unknown = Some(node);
                    }
                }
                None => {}
            },
        }
    }

    fn are_repeated(&self) -> bool {
        if self.variables.len() <= FEW {
            return self
                .variables
                .iter()
                .enumerate()
                .any(|(index, variable)| self.variables[..index].contains(variable));
        }
        let mut seen =
            HashSet::with_capacity_and_hasher(self.variables.len(), RandomState::default());
        !self.variables.iter().all(|variable| seen.insert(variable))
    }
}

struct Examiner<'s, 'a> {
    source: &'s str,
    /// There if a variable comes more than once.
    cases: Option<Cases<'a>>,
    sink: &'s mut Sink,
}

impl<'a> Examiner<'_, 'a> {
    fn text(&self, node: &TBool<'a>) -> String {
        clip(&self.source[node.span.range()])
    }

    /// The one value of a part.
    fn constant(&mut self, node: &TBool<'a>) -> Result<Option<bool>, Undecided> {
        if let Some(value) = Possible::of(node).constant() {
            return Ok(Some(value));
        }
        match &mut self.cases {
            Some(cases) if Atom::of(node).is_none() => cases.constant(node),
            _ => Ok(None),
        }
    }

    fn vacuous(&self, root: &TBool<'a>, value: bool) -> Diagnostic {
        let (message, help) = if names_primitive(root) {
            (
                format!(
                    "`{}` is always {value}: {}",
                    self.text(root),
                    self.reason(root, value)
                ),
                "claim something that could come out the other way",
            )
        } else {
            (
                format!("this asserts nothing: it names no check and is always {value}"),
                "name a check: `grep`, `exists`, `test` or `run`",
            )
        };
        Diagnostic::error(Code::Vacuous, root.span, message).help(help)
    }

    /// Reports the outermost parts below a node that are constant.
    fn report_parts(&mut self, node: &TBool<'a>) {
        match node.kind {
            TBoolKind::Not(inner) => self.report_part(inner),
            TBoolKind::And(operands) | TBoolKind::Or(operands) => {
                for operand in operands {
                    self.report_part(operand);
                }
            }
            TBoolKind::EqualBool { left, right, .. } => {
                for side in [left, right] {
                    // `… == true` is wordy, not weak.
                    if !matches!(side.kind, TBoolKind::Const(_)) {
                        self.report_part(side);
                    }
                }
            }
            _ => {}
        }
    }

    fn report_part(&mut self, node: &TBool<'a>) {
        // Advice only: what takes too long to find out is left alone.
        match self.constant(node) {
            Ok(Some(value)) => {
                let text = self.text(node);
                let message = match node.kind {
                    TBoolKind::Const(_) => format!("`{text}` is a constant"),
                    _ => format!("`{text}` is always {value}: {}", self.reason(node, value)),
                };
                self.sink.push(
                    Diagnostic::warning(Code::ConstantPart, node.span, message)
                        .help("remove it, or claim something that could come out the other way"),
                );
            }
            Ok(None) => self.report_parts(node),
            Err(Undecided) => {}
        }
    }

    /// Why a part is constant.
    fn reason(&self, node: &TBool<'a>, value: bool) -> String {
        let operands = match node.kind {
            TBoolKind::Not(inner) => return self.reason(inner, !value),
            TBoolKind::And(operands) | TBoolKind::Or(operands) => operands,
            TBoolKind::CompareInt(_, left, right) => return int_reason(&left, &right).to_owned(),
            TBoolKind::Substring(_, subject, "")
                if matches!(subject.kind, TStrKind::Output(..)) =>
            {
                return "every string has the empty one in it".to_owned();
            }
            TBoolKind::EqualStr { left, right, .. }
                if matches!(left.kind, TStrKind::Output(..))
                    && matches!(right.kind, TStrKind::Output(..)) =>
            {
                return "both sides are the same".to_owned();
            }
            TBoolKind::EqualBool { .. } => {
                return "both sides always come out in the same relation".to_owned();
            }
            _ => return "nothing in the world decides it".to_owned(),
        };
        // One operand alone may settle it.
        let decisive = matches!(node.kind, TBoolKind::Or(_)) == value;
        let settled = operands
            .iter()
            .find(|operand| Possible::of(operand).constant() == Some(value));
        match settled {
            Some(operand) if decisive => {
                format!("`{}` alone settles it", self.text(operand))
            }
            Some(_)
                if operands
                    .iter()
                    .all(|o| Possible::of(o).constant() == Some(value)) =>
            {
                "every part of it is".to_owned()
            }
            _ if value => "its parts cover every case".to_owned(),
            _ => "its parts exclude each other".to_owned(),
        }
    }
}

fn int_reason(left: &TInt<'_>, right: &TInt<'_>) -> &'static str {
    match (IntFact::of(left), IntFact::of(right)) {
        (Ok(_), Ok(_)) => "both sides are the same",
        (Ok(IntFact::Exit(_)), _) | (_, Ok(IntFact::Exit(_))) => "an exit status has 32 bits",
        (Ok(_), Err(1..)) | (Err(1..), Ok(_)) => "no count is so large",
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => "a count is never negative",
        (Err(_), Err(_)) => "nothing in the world decides it",
    }
}

fn names_primitive(node: &TBool<'_>) -> bool {
    let int = |term: &TInt<'_>| !matches!(term.kind, TIntKind::Const(_));
    match &node.kind {
        TBoolKind::Const(_) => false,
        TBoolKind::Not(inner) => names_primitive(inner),
        TBoolKind::And(operands) | TBoolKind::Or(operands) => operands.iter().any(names_primitive),
        TBoolKind::EqualBool { left, right, .. } => names_primitive(left) || names_primitive(right),
        TBoolKind::Exists(_) | TBoolKind::Passed(_) => true,
        TBoolKind::CompareInt(_, left, right) => int(left) || int(right),
        TBoolKind::EqualStr { left, right, .. } => [left, right]
            .iter()
            .any(|side| matches!(side.kind, TStrKind::Output(..))),
        TBoolKind::Substring(_, subject, _) | TBoolKind::Matches(subject, _) => {
            matches!(subject.kind, TStrKind::Output(..))
        }
    }
}
