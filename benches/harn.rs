//! Predicate files: compiling one, evaluating one small predicate, and a generated pack
//! of 340 predicates over slices of 10, 100 and 1,000 files.

#[expect(dead_code, reason = "the other benches use the rest")]
mod common;
#[path = "common/packs.rs"]
mod packs;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use probity::flow::{Context, Judge, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{Limits, Machine, Module};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;

fn modules() -> Vec<Module> {
    (0..packs::FILES).map(compile).collect()
}

fn compile(number: u64) -> Module {
    Module::compile(&packs::pack(number)).expect("it is sound")
}

fn slice(count: u64) -> Slice {
    slice_of(packs::files(count))
}

fn slice_of(files: Vec<(String, String)>) -> Slice {
    Slice::new(
        files
            .into_iter()
            .map(|(path, text)| SliceFile::new(path, text))
            .collect(),
    )
}

fn judge() -> Arc<Judge> {
    Arc::new(|_| Ok(json!({"verdict": "Allow", "findings": []})))
}

/// Every predicate of every module over a slice; how many block.
fn judge_all(modules: &[Module], slice: &Prepared<'_>, judge: &Arc<Judge>) -> usize {
    let context = Context {
        judge: Some(judge.clone()),
        ..Context::default()
    };
    let limits = Limits::default();
    let all = modules.par_iter().flat_map_iter(|module| {
        let predicates = module.predicates().iter();
        predicates.map(move |predicate| (module, predicate))
    });
    all.filter(|(module, predicate)| {
        let judged = evaluate(module, predicate, slice, &context, &limits);
        judged.result.verdict.code().is_some()
    })
    .count()
}

#[derive(Deserialize)]
struct Bombs {
    bomb: Vec<Bomb>,
}

#[derive(Deserialize)]
struct Bomb {
    name: String,
    code: String,
    limit: String,
}

/// How long hostile programs take to be ended; what they used is printed.
fn bombs(criterion: &mut Criterion) {
    let text = include_str!("../tests/data/programs/bombs.toml");
    let bombs: Bombs = toml::from_str(text).expect("it is TOML");
    let mut group = criterion.benchmark_group("harn/bombs");
    group.sample_size(10);
    for Bomb { name, code, limit } in bombs.bomb {
        let source = format!("pub fn main() {{\n return (fn() {{\n{code}\n}})()\n}}");
        let module = Module::compile(&source).expect("it is sound");
        let explode = || {
            let mut machine = Machine::new(&module, &Limits::default());
            machine.start().expect("nothing runs yet");
            let ended = machine.run("main", &[]).expect_err("a limit ends it");
            (ended, machine.usage())
        };
        let (ended, usage) = explode();
        assert_eq!(format!("{ended:?}"), format!("Limit({limit})"), "{name}");
        println!(
            "{name}: {limit}, {} units of fuel, {} KiB",
            usage.fuel,
            usage.memory >> 10
        );
        group.bench_function(name, |bencher| bencher.iter(explode));
    }
    group.finish();
}

fn harn(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("harn/compile");
    let text = packs::pack(3);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function(format!("{}-lines", text.lines().count()), |bencher| {
        bencher.iter(|| Module::compile(black_box(&text)));
    });
    group.finish();

    let module = Module::compile(&packs::pack(0)).expect("it is sound");
    let one = slice(1);
    let prepared = Prepared::new(&one);
    let small = module
        .predicates()
        .iter()
        .find(|predicate| &*predicate.name == "rule_1")
        .expect("there is one");
    criterion.bench_function("harn/evaluate/one-file", |bencher| {
        bencher.iter(|| {
            evaluate(
                &module,
                black_box(small),
                &prepared,
                &Context::default(),
                &Limits::default(),
            )
        });
    });

    let judge = judge();
    let mut group = criterion.benchmark_group("harn/340-predicates");
    group.sample_size(10);
    for count in [10, 100, 1000] {
        let slice = slice(count);
        group.throughput(Throughput::Elements(
            count * packs::FILES * packs::PREDICATES,
        ));
        group.bench_with_input(BenchmarkId::new("cold", count), &count, |bencher, _| {
            bencher.iter(|| {
                let modules = modules();
                let patterns = Patterns::new(&modules);
                judge_all(&modules, &Prepared::sift(&slice, &patterns), &judge)
            });
        });
        let modules = modules();
        let patterns = Patterns::new(&modules);
        group.bench_with_input(BenchmarkId::new("warm", count), &count, |bencher, _| {
            bencher.iter(|| judge_all(&modules, &Prepared::sift(&slice, &patterns), &judge));
        });
        group.bench_with_input(BenchmarkId::new("unsifted", count), &count, |bencher, _| {
            bencher.iter(|| judge_all(&modules, &Prepared::new(&slice), &judge));
        });
    }
    group.finish();
}

/// More and more predicates that all concern the same 20 files of 40 KB each, with one
/// pass for all their patterns and with a search for each.
fn scaling(criterion: &mut Criterion) {
    let judge = judge();
    let slice = slice_of(packs::long_files(20, 1200));
    let mut group = criterion.benchmark_group("harn/20-files-of-40-KB");
    group.sample_size(10);
    for count in [1, 3, 10, 34] {
        let modules: Vec<_> = (0..count).map(|at| compile(packs::alike(at))).collect();
        let patterns = Patterns::new(&modules);
        let predicates = count * packs::PREDICATES;
        group.throughput(Throughput::Elements(predicates * 20));
        group.bench_with_input(
            BenchmarkId::new("sifted", predicates),
            &(),
            |bencher, ()| {
                bencher.iter(|| judge_all(&modules, &Prepared::sift(&slice, &patterns), &judge));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("unsifted", predicates),
            &(),
            |bencher, ()| {
                bencher.iter(|| judge_all(&modules, &Prepared::new(&slice), &judge));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, harn, scaling, bombs);
criterion_main!(benches);
