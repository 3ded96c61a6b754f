//! Counts that are kept between runs, while files of the workspace change: the same
//! report as without them, at the price of what changed.

use std::fs::{self, File, FileTimes};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::bin::{Bench, log_of};

/// After so long the content of a file is known by its times: they are kept in ticks,
/// and within one a file may change again unnoticed.
const SETTLED: Duration = Duration::from_millis(3200);

const SOURCES: [&str; 6] = [
    r#"grep(/alpha/, ".") == 4"#,
    r#"grep(/(?i)beta\d+/, "src") >= 2"#,
    r#"grep(/^line \w+$/, "src/") != 7"#,
    r#"grep(/[0-9]{3}/, ".") == 2 || grep(/gamma/, "src") == 1"#,
    r#"grep(/alpha/, "docs") == 1 && exists("docs/guide.md")"#,
    r#"grep(/never/, ".") == 0"#,
];

struct Workspace {
    bench: Bench,
    log: PathBuf,
    cache: String,
}

impl Workspace {
    fn new() -> Self {
        let bench = Bench::new();
        for number in 0..8 {
            let text = format!("line one\nalpha {number}\nbeta{number}{number}\n");
            bench.file(&format!("src/f{number}.rs"), text);
        }
        bench.file("docs/guide.md", "alpha\n123\n");
        bench.file("docs/data.bin", b"alpha\0\n");
        let log = bench.log("log.jsonl", log_of(&SOURCES));
        let cache = bench.outside("counts").to_str().unwrap().to_owned();
        Self { bench, log, cache }
    }

    /// The report, and how many files were read and how many known.
    fn check(&self) -> (String, u64, u64) {
        let log = self.log.to_str().unwrap();
        let args = ["check", log, "--format", "json", "--places", "2"];
        let report = |more: &[&str]| self.bench.run(&[&args, more].concat()).stdout;
        let fresh = report(&["--no-timings", "--no-cache"]);
        let cached = report(&["--cache-dir", &self.cache]);
        let mut cached: Value = serde_json::from_str(&cached).unwrap();
        let scan = cached["summary"]["scan"].take();
        // Once more, for what has no timings: now everything may be known.
        let again = report(&["--no-timings", "--cache-dir", &self.cache]);
        assert_eq!(again, fresh);
        let fresh: Value = serde_json::from_str(&fresh).unwrap();
        for (cached, fresh) in list(&cached).iter().zip(list(&fresh)) {
            for field in ["verdict", "facts", "fuel", "bytes"] {
                assert_eq!(cached[field], fresh[field], "{field}: {cached}");
            }
        }
        let files = |of: &str| scan[of]["files"].as_u64().unwrap();
        (again, files("read"), files("known"))
    }

    fn path(&self, file: &str) -> PathBuf {
        self.bench.root().join(file)
    }
}

fn list(report: &Value) -> &Vec<Value> {
    report["results"].as_array().unwrap()
}

#[test]
fn after_an_edit_the_counts_are_those_of_the_files_and_little_is_read() {
    let workspace = Workspace::new();
    std::thread::sleep(SETTLED);
    let (first, read, known) = workspace.check();
    assert_eq!((read, known), (10, 0));
    assert_eq!(workspace.check(), (first.clone(), 0, 10));
    // Every kind of edit, and how many files it makes unknown.
    type Edit = (&'static str, fn(&Workspace), u64);
    let edits: [Edit; 6] = [
        (
            "modify",
            |it| fs::write(it.path("src/f1.rs"), "alpha alpha\nbeta1 999\n").unwrap(),
            1,
        ),
        (
            // A new name: the file keeps its inode, but its change time moves.
            "rename",
            |it| fs::rename(it.path("src/f2.rs"), it.path("docs/f2.md")).unwrap(),
            1,
        ),
        (
            "delete",
            |it| fs::remove_file(it.path("src/f3.rs")).unwrap(),
            0,
        ),
        (
            "touch",
            |it| {
                let file = File::options().write(true).open(it.path("src/f4.rs"));
                file.unwrap().set_modified(SystemTime::now()).unwrap();
            },
            1,
        ),
        (
            "same size and modification time",
            |it| {
                let path = it.path("src/f5.rs");
                let before = fs::metadata(&path).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("alpha", "gamma")).unwrap();
                let times = FileTimes::new().set_modified(before.modified().unwrap());
                let file = File::options().write(true).open(&path).unwrap();
                file.set_times(times).unwrap();
                assert_eq!(fs::metadata(&path).unwrap().len(), before.len());
            },
            1,
        ),
        (
            "add",
            |it| fs::write(it.path("src/new.rs"), "gamma\nalpha\n456\n").unwrap(),
            1,
        ),
    ];
    let mut seen = vec![first];
    for (name, edit, unknown) in edits {
        edit(&workspace);
        std::thread::sleep(SETTLED);
        let (report, read, _) = workspace.check();
        assert_eq!(read, unknown, "{name}");
        assert_eq!(workspace.check().1, 0, "{name}");
        if name != "touch" {
            assert!(!seen.contains(&report), "{name} changes the report");
        }
        seen.push(report);
    }
}

#[test]
fn edits_in_quick_succession_are_all_noticed() {
    let workspace = Workspace::new();
    let path = workspace.path("src/f0.rs");
    for round in 0..60 {
        // The same size each time.
        let word = ["alpha", "gamma", "never"][round % 3];
        fs::write(&path, format!("line one\n{word} {:03}\n", round % 2)).unwrap();
        workspace.check();
    }
}
