//! The front end, the machine and the log reader, each alone.
//!
//! `cargo bench --bench engine`; names are engine/workload/size.

mod common;

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;

use bumpalo::Bump;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use probity::batch::{ClaimResult, Settings};
use probity::check::{Options, check};
use probity::claims::{Input, Options as LogOptions, check_logs};
use probity::code::{Arena, Program, ProgramRef};
use probity::facts::{
    CancelToken, Demand, FactSource, FactTable, FactValue, FetchStats, Fetched, Primitive,
    RunOutput,
};
use probity::lower::compile;
use probity::syntax::parse;
use probity::vm::{evaluate, evaluate_in};
use probity::{Digest, Engine, Language, Watch};

const V1: Language = Language::ElenchV1;
const DISTINCT: u64 = 4096;

fn sources() -> Vec<String> {
    (0..DISTINCT).map(common::predicate).collect()
}

fn compiled(source: &str) -> Program {
    compile(V1, source, Options::default()).expect("a valid predicate")
}

fn front_end(c: &mut Criterion) {
    let mut group = c.benchmark_group("frontend");
    group.throughput(Throughput::Elements(1));
    let mut arena = Bump::new();
    group.bench_function("parse/typical", |b| {
        b.iter(|| {
            arena.reset();
            black_box(parse(V1, black_box(common::TYPICAL), &arena).expr.is_some())
        });
    });
    group.bench_function("parse+check/typical", |b| {
        b.iter(|| {
            arena.reset();
            black_box(check(V1, black_box(common::TYPICAL), &arena, Options::default()).is_ok())
        });
    });
    group.bench_function("parse+check+compile/typical", |b| {
        b.iter(|| compile(V1, black_box(common::TYPICAL), Options::default()));
    });
    group.finish();

    let sources = sources();
    let mut group = c.benchmark_group("frontend");
    group.throughput(Throughput::Elements(DISTINCT));
    group.bench_function(BenchmarkId::new("parse+check+compile", DISTINCT), |b| {
        b.iter(|| {
            for source in &sources {
                black_box(compile(V1, source, Options::default()).is_ok());
            }
        });
    });
    group.finish();
}

fn lookup(c: &mut Criterion) {
    let engine = Engine::with_facts(Arc::new(Everything))
        .build()
        .expect("an engine");
    let source = &common::TYPICAL[..common::TYPICAL.len().min(100)];
    engine.compile(V1, source).expect("a valid predicate");
    let mut group = c.benchmark_group("cache");
    group.throughput(Throughput::Elements(1));
    group.bench_function("lookup-by-digest/hot", |b| {
        b.iter(|| engine.compile(V1, black_box(source)));
    });
    group.bench_function("sha256-alone/hot", |b| {
        b.iter(|| Digest::of(black_box(source.as_bytes())));
    });
    group.finish();
}

/// Answers everything at once, as a host with its own snapshot would.
struct Everything;

fn answer(primitive: Primitive) -> FactValue {
    match primitive {
        Primitive::Exists | Primitive::Test => FactValue::Bool(true),
        Primitive::Grep | Primitive::Count => FactValue::Count {
            count: 1,
            exact: true,
        },
        Primitive::Run => FactValue::Run(RunOutput {
            stdout: Arc::from(&b"test result: ok. 255 passed; 0 failed; 0 ignored"[..]),
            ..RunOutput::default()
        }),
    }
}

impl FactSource for Everything {
    fn fetch(&self, demands: &[Demand<'_>], _: &CancelToken) -> (Vec<Fetched>, FetchStats) {
        let answers = demands
            .iter()
            .map(|demand| answer(demand.key.primitive()).into());
        (answers.collect(), FetchStats::default())
    }
}

fn evaluation(c: &mut Criterion) {
    let mut group = c.benchmark_group("evaluate");
    group.throughput(Throughput::Elements(1));
    let hot = compiled(r#"grep(/a|b/, "f") >= 4 && test("t").passed"#);
    let mut table = FactTable::with_len(2);
    table.set(
        0,
        FactValue::Count {
            count: 5,
            exact: true,
        },
    );
    table.set(1, FactValue::Bool(true));
    group.bench_function("flat/1", |b| b.iter(|| evaluate(black_box(&hot), &table)));

    let mut arena = Arena::new();
    let mut table = FactTable::new();
    let mut programs: Vec<ProgramRef> = Vec::new();
    for source in sources() {
        let program = compiled(&source);
        let first = table.len();
        for (fact, spec) in program.facts().iter().enumerate() {
            table.set(first + fact, answer(spec.key.primitive()));
        }
        let number = |fact: usize| u32::try_from(first + fact).expect("few facts");
        programs.push(arena.link(&program, number).expect("a small arena"));
    }
    group.throughput(Throughput::Elements(DISTINCT));
    group.bench_function(BenchmarkId::new("flat", DISTINCT), |b| {
        b.iter(|| {
            for &program in &programs {
                black_box(evaluate_in(&arena, program, &table));
            }
        });
    });
    group.finish();
}

fn logs(c: &mut Criterion) {
    let mut group = c.benchmark_group("log");
    group.sample_size(10);
    for records in [100_000_u64, 1_000_000] {
        let log: Arc<[u8]> = common::claim_log(records, 10_000).into();
        group.throughput(Throughput::Elements(records));
        group.bench_function(BenchmarkId::new("check", records), |b| {
            b.iter(|| {
                let engine = Engine::with_facts(Arc::new(Everything))
                    .build()
                    .expect("an engine");
                let inputs = [Input::reader("log", Cursor::new(Arc::clone(&log)))];
                let mut claims = 0_u64;
                let mut sink = Watch(|_: &ClaimResult| {
                    claims += 1;
                    Ok(())
                });
                let options = LogOptions::default();
                let report = check_logs(&engine, inputs, options, Settings::default(), &mut sink);
                black_box(report.is_ok());
                assert_eq!(claims, records);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, front_end, lookup, evaluation, logs);
criterion_main!(benches);
