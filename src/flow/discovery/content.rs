//! What a predicate file holds, wherever it lies.

use std::collections::HashMap;

use crate::diagnostic::Severity;
use crate::flow::discovery::diagnostic::{DiagnosticKind, DiscoveryDiagnostic, Places};
use crate::harn::{FlawKind, HarnCode, Inspection, Mode, Problem};

/// A file that was inspected, and what is to be said of it.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) inspection: Inspection,
    /// D1 to D6 and what the compiler says.
    pub(super) diagnostics: Vec<DiscoveryDiagnostic>,
    /// Its predicates by mode and name; of those with the same name the first.
    names: HashMap<(Mode, Box<str>), usize>,
}

impl Content {
    pub(super) fn new(inspection: Inspection) -> Self {
        let mut names = HashMap::new();
        for (at, declaration) in inspection.declarations.iter().enumerate() {
            let key = (declaration.mode, declaration.name.clone());
            names.entry(key).or_insert(at);
        }
        Self {
            diagnostics: diagnostics(&inspection),
            inspection,
            names,
        }
    }

    /// The first predicate of a name, by its number.
    pub(super) fn named(&self, mode: Mode, name: &str) -> Option<usize> {
        self.names.get(&(mode, name.into())).copied()
    }
}

fn diagnostics(inspection: &Inspection) -> Vec<DiscoveryDiagnostic> {
    let mut places = Places::new(&inspection.source);
    if !inspection.is_parsed {
        // What the compiler says of what is left of the file means little.
        let all = inspection.problems.iter();
        let found = all.filter_map(|problem| syntax_error(problem, &mut places));
        return found.collect();
    }
    let mut found = Vec::new();
    for declaration in &inspection.declarations {
        if declaration.flaws.is_empty() {
            continue;
        }
        let place = places.of(declaration.function_span);
        found.extend(declaration.flaws.iter().map(|flaw| DiscoveryDiagnostic {
            severity: flaw.problem.severity,
            kind: match flaw.kind {
                FlawKind::BothModes => DiagnosticKind::BothModes,
                FlawKind::NoMode => DiagnosticKind::NoMode,
                FlawKind::NoArchivist => DiagnosticKind::NoArchivist,
                FlawKind::UnknownPolicy => DiagnosticKind::UnknownPolicy,
                FlawKind::NoFallback => DiagnosticKind::NoFallback,
                FlawKind::Capability => DiagnosticKind::Capability,
            },
            message: match &flaw.problem.help {
                Some(help) => format!("{}; {help}", flaw.problem.message).into(),
                None => flaw.problem.message.clone(),
            },
            place: Some(place),
            predicate: Some(declaration.name.clone()),
            problem: Some(flaw.problem.clone()),
        }));
    }
    found.extend(inspection.problems.iter().map(|problem| {
        let kind = match problem.severity {
            Severity::Error => DiagnosticKind::Load,
            Severity::Warning => DiagnosticKind::Doubtful,
        };
        DiscoveryDiagnostic {
            severity: problem.severity,
            kind,
            message: format!("{} ({})", problem.message, problem.code).into(),
            place: Some(places.of(problem.span)),
            predicate: None,
            problem: Some(problem.clone()),
        }
    }));
    found
}

fn syntax_error(problem: &Problem, places: &mut Places<'_>) -> Option<DiscoveryDiagnostic> {
    let (kind, what) = match problem.code {
        HarnCode::UnexpectedCharacter
        | HarnCode::Unterminated
        | HarnCode::BadHole
        | HarnCode::IntegerTooLarge => (DiagnosticKind::Lex, "lex error"),
        code if code.name().starts_with("HARN-PAR-") => (DiagnosticKind::Parse, "parse error"),
        _ => return None,
    };
    let place = places.of(problem.span);
    let (line, column, code) = (place.line, place.column, problem.code);
    let message = format!(
        "{what} at line {line}, column {column}: {} ({code})",
        problem.message
    );
    Some(DiscoveryDiagnostic {
        severity: problem.severity,
        kind,
        message: message.into(),
        place: None,
        predicate: None,
        problem: Some(problem.clone()),
    })
}
