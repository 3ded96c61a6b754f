//! The engines as a gate would embed them: what is compiled is compiled before, the texts
//! are the host's, and each judgement begins with handing them over and ends with the
//! verdict and the findings as values of Rust.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use mlua::{BorrowedBytes, HookTriggers, Lua, LuaOptions, StdLib, Table, VmState};
use probity::flow::{Context, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{Heap, Limits, Machine, Module, Predicate, Value};
use rhai::grain::{Compiler, SharedProgram, Vm};
use rhai::{AST, Array, CallFnOptions, Dynamic, Engine, ImmutableString, Map, Scope};

/// What a predicate may do: the default of Probity, and as much for the others.
const FUEL: u64 = 20_000_000;
const MEMORY: usize = 64 << 20;
const FRAMES: usize = 512;

/// Instructions of Lua between two looks at the budget.
const BETWEEN_LOOKS: u32 = 1000;

/// What an engine enforces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Nothing but what cannot be switched off.
    None,
    /// The number of steps.
    Steps,
    /// Steps, memory and depth, as a gate needs them.
    All,
}

/// A file that is judged.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What a predicate came to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Judged {
    pub(crate) verdict: String,
    pub(crate) findings: Vec<String>,
    pub(crate) count: i64,
}

/// An engine that has rules and files.
pub(crate) trait Host {
    /// Applies each rule to all the files, or says what stopped it.
    fn judge(&self) -> Result<Vec<Judged>, String>;
}

type ByPattern = HashMap<Box<[u8]>, regex::bytes::Regex, foldhash::fast::RandomState>;

/// Regexes that rhai and Lua are given: each built once, found again by its pattern.
#[derive(Clone, Default)]
struct Kept(Rc<RefCell<ByPattern>>);

impl Kept {
    fn is_match(&self, pattern: &[u8], text: &[u8]) -> bool {
        let mut kept = self.0.borrow_mut();
        if let Some(regex) = kept.get(pattern) {
            return regex.is_match(text);
        }
        let source = std::str::from_utf8(pattern).expect("patterns are UTF-8");
        let regex = regex::bytes::Regex::new(source).expect("it is a regex");
        let is_match = regex.is_match(text);
        kept.insert(pattern.into(), regex);
        is_match
    }
}

/// How Probity is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As the command does, without looking for all patterns at once.
    Evaluate,
    /// As the command does: one pass over each file for the patterns of all rules.
    Sift,
    /// A machine of one's own for each judgement; texts are copied into it.
    Machine,
}

/// Probity. Fuel, memory and depth are always counted; there is no way to run without.
pub(crate) struct Probity {
    module: Module,
    rules: Vec<Predicate>,
    slice: Slice,
    json: serde_json::Value,
    patterns: Patterns,
    limits: Limits,
    way: Way,
}

impl Probity {
    pub(crate) fn new(source: &str, rules: &[String], files: &[File], way: Way) -> Self {
        let module = Module::compile(source).expect("it is sound");
        let rules = rules.iter().map(|name| {
            let mut known = module.predicates().iter();
            let found = known.find(|predicate| *predicate.name == **name);
            found.expect("it is there").clone()
        });
        let json = files
            .iter()
            .map(|file| serde_json::json!({"path": file.path, "text": file.text}));
        Self {
            rules: rules.collect(),
            slice: Slice::new(
                files
                    .iter()
                    .map(|file| SliceFile::new(file.path.as_str(), file.text.as_str()))
                    .collect(),
            ),
            json: serde_json::json!({"files": json.collect::<Vec<_>>()}),
            patterns: Patterns::new(std::slice::from_ref(&module)),
            limits: Limits {
                fuel: FUEL,
                cpu: None,
                memory: MEMORY,
                frames: FRAMES,
            },
            module,
            way,
        }
    }

    fn run(&self, rule: &Predicate) -> Result<Judged, String> {
        let mut machine = Machine::new(&self.module, &self.limits);
        let fault = |fault: probity::harn::Fault| fault.to_string();
        machine.start().map_err(fault)?;
        let heap: Heap = machine.heap().clone();
        let slice = Value::from_json(&self.json, &heap).map_err(fault)?;
        let args = [slice, Value::Nil, Value::Nil];
        let value = machine.run(&rule.name, &args).map_err(fault)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let findings = value.get("findings").and_then(Value::as_items);
        Ok(Judged {
            verdict: value.get("verdict").and_then(text).unwrap_or_default(),
            findings: findings.into_iter().flatten().filter_map(text).collect(),
            count: match value.get("count") {
                Some(Value::Int(count)) => *count,
                _ => -1,
            },
        })
    }
}

impl Host for Probity {
    fn judge(&self) -> Result<Vec<Judged>, String> {
        let slice = match self.way {
            Way::Machine => return self.rules.iter().map(|rule| self.run(rule)).collect(),
            Way::Evaluate => Prepared::new(&self.slice),
            Way::Sift => Prepared::sift(&self.slice, &self.patterns),
        };
        let context = Context::default();
        let judged = self.rules.iter().map(|rule| {
            let evaluated = evaluate(&self.module, rule, &slice, &context, &self.limits);
            let verdict = evaluated.result.verdict;
            let Some(raw) = evaluated.raw else {
                return Err(format!("{verdict:?}"));
            };
            let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
            let findings = raw["findings"].as_array();
            Ok(Judged {
                verdict: verdict.word().to_owned(),
                findings: findings.into_iter().flatten().filter_map(text).collect(),
                count: raw["count"].as_i64().unwrap_or(-1),
            })
        });
        judged.collect()
    }
}

/// What runs rhai.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runner {
    /// The walker of the tree, which is the default.
    Tree,
    /// The machine of the feature `grain`, which its authors recommend for speed.
    Grain,
}

/// An engine of rhai. `Bounds::All` limits operations and depth, and, as it has no account
/// of memory, the size of each text, array and map by itself.
pub(crate) fn rhai_engine(bounds: Bounds) -> Engine {
    let mut engine = Engine::new();
    if bounds != Bounds::None {
        engine.set_max_operations(FUEL);
    }
    if bounds == Bounds::All {
        engine.set_max_call_levels(FRAMES);
        engine.set_max_string_size(MEMORY);
        engine.set_max_array_size(MEMORY / size_of::<Dynamic>());
        engine.set_max_map_size(MEMORY / size_of::<Dynamic>());
    }
    let kept = Kept::default();
    engine.register_fn("regex_match", move |pattern: &str, text: &str| {
        kept.is_match(pattern.as_bytes(), text.as_bytes())
    });
    engine
}

/// rhai. The host keeps the files as values of rhai, whose texts are shared and not
/// copied; each call gets a copy of the list, which is then its own.
pub(crate) struct Rhai {
    engine: Engine,
    ast: AST,
    /// For each rule the file with a call of it, as only the call of a whole program can
    /// have closures that functions of the host call.
    programs: Vec<SharedProgram>,
    rules: Vec<String>,
    files: Dynamic,
    scope: RefCell<Scope<'static>>,
    runner: Runner,
}

impl Rhai {
    pub(crate) fn new(
        source: &str,
        rules: &[String],
        files: &[File],
        runner: Runner,
        bounds: Bounds,
    ) -> Self {
        let engine = rhai_engine(bounds);
        let ast = engine.compile(source).expect("it is sound");
        let compile = |rule: &String| {
            let called = format!("{source}\n{rule}(files)");
            let ast = engine.compile(called).expect("it is sound");
            let program = Compiler::new().compile(&ast);
            assert_eq!(program.residual_count(), 0, "all of it runs on the machine");
            program.into_shared()
        };
        let programs = rules.iter().map(compile).collect();
        let files = files.iter().map(|file| {
            let mut map = Map::new();
            map.insert("path".into(), file.path.as_str().into());
            map.insert("text".into(), file.text.as_str().into());
            Dynamic::from_map(map)
        });
        let files = Dynamic::from_array(files.collect());
        let mut scope = Scope::new();
        scope.push_constant_dynamic("files", files.clone());
        Self {
            programs,
            ast,
            rules: rules.to_vec(),
            files,
            scope: RefCell::new(scope),
            engine,
            runner,
        }
    }

    fn call(&self, number: usize) -> Result<Map, String> {
        // There is nothing but functions to be evaluated.
        let options = CallFnOptions::new().eval_ast(false);
        let program = &self.programs[number];
        let rule = &self.rules[number];
        let mut vm = Vm::new(&self.engine);
        let called = match self.runner {
            Runner::Tree => {
                let args = (self.files.clone(),);
                self.engine
                    .call_fn_with_options(options, &mut Scope::new(), &self.ast, rule, args)
            }
            Runner::Grain if program.makes_fn_pointers() => {
                let result = vm.eval_with_callbacks(&mut self.scope.borrow_mut(), program);
                result.map(Dynamic::cast::<Map>)
            }
            Runner::Grain => {
                let args = (self.files.clone(),);
                vm.call_fn_with_options(options, &mut Scope::new(), program, rule, args)
            }
        };
        called.map_err(|error| error.to_string())
    }
}

impl Host for Rhai {
    fn judge(&self) -> Result<Vec<Judged>, String> {
        let judged = (0..self.rules.len()).map(|number| {
            let mut result = self.call(number)?;
            let text = |value: Dynamic| {
                let text = value.try_cast::<ImmutableString>();
                text.map(|text| text.as_str().to_owned())
            };
            let findings = result.remove("findings");
            let findings = findings.and_then(Dynamic::try_cast::<Array>);
            let count = result.get("count").and_then(|count| count.as_int().ok());
            Ok(Judged {
                verdict: result.remove("verdict").and_then(text).unwrap_or_default(),
                findings: findings.into_iter().flatten().filter_map(text).collect(),
                count: count.unwrap_or(-1),
            })
        });
        judged.collect()
    }
}

/// How the texts get into Lua.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passing {
    /// They are copied for each judgement, as it is done where evaluations must not see
    /// what others did.
    Copied,
    /// They are copied once; a rule could change what the next one sees.
    Kept,
}

/// A state of Lua with the libraries that a rule needs. `Bounds::Steps` has a hook count
/// instructions; it does not see what functions of C do in one. `Bounds::All` also limits
/// the memory of the whole state, garbage included. The depth of calls is limited in any
/// case, to some 200 in C and a million slots in Lua.
pub(crate) fn lua_state(bounds: Bounds, fuel: &Rc<Cell<u64>>) -> Lua {
    let libraries = StdLib::STRING | StdLib::TABLE;
    let lua = Lua::new_with(libraries, LuaOptions::default()).expect("it is made");
    if bounds != Bounds::None {
        let left = fuel.clone();
        let triggers = HookTriggers::new().every_nth_instruction(BETWEEN_LOOKS);
        let hook = lua.set_hook(triggers, move |_, _| {
            match left.get().checked_sub(BETWEEN_LOOKS.into()) {
                Some(rest) => {
                    left.set(rest);
                    Ok(VmState::Continue)
                }
                None => Err(mlua::Error::runtime("out of fuel")),
            }
        });
        hook.expect("it is set");
    }
    if bounds == Bounds::All {
        lua.set_memory_limit(MEMORY).expect("it is set");
    }
    let kept = Kept::default();
    let regex_match = lua.create_function(move |_, args: (BorrowedBytes, BorrowedBytes)| {
        let (pattern, text) = args;
        Ok(kept.is_match(&pattern, &text))
    });
    let regex_match = regex_match.expect("it is made");
    lua.globals()
        .set("regex_match", regex_match)
        .expect("it is set");
    lua
}

/// Lua, by mlua. The functions are kept, and so is the state: what a rule writes into
/// globals stays, which a gate would have to prevent.
pub(crate) struct LuaHost {
    lua: Lua,
    rules: Vec<mlua::Function>,
    files: Vec<(String, String)>,
    kept: Option<Table>,
    fuel: Rc<Cell<u64>>,
}

impl LuaHost {
    pub(crate) fn new(
        source: &str,
        rules: &[String],
        files: &[File],
        passing: Passing,
        bounds: Bounds,
    ) -> Self {
        let fuel = Rc::new(Cell::new(FUEL));
        let lua = lua_state(bounds, &fuel);
        let known: Table = lua.load(source).eval().expect("it is sound");
        let rules = rules
            .iter()
            .map(|name| known.get(name.as_str()).expect("it is there"));
        let mut host = Self {
            rules: rules.collect(),
            files: files
                .iter()
                .map(|file| (file.path.clone(), file.text.clone()))
                .collect(),
            kept: None,
            lua,
            fuel,
        };
        if passing == Passing::Kept {
            host.kept = Some(host.table().expect("there is room"));
        }
        host
    }

    fn table(&self) -> mlua::Result<Table> {
        let table = self.lua.create_table_with_capacity(self.files.len(), 0)?;
        for (path, text) in &self.files {
            let file = self.lua.create_table_with_capacity(0, 2)?;
            file.raw_set("path", path.as_str())?;
            file.raw_set("text", text.as_str())?;
            table.raw_push(file)?;
        }
        Ok(table)
    }

    fn run(&self) -> mlua::Result<Vec<Judged>> {
        let files = match &self.kept {
            Some(files) => files.clone(),
            None => self.table()?,
        };
        let judged = self.rules.iter().map(|rule| {
            self.fuel.set(FUEL);
            let result: Table = rule.call(&files)?;
            Ok(Judged {
                verdict: result.raw_get("verdict")?,
                findings: result.raw_get("findings")?,
                count: result.raw_get("count")?,
            })
        });
        judged.collect()
    }
}

impl Host for LuaHost {
    fn judge(&self) -> Result<Vec<Judged>, String> {
        self.run().map_err(|error| error.to_string())
    }
}
