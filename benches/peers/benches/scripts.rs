//! One predicate, written for Probity, for Rhai and for Lua: which files of a slice
//! match a pattern. Compiled before; the regex of the others is kept by the host.
//!
//! `cargo bench --manifest-path benches/peers/Cargo.toml --bench scripts`

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mlua::Lua;
use probity::flow::{Context, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{Limits, Module};
use rhai::{Array, Dynamic, Engine, Map, Scope};

const OURS: &str = r#"
@invariant
@deterministic
@archivist(evidence: ["https://example.org"], confidence: 0.9, source_date: "2026-05-01")
pub fn rule(slice, _ctx, _base) {
  const found = slice.files.filter({ file ->
    file.path.ends_with(".rs") && regex_match(r"\bunwrap_\d+\(\)", file.text, "") != nil
  })
  return {verdict: if found.none() { "Allow" } else { "Block" }, rule: "rule", findings: found}
}
"#;

const RHAI: &str = r#"
fn rule(files) {
  let found = files.filter(|file| file.path.ends_with(".rs") && regex_match("\\bunwrap_\\d+\\(\\)", file.text));
  #{verdict: if found.is_empty() { "Allow" } else { "Block" }, rule: "rule", findings: found}
}
"#;

const LUA: &str = r#"
function rule(files)
  local found = {}
  for _, file in ipairs(files) do
    if file.path:sub(-3) == ".rs" and regex_match("\\bunwrap_\\d+\\(\\)", file.text) then
      found[#found + 1] = file
    end
  end
  return {verdict = #found == 0 and "Allow" or "Block", rule = "rule", findings = found}
end
"#;

fn files(count: usize) -> Vec<(String, String)> {
    (0..count)
        .map(|number| {
            let extension = ["rs", "py", "go", "js"][number % 4];
            let mut text = String::new();
            for line in 0..12 {
                text.push_str(&format!("let value_{line} = shard({number}) + {line};\n"));
            }
            (format!("src/f{number}.{extension}"), text)
        })
        .collect()
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<HashMap<String, regex::Regex>>>);

impl Kept {
    fn is_match(&self, pattern: &str, text: &str) -> bool {
        let mut kept = self.0.lock().expect("nobody panics");
        if let Some(regex) = kept.get(pattern) {
            return regex.is_match(text);
        }
        let regex = regex::Regex::new(pattern).expect("it is one");
        let is = regex.is_match(text);
        kept.insert(pattern.to_owned(), regex);
        is
    }
}

fn scripts(c: &mut Criterion) {
    let mut group = c.benchmark_group("predicate");
    for count in [1, 100] {
        let files = files(count);
        group.throughput(Throughput::Elements(count as u64));

        let module = Module::compile(OURS).expect("it is sound");
        let slice = Slice::new(
            files
                .iter()
                .map(|(path, text)| SliceFile::new(path.as_str(), text.as_str()))
                .collect(),
        );
        let plain = Prepared::new(&slice);
        let modules = [module.clone()];
        let patterns = Patterns::new(&modules);
        let limits = Limits::default();
        let predicate = &module.predicates()[0];
        group.bench_with_input(BenchmarkId::new("probity", count), &count, |b, _| {
            b.iter(|| {
                let sifted = Prepared::sift(&slice, &patterns);
                evaluate(black_box(&module), predicate, &sifted, &Context::default(), &limits)
            });
        });
        group.bench_with_input(BenchmarkId::new("probity-unsifted", count), &count, |b, _| {
            b.iter(|| evaluate(black_box(&module), predicate, &plain, &Context::default(), &limits));
        });

        let kept = Kept::default();
        let mut engine = Engine::new();
        // As we count what is done.
        engine.set_max_operations(20_000_000);
        let host = kept.clone();
        engine.register_fn("regex_match", move |pattern: &str, text: &str| {
            host.is_match(pattern, text)
        });
        let ast = engine.compile(RHAI).expect("it is sound");
        let shared: Array = files
            .iter()
            .map(|(path, text)| {
                let mut file = Map::new();
                file.insert("path".into(), path.clone().into());
                file.insert("text".into(), text.clone().into());
                Dynamic::from_map(file)
            })
            .collect();
        group.bench_with_input(BenchmarkId::new("rhai", count), &count, |b, _| {
            b.iter(|| {
                let mut scope = Scope::new();
                let result: Map = engine
                    .call_fn(&mut scope, black_box(&ast), "rule", (shared.clone(),))
                    .expect("it runs");
                result
            });
        });

        let lua = Lua::new();
        let host = kept.clone();
        let function = lua
            .create_function(move |_, (pattern, text): (String, String)| {
                Ok(host.is_match(&pattern, &text))
            })
            .expect("it is made");
        lua.globals().set("regex_match", function).expect("it is set");
        lua.load(LUA).exec().expect("it is sound");
        let rule: mlua::Function = lua.globals().get("rule").expect("it is there");
        group.bench_with_input(BenchmarkId::new("lua", count), &count, |b, _| {
            b.iter(|| {
                // A slice is new to each evaluation, as with us.
                let table = lua.create_table().expect("there is room");
                for (path, text) in &files {
                    let file = lua.create_table().expect("there is room");
                    file.set("path", path.as_str()).expect("it is set");
                    file.set("text", text.as_str()).expect("it is set");
                    table.push(file).expect("it is set");
                }
                let result: mlua::Table = rule.call(black_box(table)).expect("it runs");
                result
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scripts);
criterion_main!(benches);
