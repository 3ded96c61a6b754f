//! Capabilities that types name. (harn.md, section 6.1; flow.md, section 11.)

use std::collections::HashSet;

use crate::diagnostic::Span;
use crate::harn::syntax::ast::{Function, Type, TypeKind};

use super::types::MAX_NODES;
use super::unit::Compiler;

/// The capability that predicates are given.
const GIVEN: &str = "HarnessAst";

/// Whether a name is that of a capability, given or not.
pub(super) fn is_capability(name: &str) -> bool {
    name.starts_with("Harness")
}

/// Whether the first parameter of a predicate is literally the harness; or a capability
/// that is not given, and where it stands, also within other types and behind names that
/// stand for it.
pub(super) fn harness<'a>(
    compiler: &Compiler<'a, '_>,
    function: &Function<'a>,
) -> Result<bool, (Span, &'a str)> {
    let mut wants = false;
    // Each name stands for the same wherever it is used.
    let mut seen = HashSet::new();
    for (at, param) in function.params.iter().enumerate() {
        let Some(ty) = &param.ty else { continue };
        match ty.kind {
            TypeKind::Named(GIVEN, []) if at == 0 => wants = true,
            _ => {
                if let Some(found) = mentioned(compiler, ty, &mut seen) {
                    return Err((ty.span, found));
                }
            }
        }
    }
    Ok(wants)
}

/// The first capability of a type. Types are nested no deeper than the parser lets them,
/// and each name is looked into once. A file whose types are too large is refused as a
/// whole.
fn mentioned<'a>(
    compiler: &Compiler<'a, '_>,
    ty: &Type<'a>,
    seen: &mut HashSet<&'a str>,
) -> Option<&'a str> {
    if compiler.type_nodes > MAX_NODES {
        return None;
    }
    let mut waiting = vec![*ty];
    while let Some(ty) = waiting.pop() {
        match ty.kind {
            TypeKind::Named(name, args) => {
                waiting.extend(args);
                match compiler.names.stands_for(name) {
                    Some(alias) if seen.insert(name) => waiting.push(alias),
                    Some(_) => {}
                    None if is_capability(name) => return Some(name),
                    None => {}
                }
            }
            TypeKind::Optional(inner) | TypeKind::List(inner) => waiting.push(*inner),
            TypeKind::Union(types) => waiting.extend(types),
            TypeKind::Function(params, result) => {
                waiting.extend(params);
                waiting.push(*result);
            }
            TypeKind::Shape(fields) => waiting.extend(fields.iter().map(|(_, _, ty)| *ty)),
            TypeKind::Str(_) | TypeKind::Int(_) => {}
        }
    }
    None
}
