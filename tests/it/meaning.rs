//! The examples of `docs/language.md` that are evaluated in a workspace.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use probity::{Engine, Language};

/// A line of a `workspace` fence: `path: "text"`, `path -> target`.
fn make(root: &Path, line: &str) {
    let parent = |path: &Path| fs::create_dir_all(path.parent().unwrap()).unwrap();
    if let Some((path, target)) = line.split_once(" -> ") {
        parent(&root.join(path));
        symlink(target, root.join(path)).unwrap();
        return;
    }
    let (path, text) = line.split_once(": ").unwrap();
    let text = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let mut bytes = Vec::new();
    let mut rest = text.unwrap().bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next().unwrap() {
                b'n' => b'\n',
                b'r' => b'\r',
                b'0' => 0,
                b'x' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    let digits = std::str::from_utf8(&digits).unwrap();
                    u8::from_str_radix(digits, 16).unwrap()
                }
                other => panic!("escape \\{}", char::from(other)),
            },
            byte => byte,
        });
    }
    parent(&root.join(path));
    fs::write(root.join(path), bytes).unwrap();
}

#[test]
fn evaluated_examples_come_to_what_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md");
    let page = fs::read_to_string(page).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(dir.path().join("elsewhere"), "x\n").unwrap();
    let engine = Engine::builder(&root).build().unwrap();
    let mut evaluated = 0;
    let mut fence: Option<Vec<&str>> = None;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            fence = match fence {
                None => Some(info.split(' ').collect()),
                Some(_) => None,
            };
            continue;
        }
        let language = match fence.as_deref() {
            Some(["workspace"]) => {
                make(&root, line);
                continue;
            }
            Some(["evaluates", ..]) => Language::ElenchV1,
            Some(["evaluates-v2", ..]) => Language::ElenchV2,
            _ => continue,
        };
        let wanted = fence.as_ref().map(|info| info[1..].join(" ")).unwrap();
        let program = engine
            .compile(language, line)
            .unwrap_or_else(|e| panic!("{line}: {e}"));
        let evaluation = engine.evaluate(&program).unwrap();
        let mut found = evaluation.verdict.name().to_owned();
        if let Some(reason) = &evaluation.reason {
            found = format!("{found} {}", reason.code);
        }
        assert_eq!(found, wanted, "{line}: {:?}", evaluation.facts);
        evaluated += 1;
    }
    assert!(evaluated > 30, "{evaluated} examples were evaluated");
}
