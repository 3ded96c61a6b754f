//! The parser that the build script generates.

lalrpop_util::lalrpop_mod!(
    #[expect(clippy::ptr_arg, clippy::type_complexity, reason = "generated code")]
    harn
);

pub(super) use harn::ModuleParser;
