//! Discovery over many directories: unions, composition, touched directories. Each file is
//! read and compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use probity::files::{FileError, Kind, Node, Root, Tree, Walking, memory_tree};
use probity::flow::{
    DiagnosticKind, Discovery, InvariantResult, Modules, PredicateEvaluation, PredicateSource,
    Slice, SliceFile, compose_predicate_results, touched_directories,
};

use crate::bin::Bench;
use crate::discovery_rows::{deterministic, predicate, tree};

/// A tree that counts what is looked for.
struct Counting<'t> {
    tree: &'t dyn Tree,
    found: Mutex<HashMap<String, usize>>,
}

impl<'t> Counting<'t> {
    fn new(tree: &'t dyn Tree) -> Self {
        let found = Mutex::default();
        Self { tree, found }
    }
}

impl Tree for Counting<'_> {
    fn space(&self) -> Vec<u8> {
        self.tree.space()
    }

    fn kind(&self, path: &str) -> Result<Kind, FileError> {
        self.tree.kind(path)
    }

    fn find<'a>(&'a self, path: &'a str) -> Result<Node<'a>, FileError> {
        let mut found = self.found.lock().expect("nobody panics");
        *found.entry(path.to_owned()).or_default() += 1;
        self.tree.find(path)
    }

    fn walk(&self, location: &[u8]) -> Walking {
        self.tree.walk(location)
    }
}

#[test]
fn the_nearest_fallback_wins() {
    let review = predicate("@semantic(fallback: rule)", "review");
    let rule = deterministic("rule");
    let nearer = rule.replace("0.9", "0.8");
    // A semantic one of that name does not count.
    let between = predicate("@semantic(fallback: other)", "rule") + &deterministic("other");
    let tree = tree(&[
        ("invariants.harn", &rule),
        ("a/invariants.harn", &nearer),
        ("a/b/invariants.harn", &between),
        ("a/b/c/invariants.harn", &review),
        ("x/invariants.harn", &review),
    ]);
    let mut discovery = Discovery::new(&tree);
    let chain = discovery.chain("a/b/c");
    let fallback = chain[3].fallback(0).expect("it is found");
    assert_eq!((&*fallback.relative_dir, &*fallback.name), ("a", "rule"));
    assert_eq!(fallback.hash, chain[1].predicates()[0].hash);
    let chain = discovery.chain("x");
    let fallback = chain[1].fallback(0).expect("it is found");
    assert_eq!(&*fallback.relative_dir, ".");
    // A proposed text is seen in its place.
    let proposed = discovery.proposed("a/b/c", &review);
    assert_eq!(proposed.fallback(0).map(|it| &*it.relative_dir), Some("a"));
    assert!(!proposed.has_errors());
    assert!(discovery.proposed("", &review).has_errors());
}

#[test]
fn imports_are_those_of_the_directory() {
    let rules = "import { verdict } from \"./lib\"\n".to_owned()
        + &deterministic("p").replace("flow_invariant_allow()", "verdict()");
    let lib = "fn verdict() { return flow_invariant_allow() }\n";
    let other = "fn verdict() { return flow_invariant_warn(\"w\") }\n";
    let tree = tree(&[
        ("a/invariants.harn", &rules),
        ("a/lib.harn", lib),
        ("b/invariants.harn", &rules),
        ("b/lib.harn", other),
        ("c/invariants.harn", &rules),
        ("c/lib.harn", lib),
        ("d/invariants.harn", &rules),
        ("e/invariants.harn", &rules),
        ("e/lib.harn", "fn verdict() { return missing }\n"),
        ("f/invariants.harn", &rules.replace("./lib", "../a/lib")),
    ]);
    let counting = Counting::new(&tree);
    let modules = Arc::new(Modules::new());
    let mut discovery = Discovery::with_modules(&counting, modules.clone());
    let union = discovery.union(["a", "b", "c", "d", "e", "f"]);
    let closures: Vec<_> = union
        .predicates
        .iter()
        .map(|it| it.declaration().expect("it is there").closure)
        .collect();
    let [a, b, c, d, e, f] = &*closures else {
        panic!("{closures:?}")
    };
    assert!(a.is_some() && a == c && a != b && b.is_some());
    assert_eq!((d, e, f), (&None, &None, &None));
    // The same source with the same imports is compiled once.
    assert_eq!(modules.compiled(), 5);
    let found = counting.found.lock().expect("nobody panics");
    assert!(found.values().all(|count| *count == 1), "{found:?}");
    let said = |at: usize| union.files[at].diagnostics()[0].message.to_string();
    assert!(
        said(3).contains("`./lib` cannot be imported"),
        "{}",
        said(3)
    );
    assert!(said(4).contains("in `lib.harn`, line 1: "), "{}", said(4));
    assert!(said(5).contains("outside of the directory"), "{}", said(5));
    assert_eq!(
        union.files[4].diagnostics()[0].place.map(|it| it.line),
        Some(1)
    );
}

#[test]
fn thousands_of_directories_read_and_compile_each_file_once() {
    let targets: Vec<_> = (0..5000).map(|at| format!("g{}/s{at}", at % 50)).collect();
    let groups = (0..50).map(|at| (format!("g{at}"), deterministic(&format!("group_{at}"))));
    let leaves = targets.iter().map(|it| (it.clone(), deterministic("leaf")));
    let directories = groups
        .chain(leaves)
        .chain([(".".into(), deterministic("root"))]);
    let files = directories.map(|(directory, text)| {
        let path = format!("{directory}/invariants.harn");
        (path, text.into_bytes())
    });
    let files = memory_tree(files).expect("the paths are paths");
    let counting = Counting::new(&files);
    let modules = Arc::new(Modules::new());
    let start = Instant::now();
    let mut discovery = Discovery::with_modules(&counting, modules.clone());
    let union = discovery.union(&targets);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(union.files.len(), 5051);
    assert_eq!(union.predicates.len(), 5051);
    // Leaves hold the same.
    assert_eq!(modules.compiled(), 52);
    {
        let found = counting.found.lock().expect("nobody panics");
        assert_eq!(found.len(), 5051);
        assert!(found.values().all(|count| *count == 1));
    }
    // Depth, directory, source: the same whatever the order of the targets.
    let names: Vec<_> = union
        .predicates
        .iter()
        .map(|it| &it.qualified_name)
        .collect();
    assert_eq!(&**names[0], "root");
    assert_eq!(&**names[1], "g0::group_0");
    assert_eq!(&**names[2], "g1::group_1");
    assert_eq!(&**names[3], "g10::group_10");
    let reversed = discovery.union(targets.iter().rev());
    let again: Vec<_> = reversed
        .predicates
        .iter()
        .map(|it| &it.qualified_name)
        .collect();
    assert_eq!(names, again);
    // Another discovery compiles nothing.
    Discovery::with_modules(&files, modules.clone()).union(&targets[..100]);
    assert_eq!(modules.compiled(), 52);
}

#[test]
fn ten_thousand_nested_directories_end_in_an_error() {
    let bench = Bench::new();
    bench.file("invariants.harn", deterministic("root"));
    bench.file("d/d/invariants.harn", deterministic("deep"));
    let start = Instant::now();
    let target = ["d"; 10_000].join("/");
    let root = Root::open(&bench.root()).expect("it is there");
    let mut discovery = Discovery::new(&root);
    let chain = discovery.chain(&target);
    // Nobody can tell what is below: the path is too long for the system.
    let [_, _, last] = &*chain else {
        panic!("{} files", chain.len())
    };
    assert_eq!(last.diagnostics()[0].kind, DiagnosticKind::Unreadable);
    assert!(last.diagnostics()[0].message.contains("too long"));
    // 10,000 touched directories in it.
    let targets = (1..10_000).map(|depth| &target[..depth * 2 - 1]);
    let union = discovery.union(targets);
    assert_eq!(union.files.len(), 3);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_chain_of_thousands_of_results_composes_in_time() {
    // Each level blocks a little later by name, one in the middle requires approval.
    let block = InvariantResult::block("b", "no");
    let allow: InvariantResult = serde_json::from_value(
        serde_json::json!({"verdict": {"kind": "allow"}, "confidence": 1.0}),
    )
    .expect("it is a result");
    let mut directory = String::new();
    let mut evaluations = Vec::new();
    for depth in 0..4_000 {
        if depth > 0 {
            directory += if depth > 1 { "/d" } else { "d" };
        }
        evaluations.push(PredicateEvaluation {
            qualified_name: format!("{depth}").into(),
            logical_name: "rule".into(),
            source: PredicateSource {
                relative_dir: directory.as_str().into(),
                depth,
            },
            result: if depth == 2000 { &block } else { &allow }.clone(),
        });
    }
    evaluations.reverse();
    let start = Instant::now();
    let composed = compose_predicate_results(&evaluations);
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    for (own, composed) in evaluations.iter().zip(&composed) {
        let expected = if own.source.depth >= 2000 {
            "2000"
        } else {
            "0"
        };
        assert_eq!(&*composed.qualified_name, &*own.qualified_name);
        assert_eq!(&*composed.selected_qualified_name, expected);
    }
}

#[test]
fn composition_is_that_of_comparing_every_pair() {
    let results: Vec<InvariantResult> = [
        serde_json::json!({"kind": "allow"}),
        serde_json::json!({"kind": "warn", "reason": "w"}),
        serde_json::json!({"kind": "require_approval", "approver": {"kind": "role", "name": "r"}}),
        serde_json::json!({"kind": "block", "error": {"code": "c", "message": "m"}}),
    ]
    .map(|verdict| {
        let result = serde_json::json!({"verdict": verdict, "confidence": 1.0});
        serde_json::from_value(result).expect("it is a result")
    })
    .into();
    let directories = [".", "a", "a/b", "a.b", "a/b/c", "ab", "b", "a-b/c", "a/b.c"];
    let is_above = |above: &str, below: &str| {
        above == "." || above == below || below.starts_with(&format!("{above}/"))
    };
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..500 {
        let evaluations: Vec<_> = (0..random(12))
            .map(|_| {
                let directory = directories[random(directories.len())];
                let name = ["p", "q"][random(2)];
                PredicateEvaluation {
                    qualified_name: format!("{directory}::{name}").into(),
                    logical_name: name.into(),
                    source: PredicateSource {
                        relative_dir: directory.into(),
                        depth: match directory {
                            "." => 0,
                            other => other.split('/').count(),
                        },
                    },
                    result: results[random(4)].clone(),
                }
            })
            .collect();
        let composed = compose_predicate_results(&evaluations);
        assert_eq!(composed.len(), evaluations.len());
        for (own, composed) in evaluations.iter().zip(&composed) {
            let selected = evaluations
                .iter()
                .filter(|it| it.logical_name == own.logical_name)
                .filter(|it| is_above(&it.source.relative_dir, &own.source.relative_dir))
                .min_by_key(|it| {
                    let strictness = it.result.verdict.strictness();
                    (3 - strictness, it.source.depth, &it.qualified_name)
                })
                .expect("it is one itself");
            assert_eq!(composed.selected_source, selected.source);
            assert_eq!(
                composed.result.verdict.strictness(),
                selected.result.verdict.strictness()
            );
        }
    }
}

#[test]
fn touched_directories_are_those_of_the_paths() {
    let of = |paths: &[&str]| {
        let files = paths.iter().map(|path| SliceFile::new(*path, ""));
        touched_directories(&Slice::new(files.collect()))
    };
    let found = of(&[
        "b/x.rs", "a/b/c.rs", "a/b/d.rs", "README", "./b/y.rs", "a/q/../z",
    ]);
    let expected = [".", "a", "a/b", "b"].map(Into::into);
    assert_eq!(found.as_deref(), Ok(&expected[..]));
    // A slice of nothing is under the rules of the root.
    assert_eq!(of(&[]).as_deref(), Ok(&[".".into()][..]));
    for path in [
        "",
        ".",
        "a/..",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a/",
        "a\0b",
    ] {
        let error = of(&["ok.rs", path]).expect_err(path);
        assert_eq!(&*error.path, path);
    }
    let many: Vec<_> = (0..20_000)
        .map(|at| format!("d{}/f{at}", at % 100))
        .collect();
    let many: Vec<_> = many.iter().map(|path| &**path).collect();
    assert_eq!(of(&many).map(|found| found.len()), Ok(100));
}
