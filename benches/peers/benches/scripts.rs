//! Predicates for Probity beside the same ones for engines that a program in Rust would
//! embed instead: rhai, by its tree walker and by its machine, and Lua 5.4 by mlua.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench scripts`
//!
//! Before anything is timed, all engines have to come to the same verdicts, findings and
//! counts, and all bounds have to stop what has no end.
//!
//! What is bounded, by row:
//!
//! | row | steps | memory | depth |
//! |---|---|---|---|
//! | `probity…` | fuel, for text as well | bytes alive in an evaluation | calls |
//! | `rhai…` | none | none | calls |
//! | `rhai…+steps` | operations | none | calls |
//! | `rhai…+bounds` | operations | each text, array and map by itself | calls |
//! | `lua…` | none | none | built in |
//! | `lua…+bounds` | instructions, looked at each 1,000; not in functions of C | the state | built in |

#[path = "scripts/hosts.rs"]
mod hosts;
#[path = "scripts/pack.rs"]
mod pack;

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hosts::{Bounds, File, Host, Judged, LuaHost, Passing, Probity, Rhai, Runner, Way};
use probity::harn::Module;
use rhai::grain::Compiler;

/// The same in each language.
pub(crate) struct Languages<T> {
    pub(crate) harn: T,
    pub(crate) rhai: T,
    pub(crate) lua: T,
}

macro_rules! script {
    ($name:literal) => {
        Languages {
            harn: include_str!(concat!("scripts/", $name, ".harn")).to_owned(),
            rhai: include_str!(concat!("scripts/", $name, ".rhai")).to_owned(),
            lua: include_str!(concat!("scripts/", $name, ".lua")).to_owned(),
        }
    };
}

/// A workload: rules, the files that they judge, and what comes out.
struct Case {
    name: &'static str,
    sources: Languages<String>,
    rules: Vec<String>,
    files: Vec<File>,
    wanted: fn(&[File]) -> Vec<Judged>,
}

fn judged(findings: Vec<String>, count: usize) -> Judged {
    let verdict = match findings.is_empty() {
        true => "Allow",
        false => "Block",
    };
    Judged {
        verdict: verdict.to_owned(),
        findings,
        count: i64::try_from(count).expect("it is small"),
    }
}

fn paths(files: &[File], is_found: impl Fn(&File) -> bool) -> Judged {
    let found = files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && is_found(file));
    let found: Vec<String> = found.map(|file| file.path.clone()).collect();
    let count = found.len();
    judged(found, count)
}

/// Files of twelve lines, one in four of Rust; one in seven of these has what rules look
/// for.
fn files(count: usize) -> Vec<File> {
    let extensions = ["rs", "py", "go", "js"];
    let file = |number: usize| {
        let mut lines: Vec<String> = (0..12)
            .map(|line| format!("    let value_{line} = shard({number}) + {line};"))
            .collect();
        if number.is_multiple_of(28) {
            let rule = number % pack::RULES;
            lines.push(format!("    shard({number}).unwrap_{rule}();"));
            lines.push(format!("    password_{rule} = hunter{number}"));
            lines.push(format!("    todo_{rule} later"));
        }
        File {
            path: format!("src/part/f{number}.{}", extensions[number % 4]),
            text: lines.join("\n"),
        }
    };
    (0..count).map(file).collect()
}

/// One file of 2,000 lines.
fn long_file() -> File {
    let line = |number: usize| match number % 10 {
        3 => String::new(),
        5 => format!("    // line {number} says what the next one does"),
        7 => format!(
            "    let value_{number} = a_rather_long_name_of_a_function({number}, {number});"
        ),
        _ if number.is_multiple_of(199) => format!("    read({number}).unwrap()"),
        _ if number.is_multiple_of(197) => format!("    read({number}).unwrap() // checked"),
        _ => format!("    let value_{number} = shard({number});"),
    };
    let lines: Vec<String> = (1..=2000).map(line).collect();
    File {
        path: "src/long.rs".into(),
        text: lines.join("\n"),
    }
}

fn is_offence(line: &str) -> bool {
    line.contains("unwrap()") && !line.ends_with("// checked")
}

fn cases() -> Vec<Case> {
    let rule = || vec!["rule".to_owned()];
    vec![
        Case {
            name: "small",
            sources: script!("small"),
            rules: rule(),
            files: vec![File {
                path: "src/small.rs".into(),
                text: "fn main() {\n    let text = read().unwrap();\n    show(text);\n}".into(),
            }],
            wanted: |files| vec![paths(files, |file| file.text.contains("unwrap()"))],
        },
        Case {
            name: "lines",
            sources: script!("lines"),
            rules: rule(),
            files: vec![long_file()],
            wanted: |files| {
                let lines: Vec<&str> = files.iter().flat_map(|file| file.text.lines()).collect();
                let count = |holds: fn(&str) -> bool| lines.iter().filter(|it| holds(it)).count();
                let count = count(|line| line.trim().is_empty())
                    + 10_000 * count(|line| line.trim().starts_with("//"))
                    + 100_000_000 * count(|line| line.chars().count() > 60);
                let code = lines.iter().map(|line| line.trim());
                let found = code.filter(|line| is_offence(line) && !line.starts_with("//"));
                vec![judged(found.map(str::to_owned).collect(), count)]
            },
        },
        Case {
            name: "closures",
            sources: script!("closures"),
            rules: rule(),
            files: vec![long_file()],
            wanted: |files| {
                let lines = || files[0].text.lines();
                let found = lines().filter(|line| is_offence(line)).map(str::to_owned);
                let marked = lines().filter(|line| line.trim().starts_with("//"));
                vec![judged(found.collect(), marked.count())]
            },
        },
        Case {
            name: "regex-100-files",
            sources: script!("regex"),
            rules: rule(),
            files: files(100),
            wanted: |files| vec![paths(files, |file| file.text.contains(".unwrap_"))],
        },
        Case {
            name: "pack-100-files",
            sources: pack::sources(),
            rules: (0..pack::RULES).map(pack::name).collect(),
            files: files(100),
            wanted: |files| {
                let rules = 0..pack::RULES;
                let wanted = rules.map(|rule| match rule % 3 {
                    0 => format!(".unwrap_{rule}()"),
                    1 => format!("password_{rule} ="),
                    _ => format!("todo_{rule} "),
                });
                wanted
                    .map(|wanted| paths(files, |file| file.text.contains(&wanted)))
                    .collect()
            },
        },
    ]
}

/// The engines, by the names of their rows.
fn hosts(case: &Case) -> Vec<(&'static str, Box<dyn Host>)> {
    let Case {
        sources,
        rules,
        files,
        ..
    } = case;
    let probity =
        |way| -> Box<dyn Host> { Box::new(Probity::new(&sources.harn, rules, files, way)) };
    let rhai = |runner, bounds| -> Box<dyn Host> {
        Box::new(Rhai::new(&sources.rhai, rules, files, runner, bounds))
    };
    let lua = |passing, bounds| -> Box<dyn Host> {
        Box::new(LuaHost::new(&sources.lua, rules, files, passing, bounds))
    };
    vec![
        ("probity", probity(Way::Evaluate)),
        ("probity-sifted", probity(Way::Sift)),
        ("probity-machine", probity(Way::Machine)),
        ("rhai", rhai(Runner::Tree, Bounds::None)),
        ("rhai+steps", rhai(Runner::Tree, Bounds::Steps)),
        ("rhai+bounds", rhai(Runner::Tree, Bounds::All)),
        ("rhai-grain", rhai(Runner::Grain, Bounds::None)),
        ("rhai-grain+steps", rhai(Runner::Grain, Bounds::Steps)),
        ("rhai-grain+bounds", rhai(Runner::Grain, Bounds::All)),
        ("lua", lua(Passing::Copied, Bounds::None)),
        ("lua+bounds", lua(Passing::Copied, Bounds::All)),
        ("lua-kept", lua(Passing::Kept, Bounds::None)),
        ("lua-kept+bounds", lua(Passing::Kept, Bounds::All)),
    ]
}

/// All bounds stop a loop without end, and all but those of rhai a list that grows.
fn check_bounds() {
    let attributes = "@invariant\n@deterministic\n@archivist(evidence: [\"https://example.org\"], \
                      confidence: 0.9, source_date: \"2026-05-01\")\n";
    let head = format!("{attributes}pub fn rule(slice, _ctx, _base) {{\n");
    let endless = Case {
        name: "endless",
        sources: Languages {
            harn: format!("{head}  let n = 0\n  while true {{\n    n = n + 1\n  }}\n}}\n"),
            rhai: "fn rule(files) { let n = 0; while true { n += 1; } }".into(),
            lua: "return { rule = function() local n = 0; while true do n = n + 1 end end }".into(),
        },
        rules: vec!["rule".into()],
        files: files(1),
        wanted: |_| Vec::new(),
    };
    for (name, host) in hosts(&endless) {
        if name.starts_with("probity") || name.contains('+') {
            assert!(host.judge().is_err(), "{name} does not stop");
        }
    }
    let growing = Case {
        sources: Languages {
            harn: format!(
                "{head}  let n = [\"{0}\"]\n  while true {{\n    n = n + n\n  }}\n}}\n",
                "x".repeat(64)
            ),
            rhai: "fn rule(files) { let n = [`x`]; while true { n += n; } }".into(),
            lua: "return { rule = function() local n = 'x'; while true do n = n .. n end end }"
                .into(),
        },
        ..endless
    };
    for (name, host) in hosts(&growing) {
        if name.starts_with("probity") || name.ends_with("+bounds") {
            assert!(host.judge().is_err(), "{name} does not stop");
        }
    }
}

/// All engines come to what plain Rust comes to.
fn check_results(cases: &[Case]) {
    for case in cases {
        let wanted = (case.wanted)(&case.files);
        for (name, host) in hosts(case) {
            assert_eq!(
                host.judge().as_ref(),
                Ok(&wanted),
                "{name} in {}",
                case.name
            );
        }
    }
}

fn evaluate(c: &mut Criterion) {
    let cases = cases();
    check_results(&cases);
    check_bounds();
    for case in &cases {
        let mut group = c.benchmark_group(format!("evaluate/{}", case.name));
        let has_regex = case.sources.harn.contains("regex_match");
        for (name, host) in hosts(case) {
            // What one call costs is only of interest where there is little else.
            if name == "probity-machine" && case.name != "small" {
                continue;
            }
            if name == "probity-sifted" && !has_regex {
                continue;
            }
            group.bench_function(name, |bencher| bencher.iter(|| black_box(&host).judge()));
        }
        group.finish();
    }
}

fn compile(c: &mut Criterion) {
    let sources = pack::sources();
    let mut group = c.benchmark_group("compile/300-lines");
    for source in [&sources.harn, &sources.rhai, &sources.lua] {
        let lines = source.lines().count();
        assert!((290..=320).contains(&lines), "{lines} lines");
    }
    group.throughput(Throughput::Bytes(sources.harn.len() as u64));
    group.bench_function("probity", |bencher| {
        bencher.iter(|| Module::compile(black_box(&sources.harn)));
    });
    let engine = hosts::rhai_engine(Bounds::None);
    group.throughput(Throughput::Bytes(sources.rhai.len() as u64));
    group.bench_function("rhai", |bencher| {
        bencher.iter(|| engine.compile(black_box(&sources.rhai)));
    });
    group.bench_function("rhai-grain", |bencher| {
        bencher.iter(|| {
            let ast = engine.compile(black_box(&sources.rhai))?;
            Ok::<_, rhai::ParseError>(Compiler::new().compile(&ast))
        });
    });
    let lua = hosts::lua_state(Bounds::None, &Rc::new(Cell::new(0)));
    group.throughput(Throughput::Bytes(sources.lua.len() as u64));
    group.bench_function("lua", |bencher| {
        bencher.iter(|| lua.load(black_box(&sources.lua)).into_function());
    });
    group.finish();
}

criterion_group!(benches, compile, evaluate);
criterion_main!(benches);
