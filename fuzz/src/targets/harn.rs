//! Predicate files: whatever the text, it is compiled or refused with places in it, and
//! what is compiled ends within small limits, twice the same, and the same whether its
//! patterns were searched for before or not.

use probity::flow::{Context, Patterns, Prepared, Slice, SliceFile, evaluate};
use probity::harn::{Limits, Module};

/// Longer texts are other targets' work.
const MAX_TEXT: usize = 16 << 10;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if text.len() > MAX_TEXT {
        return;
    }
    let module = match Module::compile(text) {
        Ok(module) => module,
        Err(problems) => {
            assert!(problems.iter().any(|problem| problem.is_error()));
            for problem in problems {
                let span = problem.span.range();
                assert!(text.get(span).is_some(), "{problem:?}");
            }
            return;
        }
    };
    assert!(!module.listing().is_empty());
    let limits = Limits {
        fuel: 20_000,
        memory: 1 << 20,
        frames: 40,
        ..Limits::default()
    };
    let slice = Slice::new(vec![
        SliceFile::new("src/a.rs", "fn main() {\n    x.unwrap(); // TODO\n}\n"),
        SliceFile::new("b.py", "try:\n    eval(\"1\")\nexcept:\n    pass\n"),
        SliceFile::new("ä.yml", "run: ${{ github.event.issue.title }}\r\n"),
    ]);
    let patterns = Patterns::new(std::slice::from_ref(&module));
    let plain = Prepared::new(&slice);
    let sifted = Prepared::sift(&slice, &patterns);
    for predicate in module.predicates() {
        let [first, second] = [&plain, &sifted]
            .map(|slice| evaluate(&module, predicate, slice, &Context::default(), &limits));
        assert_eq!(first.result, second.result, "{}", predicate.name);
        assert_eq!(first.raw, second.raw, "{}", predicate.name);
        assert_eq!(first.usage.fuel, second.usage.fuel, "{}", predicate.name);
        assert!(first.usage.fuel <= limits.fuel);
        assert!(first.usage.memory <= limits.memory);
    }
}
