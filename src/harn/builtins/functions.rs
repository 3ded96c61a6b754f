//! The functions.

use crate::harn::builtins::args::{Args, int};
use crate::harn::builtins::{Calls, Run, Signature};
use crate::harn::builtins::{
    ast, data, dicts, facts, flow, lists, numbers, regexes, strings, text,
};
use crate::harn::fault::Fault;
use crate::harn::value::Value;

const fn row(name: &'static str, least: u8, most: u8, run: Run) -> Signature {
    Signature {
        name,
        least,
        most,
        run,
    }
}

/// Every function. Aliases are rows of their own.
pub(crate) static FUNCTIONS: &[Signature] = &[
    row("len", 1, 1, len),
    row("type_of", 1, 1, numbers::type_of),
    row("to_string", 0, 1, text::to_string),
    row("to_int", 1, 1, numbers::to_int),
    row("to_float", 1, 1, numbers::to_float),
    row("abs", 1, 1, numbers::abs),
    row("min", 2, 255, numbers::min),
    row("max", 2, 255, numbers::max),
    row("floor", 1, 1, numbers::floor),
    row("ceil", 1, 1, numbers::ceil),
    row("round", 1, 2, numbers::round),
    row("sqrt", 1, 1, numbers::sqrt),
    row("pow", 2, 2, numbers::pow),
    row("sign", 1, 1, numbers::sign),
    row("is_nan", 1, 1, numbers::is_nan),
    row("is_infinite", 1, 1, numbers::is_infinite),
    row("range", 1, 2, numbers::range),
    row("contains", 2, 2, contains),
    row("starts_with", 2, 2, strings::starts_with),
    row("ends_with", 2, 2, strings::ends_with),
    row("trim", 1, 1, strings::trim),
    row("lower", 1, 1, strings::lower),
    row("lowercase", 1, 1, strings::lower),
    row("to_lower", 1, 1, strings::lower),
    row("upper", 1, 1, strings::upper),
    row("uppercase", 1, 1, strings::upper),
    row("to_upper", 1, 1, strings::upper),
    row("title_case", 1, 1, text::title_case),
    row("split", 2, 2, strings::split),
    row("join", 1, 2, text::join),
    row("replace", 3, 3, strings::replace),
    row("substring", 2, 3, strings::substring),
    row("index_of", 2, 3, strings::index_of),
    row("chars", 1, 1, strings::chars),
    row("repeat", 2, 2, strings::repeat),
    row("format", 1, 255, text::format),
    row("indent", 1, 2, text::indent),
    row("dedent", 1, 1, text::dedent),
    row("dirname", 1, 1, text::dirname),
    row("basename", 1, 1, text::basename),
    row("extname", 1, 1, text::extname),
    row("path_join", 1, 255, text::path_join),
    row("regex_match", 2, 3, regexes::regex_match),
    row("regex_replace", 3, 4, regexes::regex_replace),
    row("regex_captures", 2, 3, regexes::regex_captures),
    row("regex_split", 2, 3, regexes::regex_split),
    row("keys", 1, 1, dicts::keys),
    row("values", 1, 1, dicts::values),
    row("entries", 1, 1, dicts::entries),
    row("pick", 2, 2, dicts::pick),
    row("json_parse", 1, 1, data::json_parse),
    row("json_stringify", 1, 1, data::json_stringify),
    row("json_stringify_pretty", 1, 1, data::json_stringify_pretty),
    row("json_pointer", 2, 2, data::json_pointer),
    row("sha256", 1, 1, data::sha256),
    row("hex_encode", 1, 1, data::hex_encode),
    row("hex_decode", 1, 1, data::hex_decode),
    row("base64_encode", 1, 1, data::base64_encode),
    row("base64_decode", 1, 1, data::base64_decode),
    row("assert", 1, 2, data::assert),
    row("assert_eq", 2, 3, data::assert_eq),
    row("unreachable", 0, 1, data::unreachable),
    row("ast_search", 2, 2, ast::ast_search),
    row("grep", 2, 2, facts::grep),
    row("exists", 1, 1, facts::exists),
    row("flow_invariant_allow", 0, 0, flow::allow),
    row("flow_invariant_warn", 1, 1, flow::warn),
    row("flow_invariant_block", 2, 2, flow::block),
    row(
        "flow_invariant_require_approval",
        2,
        2,
        flow::require_approval,
    ),
    row("flow_invariant_kind", 1, 1, flow::invariant_kind),
    row("flow_invariant_is_blocking", 1, 1, flow::is_blocking),
    row("flow_invariant_confidence", 1, 1, flow::confidence),
    row("flow_invariant_feedback", 1, 2, flow::feedback),
    row("flow_with_evidence", 2, 2, flow::with_evidence),
    row("flow_with_remediation", 2, 2, flow::with_remediation),
    row("flow_with_confidence", 2, 2, flow::with_confidence),
    row("flow_remediation", 1, 1, flow::remediation),
    row("flow_evidence_atom", 3, 3, flow::evidence_atom),
    row("flow_evidence_metadata", 3, 3, flow::evidence_metadata),
    row("flow_evidence_transcript", 3, 3, flow::evidence_transcript),
    row("flow_evidence_citation", 3, 3, flow::evidence_citation),
];

/// How many things a value holds.
pub(super) fn len(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    Ok(int(match args.first() {
        None | Some(Value::Nil) => 0,
        Some(Value::Str(text)) => strings::chars_in(calls, text)?,
        Some(Value::List(list)) => list.items().len(),
        Some(Value::Dict(dict)) => dict.len(),
        Some(Value::Range(range)) => {
            let len = range.1.saturating_sub(range.0).max(0);
            return Ok(Value::Int(len));
        }
        Some(_) => {
            return Err(Args::of("len", args).wrong(0, "a string, a list, a dict or a range", ""));
        }
    }))
}

fn contains(calls: &mut dyn Calls, args: &[Value]) -> Result<Value, Fault> {
    match args.first() {
        Some(Value::Str(_)) => strings::contains(calls, args),
        Some(Value::List(_)) => lists::contains(calls, args),
        _ => Err(Args::of("contains", args).wrong(0, "a string or a list", "")),
    }
}
