//! The one-way rule of `docs/architecture.md`: a module uses only what lies
//! below it.

use std::fs;
use std::path::{Path, PathBuf};

/// Lowest first. `facts` stands twice: keys, table and seam at the bottom, the
/// workspace source, which needs `files` and `scan`, above them.
const LAYERS: &[&[&str]] = &[
    &[
        "ast",
        "compare",
        "diagnostic",
        "digest",
        "language",
        "reason",
        "sealed",
    ],
    &["budget"],
    &["facts"],
    &["files"],
    &["counts", "git"],
    &["scan"],
    &["policy"],
    &["exec"],
    &["testing"],
    &["facts/workspace"],
    &["syntax"],
    &["check"],
    &["code"],
    &["lower"],
    &["vm"],
    &["harn"],
    &["flow"],
    &["cache"],
    &["batch"],
    &["engine"],
    &["claims"],
    &["elench", "history"],
    &["report"],
    &["cli"],
];

/// The files of `facts` that belong to the upper of its two layers.
const WORKSPACE: &[&str] = &[
    "workspace.rs",
    "execution.rs",
    "exists.rs",
    "grep.rs",
    "refused.rs",
];

fn layer(name: &str) -> usize {
    LAYERS
        .iter()
        .position(|names| names.contains(&name))
        .unwrap_or_else(|| panic!("module `{name}` has no place in tests/it/layers.rs"))
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The module a file belongs to, and whether it only gathers others.
fn module(relative: &Path) -> Option<String> {
    let mut parts = relative.iter().map(|part| part.to_str().unwrap());
    let first = parts.next()?.trim_end_matches(".rs");
    let file = relative.file_name()?.to_str()?;
    if matches!(first, "lib" | "main") || file.ends_with("_tests.rs") {
        return None;
    }
    if first == "facts" && WORKSPACE.contains(&file) {
        return Some("facts/workspace".into());
    }
    // `facts/mod.rs` gathers both layers.
    if first == "facts" && file == "mod.rs" {
        return None;
    }
    Some(first.into())
}

#[test]
fn modules_use_only_what_lies_below() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 30, "the sources were found");
    let mut broken = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&src).unwrap();
        let Some(module) = module(relative) else {
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        // Tests may look up: only what ships is held to the rule.
        let shipped = text.split("#[cfg(test)]").next().unwrap();
        for line in shipped.lines() {
            let code = line.split("//").next().unwrap();
            for rest in code.split("crate::").skip(1) {
                let used: String = rest
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                    .collect();
                let upper =
                    used == "facts" && ["WorkspaceSource"].iter().any(|name| line.contains(name));
                let used = match used.as_str() {
                    "Digest" => "digest",
                    "Language" => "language",
                    "Engine" | "ClaimInput" | "Watch" => "engine",
                    "Reason" | "ReasonCode" => "reason",
                    _ if upper => "facts/workspace",
                    other => other,
                };
                if used != module && layer(used) >= layer(&module) {
                    broken.push(format!("{}: {}", relative.display(), line.trim()));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "these point upwards:\n{}",
        broken.join("\n")
    );
}
