//! Attributes, and the predicates they make. (harn.md, section 6.1.)

use crate::diagnostic::Span;
use crate::harn::module::Constant;
use crate::harn::predicate::{Archivist, FallbackPolicy, Kind, Predicate};
use crate::harn::problem::{HarnCode, Problem};
use crate::harn::syntax::ast::{
    Attribute, AttributeArgument, AttributeValue, Function, Stmt, StmtKind, TypeKind,
};

use super::unit::{Compiler, Global};

/// Attributes that mean something to other tools.
const FOREIGN: [&str; 6] = [
    "deprecated",
    "test",
    "complexity",
    "acp_tool",
    "trigger",
    "retroactive",
];

/// The predicate of a function with attributes, if it is one.
pub(super) fn read<'a>(
    compiler: &mut Compiler<'a, '_>,
    span: Span,
    attributes: &'a [Attribute<'a>],
    target: &'a Stmt<'a>,
) -> Option<Predicate> {
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
    let invariant = find("invariant").filter(|it| it.arguments.is_empty());
    let archivist = find("archivist");
    let StmtKind::Function { name, function, .. } = &target.kind else {
        if invariant.is_some() {
            let message = "`@invariant` is of functions";
            warn(compiler, HarnCode::AttributeTarget, span, message);
        }
        return None;
    };
    if invariant.is_none() {
        for of_predicates in [archivist, find("retroactive")].into_iter().flatten() {
            let message = format!(
                "`@{}` says nothing without `@invariant`",
                of_predicates.name.text
            );
            warn(compiler, HarnCode::Predicate, of_predicates.span, message);
        }
        return None;
    }
    let semantic = find("semantic");
    let deterministic = find("deterministic");
    let kind = match (deterministic, semantic) {
        (Some(_), Some(semantic)) => {
            let message = format!("`{}` is both deterministic and semantic", name.text);
            compiler.error(
                HarnCode::Predicate,
                semantic.span,
                message,
                "keep one of them",
            );
            return None;
        }
        (_, Some(semantic)) => mode(compiler, name.text, semantic)?,
        (Some(_), None) => Kind::Deterministic,
        (None, None) => {
            let message = format!("`{}` is taken for deterministic", name.text);
            warn(compiler, HarnCode::Predicate, name.span, message);
            Kind::Deterministic
        }
    };
    if archivist.is_none() {
        let message = format!(
            "`{}` has no `@archivist`: where does its rule come from?",
            name.text
        );
        warn(compiler, HarnCode::Predicate, name.span, message);
    }
    let archivist = archivist.map(|attribute| provenance(compiler, attribute));
    let wants_harness = harness(compiler, function)?;
    let Some(Global::Function(number, _)) = compiler.names.known.get(name.text) else {
        return None;
    };
    Some(Predicate {
        name: name.text.into(),
        kind,
        archivist,
        wants_harness,
        span,
        function: *number,
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

/// `@semantic(fallback: name, policy: word)`.
fn mode(compiler: &mut Compiler<'_, '_>, name: &str, attribute: &Attribute<'_>) -> Option<Kind> {
    let named = |key: &str| {
        let mut arguments = attribute.arguments.iter();
        arguments.find(|it| it.key.is_some_and(|name| name.text == key))
    };
    let first = attribute.arguments.first().filter(|it| it.key.is_none());
    let fallback = named("fallback").or(first);
    let Some(fallback) = fallback.and_then(|argument| text(&argument.value)) else {
        let message = format!("`{name}` is semantic and names no fallback");
        let help = "write `@semantic(fallback: name_of_a_deterministic_predicate)`";
        compiler.error(HarnCode::Predicate, attribute.span, message, help);
        return None;
    };
    let policy = match named("policy") {
        None => FallbackPolicy::Enforce,
        Some(argument) => match text(&argument.value) {
            Some("enforce") => FallbackPolicy::Enforce,
            Some("advisory") => FallbackPolicy::Advisory,
            _ => {
                let message = "the policy of a fallback is `enforce` or `advisory`";
                compiler.error(HarnCode::Predicate, argument.span, message, "");
                return None;
            }
        },
    };
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
    Some(Kind::Semantic {
        fallback: fallback.into(),
        policy,
    })
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

fn constant<'c>(compiler: &'c Compiler<'_, '_>, name: &str) -> Option<&'c Constant> {
    match compiler.names.known.get(name)? {
        Global::Binding(_, false, Some(number)) => {
            compiler.constants.get_index(usize::from(*number))
        }
        _ => None,
    }
}

/// Strings: a list of them, one, or a constant of the file that is either.
fn strings(compiler: &Compiler<'_, '_>, value: &AttributeValue<'_>) -> Vec<Box<str>> {
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

fn number(compiler: &Compiler<'_, '_>, argument: &AttributeArgument<'_>) -> Option<f64> {
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

/// Whether the first parameter is the harness. Other capabilities are refused.
fn harness(compiler: &mut Compiler<'_, '_>, function: &Function<'_>) -> Option<bool> {
    let mut wants = false;
    for (at, param) in function.params.iter().enumerate() {
        let Some(ty) = &param.ty else { continue };
        match ty.kind {
            TypeKind::Named("HarnessAst", []) if at == 0 => wants = true,
            TypeKind::Named(name, _) if name.starts_with("Harness") => {
                let message = format!("a predicate is not given `{name}`");
                let help = "only `HarnessAst` as the type of the first parameter is";
                compiler.error(HarnCode::Predicate, ty.span, message, help);
                return None;
            }
            _ => {}
        }
    }
    Some(wants)
}
