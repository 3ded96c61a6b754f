//! Lexer, parser and checker on any text, in both languages: no panic, places
//! that lie in the source, and the same yes or no as the reference.

use bumpalo::Bump;
use probity::Language;
use probity::check::{Options, check};
use probity::diagnostic::Diagnostic;

use crate::reference;

pub(crate) fn run(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    for (language, v2) in [(Language::ElenchV1, false), (Language::ElenchV2, true)] {
        let arena = Bump::new();
        // The reference does not refuse what is vacuous while it parses.
        let options = Options {
            allow_vacuous: true,
        };
        let checked = check(language, source, &arena, options);
        let diagnostics = match &checked {
            Ok(checked) => &checked.warnings,
            Err(diagnostics) => diagnostics,
        };
        for diagnostic in diagnostics {
            lies_in(source, diagnostic);
        }
        if let Err(diagnostics) = &checked {
            assert!(
                diagnostics.iter().any(Diagnostic::is_error),
                "refused without a reason"
            );
        }
        let parsed = reference::parse(v2, source);
        assert_eq!(
            checked.is_ok(),
            parsed.is_ok(),
            "{language}: {source:?}: {:?}, reference: {parsed:?}",
            checked.err()
        );
    }
}

fn lies_in(source: &str, diagnostic: &Diagnostic) {
    let place = diagnostic.span.range();
    assert!(source.get(place).is_some(), "{source:?}: {diagnostic:?}");
    assert!(!diagnostic.message.is_empty());
}
