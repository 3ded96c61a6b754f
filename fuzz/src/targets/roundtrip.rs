//! What parses prints as something that parses to the same.

use bumpalo::Bump;
use probity::syntax::{parse, print};

use super::input::predicate;
use crate::reference;

pub(crate) fn run(data: &[u8]) {
    let Some(input) = predicate(data) else {
        return;
    };
    let arena = Bump::new();
    let parsed = parse(input.language, input.source, &arena);
    let (Some(expr), true) = (parsed.expr, parsed.diagnostics.is_empty()) else {
        return;
    };
    let printed = print(&expr);
    let again = parse(input.language, &printed, &arena);
    assert!(
        again.diagnostics.is_empty(),
        "{printed:?}: {:?}",
        again.diagnostics
    );
    let again = again
        .expr
        .expect("what parses without diagnostics has a tree");
    assert_eq!(print(&again), printed, "printing settles at once");
    if let Ok(tree) = reference::parse(input.v2, input.source) {
        assert_eq!(
            reference::parse(input.v2, &printed),
            Ok(tree),
            "{printed:?}"
        );
    }
}
