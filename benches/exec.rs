//! What confining a command costs over spawning it, and whether that grows with the
//! memory of the engine.

use std::hint::black_box;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use probity::budget::CancelToken;
use probity::exec::Executor;
use probity::policy::Policy;

const POLICY: &str = "[run]\nallow = [\"true\"]\n";

/// Memory of the large engine, in bytes.
const LARGE: usize = 2 << 30;

fn executor(more: &str) -> Executor {
    let policy = Policy::parse(&format!("{POLICY}{more}")).expect("the policy is sound");
    Executor::new(policy, ".".as_ref(), env!("CARGO_BIN_EXE_probity")).expect("it can be made")
}

fn run(executor: &Executor) {
    let done = executor.run("true", &CancelToken::new()).expect("it runs");
    assert_eq!(done.exit, 0);
}

fn spawn() {
    let mut command = Command::new("/usr/bin/true");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    black_box(command.output().expect("it runs"));
}

fn exec(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exec");
    group.sample_size(60);
    group.bench_function("bare-spawn", |bencher| bencher.iter(spawn));
    let confined = executor("");
    group.bench_function("confined", |bencher| bencher.iter(|| run(&confined)));
    let with_network = executor("network = true\n");
    group.bench_function("confined-with-network", |bencher| {
        bencher.iter(|| run(&with_network))
    });
    let mut memory = vec![0_u8; LARGE];
    for page in memory.chunks_mut(4096) {
        page[0] = 1;
    }
    group.bench_function("bare-spawn-of-2GiB", |bencher| bencher.iter(spawn));
    group.bench_function("confined-of-2GiB", |bencher| {
        bencher.iter(|| run(&confined))
    });
    black_box(&memory);
    group.finish();
}

criterion_group!(benches, exec);
criterion_main!(benches);
