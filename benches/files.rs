//! Reading files in blocks of whole lines: through a reused buffer and mapped, with
//! one and with two threads, in memory and not.
//!
//! `cargo bench --bench files`; names are files/way-threads/size. Each thread has
//! files of its own and counts their line ends.

use std::fs::{self, File};
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use memchr::memchr_iter;
use probity::files::{Flow, Limits, Reader, Reading, Root, Tree};

const SIZES_KIB: [usize; 9] = [4, 16, 64, 256, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10];
const WAYS: [(&str, u64); 2] = [("read", u64::MAX), ("map", 0)];

fn write(directory: &Path, name: &str, bytes: usize) -> PathBuf {
    let line = "a line of some forty bytes, as they come\n";
    let mut text = line.repeat(bytes / line.len() + 1);
    text.truncate(bytes);
    let path = directory.join(name);
    fs::write(&path, text).expect("a file");
    path
}

/// Opens and reads a file.
fn lines(root: &Root, name: &str, reader: &mut Reader) -> usize {
    let reading = Reading {
        limits: Limits::default(),
        skip_binary: true,
        as_one: 0,
    };
    let file = root.find(name).and_then(|found| found.open());
    let mut lines = 0;
    reader
        .read(&file.expect("a file"), &reading, &mut |block| {
            lines += memchr_iter(b'\n', block.bytes).count();
            Flow::More
        })
        .expect("a text");
    lines
}

/// The time that threads take on average to read a file each so many times.
fn timed(root: &Root, names: &[String], map_from: u64, times: u64) -> Duration {
    let barrier = Barrier::new(names.len());
    let spent: Duration = std::thread::scope(|scope| {
        let threads: Vec<_> = names
            .iter()
            .map(|name| {
                scope.spawn(|| {
                    let mut reader = Reader::mapping_from(map_from);
                    black_box(lines(root, name, &mut reader));
                    barrier.wait();
                    let start = Instant::now();
                    for _ in 0..times {
                        black_box(lines(root, name, &mut reader));
                    }
                    start.elapsed()
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|time| time.expect("no panic")).sum()
    });
    spent / u32::try_from(names.len()).expect("few threads")
}

fn in_memory(c: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a directory");
    let root = Root::open(directory.path()).expect("a root");
    let mut group = c.benchmark_group("files");
    for kib in SIZES_KIB {
        group.throughput(Throughput::Bytes((kib as u64) << 10));
        let names: Vec<String> = (0..2).map(|thread| format!("{kib}-{thread}")).collect();
        for name in &names {
            write(directory.path(), name, kib << 10);
        }
        for threads in [1, 2] {
            for (way, map_from) in WAYS {
                let id = BenchmarkId::new(format!("{way}-{threads}"), format!("{kib}KiB"));
                group.bench_function(id, |b| {
                    b.iter_custom(|times| timed(&root, &names[..threads], map_from, times));
                });
            }
        }
    }
    group.finish();
}

/// Drops a file from memory.
fn drop_pages(path: &Path) {
    let file = File::open(path).expect("a file");
    file.sync_all().expect("a disk");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("a page cache");
}

fn on_disk(c: &mut Criterion) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let root = Root::open(directory.path()).expect("a root");
    let mut group = c.benchmark_group("files");
    group.sample_size(10);
    for kib in [1 << 10, 16 << 10_usize] {
        group.throughput(Throughput::Bytes((kib as u64) << 10));
        let name = format!("cold-{kib}");
        let path = write(directory.path(), &name, kib << 10);
        for (way, map_from) in WAYS {
            let id = BenchmarkId::new(format!("{way}-cold"), format!("{kib}KiB"));
            group.bench_function(id, |b| {
                let mut reader = Reader::mapping_from(map_from);
                b.iter_custom(|times| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..times {
                        drop_pages(&path);
                        let start = Instant::now();
                        black_box(lines(&root, &name, &mut reader));
                        spent += start.elapsed();
                    }
                    spent
                });
            });
        }
    }
    group.finish();
}

/// Walks a tree of 2,000 files and reads each, with as many announced ahead.
fn walked(root: &Root, reader: &mut Reader, ahead: Option<NonZeroUsize>) -> usize {
    let reading = Reading {
        limits: Limits::default(),
        skip_binary: true,
        as_one: 0,
    };
    let files: Vec<_> = root
        .walk(b"")
        .filter_map(|entry| entry.expect("an entry").file)
        .collect();
    let mut lines = 0;
    for (number, file) in files.iter().enumerate() {
        if let Some(file) = ahead.and_then(|ahead| files.get(number + ahead.get())) {
            file.prefetch();
        }
        let read = file.read(reader, &reading, &mut |block| {
            lines += memchr_iter(b'\n', block.bytes).count();
            Flow::More
        });
        read.content.expect("a text");
    }
    lines
}

fn prefetch(c: &mut Criterion) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let paths: Vec<PathBuf> = (0..2000)
        .map(|number| {
            let below = directory.path().join(format!("{}", number / 100));
            fs::create_dir_all(&below).expect("a directory");
            write(&below, &number.to_string(), 2000 + number % 400 * 40)
        })
        .collect();
    let root = Root::open(directory.path()).expect("a root");
    let mut group = c.benchmark_group("files");
    group.sample_size(10);
    group.throughput(Throughput::Elements(paths.len() as u64));
    for is_cold in [false, true] {
        for (way, ahead) in [("alone", None), ("ahead", NonZeroUsize::new(64))] {
            let state = if is_cold { "cold" } else { "warm" };
            let id = BenchmarkId::new(format!("walk-{way}-{state}"), paths.len());
            group.bench_function(id, |b| {
                let mut reader = Reader::default();
                b.iter_custom(|times| {
                    let mut spent = Duration::ZERO;
                    for _ in 0..times {
                        if is_cold {
                            paths.iter().for_each(|path| drop_pages(path));
                        }
                        let start = Instant::now();
                        black_box(walked(&root, &mut reader, ahead));
                        spent += start.elapsed();
                    }
                    spent
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, in_memory, on_disk, prefetch);
criterion_main!(benches);
