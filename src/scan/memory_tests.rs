//! What earlier runs counted changes no answer, whatever was edited since.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::counts::{DEFAULT_MAX_BYTES, Store};
use crate::facts::Fetched;
use crate::files::memory_tree;
use crate::scan::equivalence::text;
use crate::scan::plan_tests::{Wish, scan_tree, wish};
use crate::scan::{Answers, Counting, ScanOptions};

type Files = BTreeMap<&'static str, Vec<u8>>;

const NAMES: &[&str] = &["d/e/f2", "d/e/g3", "d/f3", "f1", "h", ".gitignore", "d/f4"];

#[derive(Clone, Debug)]
enum Edit {
    Write(&'static str, Vec<u8>),
    Remove(&'static str),
    Rename(&'static str, &'static str),
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = || proptest::sample::select(NAMES);
    prop_oneof![
        3 => (name(), text()).prop_map(|(name, text)| Edit::Write(name, text)),
        1 => Just(Edit::Write(".gitignore", b"e\n".into())),
        1 => name().prop_map(Edit::Remove),
        1 => (name(), name()).prop_map(|(from, to)| Edit::Rename(from, to)),
    ]
}

fn apply(files: &mut Files, edit: &Edit) {
    match edit {
        Edit::Write(name, text) => {
            files.insert(name, text.clone());
        }
        Edit::Remove(name) => {
            files.remove(name);
        }
        Edit::Rename(from, to) => {
            if let Some(text) = files.remove(from) {
                files.insert(to, text);
            }
        }
    }
}

fn answers(files: &Files, wishes: &[Wish], counts: Option<&Store>) -> Answers {
    let files = files.iter().map(|(name, text)| (*name, text.as_slice()));
    let tree = memory_tree(files).unwrap();
    let mut answers = scan_tree(&tree, wishes, ScanOptions { tier: None, counts });
    for answer in &mut answers.counts {
        answer.cost.cpu_ns = 0;
    }
    answers
}

fn counts(files: &Files, wishes: &[Wish], store: Option<&Store>) -> Vec<Fetched> {
    answers(files, wishes, store).counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn what_is_remembered_changes_no_answer(
        contents in proptest::collection::vec(text(), 5),
        steps in proptest::collection::vec(
            (proptest::collection::vec(edit(), 0..3), proptest::collection::vec(wish(), 1..20)),
            1..6,
        ),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut files: Files = NAMES.iter().copied().zip(contents).collect();
        for (edits, wishes) in steps {
            for edit in &edits {
                apply(&mut files, edit);
            }
            // Each run is a process of its own.
            let store = Store::open(dir.path(), b"tests", DEFAULT_MAX_BYTES).unwrap();
            let fresh = counts(&files, &wishes, None);
            prop_assert_eq!(&counts(&files, &wishes, Some(&store)), &fresh);
            prop_assert_eq!(&counts(&files, &wishes, Some(&store)), &fresh);
        }
    }
}

fn lines(pattern: &str) -> Wish {
    Wish {
        pattern: pattern.into(),
        path: ".",
        is_glob: false,
        counting: Counting::Lines,
        limit: None,
        places: 0,
    }
}

#[test]
fn only_what_changed_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = || Store::open(dir.path(), b"tests", DEFAULT_MAX_BYTES).unwrap();
    let mut files: Files = [
        ("d/f3", b"aa\n".into()),
        ("f1", b"aa\nab\n".into()),
        ("h", b"\0".into()),
    ]
    .into();
    let wishes = ["aa", "a[a-z]$", "(?i)AB", "b"].map(lines);
    let read = |files: &Files, wishes: &[Wish]| {
        let scan = answers(files, wishes, Some(&store())).stats.scan;
        (scan.read_files, scan.known_files)
    };
    assert_eq!(read(&files, &wishes), (3, 0));
    assert_eq!(read(&files, &wishes), (0, 3));
    assert_eq!(read(&files, &wishes[1..3]), (0, 3));
    files.insert("f1", b"abb\n".into());
    assert_eq!(read(&files, &wishes), (1, 2));
    // Renamed and copied files hold what they held.
    files.remove("d/f3");
    files.insert("h", b"aa\n".into());
    assert_eq!(read(&files, &wishes), (0, 2));
    let more = ["aa", "a[a-z]$", "(?i)AB", "b", "new"].map(lines);
    assert_eq!(read(&files, &more), (2, 0));
    assert_eq!(read(&files, &more), (0, 2));
}

#[test]
fn counting_goes_on_where_an_earlier_run_stopped_at_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path(), b"tests", DEFAULT_MAX_BYTES).unwrap();
    let files: Files = [("f1", b"aa\naa\naa\n".into()), ("h", b"aa\n".into())].into();
    for (limit, places) in [
        (Some(1), 0),
        (Some(2), 0),
        (Some(2), 2),
        (None, 0),
        (Some(3), 1),
        (None, 9),
    ] {
        let wish = Wish {
            limit,
            places,
            ..lines("aa")
        };
        let wishes = std::slice::from_ref(&wish);
        assert_eq!(
            counts(&files, wishes, Some(&store)),
            counts(&files, wishes, None)
        );
    }
}
