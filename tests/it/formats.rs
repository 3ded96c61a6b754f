//! Reports of other tools' formats, read as those tools read them.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use quick_xml::events::Event;
use serde_json::Value;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schemas");
    let text = fs::read(dir.join("sarif-schema-2.1.0.json")).expect("the schema is there");
    let mut schema: Value = serde_json::from_slice(&text).expect("the schema is JSON");
    // A lone bracket, which no strict reader of patterns takes.
    for holder in ["run", "toolComponent"] {
        let pattern = format!("/definitions/{holder}/properties/language/pattern");
        let pattern = schema.pointer_mut(&pattern).expect("it has a pattern");
        *pattern = r"^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}\]?$".into();
    }
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&schema).expect("the schema is a schema")
});

/// A SARIF log, held against the published schema.
pub(crate) fn sarif(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let errors: Vec<String> = SCHEMA
        .iter_errors(&log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    // What the schema cannot say: results refer to rules that are there.
    let run = &log["runs"][0];
    for result in run["results"].as_array().expect("results are a list") {
        let index = result["ruleIndex"].as_u64().expect("a result has a rule");
        let rule = &run["tool"]["driver"]["rules"][index as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    log
}

/// A `<testcase>`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) suite: String,
    pub(crate) name: String,
    /// `passed`, or the element that says otherwise with its `type` or `message`.
    pub(crate) outcome: String,
    /// All text of it.
    pub(crate) text: String,
}

/// The cases of a JUnit report. Two parsers that share nothing accept it, and the counts
/// of its suites are right.
pub(crate) fn junit(text: &str) -> Vec<Case> {
    let mut reader = quick_xml::Reader::from_str(text);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("{error}: {text}"),
        }
    }
    let document = roxmltree::Document::parse(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let mut cases = Vec::new();
    for suite in root.children().filter(|node| node.is_element()) {
        let name = suite.attribute("name").expect("a suite has a name");
        let first = cases.len();
        for case in suite.children().filter(|node| node.is_element()) {
            let said = case.children().find(|node| {
                let name = node.tag_name().name();
                matches!(name, "failure" | "error" | "skipped")
            });
            let outcome = said.map_or_else(
                || "passed".to_owned(),
                |node| {
                    let kind = node.attribute("type").or_else(|| node.attribute("message"));
                    format!("{} {}", node.tag_name().name(), kind.unwrap_or_default())
                },
            );
            let texts = case.descendants().filter_map(|node| node.text());
            cases.push(Case {
                suite: name.to_owned(),
                name: case
                    .attribute("name")
                    .expect("a case has a name")
                    .to_owned(),
                outcome,
                text: texts.collect(),
            });
        }
        let count = |word: &str| {
            let own = cases.iter().skip(first);
            own.filter(|case: &&Case| case.outcome.starts_with(word))
                .count()
                .to_string()
        };
        for (attribute, expected) in [
            ("tests", count("")),
            ("failures", count("failure ")),
            ("errors", count("error ")),
            ("skipped", count("skipped ")),
        ] {
            assert_eq!(
                suite.attribute(attribute),
                Some(&*expected),
                "{attribute}: {text}"
            );
        }
    }
    cases
}

/// An annotation as GitHub reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Annotation {
    pub(crate) level: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<String>,
    pub(crate) title: String,
    pub(crate) message: String,
}

/// The annotations of a log. Every line is one.
pub(crate) fn annotations(text: &str) -> Vec<Annotation> {
    let unescape = |text: &str| {
        let text = text.replace("%0A", "\n").replace("%0D", "\r");
        let text = text.replace("%3A", ":").replace("%2C", ",");
        text.replace("%25", "%")
    };
    let read = |line: &str| {
        let rest = line.strip_prefix("::").expect("a line is a command");
        let (head, message) = rest.split_once("::").expect("a command has a message");
        let (level, properties) = head.split_once(' ').expect("a command has properties");
        let property = |name: &str| {
            let mut all = properties.split(',').filter_map(|it| it.split_once('='));
            let found = all.find(|(key, _)| *key == name);
            found.map(|(_, value)| unescape(value))
        };
        Annotation {
            level: level.to_owned(),
            file: property("file"),
            line: property("line"),
            title: property("title").expect("it has a title"),
            message: unescape(message),
        }
    };
    text.lines().map(read).collect()
}
