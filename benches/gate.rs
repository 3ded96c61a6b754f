//! The gate: slices of 20 files under 340 predicates, and how soon the deterministic
//! predicates of one slice are done beside a slice that waits for a judge.
//!
//! `cargo bench --bench gate`; the whole process is measured by `benches/gate.sh`.

#[expect(dead_code, reason = "the other benches use the rest")]
mod common;
#[expect(dead_code, reason = "the other benches use the rest")]
#[path = "common/packs.rs"]
mod packs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use probity::budget::CancelToken;
use probity::files::{MemoryFiles, ObjectTree, memory_tree};
use probity::flow::executor::{
    CheapJudge, Executor, ExecutorConfig, JudgeReply, JudgeRequest, Ran, RunContext, Runner,
    RunnerKind, SchedulerConfig, SliceJob,
};
use probity::flow::{
    BlockError, Discovery, Gate, GateJob, GateOutcome, PredicateRunner, Prepared, Slice, SliceFile,
    World, touched_directories,
};
use probity::harn::FallbackPolicy;

const TOUCHED: u64 = 20;
const PREDICATES: usize = 340;

/// The pack's 34 files in the root, in `src`, in 20 directories of it and below 12 of
/// these.
fn tree() -> ObjectTree<MemoryFiles> {
    let place = |number: u64| match number {
        0 => String::new(),
        1 => "src/".to_owned(),
        2..=21 => format!("src/d{}/", number - 2),
        _ => format!("src/d{}/e/", number - 22),
    };
    let files = (0..packs::FILES).map(|number| {
        let path = format!("{}invariants.harn", place(number));
        (path, packs::pack(number).into_bytes())
    });
    memory_tree(files).expect("the paths are sound")
}

/// A slice with a file below each directory, so that every predicate applies.
fn slice(number: u64) -> Slice {
    let files = packs::files(TOUCHED).into_iter().enumerate();
    let files = files.map(|(at, (path, text))| {
        let extension = path
            .rsplit_once('.')
            .map_or("rs", |(_, extension)| extension);
        let text = format!("{text}// slice {number}\n");
        SliceFile::new(format!("src/d{at}/e/f{number}.{extension}"), text)
    });
    Slice::new(files.collect())
}

fn executor(lanes: usize, replay_deterministic: bool) -> ExecutorConfig {
    ExecutorConfig {
        replay_deterministic,
        scheduler: SchedulerConfig {
            max_deterministic_lanes: lanes,
            ..SchedulerConfig::default()
        },
        ..ExecutorConfig::default()
    }
}

fn jobs(slices: &[Slice]) -> Vec<GateJob<'_>> {
    let jobs = slices.iter().map(|slice| {
        let touched = touched_directories(slice).expect("the paths are sound");
        GateJob::new(slice, touched)
    });
    jobs.collect()
}

fn judge_all(gate: &Gate, discovery: &mut Discovery<'_>, jobs: &[GateJob<'_>]) -> usize {
    let reports = gate.judge_all(discovery, None, jobs);
    let all = reports
        .iter()
        .map(|it| it.records.len() + it.skipped.len())
        .sum::<usize>();
    assert_eq!(all, jobs.len() * PREDICATES);
    let blocked = reports.iter().map(|it| it.outcome());
    blocked.filter(|it| *it == GateOutcome::Block).count()
}

fn slices(criterion: &mut Criterion) {
    let cores = available_parallelism().map_or(1, usize::from);
    let tree = tree();
    let mut group = criterion.benchmark_group("gate/slices");
    group.sample_size(10);
    for count in [1, 10, 100] {
        let slices: Vec<Slice> = (0..count).map(slice).collect();
        let jobs = jobs(&slices);
        let predicates = count * PREDICATES as u64;
        group.throughput(Throughput::Elements(predicates));
        let gate = |lanes, replay, include_semantic| Gate {
            executor: executor(lanes, replay),
            include_semantic,
            judge: Some(Arc::new(Slow(Duration::ZERO))),
            ..Gate::default()
        };
        let cold = gate(cores, true, false);
        group.bench_with_input(BenchmarkId::new("cold", count), &(), |bencher, ()| {
            bencher.iter(|| judge_all(&cold, &mut Discovery::new(&tree), &jobs));
        });
        let mut discovery = Discovery::new(&tree);
        for (name, gate) in [
            ("warm", gate(cores, true, false)),
            ("warm, one lane", gate(1, true, false)),
            ("warm, no replay", gate(cores, false, false)),
            ("warm, with a judge", gate(cores, true, true)),
        ] {
            group.bench_with_input(BenchmarkId::new(name, count), &(), |bencher, ()| {
                bencher.iter(|| judge_all(&gate, &mut discovery, &jobs));
            });
        }
    }
    group.finish();
}

/// A judge that takes its time over the wall, not on the CPU.
struct Slow(Duration);

impl CheapJudge for Slow {
    fn judge(&self, _: &JudgeRequest, _: &CancelToken) -> Result<JudgeReply, BlockError> {
        sleep(self.0);
        Ok(JudgeReply {
            passes: true,
            ..JudgeReply::default()
        })
    }
}

/// A predicate that leaves word of when it was last done.
struct Clocked<'r> {
    runner: PredicateRunner<'r>,
    begun: Instant,
    done: &'r AtomicU64,
}

impl Runner for Clocked<'_> {
    fn hash(&self) -> &str {
        self.runner.hash()
    }

    fn name(&self) -> &str {
        self.runner.name()
    }

    fn kind(&self) -> RunnerKind {
        self.runner.kind()
    }

    fn fallback_hash(&self) -> Option<&str> {
        self.runner.fallback_hash()
    }

    fn fallback_policy(&self) -> FallbackPolicy {
        self.runner.fallback_policy()
    }

    fn fallback_diagnostic(&self) -> Option<&BlockError> {
        self.runner.fallback_diagnostic()
    }

    fn evidence(&self) -> Arc<BTreeMap<String, String>> {
        self.runner.evidence()
    }

    fn waits(&self) -> bool {
        self.runner.waits()
    }

    fn evaluate(&self, context: &RunContext<'_>) -> Ran {
        let ran = self.runner.evaluate(context);
        let took = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.done.fetch_max(took, Ordering::Relaxed);
        ran
    }
}

/// A way to have two slices judged.
type Way<'w> = &'w dyn Fn(&[SliceJob<'_>]);

/// Two slices: the first has 255 deterministic predicates and 85 that wait 5 ms for a judge
/// each, the second 255 deterministic ones. Measured is when those of the second are done.
fn fairness(criterion: &mut Criterion) {
    let cores = available_parallelism().map_or(1, usize::from);
    let tree = tree();
    let mut discovery = Discovery::new(&tree);
    let slices = [slice(0), slice(1)];
    let prepared = slices.each_ref().map(Prepared::new);
    let worlds = prepared.each_ref().map(World::new);
    let union = discovery.union(touched_directories(&slices[0]).expect("sound paths"));
    let executor = Executor::new(executor(cores, true));
    let executor = executor.judge(Arc::new(Slow(Duration::from_millis(5))));

    // When the second slice was done, and when all was.
    let run = |run: Way<'_>| {
        let begun = Instant::now();
        let done = [AtomicU64::new(0), AtomicU64::new(0)];
        let clocked = [0, 1].map(|at| {
            let runners = union.predicates.iter().map(|predicate| Clocked {
                runner: PredicateRunner::new(predicate, &worlds[at]),
                begun,
                done: &done[at],
            });
            let wanted = runners.filter(|it| at == 0 || it.kind() == RunnerKind::Deterministic);
            wanted.collect::<Vec<_>>()
        });
        let jobs = [0, 1].map(|at| SliceJob {
            slice: &slices[at],
            runners: clocked[at].iter().map(|it| it as &dyn Runner).collect(),
        });
        run(&jobs);
        done.map(|done| Duration::from_nanos(done.into_inner()))
    };
    let alone = |jobs: &[SliceJob<'_>]| drop(executor.execute_slice(&jobs[1]));
    let beside = |jobs: &[SliceJob<'_>]| drop(executor.execute_slices(jobs));
    let after = |jobs: &[SliceJob<'_>]| {
        jobs.iter()
            .for_each(|job| drop(executor.execute_slice(job)))
    };
    let ways: [(&str, Way<'_>); 3] = [
        ("alone", &alone),
        ("beside the first", &beside),
        ("after the first", &after),
    ];
    let mut group = criterion.benchmark_group("gate/second-slice-is-done");
    group.sample_size(10);
    for (name, way) in ways {
        let [first, _] = run(way);
        println!("{name}: the first slice is done after {first:?}");
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| run(way)[1]).sum());
        });
    }
    group.finish();
}

criterion_group!(benches, slices, fairness);
criterion_main!(benches);
