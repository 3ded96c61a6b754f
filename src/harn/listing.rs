//! The listing of a module, for people.

use std::fmt::Write as _;

use crate::code::instruction;
use crate::harn::module::{Constant, Function, Module};

impl Module {
    /// Prints the module: its predicates, constants, patterns and facts, then each function with
    /// its instructions and the source they came from.
    #[must_use]
    pub fn listing(&self) -> String {
        let code = &*self.0;
        let mut out = String::new();
        let _ = writeln!(out, "; harn {}", code.digest);
        let _ = writeln!(
            out,
            "; {} functions, {} code bytes",
            code.functions.len(),
            self.code_bytes()
        );
        for predicate in &code.predicates {
            let _ = writeln!(
                out,
                "predicate {} = fn{}",
                predicate.name, predicate.function
            );
        }
        for (number, constant) in code.constants.iter().enumerate() {
            let _ = writeln!(out, "const k{number} = {}", shown(constant));
        }
        for (number, (pattern, _)) in code.patterns.named().enumerate() {
            let _ = writeln!(
                out,
                "pattern {number} = {:?} {:?}",
                pattern.pattern, pattern.flags
            );
        }
        for (number, fact) in code.facts.keys().enumerate() {
            let _ = writeln!(out, "fact {number} = {fact}");
        }
        for (number, function) in code.functions.iter().enumerate() {
            list(&mut out, number, function, &code.source);
        }
        out
    }
}

fn list(out: &mut String, number: usize, function: &Function, source: &str) {
    let _ = writeln!(
        out,
        "\nfn{number} {} ({} to {} arguments{}, {} registers)",
        function.name,
        function.least,
        function.params,
        if function.has_rest { " and more" } else { "" },
        function.registers
    );
    for (at, name) in function.names.iter().enumerate() {
        let _ = writeln!(out, "name  n{at} = {}", name.text);
    }
    for (at, pattern) in function.patterns.iter().enumerate() {
        let _ = writeln!(out, "use   p{at} = pattern {pattern}");
    }
    for handler in &function.handlers {
        let _ = writeln!(
            out,
            "catch @{} to @{} -> @{} r{}",
            handler.start, handler.end, handler.target, handler.register
        );
    }
    for (at, (insn, span)) in function.insns.iter().zip(&function.spans).enumerate() {
        let text = source.get(span.range()).unwrap_or_default();
        let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(60).collect();
        let _ = writeln!(out, "{at:>4}  {:<32}; {short}", instruction(*insn));
    }
}

fn shown(constant: &Constant) -> String {
    match constant {
        Constant::Nil => "nil".into(),
        Constant::Bool(value) => value.to_string(),
        Constant::Int(value) => value.to_string(),
        Constant::Float(value) => value.to_string(),
        Constant::Str(text) => format!("{text:?}"),
        Constant::List(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
    }
}
