//! `grep` and `exists` of predicate files through the public API: they say what claims
//! say, cost what claims cost, are looked up once, and let nothing pass that is not known.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use probity::budget::CancelToken;
use probity::facts::{
    Cost, Demand, FactKey, FactSource, FactValue, FetchStats, Fetched, WorkspaceSource,
};
use probity::files::{Limits as FileLimits, memory_tree};
use probity::flow::{Context, Evaluated, Prepared, Slice, evaluate};
use probity::harn::{Limits, Module, Workspace};
use probity::{Engine, Language, Reason, ReasonCode};
use rayon::prelude::*;

use crate::bin::Bench;

const HEADER: &str = "@invariant\n@deterministic\n\
    @archivist(evidence: [\"u\"], confidence: 1.0, source_date: \"2026-05-01\")\n";

/// A module of predicates `p0`, `p1`, …, each of which warns with the text of a value.
fn module(values: &[&str]) -> Module {
    let predicates = values.iter().enumerate().map(|(number, value)| {
        format!(
            "{HEADER}fn p{number}(slice) {{\n\
             const v = {value}\n return flow_invariant_warn(to_string(v))\n}}\n"
        )
    });
    let source: String = predicates.collect();
    Module::compile(&source).unwrap_or_else(|problems| panic!("{source}\n{problems:#?}"))
}

fn judge(module: &Module, number: usize, context: &Context<'_>, fuel: u64) -> Evaluated {
    let slice = Slice::default();
    let limits = Limits {
        fuel,
        ..Limits::default()
    };
    let predicate = &module.predicates()[number];
    evaluate(module, predicate, &Prepared::new(&slice), context, &limits)
}

fn in_workspace(workspace: &Workspace) -> Context<'_> {
    Context {
        workspace: Some(workspace),
        ..Context::default()
    }
}

/// What a predicate warned of, or the code and message of its block.
fn said(evaluated: &Evaluated) -> String {
    let verdict = serde_json::to_value(&evaluated.result.verdict).expect("it is JSON");
    match verdict["kind"].as_str() {
        Some("warn") => verdict["reason"].as_str().unwrap_or_default().to_owned(),
        _ => format!(
            "{}: {}",
            verdict["error"]["code"].as_str().unwrap_or_default(),
            verdict["error"]["message"].as_str().unwrap_or_default()
        ),
    }
}

const FUEL: u64 = 20_000_000;

const FILES: [(&str, &str); 3] = [
    ("src/a.rs", "x.unwrap()\ny\n"),
    ("src/b.rs", "unwrap unwrap\n"),
    ("README.md", "words\n"),
];

fn memory() -> WorkspaceSource {
    let files = FILES.map(|(path, text)| (path, text.as_bytes()));
    let tree = memory_tree(files).expect("the paths are sound");
    WorkspaceSource::over(tree, FileLimits::default())
}

/// A source that puts down what it was asked.
struct Counting {
    source: WorkspaceSource,
    asked: Arc<Mutex<Vec<FactKey>>>,
    fetches: Arc<AtomicUsize>,
}

impl FactSource for Counting {
    fn fetch(&self, demands: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        let keys = demands.iter().map(|demand| demand.key.clone());
        self.asked.lock().unwrap().extend(keys);
        self.source.fetch(demands, cancel)
    }
}

/// A workspace, what its source was asked, and how often.
fn counting() -> (Workspace, Arc<Mutex<Vec<FactKey>>>, Arc<AtomicUsize>) {
    let (asked, fetches) = (Arc::default(), Arc::default());
    let source = Counting {
        source: memory(),
        asked: Arc::clone(&asked),
        fetches: Arc::clone(&fetches),
    };
    (Workspace::new(source), asked, fetches)
}

/// Over this repository, against the engine of claims.
#[test]
fn counts_and_fuel_are_those_of_claims() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/harn");
    let engine = Engine::builder(&root).build().unwrap();
    let workspace = Workspace::open(&root).unwrap();
    let context = in_workspace(&workspace);
    for (pattern, path) in [
        ("fn ", "vm"),
        ("^use ", "."),
        ("(?i)FAULT", "vm/machine.rs"),
        ("\\\\b[a-z_]+\\\\(\\\\)", "builtins/"),
        ("no such text anywhere", "vm"),
    ] {
        let module = module(&[&format!("grep(\"{pattern}\", \"{path}\")"), "1"]);
        let judged = judge(&module, 0, &context, FUEL);
        let count = said(&judged);
        let claim = format!("grep(\"{pattern}\", \"{path}\") == {count}");
        let program = engine.compile(Language::ElenchV1, &claim).unwrap();
        let result = engine.evaluate(&program).unwrap();
        assert_eq!(result.verdict, probity::batch::Verdict::Pass, "{claim}");
        assert_eq!(judged.usage.bytes, result.cost.bytes, "{claim}");
        // Beside the few instructions around them.
        let plain = judge(&module, 1, &context, FUEL);
        let fact = judged.usage.fuel - plain.usage.fuel;
        let claimed = result.cost.fuel;
        assert!(
            (claimed - 10..claimed + 60).contains(&fact),
            "{claim}: {fact} and {claimed}"
        );
    }
}

#[test]
fn a_fact_is_looked_up_once_for_all_predicates_and_threads() {
    let values = ["[grep(\"unwrap\", \"src\"), exists(\"src\")]"; 40];
    let module = module(&values);
    let (workspace, asked, _) = counting();
    let context = in_workspace(&workspace);
    // More evaluations at a time than there are threads to look anything up.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(16).build();
    let judged: Vec<Evaluated> = pool.unwrap().install(|| {
        let all = (0..400_usize).into_par_iter();
        all.map(|number| judge(&module, number % 40, &context, FUEL))
            .collect()
    });
    let first = &judged[0];
    for judged in &judged {
        assert_eq!(said(judged), "[2, true]");
        // Each pays what it would cost alone.
        assert_eq!(judged.usage, first.usage);
    }
    assert_eq!(asked.lock().unwrap().len(), 2);
    assert!(first.usage.bytes > 0 && first.usage.fuel > 1000);
}

#[test]
fn looking_ahead_takes_one_go_and_changes_nothing() {
    let values = [
        "grep(\"unwrap\", \"src\")",
        "grep(\"y\", \"src/a.rs\") + grep(\"words\", \"README.md\")",
        "exists(\"src/c.rs\")",
        "grep(\"(\", \"src\")",
        "grep(\"x\", \"missing\")",
        "[\"src\"].map({ path -> grep(\"late\", path) })",
    ];
    let module = module(&values);
    let (ahead, asked, fetches) = counting();
    ahead.look_ahead([&module, &module], FUEL, &CancelToken::new());
    ahead.look_ahead([&module], FUEL, &CancelToken::new());
    assert_eq!(fetches.load(Ordering::Relaxed), 1);
    assert_eq!(asked.lock().unwrap().len(), 6);
    for number in 0..values.len() {
        let (alone, ..) = counting();
        let plain = judge(&module, number, &in_workspace(&alone), FUEL);
        let judged = judge(&module, number, &in_workspace(&ahead), FUEL);
        assert_eq!(judged.result, plain.result);
        assert_eq!(judged.usage, plain.usage, "{number}");
    }
    // Only what it could not know was asked after.
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
}

#[test]
fn an_evaluation_pays_for_a_fact_once() {
    let once = "grep(\"unwrap\", \"src\")";
    let twice = format!("{once} + {once}");
    let module = module(&[once, &twice, "1 + 1"]);
    let (workspace, ..) = counting();
    let fuel = |number| {
        let judged = judge(&module, number, &in_workspace(&workspace), FUEL);
        (judged.usage.fuel, judged.usage.bytes)
    };
    let ((one, bytes), (two, same), (none, _)) = (fuel(0), fuel(1), fuel(2));
    assert_eq!(bytes, same);
    assert!(two - one < 100 && one - none > 1000, "{none}, {one}, {two}");
}

#[test]
fn the_fuel_decides_whatever_was_looked_up_before() {
    let grep = "grep(\"unwrap\", \"src\")";
    let caught = format!("try {{ {grep} }} catch (e) {{ 0 }}");
    let module = module(&[grep, &caught]);
    let (rich, ..) = counting();
    let needed = judge(&module, 1, &in_workspace(&rich), FUEL).usage.fuel;
    // Fuel that is enough, and not, in a workspace that knows the answer, in one that
    // knows nothing, and in one that has given up before.
    let (poor, ..) = counting();
    for fuel in [30, 300, 1100, needed - 1, needed, needed + 1, 300, FUEL] {
        let (fresh, ..) = counting();
        let judged = [&rich, &poor, &fresh].map(|it| judge(&module, 1, &in_workspace(it), fuel));
        for judged in &judged {
            if fuel < needed {
                assert_eq!(
                    judged.result.verdict.code(),
                    Some("budget_exceeded"),
                    "{fuel}"
                );
                assert_eq!(judged.usage.fuel, fuel);
            } else {
                assert_eq!(said(judged), "2", "{fuel}");
                assert_eq!(judged.usage.fuel, needed);
            }
        }
    }
}

#[test]
fn what_is_not_known_blocks_with_a_hint() {
    let bench = Bench::new();
    bench.file("src/a.rs", "x\n").log("secret", "x\n");
    std::os::unix::fs::symlink(bench.outside("secret"), bench.root().join("link")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(bench.root().join("pipe"))
        .status()
        .unwrap();
    assert!(pipe.success());
    let workspace = Workspace::open(&bench.root()).unwrap();
    for (value, code, hint) in [
        (
            "grep(\"x\", \"b.rs\") == 0",
            "path_not_found",
            "ask `exists` before",
        ),
        (
            "grep(\"x\", \"../secret\")",
            "path_outside_workspace",
            "below the workspace root",
        ),
        (
            "grep(\"x\", \"/etc/passwd\")",
            "path_outside_workspace",
            "below the workspace root",
        ),
        (
            "grep(\"x\", \"link\")",
            "path_outside_workspace",
            "below the workspace root",
        ),
        (
            "exists(\"link\")",
            "path_outside_workspace",
            "below the workspace root",
        ),
        (
            "grep(\"x\", \"pipe\")",
            "not_a_regular_file",
            "name a regular file",
        ),
        ("grep(\"(\", \"src\")", "pattern_invalid", "it is no regex"),
        (
            "grep(\"(\\\\w{99}){99}\", \"src\")",
            "pattern_too_large",
            "lower its repetitions",
        ),
        (
            "grep(\"x\" * 5000, \"src\")",
            "pattern_too_large",
            "shorten it",
        ),
        ("exists(\"\")", "path_invalid", "can name no file"),
    ] {
        let caught = format!("try {{ {value} }} catch (e) {{ true }}");
        let module = module(&[value, &caught]);
        for number in [0, 1] {
            let judged = judge(&module, number, &in_workspace(&workspace), FUEL);
            let said = said(&judged);
            assert!(
                said.starts_with(&format!("predicate_runtime_error: {code}: `")),
                "{value}: {said}"
            );
            assert!(said.contains(hint), "{value}: {said}");
            assert!(said.ends_with(')') && said.contains(" (line "), "{said}");
        }
    }
    let module = module(&["exists(\"src\")"]);
    let said = said(&judge(&module, 0, &Context::default(), FUEL));
    assert!(
        said.contains("predicate_runtime_error: fact_missing"),
        "{said}"
    );
    assert!(said.contains("--root DIR"), "{said}");
}

/// A source that answers with something else than what was asked for, or not at all.
struct Odd(Option<FactValue>);

impl FactSource for Odd {
    fn fetch(&self, _: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let answer = self.0.iter().cloned().map(Fetched::from);
        (answer.collect(), FetchStats::default())
    }
}

#[test]
fn a_source_that_answers_oddly_lets_nothing_pass() {
    let module = module(&["grep(\"x\", \"src\") == 0", "exists(\"src\")"]);
    let unknown = |code| FactValue::Unknown(Reason::new(code, "so it is"));
    let count = |exact| FactValue::Count { count: 0, exact };
    for (answer, number, code) in [
        (None, 0, "predicate_runtime_error: fact_missing"),
        (
            Some(FactValue::Bool(true)),
            0,
            "predicate_runtime_error: fact_mistyped",
        ),
        (
            Some(count(false)),
            0,
            "predicate_runtime_error: fact_mistyped",
        ),
        (
            Some(count(true)),
            1,
            "predicate_runtime_error: fact_mistyped",
        ),
        (
            Some(unknown(ReasonCode::ReadError)),
            1,
            "predicate_runtime_error: read_error",
        ),
        (
            Some(unknown(ReasonCode::BudgetExceeded)),
            1,
            "budget_exceeded",
        ),
        (Some(unknown(ReasonCode::Cancelled)), 1, "cancelled"),
    ] {
        let workspace = Workspace::new(Odd(answer));
        let said = said(&judge(&module, number, &in_workspace(&workspace), FUEL));
        assert!(said.starts_with(code), "{said}, not {code}");
    }
}

/// A source that works until somebody stops it.
struct Endless;

impl FactSource for Endless {
    fn fetch(&self, _: &[Demand<'_>], cancel: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let cause = loop {
            if let Some(cause) = cancel.stop() {
                break cause;
            }
            cancel.charge_cpu(1_000_000);
            std::thread::sleep(std::time::Duration::from_millis(1));
        };
        let fetched = Fetched {
            cost: Cost::default(),
            ..FactValue::Unknown(cause.into()).into()
        };
        (vec![fetched], FetchStats::default())
    }
}

#[test]
fn looking_up_and_waiting_for_it_can_be_stopped() {
    let module = module(&["exists(\"src\")"]);
    let workspace = Workspace::new(Endless);
    let cancel = CancelToken::new();
    let soon = std::time::Instant::now() + std::time::Duration::from_millis(100);
    let early = cancel.with_deadline(soon);
    let judge = |cancel: &CancelToken| {
        let context = Context {
            cancel: Some(cancel),
            ..in_workspace(&workspace)
        };
        judge(&module, 0, &context, FUEL).result.verdict
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| judge(&cancel));
        // It waits for what the first looks up, and has less time.
        let second = scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            judge(&early)
        });
        assert_eq!(second.join().unwrap().code(), Some("cancelled"));
        assert!(!first.is_finished());
        cancel.cancel();
        assert_eq!(first.join().unwrap().code(), Some("cancelled"));
    });
    // A limit on the CPU time of the evaluation holds for what it has looked up.
    let slice = Slice::default();
    let limits = Limits {
        cpu: Some(std::time::Duration::from_millis(50)),
        ..Limits::default()
    };
    let context = in_workspace(&workspace);
    let predicate = &module.predicates()[0];
    let judged = evaluate(
        &module,
        predicate,
        &Prepared::new(&slice),
        &context,
        &limits,
    );
    assert_eq!(judged.result.verdict.code(), Some("budget_exceeded"));
}

#[test]
fn a_workspace_is_named_on_the_command_line() {
    let bench = Bench::new();
    let rules = format!(
        "{HEADER}pub fn documented(slice) {{\n\
         return {{verdict: if exists(\"docs\") && grep(\"^# \", \"docs\") > 0 {{ \"Allow\" }} \
         else {{ \"Block\" }}, rule: \"documented\", remediation: \"write it down\"}}\n}}\n"
    );
    bench.log("pack/invariants.harn", rules);
    let fixture = "{\"predicate\": \"documented\", \"cases\": [{\"name\": \"one\", \
                   \"expect\": \"Allow\", \"files\": []}]}";
    bench.log("pack/fixtures/a.json", fixture);
    let slice = bench.log("slice.json", "{\"files\": []}");
    let (pack, slice) = (bench.outside("pack"), slice.to_str().unwrap().to_owned());
    let (file, pack) = (
        pack.join("invariants.harn"),
        pack.to_str().unwrap().to_owned(),
    );
    let evaluate = [
        "flow",
        "evaluate",
        file.to_str().unwrap(),
        "--slice",
        &slice,
    ];
    let test = ["flow", "test", &pack];

    let run = bench.run_bare(&evaluate);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stdout.contains("--root DIR"), "{}", run.stdout);
    assert_eq!(bench.run_bare(&test).status, 1);

    assert_eq!(bench.run(&evaluate).status, 1);
    bench.file("docs/a.md", "# Title\n");
    for args in [&evaluate[..], &test] {
        let run = bench.run(args);
        assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    }
    let run = bench.run(&evaluate);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["records"][0]["scanned_bytes"], 8);

    let missing = bench.outside("missing");
    let mut args = evaluate.to_vec();
    args.extend(["--root", missing.to_str().unwrap()]);
    let run = bench.run_bare(&args);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("workspace root"), "{}", run.stderr);
}

#[test]
fn a_pattern_that_is_none_is_told_by_the_linter() {
    let module = module(&["grep(\"(\", \"src\")", "grep(\"x\", \"src\")"]);
    let [problem] = &module.invalid_patterns()[..] else {
        panic!("{:?}", module.invalid_patterns())
    };
    assert_eq!(problem.code.name(), "HARN-RGX-001");
    let place = &module.source()[problem.span.range()];
    assert!(place.starts_with("grep(\"(\""), "{place}");
}

#[test]
fn commands_are_refused_with_a_word_about_why() {
    for call in ["run(\"ls\")", "test(\"name\")"] {
        let problems = Module::compile(&format!("fn f() {{ return {call} }}")).unwrap_err();
        let [problem] = &problems[..] else {
            panic!("{problems:?}")
        };
        assert_eq!(problem.code.name(), "HARN-NAM-002");
        let help = problem.help.as_deref().unwrap_or_default();
        assert!(help.contains("executes nothing"), "{help}");
    }
}
