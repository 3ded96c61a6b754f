//! Probity, wirefilter, CEL and the tree-walking reference on an equal check,
//! and grep by one `regex` on each line.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml`

#[path = "../../common/mod.rs"]
#[expect(dead_code, reason = "the main benches use the rest")]
mod common;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use probity::check::Options;
use probity::code::{Arena, ProgramRef};
use probity::facts::{FactTable, FactValue, RunOutput};
use probity::lower::compile;
use probity::vm::evaluate_in;
use probity::{Engine, Language};
use wirefilter::{ExecutionContext, Scheme};

const DISTINCT: usize = 4096;
const OUTPUT: &str = "running 255 tests\n........\ntest result: ok. 255 passed; 0 failed; 0 ignored; finished in 1.52s\n";

/// `exit == 0 && lines >= N && stdout contains "..."`, N and the needle vary.
fn needle(number: usize) -> String {
    format!("{} passed", 200 + number % 100)
}

fn ours(number: usize) -> String {
    format!(
        r#"run("cargo test").exit == 0 && grep(/fn test_/, "src/") >= {} && run("cargo test").stdout.contains("{}")"#,
        1 + number % 50,
        needle(number)
    )
}

fn evaluation(c: &mut Criterion) {
    let mut group = c.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(DISTINCT as u64));

    let mut arena = Arena::new();
    let mut table = FactTable::with_len(2);
    table.set(
        0,
        FactValue::Run(RunOutput {
            stdout: Arc::from(OUTPUT.as_bytes()),
            ..RunOutput::default()
        }),
    );
    table.set(
        1,
        FactValue::Count {
            count: 60,
            exact: true,
        },
    );
    let programs: Vec<ProgramRef> = (0..DISTINCT)
        .map(|number| {
            let source = ours(number);
            let program = compile(Language::ElenchV1, &source, Options::default()).expect("valid");
            arena
                .link(&program, |fact| u32::try_from(fact).expect("two facts"))
                .expect("a small arena")
        })
        .collect();
    group.bench_function(BenchmarkId::new("probity", DISTINCT), |b| {
        b.iter(|| {
            for &program in &programs {
                black_box(evaluate_in(&arena, program, &table));
            }
        });
    });

    let scheme = Scheme! { exit: Int, lines: Int, stdout: Bytes };
    let filters: Vec<_> = (0..DISTINCT)
        .map(|number| {
            let source = format!(
                r#"exit == 0 && lines >= {} && stdout contains "{}""#,
                1 + number % 50,
                needle(number)
            );
            scheme.parse(&source).expect("valid").compile()
        })
        .collect();
    let mut context = ExecutionContext::new(&scheme);
    context.set_field_value("exit", 0).expect("a field");
    context.set_field_value("lines", 60).expect("a field");
    context.set_field_value("stdout", OUTPUT).expect("a field");
    group.bench_function(BenchmarkId::new("wirefilter", DISTINCT), |b| {
        b.iter(|| {
            for filter in &filters {
                black_box(filter.execute(&context).expect("fields are set"));
            }
        });
    });

    let env = Arc::new(cel::Env::stdlib());
    let rules: Vec<_> = (0..DISTINCT)
        .map(|number| {
            let source = format!(
                r#"exit == 0 && lines >= {} && stdout.contains("{}")"#,
                1 + number % 50,
                needle(number)
            );
            env.compile(&source).expect("valid")
        })
        .collect();
    let mut context = cel::Context::with_env(Arc::clone(&env));
    context.add_variable("exit", 0_i64).expect("a variable");
    context.add_variable("lines", 60_i64).expect("a variable");
    context.add_variable("stdout", OUTPUT).expect("a variable");
    group.bench_function(BenchmarkId::new("cel", DISTINCT), |b| {
        b.iter(|| {
            for rule in &rules {
                black_box(rule.execute(&context).expect("variables are set"));
            }
        });
    });
    group.finish();
}

fn front_end(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.throughput(Throughput::Elements(1));
    let source = ours(7);
    group.bench_function("probity/1", |b| {
        b.iter(|| compile(Language::ElenchV1, black_box(&source), Options::default()));
    });
    let scheme = Scheme! { exit: Int, lines: Int, stdout: Bytes };
    let filter = r#"exit == 0 && lines >= 8 && stdout contains "207 passed""#;
    group.bench_function("wirefilter/1", |b| {
        b.iter(|| scheme.parse(black_box(filter)).expect("valid").compile());
    });
    let env = Arc::new(cel::Env::stdlib());
    let rule = r#"exit == 0 && lines >= 8 && stdout.contains("207 passed")"#;
    group.bench_function("cel/1", |b| {
        b.iter(|| env.compile(black_box(rule)).expect("valid"))
    });
    group.finish();
}

fn grep(c: &mut Criterion) {
    let mut random = common::Random::new(7);
    let mut text = String::new();
    while text.len() < 1 << 20 {
        let _ = writeln!(
            text,
            "    let value_{} = compute({});",
            random.below(9000),
            random.below(99)
        );
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("big.rs"), &text).expect("a file");
    let mut group = c.benchmark_group("grep");
    group.throughput(Throughput::Bytes(text.len() as u64));
    let pattern = "value_12[0-9]+ = compute";

    let engine = Engine::builder(dir.path())
        .jobs(1)
        .build()
        .expect("an engine");
    let source = format!(r#"grep(/{pattern}/, "big.rs") == 1000000"#);
    let program = engine.compile(Language::ElenchV1, &source).expect("valid");
    group.bench_function("probity/1MiB", |b| b.iter(|| engine.evaluate(&program)));

    group.bench_function("regex-per-line/1MiB", |b| {
        b.iter(|| {
            let regex = regex::bytes::Regex::new(pattern).expect("a regex");
            let bytes = fs::read(dir.path().join("big.rs")).expect("the file");
            bytes
                .split(|&byte| byte == b'\n')
                .filter(|line| regex.is_match(line))
                .count()
        });
    });
    group.finish();
}

criterion_group!(benches, evaluation, front_end, grep);
criterion_main!(benches);
