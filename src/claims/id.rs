//! Claim ids: the hash of a claim's content (INV-28).

use serde_json::Value;

use crate::digest::Digest;

/// What of a value goes into the hash, and in what form.
enum Form {
    /// The value as it is; absent counts as null.
    Whole,
    /// A list; absent and null count as empty.
    List(&'static Form),
    /// An object with exactly these keys, in sorted order.
    Object(&'static [Member]),
}

/// A key, as hashed, with its snake_case spelling where it has one.
struct Member {
    key: &'static str,
    snake: Option<&'static str>,
    form: Form,
}

const fn member(key: &'static str, form: Form) -> Member {
    Member {
        key,
        snake: None,
        form,
    }
}

const fn renamed(key: &'static str, snake: &'static str, form: Form) -> Member {
    Member {
        key,
        snake: Some(snake),
        form,
    }
}

const ANCHOR: Form = Form::Object(&[
    renamed("contentDigest", "content_digest", Form::Whole),
    member("path", Form::Whole),
    member("range", Form::Whole),
    member("strategy", Form::Whole),
    member("symbol", Form::Whole),
    member("tree", Form::Whole),
]);

const ANNOTATION: Form = Form::Object(&[member("form", Form::Whole), member("text", Form::Whole)]);

const PREDICATE: Form = Form::Object(&[
    member(
        "expression",
        Form::Object(&[
            member("digest", Form::Whole),
            member("language", Form::Whole),
            member("source", Form::Whole),
        ]),
    ),
    member("form", Form::Whole),
]);

const EVIDENCE: Form = Form::List(&Form::Object(&[
    member("digest", Form::Whole),
    renamed("exitCode", "exit_code", Form::Whole),
    member("kind", Form::Whole),
    member("uri", Form::Whole),
]));

const ORIGIN: Form = Form::Object(&[
    member("kind", Form::Whole),
    member(
        "producer",
        Form::Object(&[
            member("hermeticity", Form::Whole),
            member("id", Form::Whole),
            renamed("sessionId", "session_id", Form::Whole),
        ]),
    ),
]);

const IDS: Form = Form::List(&Form::Whole);

/// The top level, for either form of assertion.
const fn claim(assertion: Form) -> [Member; 8] {
    [
        member("anchor", ANCHOR),
        member("assertion", assertion),
        renamed("dependsOn", "depends_on", IDS),
        member("evidence", EVIDENCE),
        member("kind", Form::Whole),
        member("origin", ORIGIN),
        member("target", IDS),
        member("timestamp", Form::Whole),
    ]
}

const PREDICATE_CLAIM: Form = Form::Object(&claim(PREDICATE));
const ANNOTATION_CLAIM: Form = Form::Object(&claim(ANNOTATION));

/// Computes the id that a claim's content gives it: `cl_` and 64 lower-case hex
/// digits of the SHA-256 over everything but `id`, as compact JSON with sorted
/// keys.
///
/// Keys outside the claim schema do not count, absent ones count as null or as
/// empty lists, and snake_case keys count as their camelCase. Whether the claim
/// is valid is not looked at.
///
/// ```
/// let claim = serde_json::json!({
///     "kind": "assertion",
///     "assertion": {"form": "predicate", "expression":
///         {"language": "elench-predicate-v1", "source": "exists(\"Cargo.toml\")"}},
///     "origin": {"kind": "agent-asserted", "producer": {"id": "agent-1"}},
///     "anchor": {"tree": "t", "strategy": "multi"},
///     "timestamp": 1700000000,
/// });
/// assert_eq!(
///     probity::claims::id::compute(&claim),
///     "cl_2f709b9d28cdcb104a471f5aac1cb368ae622836eb1f11190200b5d3e8f99c33",
/// );
/// ```
#[must_use]
pub fn compute(claim: &Value) -> String {
    let is_annotation =
        claim.pointer("/assertion/form").and_then(Value::as_str) == Some("annotation");
    let form = if is_annotation {
        &ANNOTATION_CLAIM
    } else {
        &PREDICATE_CLAIM
    };
    let mut json = String::new();
    form.write(claim, &mut json);
    format!("cl_{}", Digest::of(json.as_bytes()).hex())
}

impl Form {
    fn write(&self, value: &Value, json: &mut String) {
        match self {
            Self::Whole => write_sorted(value, json),
            Self::List(item) => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                write_joined(json, ['[', ']'], items, |json, value| {
                    item.write(value, json)
                });
            }
            Self::Object(members) => {
                write_joined(json, ['{', '}'], *members, |json, member| {
                    let value = value
                        .get(member.key)
                        .or_else(|| value.get(member.snake?))
                        .unwrap_or(&Value::Null);
                    write_key(member.key, json);
                    member.form.write(value, json);
                });
            }
        }
    }
}

/// Writes compact JSON with sorted keys, whatever order the map keeps.
fn write_sorted(value: &Value, json: &mut String) {
    match value {
        Value::Array(items) => write_joined(json, ['[', ']'], items, |json, item| {
            write_sorted(item, json);
        }),
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            write_joined(json, ['{', '}'], members, |json, (key, value)| {
                write_key(key, json);
                write_sorted(value, json);
            });
        }
        scalar => json.push_str(&scalar.to_string()),
    }
}

fn write_key(key: &str, json: &mut String) {
    json.push_str(&Value::from(key).to_string());
    json.push(':');
}

fn write_joined<T>(
    json: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    json.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        write(json, item);
    }
    json.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_of_objects_are_sorted() {
        fn check(form: &Form) {
            match form {
                Form::Whole => {}
                Form::List(item) => check(item),
                Form::Object(members) => {
                    assert!(members.is_sorted_by(|a, b| a.key < b.key));
                    members.iter().for_each(|member| check(&member.form));
                }
            }
        }
        check(&PREDICATE_CLAIM);
        check(&ANNOTATION_CLAIM);
    }

    #[test]
    fn spelling_extras_and_nulls_do_not_matter() {
        let base = json!({
            "kind": "verification",
            "assertion": {"form": "annotation", "text": "über\u{7}"},
            "origin": {"kind": "harness-observed", "producer": {"id": "h", "sessionId": "s"}},
            "anchor": {"tree": "t", "strategy": "content-digest", "contentDigest": "d", "range": [1, 2]},
            "timestamp": 1,
            "target": ["cl_b", "cl_a"],
            "dependsOn": ["cl_c"],
            "evidence": [{"kind": "process-exit", "exitCode": 0}],
        });
        let other = json!({
            "id": "cl_0",
            "kind": "verification",
            "assertion": {"form": "annotation", "text": "über\u{7}", "expression": null},
            "origin": {"kind": "harness-observed",
                "producer": {"id": "h", "session_id": "s", "hermeticity": null, "x": 1}},
            "anchor": {"tree": "t", "strategy": "content-digest", "content_digest": "d", "range": [1, 2]},
            "timestamp": 1,
            "target": ["cl_b", "cl_a"],
            "depends_on": ["cl_c"],
            "evidence": [{"kind": "process-exit", "exit_code": 0, "uri": null}],
            "extra": {},
        });
        assert_eq!(compute(&base), compute(&other));
        let mut reordered = base.clone();
        reordered["target"] = json!(["cl_a", "cl_b"]);
        assert_ne!(compute(&base), compute(&reordered));
        let mut json = String::new();
        ANNOTATION_CLAIM.write(&base, &mut json);
        assert_eq!(
            json,
            "{\"anchor\":{\"contentDigest\":\"d\",\"path\":null,\"range\":[1,2],\
             \"strategy\":\"content-digest\",\"symbol\":null,\"tree\":\"t\"},\
             \"assertion\":{\"form\":\"annotation\",\"text\":\"über\\u0007\"},\
             \"dependsOn\":[\"cl_c\"],\"evidence\":[{\"digest\":null,\"exitCode\":0,\
             \"kind\":\"process-exit\",\"uri\":null}],\"kind\":\"verification\",\
             \"origin\":{\"kind\":\"harness-observed\",\"producer\":{\"hermeticity\":null,\
             \"id\":\"h\",\"sessionId\":\"s\"}},\"target\":[\"cl_b\",\"cl_a\"],\"timestamp\":1}"
        );
    }

    #[test]
    fn any_value_has_an_id() {
        for value in [
            json!(null),
            json!([]),
            json!({"evidence": [1], "origin": "x"}),
        ] {
            assert_eq!(compute(&value).len(), 67);
        }
    }
}
