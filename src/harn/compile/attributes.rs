//! Attributes, and the predicates they make. (harn.md, section 6.1.)

use crate::diagnostic::Span;
use crate::digest::Digest;
use crate::harn::declaration::{Declaration, Flaw, FlawKind, Mode};
use crate::harn::module::Constant;
use crate::harn::predicate::{Archivist, FallbackPolicy};
use crate::harn::problem::{HarnCode, Problem};
use crate::harn::syntax::ast::{Attribute, AttributeArgument, AttributeValue, Stmt, StmtKind};

use super::capability::harness;
use super::closure::ItemId;
use super::top::Global;
use super::unit::Compiler;

/// Attributes that mean something to other tools.
const FOREIGN: [&str; 7] = [
    "bootstrap_maintainers",
    "deprecated",
    "test",
    "complexity",
    "acp_tool",
    "trigger",
    "retroactive",
];

/// Where an item with attributes stands.
pub(super) struct Place<'a> {
    /// From the first attribute to the end.
    pub(super) span: Span,
    /// The start of its `fn`.
    pub(super) function: u32,
    /// Its number.
    pub(super) item: ItemId,
    /// The source of its file.
    pub(super) source: &'a str,
}

/// A declaration that was read.
pub(crate) struct Read {
    pub(crate) declaration: Declaration,
    pub(crate) item: ItemId,
    /// The number of the function.
    pub(crate) function: Option<u32>,
}

/// The predicate of a function with attributes, if it is one.
pub(super) fn read<'a>(
    compiler: &mut Compiler<'a, '_>,
    place: &Place<'_>,
    attributes: &'a [Attribute<'a>],
    target: &'a Stmt<'a>,
) -> Option<Read> {
    let find = |name: &str| attributes.iter().find(|it| it.name.text == name);
    for attribute in attributes {
        let name = attribute.name.text;
        let is_known = ["invariant", "deterministic", "semantic", "archivist"].contains(&name);
        if !is_known && !FOREIGN.contains(&name) {
            warn(
                compiler,
                HarnCode::UnknownAttribute,
                attribute.span,
                format!("the attribute `@{name}` is not known"),
            );
        }
    }
    // With arguments it is another feature.
    let is_bare = |it: &&Attribute<'_>| it.name.text == "invariant" && it.arguments.is_empty();
    let is_invariant = attributes.iter().any(|it| is_bare(&it));
    let archivist = find("archivist");
    let StmtKind::Function { name, function, .. } = &target.kind else {
        if is_invariant {
            let message = "`@invariant` is of functions";
            warn(compiler, HarnCode::AttributeTarget, place.span, message);
        }
        return None;
    };
    if !is_invariant {
        for of_predicates in [archivist, find("retroactive")].into_iter().flatten() {
            let message = format!(
                "`@{}` says nothing without `@invariant`",
                of_predicates.name.text
            );
            warn(compiler, HarnCode::Predicate, of_predicates.span, message);
        }
        return None;
    }
    let mut declaration = Declaration {
        name: name.text.into(),
        mode: Mode::Deterministic,
        fallback: None,
        policy: FallbackPolicy::Enforce,
        archivist: None,
        is_retroactive: find("retroactive").is_some(),
        wants_harness: false,
        span: place.span,
        function_span: Span {
            start: place.function,
            end: place.span.end,
        },
        hash: Digest::of(
            place
                .source
                .get(place.span.range())
                .unwrap_or_default()
                .as_bytes(),
        ),
        closure: None,
        flaws: Vec::new(),
    };
    let (name, at) = (name.text, name.span);
    let mut flaw = |kind, problem| declaration.flaws.push(Flaw { kind, problem });
    let error = |span, message: String, help: &str| {
        Problem::error(HarnCode::Predicate, span, message).help(help)
    };
    let semantic = find("semantic");
    match (find("deterministic"), semantic) {
        (Some(_), Some(semantic)) => {
            let message =
                format!("`{name}` is both `@deterministic` and `@semantic`: pick exactly one");
            flaw(
                FlawKind::BothModes,
                error(semantic.span, message, "remove one of them"),
            );
        }
        (None, None) => {
            let message = format!("`{name}` is neither deterministic nor semantic");
            let help = "write exactly one of `@deterministic` and `@semantic(fallback: …)`";
            flaw(FlawKind::NoMode, error(at, message, help));
        }
        (None, Some(_)) | (Some(_), None) => {}
    }
    if archivist.is_none() {
        let message =
            format!("`{name}` is missing `@archivist(...)`: where does its rule come from?");
        let problem = Problem::warning(HarnCode::Predicate, at, message);
        flaw(FlawKind::NoArchivist, problem);
    }
    if let Some(attribute) = semantic
        && find("deterministic").is_none()
    {
        declaration.mode = Mode::Semantic;
        let (policy, fallback) = (policy(attribute), fallback(attribute));
        let flaws = &mut declaration.flaws;
        match policy {
            Ok(policy) => declaration.policy = policy,
            Err(argument) => {
                let word = text(&argument.value).unwrap_or_default().escape_debug();
                let message = format!("`{name}` has the unsupported fallback policy `{word}`");
                let help = "write `enforce` or `advisory`";
                let problem = error(argument.span, message, help);
                let kind = FlawKind::UnknownPolicy;
                flaws.push(Flaw { kind, problem });
            }
        }
        if fallback.is_none() {
            let message = format!(
                "`{name}` is semantic and must declare a deterministic fallback to stand in"
            );
            let help = "write `@semantic(fallback: name_of_a_deterministic_predicate)`";
            let problem = error(attribute.span, message, help);
            let kind = FlawKind::NoFallback;
            flaws.push(Flaw { kind, problem });
        }
        declaration.fallback = fallback.map(Into::into);
        unknown_arguments(compiler, attribute);
    }
    declaration.archivist = archivist.map(|attribute| provenance(compiler, attribute));
    match harness(compiler, function) {
        Ok(wants) => declaration.wants_harness = wants,
        Err((span, capability)) => {
            let message = format!("a predicate is not given `{capability}`");
            let help = "only `HarnessAst` as the type of the first parameter is";
            let problem = error(span, message, help);
            let kind = FlawKind::Capability;
            declaration.flaws.push(Flaw { kind, problem });
        }
    }
    let function = match compiler.names.get(name) {
        Some(Global::Function(number, _)) => Some(number),
        _ => None,
    };
    Some(Read {
        declaration,
        item: place.item,
        function,
    })
}

fn warn(compiler: &mut Compiler<'_, '_>, code: HarnCode, span: Span, message: impl Into<Box<str>>) {
    let problem = Problem::warning(code, span, message);
    compiler.problems.push(problem);
}

fn text<'a>(value: &AttributeValue<'a>) -> Option<&'a str> {
    match value {
        AttributeValue::Str(text) | AttributeValue::Symbol(text) => Some(text),
        _ => None,
    }
}

/// An argument of an attribute by its key.
fn named<'a>(attribute: &'a Attribute<'a>, key: &str) -> Option<&'a AttributeArgument<'a>> {
    let mut arguments = attribute.arguments.iter();
    arguments.find(|it| it.key.is_some_and(|name| name.text == key))
}

/// The fallback of `@semantic(fallback: name)`, or of `@semantic(name)`.
fn fallback<'a>(attribute: &'a Attribute<'a>) -> Option<&'a str> {
    let mut arguments = attribute.arguments.iter();
    let argument = named(attribute, "fallback");
    let argument = argument.or_else(|| arguments.find(|it| it.key.is_none()));
    text(&argument?.value).filter(|name| !name.is_empty())
}

/// The policy of `@semantic(policy: word)`, or the argument that is none.
fn policy<'a>(attribute: &'a Attribute<'a>) -> Result<FallbackPolicy, &'a AttributeArgument<'a>> {
    match named(attribute, "policy") {
        None => Ok(FallbackPolicy::Enforce),
        Some(argument) => match text(&argument.value) {
            Some("enforce") => Ok(FallbackPolicy::Enforce),
            Some("advisory") => Ok(FallbackPolicy::Advisory),
            _ => Err(argument),
        },
    }
}

fn unknown_arguments(compiler: &mut Compiler<'_, '_>, attribute: &Attribute<'_>) {
    for argument in attribute.arguments {
        if argument
            .key
            .is_some_and(|key| !matches!(key.text, "fallback" | "policy"))
        {
            let message = "`@semantic` takes `fallback` and `policy`";
            warn(
                compiler,
                HarnCode::AttributeArgument,
                argument.span,
                message,
            );
        }
    }
}

fn provenance(compiler: &mut Compiler<'_, '_>, attribute: &Attribute<'_>) -> Archivist {
    let mut found = Archivist::default();
    for argument in attribute.arguments {
        let key = argument.key.map_or("", |key| key.text);
        let is_understood = match key {
            "evidence" => {
                found.evidence = strings(compiler, &argument.value);
                !found.evidence.is_empty()
            }
            "coverage_examples" => {
                found.coverage_examples = strings(compiler, &argument.value);
                !found.coverage_examples.is_empty()
            }
            "confidence" => {
                found.confidence = number(compiler, argument).filter(|it| (0.0..=1.0).contains(it));
                found.confidence.is_some()
            }
            "source_date" => {
                found.source_date = strings(compiler, &argument.value).into_iter().next();
                found.source_date.is_some()
            }
            _ => false,
        };
        if !is_understood {
            let message = match key {
                "" => "arguments of `@archivist` have names".to_owned(),
                "confidence" => "the confidence is a number from 0 to 1".to_owned(),
                "evidence" | "coverage_examples" => {
                    format!("`{key}` is a list of strings, or a constant that is one")
                }
                "source_date" => "`source_date` is a string".to_owned(),
                other => format!("`@archivist` takes no `{other}`"),
            };
            warn(
                compiler,
                HarnCode::AttributeArgument,
                argument.span,
                message,
            );
        }
    }
    if found.evidence.is_empty() {
        let message = "`@archivist` names no evidence";
        warn(
            compiler,
            HarnCode::AttributeArgument,
            attribute.span,
            message,
        );
    }
    found
}

fn constant<'c>(compiler: &'c mut Compiler<'_, '_>, name: &str) -> Option<&'c Constant> {
    match compiler.global(name)? {
        Global::Binding(_, false, Some(number)) => {
            compiler.constants.get_index(usize::from(number))
        }
        _ => None,
    }
}

/// Strings: a list of them, one, or a constant of the file that is either.
fn strings(compiler: &mut Compiler<'_, '_>, value: &AttributeValue<'_>) -> Vec<Box<str>> {
    match value {
        AttributeValue::Str(text) => vec![(*text).into()],
        AttributeValue::List(values) => values
            .iter()
            .filter_map(|value| match value {
                AttributeValue::Str(text) => Some((*text).into()),
                _ => None,
            })
            .collect(),
        AttributeValue::Symbol(name) => match constant(compiler, name) {
            Some(Constant::Str(text)) => vec![(&**text).into()],
            Some(Constant::List(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Constant::Str(text) => Some((&**text).into()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn number(compiler: &mut Compiler<'_, '_>, argument: &AttributeArgument<'_>) -> Option<f64> {
    match argument.value {
        AttributeValue::Float(value) => Some(value),
        AttributeValue::Int(value) => Some(value as f64),
        AttributeValue::Symbol(name) => match constant(compiler, name)? {
            Constant::Float(value) => Some(*value),
            Constant::Int(value) => Some(*value as f64),
            _ => None,
        },
        _ => None,
    }
}
