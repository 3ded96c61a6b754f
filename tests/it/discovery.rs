//! Discovery over what is hostile, large or broken: it ends, it tells, and nothing that
//! could not be looked at counts as not being there.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use probity::files::{FileError, Kind, Node, Root, Tree, Walking};
use probity::flow::{
    DiagnosticKind, Discovery, InvariantResult, Modules, PredicateEvaluation, PredicateFile,
    PredicateSource, Slice, SliceFile, compose_predicate_results, discover, touched_directories,
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

fn kinds(file: &PredicateFile) -> Vec<DiagnosticKind> {
    file.diagnostics().iter().map(|it| it.kind).collect()
}

fn on_disk(bench: &Bench, target: &str) -> Vec<std::sync::Arc<PredicateFile>> {
    discover(&bench.root(), Path::new(target)).expect("the root is there")
}

#[test]
fn what_cannot_be_read_is_an_error_of_its_place() {
    let bench = Bench::new();
    bench.file("invariants.harn", deterministic("p"));
    let secret = bench.log("secret.harn", deterministic("stolen"));
    bench.log("elsewhere/invariants.harn", deterministic("stolen"));
    for name in ["link", "dangling", "loop", "inside", "shared"] {
        fs::create_dir(bench.root().join(name)).expect("a directory can be made");
    }
    let link = |target: &Path, name: &str| {
        symlink(target, bench.root().join(name)).expect("a link can be made");
    };
    link(&secret, "link/invariants.harn");
    link(Path::new("nowhere"), "dangling/invariants.harn");
    link(Path::new("invariants.harn"), "loop/invariants.harn");
    link(&bench.outside("elsewhere"), "out");
    link(Path::new("../shared/rules"), "inside/invariants.harn");
    bench.file("shared/rules", deterministic("shared"));
    bench.file("bytes/invariants.harn", b"// \xff\n");
    bench.file("large/invariants.harn", vec![b'\n'; (1 << 20) + 1]);
    bench.file("whole/invariants.harn", vec![b'\n'; 1 << 20]);
    fs::create_dir_all(bench.root().join("directory/invariants.harn")).expect("it can be made");
    fs::create_dir(bench.root().join("fifo")).expect("a directory can be made");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        bench.root().join("fifo/invariants.harn"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a FIFO can be made");
    for (target, why) in [
        ("link", "outside"),
        ("dangling", "leads nowhere"),
        ("loop", "links"),
        ("out", "outside"),
        ("bytes", "no UTF-8 from byte 3 on"),
        ("large", "1048576"),
        ("directory", "directory"),
        ("fifo", "FIFO"),
    ] {
        let chain = on_disk(&bench, target);
        let [root, file] = &*chain else {
            panic!("{target}: {chain:?}")
        };
        assert!(!root.has_errors(), "{target}");
        assert_eq!(kinds(file), [DiagnosticKind::Unreadable], "{target}");
        assert!(file.has_errors());
        let message = &file.diagnostics()[0].message;
        assert!(message.contains(why), "{target}: {message}");
        assert!(file.predicates().is_empty() && file.source().is_empty());
    }
    assert_eq!(
        &*on_disk(&bench, "inside")[1].predicates()[0].name,
        "shared"
    );
    assert!(!on_disk(&bench, "whole")[1].has_errors());
    // Below what cannot be looked at, too.
    assert!(on_disk(&bench, "out/a")[1].has_errors());
}

#[test]
fn absolute_targets_below_the_root_are_relative_to_it() {
    let bench = Bench::new();
    bench.file("invariants.harn", deterministic("p"));
    bench.file("a/invariants.harn", deterministic("q"));
    bench.log("a/invariants.harn", deterministic("outside"));
    let root = bench.root();
    let count = |target: &Path| discover(&root, target).expect("the root is there").len();
    assert_eq!(count(&root.join("a")), 2);
    assert_eq!(count(&root.join("b/../a")), 2);
    assert_eq!(count(&root.join("../a")), 1);
    assert_eq!(count(&bench.outside("a")), 1);
    assert_eq!(count(Path::new("/")), 1);
    let alias = bench.outside("alias");
    symlink(&root, &alias).expect("a link can be made");
    let by_alias = discover(&alias, &root.join("a")).expect("the root is there");
    assert_eq!(by_alias.len(), 2);
    assert!(discover(&bench.outside("missing"), Path::new(".")).is_err());
}

#[test]
fn every_error_of_a_file_is_told_and_one_bad_declaration_leaves_the_others() {
    let source = [
        deterministic("good"),
        predicate("", "neither"),
        predicate("@semantic", "alone"),
        predicate("@semantic(policy: maybe)", "twice"),
        predicate("@semantic(fallback: nothing)", "lost"),
        predicate("@semantic(fallback: itself)", "itself"),
        predicate("@semantic(fallback: good, policy: advisory)", "fine"),
        "@invariant @deterministic\nfn bare(slice) { return 1 }\n".to_owned(),
    ]
    .concat();
    let tree = tree(&[("invariants.harn", &source)]);
    let [file] = &*Discovery::new(&tree).chain(".") else {
        panic!("there is one file")
    };
    let found: Vec<_> = file
        .diagnostics()
        .iter()
        .map(|it| (it.predicate.as_deref().unwrap_or(""), it.kind, it.code()))
        .collect();
    use DiagnosticKind as D;
    assert_eq!(
        found,
        [
            ("neither", D::NoMode, "predicate_discovery_error"),
            ("alone", D::NoFallback, "fallback_missing"),
            ("twice", D::UnknownPolicy, "fallback_policy_invalid"),
            ("twice", D::NoFallback, "fallback_missing"),
            ("bare", D::NoArchivist, "predicate_discovery_error"),
            ("lost", D::UnresolvedFallback, "fallback_unresolved"),
            ("itself", D::SemanticFallback, "fallback_not_deterministic"),
        ]
    );
    let able = |at: usize| (file.evaluable(at).is_some(), file.refusal(at).is_none());
    let able: Vec<_> = (0..8).map(able).collect();
    let (yes, no) = ((true, true), (false, false));
    // The fallback of `lost` and `itself` is told of, and they are refused.
    let unresolved = (true, false);
    assert_eq!(able, [yes, no, no, no, unresolved, unresolved, yes, yes]);
    assert!(file.has_errors());
    assert_eq!(file.fallback(6).map(|it| &*it.name), Some("good"));
}

#[test]
fn a_file_that_does_not_parse_has_no_predicate_and_all_its_errors() {
    let source = "fn a() { $ }\nfn b() { return 1 2 }\n".to_owned() + &deterministic("p");
    let tree = tree(&[("invariants.harn", &source)]);
    let [file] = &*Discovery::new(&tree).chain(".") else {
        panic!("there is one file")
    };
    assert_eq!(file.predicates(), []);
    let said: Vec<_> = file.diagnostics().iter().map(|it| &*it.message).collect();
    assert!(
        said.iter()
            .any(|it| it.contains("lex error at line 1, column 10")),
        "{said:?}"
    );
    assert!(
        said.iter()
            .any(|it| it.contains("parse error at line 2, column 19")),
        "{said:?}"
    );
    assert!(file.has_errors() && file.module().is_none());
    assert_eq!(file.source(), source);
}

#[test]
fn a_name_that_is_declared_twice_refuses_the_file() {
    let source = deterministic("p") + &predicate("@deterministic", "p").replace("0.9", "0.8");
    let tree = tree(&[("invariants.harn", &source)]);
    let union = Discovery::new(&tree).union(["."]);
    assert!(union.has_errors());
    let file = &union.files[0];
    assert_eq!(kinds(file), [DiagnosticKind::Load]);
    assert!(file.diagnostics()[0].message.contains("declared already"));
    assert_eq!(file.predicates().len(), 2);
    // The first one stands in the union, and is refused.
    assert_eq!(union.predicates.len(), 1);
    assert_eq!(union.predicates[0].index, 0);
    let refusal = union.predicates[0].refusal().expect("it is refused");
    assert_eq!(refusal.verdict.code(), Some("predicate_load_error"));
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
    let modules = std::sync::Arc::new(Modules::new());
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
    let bench = Bench::new();
    bench.file("invariants.harn", deterministic("root"));
    for group in 0..50 {
        bench.file(
            &format!("g{group}/invariants.harn"),
            deterministic(&format!("group_{group}")),
        );
    }
    let targets: Vec<_> = (0..5000).map(|at| format!("g{}/s{at}", at % 50)).collect();
    for target in &targets {
        bench.file(&format!("{target}/invariants.harn"), deterministic("leaf"));
    }
    let root = Root::open(&bench.root()).expect("it is there");
    let counting = Counting::new(&root);
    let modules = std::sync::Arc::new(Modules::new());
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
    Discovery::with_modules(&root, modules.clone()).union(&targets[..100]);
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
    assert_eq!(kinds(last), [DiagnosticKind::Unreadable]);
    assert!(last.diagnostics()[0].message.contains("too long"));
    // 10,000 touched directories in it.
    let targets = (1..10_000).map(|depth| &target[..depth * 2 - 1]);
    let union = discovery.union(targets);
    assert_eq!(union.files.len(), 3);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn directories_that_are_there_however_deep_are_looked_at_or_refused() {
    let bench = Bench::new();
    let path = ["d"; 300].join("/");
    fs::create_dir_all(bench.root().join(&path)).expect("they can be made");
    bench.file(&format!("{path}/invariants.harn"), deterministic("deep"));
    let chain = on_disk(&bench, &path);
    let [last] = &*chain else {
        panic!("{} files", chain.len())
    };
    assert!(last.has_errors() || &*last.predicates()[0].name == "deep");
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
    for depth in 0..10_000 {
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
            result: if depth == 5000 { &block } else { &allow }.clone(),
        });
    }
    evaluations.reverse();
    let start = Instant::now();
    let composed = compose_predicate_results(&evaluations);
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    for (own, composed) in evaluations.iter().zip(&composed) {
        let expected = if own.source.depth >= 5000 {
            "5000"
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
