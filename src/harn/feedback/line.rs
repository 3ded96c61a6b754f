//! The lines about single items.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::FeedbackOptions;

impl FeedbackOptions {
    /// An error, or anything if there is nothing else in the report.
    pub(super) fn diagnostic(&self, item: &Json, with_warnings: bool) -> Option<String> {
        let severity = text(item, "severity").unwrap_or("error");
        if severity != "error" && !with_warnings {
            return None;
        }
        let severity = self.shown([severity]);
        let message = text(item, "message").or_else(|| text(item, "code"));
        let message = self.shown([message.unwrap_or("it has no message")]);
        Some(format!("- Diagnostic {severity}: {message}"))
    }

    /// A verdict, unless it allows.
    pub(super) fn record(&self, item: &Json) -> Option<String> {
        let result = item.get("result");
        let verdict = result.and_then(|it| it.get("verdict"));
        let kind = verdict.and_then(|it| text(it, "kind"));
        let of_verdict = |key| verdict.and_then(|it| text(it, key)).unwrap_or_default();
        let part = |of: &str, key| {
            let found = verdict.and_then(|it| it.get(of));
            found.and_then(|it| text(it, key))
        };
        // What the verdict itself says need not be said again.
        let mut said = "";
        let (label, text) = match kind {
            Some("allow") if !self.include_allow => return None,
            Some("allow") => ("Allow", "passed".into()),
            Some("warn") => {
                said = of_verdict("reason");
                ("Warn", self.shown([said]))
            }
            Some("block") => {
                said = part("error", "message").unwrap_or_default();
                let code = part("error", "code").unwrap_or("blocked");
                ("Block", self.shown([code, ": ", said]))
            }
            Some("require_approval") => {
                let kind = part("approver", "kind").unwrap_or("unknown");
                let who = part("approver", "id").or_else(|| part("approver", "name"));
                let who = who.unwrap_or("nobody who is named");
                let parts = ["requires ", kind, " approval from ", who];
                ("RequireApproval", self.shown(parts))
            }
            _ => ("Invariant", "it has no verdict that is known".into()),
        };
        let advisory = match item.get("enforced") {
            Some(Json::Bool(false)) => " (advisory)",
            _ => "",
        };
        let mut line = format!("- {label}{advisory} {}: {text}", self.name(item));
        if let Some(remediation) = remediation(item).filter(|it| !is_same(it, said)) {
            line.push_str(" Remediation: ");
            line.push_str(&self.shown([remediation]));
        }
        if let Some(findings) = self.findings(item) {
            line.push_str(" Findings: ");
            line.push_str(&findings);
        }
        Some(line)
    }

    /// A predicate that was not run, if that is asked for.
    pub(super) fn skip(&self, item: &Json) -> Option<String> {
        if !self.include_skipped {
            return None;
        }
        let reason = self.shown([text(item, "reason").unwrap_or("no reason is given")]);
        Some(format!("- Skipped {}: {reason}", self.name(item)))
    }

    fn name(&self, item: &Json) -> String {
        let name = text(item, "name").or_else(|| text(item, "hash"));
        self.shown([name.unwrap_or("unnamed")])
    }

    /// The labels of findings, each once, and how many more there are.
    fn findings(&self, item: &Json) -> Option<String> {
        if !self.include_findings {
            return None;
        }
        let raw = item.get("raw_result").and_then(|raw| raw.get("findings"));
        let findings = raw.or_else(|| item.get("findings"))?;
        let mut labels: Vec<String> = Vec::new();
        let mut more = 0_usize;
        for label in findings.as_array()?.iter().filter_map(|it| self.label(it)) {
            if labels.contains(&label) {
                continue;
            }
            match labels.len() < self.max_findings_per_item {
                true => labels.push(label),
                false => more += 1,
            }
        }
        if labels.is_empty() {
            return None;
        }
        let mut findings = labels.join(", ");
        if more > 0 {
            let _ = write!(findings, " (+{more} more)");
        }
        Some(findings)
    }

    /// What a finding is called.
    fn label(&self, finding: &Json) -> Option<String> {
        if let Json::String(label) = finding {
            let label = self.shown([label]);
            return (!label.is_empty()).then_some(label);
        }
        if let Some(path) = text(finding, "path") {
            let line = ["line", "start_line"];
            let line = line.iter().find_map(|key| finding.get(*key)?.as_u64());
            let mut label = self.shown([path]);
            if let Some(line) = line {
                let _ = write!(label, ":{line}");
            }
            return Some(label);
        }
        let mut others = ["message", "reason", "text"].iter();
        let other = others.find_map(|key| text(finding, key))?;
        Some(self.shown([other]))
    }

    /// Texts as one line: white space and control characters are single spaces, and what
    /// is too long is cut.
    fn shown<const N: usize>(&self, texts: [&str; N]) -> String {
        let mut shown = String::new();
        let (mut chars, mut is_gap) = (0, false);
        for char in texts.iter().flat_map(|text| text.chars()) {
            if is_blank(char) {
                is_gap = chars > 0;
                continue;
            }
            let gap = std::mem::take(&mut is_gap).then_some(' ');
            for char in gap.into_iter().chain([char]) {
                if chars == self.max_message_chars {
                    shown.pop();
                    shown.push('…');
                    return shown;
                }
                shown.push(char);
                chars += 1;
            }
        }
        shown
    }
}

/// A text of a dict that says something.
fn text<'j>(item: &'j Json, key: &str) -> Option<&'j str> {
    let text = item.get(key)?.as_str()?;
    (!text.chars().all(is_blank)).then_some(text)
}

fn is_blank(char: char) -> bool {
    char.is_whitespace() || char.is_control()
}

/// What the predicate says to do.
fn remediation(item: &Json) -> Option<&str> {
    let result = item.get("result");
    let typed = result.and_then(|result| {
        text(result, "remediation").or_else(|| text(result.get("remediation")?, "description"))
    });
    typed.or_else(|| text(item.get("raw_result")?, "remediation"))
}

/// Whether two texts have the same words.
fn is_same(one: &str, other: &str) -> bool {
    let is_word = |word: &&str| !word.is_empty();
    let one = one.split(is_blank).filter(is_word);
    one.eq(other.split(is_blank).filter(is_word))
}
