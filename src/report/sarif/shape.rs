//! The objects of a SARIF log, as far as they are used.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::digest::Digest;
use crate::report::escape_lines;
use crate::report::level::{At, Level};
use crate::report::sarif::uri;

/// Most characters of a message.
const MESSAGE: usize = 8000;

/// The base of paths in the workspace.
const ROOT: &str = "%SRCROOT%";

/// A `result`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Found {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression>,
}

impl Found {
    /// A result of a rule, by the id and the position of the rule.
    pub(in crate::report) fn new(
        rule: (&str, usize),
        level: Level,
        message: &str,
        fingerprint: String,
    ) -> Self {
        Self {
            rule_id: text(rule.0),
            rule_index: rule.1,
            level: name(level),
            message: Message::new(message),
            locations: Vec::new(),
            related_locations: Vec::new(),
            partial_fingerprints: BTreeMap::from([("probity/v1", fingerprint)]),
            suppressions: Vec::new(),
        }
    }

    /// Where it is.
    pub(in crate::report) fn at(mut self, location: Option<Location>) -> Self {
        self.locations.extend(location);
        self
    }

    /// What it has to do with.
    pub(in crate::report) fn related(mut self, location: Location) -> Self {
        self.related_locations.push(location);
        self
    }

    /// Why it is not held against the run.
    pub(in crate::report) fn suppressed(mut self, suppression: Option<Suppression>) -> Self {
        self.suppressions.extend(suppression);
        self
    }
}

/// What makes a result the same as one of another run, however lines move.
pub(in crate::report) fn fingerprint(parts: &[&str]) -> String {
    let mut text = Vec::new();
    for part in parts {
        text.extend_from_slice(&(part.len() as u64).to_le_bytes());
        text.extend_from_slice(part.as_bytes());
    }
    Digest::of(&text).hex()
}

/// An accepted `suppression`.
#[derive(Serialize)]
pub(in crate::report) struct Suppression {
    kind: &'static str,
    status: &'static str,
    justification: String,
}

impl Suppression {
    /// Somebody outside of the tool accepts it.
    pub(in crate::report) fn accepted(justification: &str) -> Self {
        Self {
            kind: "external",
            status: "accepted",
            justification: text(justification),
        }
    }
}

/// A `reportingDescriptor`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct RuleShape {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    short_description: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    properties: BTreeMap<&'static str, String>,
}

impl RuleShape {
    pub(in crate::report) fn new(id: &str, description: &str) -> Self {
        Self {
            id: text(id),
            name: None,
            short_description: Message::new(description),
            help: None,
            help_uri: None,
            properties: BTreeMap::new(),
        }
    }

    /// Its short name.
    pub(in crate::report) fn name(mut self, name: &str) -> Self {
        self.name = Some(text(name));
        self
    }

    /// What to do about its results.
    pub(in crate::report) fn help(mut self, help: Option<&str>) -> Self {
        let help = help.filter(|help| !help.is_empty());
        self.help = help.map(Message::new);
        self
    }

    /// Where it is explained.
    pub(in crate::report) fn help_uri(mut self, uri: Option<String>) -> Self {
        self.help_uri = uri;
        self
    }

    /// Something else that is known of it.
    pub(in crate::report) fn property(mut self, key: &'static str, value: &str) -> Self {
        self.properties.insert(key, text(value));
        self
    }
}

/// A `location`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Location {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

impl Location {
    /// A place in the workspace.
    pub(in crate::report) fn workspace(at: At<'_>) -> Self {
        Self::new(at, Some(ROOT))
    }

    /// A place in a file that was named on the command line.
    pub(in crate::report) fn named(at: At<'_>) -> Self {
        Self::new(at, None)
    }

    fn new(at: At<'_>, uri_base_id: Option<&'static str>) -> Self {
        Self {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation {
                    uri: uri::of_path(at.path),
                    uri_base_id,
                },
                region: at.line.map(|start_line| Region { start_line }),
            },
            message: None,
        }
    }

    /// What is there.
    pub(in crate::report) fn saying(mut self, message: &str) -> Self {
        self.message = Some(Message::new(message));
        self
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

impl Message {
    fn new(message: &str) -> Self {
        Self {
            text: text(message),
        }
    }
}

/// An `invocation`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct Invocation {
    /// Whether everything could be judged.
    pub(in crate::report) execution_successful: bool,
    /// The exit status, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) exit_code: Option<u8>,
    /// What went wrong around the results.
    #[serde(
        rename = "toolExecutionNotifications",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub(in crate::report) notifications: Vec<Notification>,
}

/// A `notification`.
#[derive(Serialize)]
pub(in crate::report) struct Notification {
    descriptor: Descriptor,
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
}

#[derive(Serialize)]
struct Descriptor {
    id: String,
}

impl Notification {
    pub(in crate::report) fn new(
        code: &str,
        level: Level,
        message: &str,
        location: Option<Location>,
    ) -> Self {
        Self {
            descriptor: Descriptor { id: text(code) },
            level: name(level),
            message: Message::new(message),
            locations: location.into_iter().collect(),
        }
    }
}

/// What follows the results of a `run`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tail<'a> {
    tool: Tool<'a>,
    invocations: [&'a Invocation; 1],
    original_uri_base_ids: BTreeMap<&'static str, BaseId>,
    column_kind: &'static str,
}

impl<'a> Tail<'a> {
    pub(super) fn new(rules: &'a [RuleShape], invocation: &'a Invocation) -> Self {
        let root = BaseId {
            description: Message::new("the workspace"),
        };
        Self {
            tool: Tool {
                driver: Driver {
                    name: env!("CARGO_PKG_NAME"),
                    version: env!("CARGO_PKG_VERSION"),
                    rules,
                },
            },
            invocations: [invocation],
            original_uri_base_ids: BTreeMap::from([(ROOT, root)]),
            column_kind: "unicodeCodePoints",
        }
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Serialize)]
struct Driver<'a> {
    name: &'static str,
    version: &'static str,
    rules: &'a [RuleShape],
}

#[derive(Serialize)]
struct BaseId {
    description: Message,
}

const fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

/// Text as a viewer may show it.
fn text(text: &str) -> String {
    escape_lines(text, MESSAGE)
}
