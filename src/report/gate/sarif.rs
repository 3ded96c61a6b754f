//! A run of the gate as SARIF: a rule for each predicate, a result for each place that
//! one finds fault with.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::json;

use crate::flow::model::Evidence;
use crate::flow::{GateEntry, GateFinding, GateRecord, GateReport, Verdict};
use crate::report::escape;
use crate::report::gate::words;
use crate::report::level::{At, Level};
use crate::report::sarif::{
    Found, Invocation, Location, Notification, RuleShape, Sarif, Suppression, fingerprint, of_web,
};

/// Most results of one predicate. Readers show a few thousand of a run.
const MOST: usize = 1000;

/// Most characters of what names a slice.
const WIDTH: usize = 200;

/// Most predicates that the message of a result names.
const MOST_NAMES: usize = 5;

/// The rule of the ceiling; no predicate has such a name.
const CEILING: &str = "predicate-ceiling";

pub(super) fn write(out: &mut impl Write, report: &GateReport, timings: bool) -> io::Result<()> {
    let mut log = Sarif::new(out);
    let mut notifications = notifications(report);
    let mut rules: Vec<RuleShape> = report.records.iter().map(rule).collect();
    let records = report.records.iter().enumerate();
    let index: HashMap<&str, usize> = records
        .map(|(at, record)| (&*record.qualified_name, at))
        .collect();
    for entry in report.entries() {
        let Some(level) = words::level(&entry) else {
            continue;
        };
        let name = &*entry.source.qualified_name;
        let at = index.get(name).copied().unwrap_or_default();
        let omitted = results(&mut log, &entry, at, level)?;
        if omitted > 0 {
            let message = format!("{omitted} more findings of `{name}` are left out");
            let place = Some(declared(entry.source));
            notifications.push(Notification::new(
                "findings_omitted",
                Level::Warning,
                &message,
                place,
            ));
        }
    }
    if let Some((level, text)) = words::ceiling(report) {
        let rule = RuleShape::new(CEILING, "too many predicates apply to the slice");
        let id = fingerprint(&[CEILING]);
        log.result(&Found::new((CEILING, rules.len()), level, &text, id))?;
        rules.push(rule);
    }
    let invocation = Invocation {
        execution_successful: !report.has_errors() && report.judged() && !report.interrupted,
        exit_code: Some(report.exit_status()),
        notifications,
    };
    let cost = report.cost();
    let slice = &report.slice;
    let mut properties = json!({
        "outcome": report.outcome().name(),
        "summary": words::summary(report),
        "slice": {
            "id": shown(&slice.id),
            "base": shown(&slice.base),
            "head": shown(&slice.head),
            "files": slice.files,
        },
        "cost": {"fuel": cost.fuel, "memory": cost.memory},
    });
    if timings {
        properties["cost"]["cpu_ns"] = cost.cpu_ns.into();
    }
    log.finish(&rules, &invocation, &properties)
}

/// What names a slice, as a viewer may show it.
fn shown(name: &Option<Box<str>>) -> Option<Cow<'_, str>> {
    name.as_deref().map(|name| escape(name, WIDTH))
}

fn rule(record: &GateRecord) -> RuleShape {
    let name = &record.logical_name;
    let description = format!("`{name}`, declared at {}", words::declared(record));
    let evidence = record.own.evidence.iter();
    let mut uris = evidence.filter_map(|evidence| match evidence {
        Evidence::ExternalCitation { url, .. } => of_web(url),
        _ => None,
    });
    let rule = RuleShape::new(&record.qualified_name, &description)
        .name(name)
        .help(help(record).as_deref())
        .help_uri(uris.next())
        .property("hash", &record.hash.to_string());
    match record.closure_hash {
        Some(closure) => rule.property("closure_hash", &closure.to_string()),
        None => rule,
    }
}

/// What to do about a predicate that does not allow.
fn help(record: &GateRecord) -> Option<String> {
    let remediation = words::remediation(&record.own, record);
    let verdict = &record.own.verdict;
    match (remediation, verdict) {
        (Some(remediation), _) => Some(remediation.to_owned()),
        (None, Verdict::Allow) => None,
        // Packs say in the reason what to do.
        (None, Verdict::Warn { reason }) => Some(reason.clone()),
        (None, Verdict::Block { error }) => Some(error.message.clone()),
        (None, Verdict::RequireApproval { .. }) => Some(words::reason(verdict)),
    }
}

/// Writes the results of an entry and gives how many were left out.
fn results<W: Write>(
    log: &mut Sarif<W>,
    entry: &GateEntry<'_>,
    rule: usize,
    level: Level,
) -> io::Result<usize> {
    let source = entry.source;
    let name = &*source.qualified_name;
    let reason = words::reason(&entry.result.verdict);
    let code = words::code(&entry.result.verdict);
    let findings = source.findings();
    let (placed, rest): (Vec<GateFinding<'_>>, Vec<_>) = findings.iter().partition(|finding| {
        let place = finding.path.and_then(|path| At::inside(path, finding.line));
        place.is_some()
    });
    // What is said without a place, with all results.
    let mut more = String::new();
    for finding in rest.iter().take(MOST_NAMES) {
        let parts = [finding.path, finding.message];
        let parts: Vec<&str> = parts.into_iter().flatten().collect();
        let _ = write!(more, "\n{}", parts.join(": "));
    }
    if let Some(help) = words::remediation(entry.result, source) {
        let _ = write!(more, "\nhelp: {help}");
    }
    let composition = words::composition(entry, MOST_NAMES);
    if !composition.is_empty() {
        let _ = write!(more, "\nalso counts for: {composition}");
    }
    for piece in entry.result.evidence.iter().take(MOST_NAMES) {
        let _ = write!(more, "\nevidence: {}", words::evidence(piece));
    }
    if !entry.enforced() {
        more.push_str("\nnot enforced");
    }
    let suppression = || {
        let is_approval = matches!(entry.result.verdict, Verdict::RequireApproval { .. });
        let by = words::approved_by(entry).filter(|_| is_approval)?;
        Some(Suppression::accepted(&format!("approved by {by}")))
    };
    let related = || declared(source).saying(&format!("`{name}` is declared here"));
    if placed.is_empty() {
        let found = Found::new(
            (name, rule),
            level,
            &format!("{reason}{more}"),
            fingerprint(&[name, code]),
        );
        let found = found.at(Some(declared(source))).suppressed(suppression());
        log.result(&found)?;
        return Ok(0);
    }
    // Equal findings of a file are told apart by their number.
    let mut known: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in placed.iter().take(MOST) {
        let at = finding.path.and_then(|path| At::inside(path, finding.line));
        let path = at.map_or("", |at| at.path);
        let said = finding.message.unwrap_or_default();
        let number = known.entry((path, said)).or_default();
        *number += 1;
        let id = fingerprint(&[name, code, path, said, &number.to_string()]);
        let message = match finding.message {
            Some(said) => format!("{reason}: {said}{more}"),
            None => format!("{reason}{more}"),
        };
        let found = Found::new((name, rule), level, &message, id)
            .at(at.map(Location::workspace))
            .related(related())
            .suppressed(suppression());
        log.result(&found)?;
    }
    Ok(placed.len().saturating_sub(MOST))
}

fn declared(record: &GateRecord) -> Location {
    let place = &record.declared;
    Location::workspace(At::new(&place.path, Some(place.line.max(1) as u64)))
}

/// What is wrong around the predicates.
fn notifications(report: &GateReport) -> Vec<Notification> {
    let remarks = report.diagnostics.iter();
    let mut notifications: Vec<Notification> = remarks
        .map(|remark| {
            let line = words::diagnostic_line(remark).filter(|line| *line > 0);
            Notification::new(
                remark.diagnostic.code(),
                words::diagnostic_level(remark),
                &words::diagnostic(remark),
                Some(Location::workspace(At::new(&remark.path, line))),
            )
        })
        .collect();
    if let Some(nothing) = words::nothing(report) {
        notifications.push(Notification::new(
            "nothing_judged",
            Level::Error,
            nothing,
            None,
        ));
    }
    for skip in &report.skipped {
        let message = format!("`{}` is skipped: {}", skip.qualified_name, skip.reason);
        let at = At::new(&skip.declared.path, Some(skip.declared.line.max(1) as u64));
        let place = Some(Location::workspace(at));
        notifications.push(Notification::new("skipped", Level::Note, &message, place));
    }
    notifications
}
