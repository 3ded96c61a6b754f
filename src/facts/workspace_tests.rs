//! The facts of workspaces on disk, through the seam that the planner uses.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::facts::{
    CancelToken, Cost, Demand, FactKey, FactSource, FactValue, FetchStats, Fetched, PathSpec,
    Pattern, RegexFlags, WorkspaceSource,
};
use crate::files::Limits;
use crate::reason::ReasonCode;

fn workspace(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn path(text: &str) -> PathSpec {
    PathSpec {
        text: text.trim_start_matches("glob:").into(),
        glob: text.starts_with("glob:"),
    }
}

/// `/pattern/flags`, or a pattern alone.
fn pattern(text: &str) -> Pattern {
    let (text, letters) = text
        .strip_prefix('/')
        .and_then(|text| text.rsplit_once('/'))
        .unwrap_or((text, ""));
    let flag = |letter| match letter {
        'i' => RegexFlags::IGNORE_CASE,
        'm' => RegexFlags::MULTI_LINE,
        _ => RegexFlags::DOT_ALL,
    };
    Pattern {
        text: text.into(),
        flags: letters
            .chars()
            .map(flag)
            .fold(RegexFlags::NONE, RegexFlags::union),
    }
}

fn grep(text: &str, at: &str) -> FactKey {
    FactKey::Grep(pattern(text), path(at))
}

fn count(text: &str, at: &str) -> FactKey {
    FactKey::Count(pattern(text), path(at))
}

fn exists(at: &str) -> FactKey {
    FactKey::Exists(path(at))
}

type Wanted = (FactKey, Option<u64>, usize);

fn fetch_with(root: &Path, limits: Limits, wanted: &[Wanted]) -> (Vec<Fetched>, FetchStats) {
    let demands: Vec<_> = wanted
        .iter()
        .map(|(key, limit, places)| Demand {
            key,
            limit: *limit,
            places: *places,
            fuel: None,
        })
        .collect();
    let source = WorkspaceSource::open(root, limits).unwrap();
    source.fetch(&demands, &CancelToken::new())
}

fn fetch(root: &Path, key: FactKey) -> Fetched {
    let (mut answers, _) = fetch_with(root, Limits::default(), &[(key, None, 0)]);
    answers.remove(0)
}

/// A value as the tables below write it.
fn shown(value: &FactValue) -> String {
    match value {
        FactValue::Bool(value) => value.to_string(),
        FactValue::Count { count, exact: true } => count.to_string(),
        FactValue::Count {
            count,
            exact: false,
        } => format!(">={count}"),
        FactValue::Unknown(reason) => reason.code.to_string(),
        FactValue::Run(_) => "run".into(),
    }
}

fn check(root: &Path, table: Vec<(FactKey, &str)>) {
    for (key, expected) in table {
        let name = key.to_string();
        assert_eq!(shown(&fetch(root, key).value), expected, "{name}");
    }
}

#[test]
fn paths_mean_what_is_documented() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret\n").unwrap();
    let directory = workspace(&[("a/file", b"x\ny\n"), ("a/other", b"x\n"), ("empty", b"")]);
    let root = directory.path();
    symlink("a", root.join("inside")).unwrap();
    symlink("file", root.join("a/inside")).unwrap();
    symlink(outside.path(), root.join("outside")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
    fs::create_dir(root.join("hollow")).unwrap();
    check(
        root,
        vec![
            (exists("a"), "true"),
            (exists("a/"), "true"),
            (exists("a/file"), "true"),
            (exists("a/file/"), "false"),
            (exists("inside/file"), "true"),
            (exists("socket"), "true"),
            (exists("nowhere"), "false"),
            (exists("dangling"), "false"),
            (exists("loop"), "false"),
            (exists("outside"), "path_outside_workspace"),
            (exists("outside/secret"), "path_outside_workspace"),
            (exists("../x"), "path_outside_workspace"),
            (exists("/"), "path_outside_workspace"),
            (exists(""), "path_invalid"),
            (exists("a\0"), "path_invalid"),
            (grep("x", "a/file"), "1"),
            (grep("x", "a"), "2"),
            (grep("x", "./a//"), "2"),
            (grep("x", "inside"), "2"),
            (grep("x", "a/inside"), "1"),
            (grep("x", "."), "2"),
            (grep("x", "empty"), "0"),
            (grep("", "empty"), "0"),
            (grep("x", "hollow"), "0"),
            (grep("x", "nowhere"), "path_not_found"),
            (grep("x", "a/file/"), "path_not_found"),
            (grep("x", "dangling"), "path_not_found"),
            (grep("x", "loop"), "read_error"),
            (grep("x", "socket"), "not_a_regular_file"),
            (grep("s", "outside/secret"), "path_outside_workspace"),
            (grep("s", "outside"), "path_outside_workspace"),
            (grep("s", "a/../../x"), "path_outside_workspace"),
            (grep("x", ""), "path_invalid"),
        ],
    );
}

#[test]
fn a_named_file_is_searched_whatever_it_holds() {
    let directory = workspace(&[
        (".gitignore", b"ignored\n"),
        ("ignored", b"x\n"),
        ("data", b"x\0\nx\n"),
        ("late", &[&vec![b'\n'; 8192][..], b"\0x\n"].concat()),
        (".hidden", b"x\n"),
        ("latin", b"caf\xe9 x\n"),
    ]);
    check(
        directory.path(),
        vec![
            (grep("x", "ignored"), "1"),
            (grep("x", "data"), "2"),
            // late, .hidden and latin.
            (grep("x", "."), "3"),
            (grep(r"(?-u:\xe9) x$", "latin"), "1"),
            (grep(r"caf. x", "latin"), "0"),
        ],
    );
}

#[test]
fn globs_match_files_of_the_walk() {
    let directory = workspace(&[
        (".gitignore", b"*.log\n"),
        ("src/a.rs", b"x\nx x\n"),
        ("src/deep/b.rs", b"x\n"),
        ("src/c.log", b"x\n"),
        ("docs/d.md", b"x\n"),
        ("data.rs", b"\0x\n"),
    ]);
    check(
        directory.path(),
        vec![
            (grep("x", "glob:src/*.rs"), "2"),
            (grep("x", "glob:**/*.rs"), "3"),
            (count("x", "glob:**/*.rs"), "4"),
            (grep("x", "glob:data.rs"), "0"),
            (grep("x", "glob:*.none"), "path_not_found"),
            (grep("x", "glob:src/*.log"), "path_not_found"),
            (grep("x", "glob:../*"), "path_outside_workspace"),
            (exists("glob:src/*"), "true"),
            (exists("glob:s*"), "true"),
            (exists("glob:**/*.md"), "true"),
            (exists("glob:**/*.log"), "false"),
            (exists("glob:/etc/*"), "path_outside_workspace"),
        ],
    );
}

#[test]
fn matches_are_counted_per_line_or_over_the_file() {
    let directory = workspace(&[("f", b"aXa\r\naa\n\nb"), ("none", b"")]);
    check(
        directory.path(),
        vec![
            (count("a", "f"), "4"),
            (count("/x/i", "f"), "1"),
            (count("a+", "f"), "3"),
            (count("", "f"), "10"),
            (count("^", "f"), "4"),
            (count("/^/m", "f"), "4"),
            (count("/a.*b/s", "f"), "1"),
            (count("a.*b", "f"), "0"),
            (count("/\\n/s", "f"), "3"),
            (count("\\n", "f"), "0"),
            (count("/^/s", "none"), "1"),
            (grep("/a.*b/s", "f"), "0"),
            (grep("/a$/m", "f"), "2"),
        ],
    );
}

#[test]
fn bad_patterns_are_unknown_even_where_no_file_is_read() {
    let directory = workspace(&[
        ("f", b"x\n"),
        (".gitignore", b"ignored\n"),
        ("ignored/f", b""),
    ]);
    check(
        directory.path(),
        vec![
            (grep("\\w{1000}", "f"), "pattern_too_large"),
            (grep(&"a".repeat(5000), "."), "pattern_too_large"),
            (grep("\\w{1000}", "ignored"), "pattern_too_large"),
            (grep("a(", "f"), "pattern_invalid"),
            (grep("a(", "nowhere"), "path_not_found"),
        ],
    );
}

#[test]
fn counts_stop_where_they_are_decided() {
    let line = b"x\n".repeat(10);
    let files: Vec<_> = (0..300).map(|number| format!("d/{number:03}")).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|name| (&**name, &line[..])).collect();
    let directory = workspace(&files);
    let regex = crate::scan::fuel::REGEX;
    let per_file = crate::scan::fuel::file(20);
    let wanted: Vec<Wanted> = [None, Some(1), Some(15), Some(2001), Some(3000), Some(3001)]
        .into_iter()
        .map(|limit| (grep("x", "d"), limit, 12))
        .collect();
    for (demand, (value, read)) in wanted.iter().zip([
        ("3000", 300),
        (">=1", 1),
        (">=15", 2),
        (">=2001", 201),
        (">=3000", 300),
        ("3000", 300),
    ]) {
        let (answers, stats) = fetch_with(
            directory.path(),
            Limits::default(),
            std::slice::from_ref(demand),
        );
        assert_eq!(shown(&answers[0].value), value);
        let cost = Cost {
            cpu_ns: 0,
            ..answers[0].cost
        };
        let expected = Cost {
            fuel: regex + read * per_file,
            cpu_ns: 0,
            bytes: read * 20,
        };
        assert_eq!(cost, expected, "{value}");
        assert_eq!((stats.files, stats.bytes), (read, read * 20));
        let places = answers[0].places.iter();
        let places: Vec<_> = places
            .map(|place| format!("{}:{}", place.path, place.line))
            .collect();
        let all = (0..12).map(|index| format!("d/{:03}:{}", index / 10, index % 10 + 1));
        let expected: Vec<_> = all.take(demand.1.unwrap_or(12) as usize).collect();
        assert_eq!(places, expected);
    }
    // Together they read what the greediest reads.
    let (_, stats) = fetch_with(directory.path(), Limits::default(), &wanted);
    assert_eq!(stats.files, 300);
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for number in 0..500_usize {
        let text = format!("line {number}\n").repeat(number % 17 + 1);
        files.push((format!("d{}/f{number}", number % 7), text.into_bytes()));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (&**name, &text[..]))
        .collect();
    let directory = workspace(&files);
    let mut wanted: Vec<Wanted> = Vec::new();
    for at in [".", "d1", "d1/f1", "glob:d[23]/*", "nowhere"] {
        for limit in [None, Some(1), Some(100)] {
            wanted.push((grep("7$", at), limit, 3));
            wanted.push((count("[0-9]", at), limit, 3));
        }
    }
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let (mut answers, stats) =
            pool.install(|| fetch_with(directory.path(), Limits::default(), &wanted));
        for answer in &mut answers {
            answer.cost.cpu_ns = 0;
        }
        (answers, stats)
    };
    let alone = run(1);
    for threads in [2, 8, 8] {
        assert_eq!(run(threads), alone);
    }
}

#[test]
fn what_is_over_a_cap_is_unknown() {
    let long = "a".repeat(4000);
    let directory = workspace(&[("long", long.as_bytes()), ("short", b"a\n")]);
    let limits = Limits {
        max_file_bytes: 5000,
        max_line_bytes: 3000,
        max_text_bytes: 3000,
        max_count_work: 1000,
    };
    fs::write(directory.path().join("huge"), "a\n".repeat(5000)).unwrap();
    fs::write(directory.path().join("many"), "a ".repeat(1000) + "\n").unwrap();
    for (key, expected) in [
        (grep("a", "long"), "too_large"),
        (grep("a", "huge"), "too_large"),
        (grep("a", "short"), "1"),
        (grep("a", "."), "too_large"),
        (count("/a/s", "long"), "too_large"),
        (count("a", "many"), "1000"),
        (count("a+", "many"), "1000"),
        (count("a.*z|a", "many"), "budget_exceeded"),
    ] {
        let name = key.to_string();
        let (answers, _) = fetch_with(directory.path(), limits, &[(key, None, 0)]);
        assert_eq!(shown(&answers[0].value), expected, "{name}");
    }
    // The limit is reached before the walk gets to the file that is too large.
    fs::write(directory.path().join("a"), "a\n").unwrap();
    let wanted = [(grep("a", "."), Some(1), 0), (grep("a", "."), Some(2), 0)];
    let (answers, _) = fetch_with(directory.path(), limits, &wanted);
    assert_eq!(shown(&answers[0].value), ">=1");
    assert_eq!(shown(&answers[1].value), "too_large");
}

#[test]
fn execution_is_refused_and_cancelled_facts_are_unknown() {
    let directory = workspace(&[("f", b"x\n")]);
    for key in [FactKey::Run("ls".into()), FactKey::Test("t".into())] {
        match fetch(directory.path(), key).value {
            FactValue::Unknown(reason) => {
                assert_eq!(reason.code, ReasonCode::CommandNotAllowed);
                assert!(reason.detail.contains("no policy allows it"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    let cancel = CancelToken::new();
    cancel.cancel();
    let source = WorkspaceSource::open(directory.path(), Limits::default()).unwrap();
    for key in [
        exists("f"),
        exists("glob:f"),
        grep("x", "f"),
        grep("x", "."),
        count("x", "glob:f"),
    ] {
        let demand = Demand {
            key: &key,
            limit: None,
            places: 0,
            fuel: None,
        };
        let (answers, _) = source.fetch(&[demand], &cancel);
        assert_eq!(shown(&answers[0].value), "cancelled", "{key}");
    }
}

#[test]
fn truncation_during_scans_never_crashes() {
    let directory = workspace(&[]);
    // Within a page, which is written at once: half of a longer text would be a state too.
    let full = "needle\n".repeat(500);
    let path = directory.path().join("f");
    fs::write(&path, &full).unwrap();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(&path, &full).unwrap();
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(700)
                    .unwrap();
            }
        });
        let counts: Vec<_> = (0..1000)
            .map(|_| shown(&fetch(directory.path(), grep("needle", "f")).value))
            .collect();
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
        writer.join().unwrap();
        for count in counts {
            let is_state = ["0", "100", "500", "file_changed", "not_a_regular_file"];
            assert!(is_state.contains(&&*count), "{count}");
        }
    });
}
