//! The parser that the build script generates.

lalrpop_util::lalrpop_mod!(
    #[expect(clippy::unwrap_used, reason = "generated code")]
    harn
);

pub(super) use harn::ModuleParser;
