//! What pre-commit and GitHub read: the hooks, the action, and the examples of
//! `docs/gate-in-ci.md`.

mod action;
mod hooks;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Value as Json, json};

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One document of YAML as JSON.
fn yaml(text: &str) -> Json {
    let documents = Yaml::load_from_str(text).expect("YAML");
    let [document] = &*documents else {
        panic!("{} documents", documents.len());
    };
    as_json(document)
}

fn as_json(yaml: &Yaml<'_>) -> Json {
    match yaml {
        Yaml::Value(Scalar::Null) => Json::Null,
        Yaml::Value(Scalar::Boolean(value)) => json!(value),
        Yaml::Value(Scalar::Integer(value)) => json!(value),
        Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => json!(value),
        Yaml::Sequence(items) => items.iter().map(as_json).collect(),
        Yaml::Mapping(entries) => {
            let entry = |(key, value): (&Yaml<'_>, &Yaml<'_>)| {
                let key = key.as_str().expect("a text as key").to_owned();
                (key, as_json(value))
            };
            Json::Object(entries.iter().map(entry).collect())
        }
        other => panic!("nothing that these files need: {other:?}"),
    }
}

fn keys(object: &Json) -> BTreeSet<&str> {
    let object = object.as_object().expect("a mapping");
    object.keys().map(String::as_str).collect()
}

fn string<'j>(json: &'j Json, key: &str) -> &'j str {
    let value = &json[key];
    value
        .as_str()
        .unwrap_or_else(|| panic!("{key}: no text but {value}"))
}

fn list<'j>(json: &'j Json, key: &str) -> &'j [Json] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

fn action() -> Json {
    yaml(&text("action.yml"))
}

fn hooks() -> Vec<Json> {
    let hooks = yaml(&text(".pre-commit-hooks.yaml"));
    hooks.as_array().expect("a list").clone()
}

/// What is referred to in `${{ }}` with such a prefix: `inputs.NAME`.
fn referred<'t>(text: &'t str, prefix: &str) -> BTreeSet<&'t str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let parts = text.split(prefix).skip(1);
    parts
        .map(|rest| rest.split(|c| !is_name(c)).next().unwrap_or_default())
        .collect()
}

#[test]
fn the_hooks_say_what_pre_commit_wants_to_know() {
    let known = BTreeSet::from([
        "id",
        "name",
        "description",
        "entry",
        "language",
        "pass_filenames",
        "always_run",
        "require_serial",
        "stages",
        "minimum_pre_commit_version",
    ]);
    let hooks = hooks();
    let stages = [
        ("probity-gate", "pre-commit"),
        ("probity-gate-push", "pre-push"),
    ];
    assert_eq!(hooks.len(), stages.len());
    for (hook, (id, stage)) in hooks.iter().zip(stages) {
        assert_eq!(string(hook, "id"), id);
        assert_eq!(hook["stages"], json!([stage]), "{id}");
        assert_eq!(string(hook, "language"), "rust", "{id}");
        // The gate asks git: a list of files would lack those that are gone.
        assert_eq!(hook["pass_filenames"], false, "{id}");
        assert_eq!(hook["always_run"], true, "{id}");
        assert_eq!(keys(hook), known, "{id}");
    }
    assert_eq!(string(&hooks[0], "entry"), "probity gate --staged");
}

#[test]
fn the_action_says_what_github_wants_to_know() {
    let action = action();
    let top = ["name", "description", "inputs", "outputs", "runs"];
    assert_eq!(keys(&action), BTreeSet::from(top));
    let inputs = [
        "base",
        "head",
        "root",
        "approved-by",
        "args",
        "upload-sarif",
        "cache",
    ];
    assert_eq!(keys(&action["inputs"]), BTreeSet::from(inputs));
    for input in inputs {
        let input = &action["inputs"][input];
        // Whatever is no text here would not be what GitHub makes of it.
        assert!(!string(input, "description").is_empty());
        assert!(input["default"].is_string(), "{input}");
        assert_eq!(input["required"], false);
    }
    let runs = &action["runs"];
    assert_eq!(string(runs, "using"), "composite");
    let mut ids = BTreeSet::new();
    for step in list(runs, "steps") {
        let name = string(step, "name");
        ids.extend(step["id"].as_str());
        match step["run"].as_str() {
            Some(run) => {
                assert_eq!(string(step, "shell"), "bash", "{name}");
                // Whatever is put in there would be code.
                assert!(!run.contains("${{"), "{name}");
                assert!(step["uses"].is_null(), "{name}");
            }
            None => assert!(string(step, "uses").contains('@'), "{name}"),
        }
        // What a step is given, it was told of before.
        let all = step.to_string();
        for output in referred(&all, "steps.") {
            let id = output.split('.').next().unwrap_or_default();
            assert!(ids.contains(id), "{name}: {output}");
        }
    }
    let all = action.to_string();
    let declared: BTreeSet<&str> = inputs.into();
    assert_eq!(referred(&all, "inputs."), declared);
    // The last word is the status of the gate, whatever became of the upload.
    let last = list(runs, "steps").last().expect("steps");
    assert_eq!(string(last, "if"), "always()");
    assert_eq!(
        string(&last["env"], "STATUS"),
        "${{ steps.gate.outputs.status }}"
    );
}

/// The blocks of YAML in the documentation.
fn examples() -> Vec<Json> {
    let page = text("docs/gate-in-ci.md");
    let blocks = page.split("```yaml\n").skip(1);
    blocks
        .map(|block| yaml(block.split("```").next().unwrap_or_default()))
        .collect()
}

#[test]
fn the_examples_use_what_there_is() {
    let (action, hooks) = (action(), hooks());
    let ids: BTreeSet<&str> = hooks.iter().map(|hook| string(hook, "id")).collect();
    let inputs = keys(&action["inputs"]);
    let (mut workflows, mut configs) = (0, 0);
    for example in examples() {
        for repository in list(&example, "repos") {
            configs += 1;
            assert!(string(repository, "repo").ends_with("/probity"));
            string(repository, "rev");
            for hook in list(repository, "hooks") {
                assert!(ids.contains(string(hook, "id")), "{hook}");
            }
        }
        if example["jobs"].is_null() {
            continue;
        }
        workflows += 1;
        assert!(example["on"].is_object(), "{example}");
        assert_eq!(example["permissions"]["contents"], "read");
        let steps = list(&example["jobs"]["gate"], "steps");
        let [checkout, gate] = steps else {
            panic!("{steps:?}");
        };
        assert!(string(checkout, "uses").starts_with("actions/checkout@"));
        assert_eq!(checkout["with"]["fetch-depth"], 0);
        assert!(string(gate, "uses").starts_with("OWNER/probity@"));
        assert!(keys(&gate["with"]).is_subset(&inputs), "{gate}");
        // An upload needs its permission, and nothing else does.
        assert_eq!(
            gate["with"]["upload-sarif"] == "true",
            example["permissions"]["security-events"] == "write"
        );
    }
    assert_eq!((configs, workflows), (2, 2));
}
