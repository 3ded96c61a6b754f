//! Discovery over what is hostile, large or broken: it ends, it tells, and nothing that
//! could not be looked at counts as not being there.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use probity::files::{Root, Tree};
use probity::flow::{DiagnosticKind, Discovery, PredicateFile, discover};

use crate::bin::Bench;
use crate::discovery_rows::{deterministic, predicate, tree};
use crate::git::{commit_all, git, tree_at};

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
fn a_commit_is_discovered_as_its_checkout_is() {
    let bench = Bench::new();
    let root = bench.root();
    git(&root, &["init", "--quiet"]);
    bench.file("invariants.harn", deterministic("p"));
    bench.file("a/b/invariants.harn", deterministic("q"));
    bench.file("a/empty/x", "");
    bench.file("bytes/invariants.harn", b"\xff");
    for name in ["dangling", "out", "gone"] {
        bench.file(&format!("{name}/x"), "");
    }
    let link = |target: &str, name: &str| {
        symlink(target, root.join(name)).expect("a link can be made");
    };
    link("nowhere", "dangling/invariants.harn");
    link("../../rules", "out/invariants.harn");
    link("a/b", "link");
    link("a/empty", "plain");
    link("nowhere", "missing");
    commit_all(&root, "one");
    let commit = tree_at(&root, "HEAD");
    let disk = Root::open(&root).expect("it is there");
    for target in [
        "a/b/c", "bytes", "dangling", "out", "link", "plain", "plain/x", "missing", "gone",
    ] {
        let told = |tree: &dyn Tree| -> Vec<_> {
            let chain = Discovery::new(tree).chain(target);
            let files = chain.iter().map(|file| {
                let names = file
                    .predicates()
                    .iter()
                    .map(|it| (it.name.clone(), it.hash));
                (
                    file.path().to_owned(),
                    kinds(file),
                    names.collect::<Vec<_>>(),
                )
            });
            files.collect()
        };
        let (at_commit, on_disk) = (told(&commit), told(&disk));
        assert_eq!(at_commit, on_disk, "{target}");
        let files = match target {
            "plain" | "plain/x" | "missing" | "gone" => 1,
            _ => 2,
        };
        assert_eq!(on_disk.len(), files, "{target}");
    }
}

#[test]
fn whatever_the_text_there_is_an_error_or_a_predicate() {
    let source = deterministic("p")
        + &predicate("@semantic(fallback: p, policy: advisory)", "\u{e4}")
        + "type T = [string]\nconst C = [1, \"${1 + 1}\"]\n";
    let ends = (0..=source.len()).filter(|at| source.is_char_boundary(*at));
    for at in ends {
        let (head, tail) = source.split_at(at);
        for text in [
            head.to_owned(),
            tail.to_owned(),
            format!("{head}@{tail}"),
            format!("{head}\u{1f600}\"{tail}"),
            format!("{head}\n}}{tail}"),
        ] {
            let tree = tree(&[("invariants.harn", &text)]);
            let union = Discovery::new(&tree).union(["."]);
            for (file, diagnostic) in union.diagnostics() {
                if let Some(place) = diagnostic.place {
                    let range = place.start as usize..place.end as usize;
                    assert!(file.source().get(range).is_some(), "{text}: {diagnostic:?}");
                }
            }
            for predicate in &union.predicates {
                let can = predicate.evaluable().is_some();
                assert!(can || predicate.refusal().is_some(), "{text}");
                assert!(can || union.has_errors(), "{text}");
            }
        }
    }
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
