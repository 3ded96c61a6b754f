//! Declared types. (harn.md, section 6.3.)

use crate::harn::module::{Constant, TypeCheck};
use crate::harn::problem::HarnCode;
use crate::harn::syntax::ast::{Type, TypeKind};

use super::capability::is_capability;
use super::unit::Compiler;

/// Types stand for types no deeper.
const MAX_ALIASES: usize = 16;

/// Nodes of all types of a file, with what their aliases stand for, at most.
pub(super) const MAX_NODES: usize = 1 << 16;

/// Reads a type, and reports names that are not known.
pub(super) fn check<'a>(compiler: &mut Compiler<'a, '_>, ty: &Type<'a>) -> TypeCheck {
    read(compiler, ty, 0)
}

fn read<'a>(compiler: &mut Compiler<'a, '_>, ty: &Type<'a>, aliases: usize) -> TypeCheck {
    compiler.type_nodes += 1;
    if compiler.type_nodes > MAX_NODES {
        if compiler.type_nodes == MAX_NODES + 1 {
            let message = format!("the types of the file have over {MAX_NODES} parts");
            let help = "types that stand for others count with all that they stand for";
            compiler.error(HarnCode::FunctionTooLarge, ty.span, message, help);
        }
        return TypeCheck::Any;
    }
    match ty.kind {
        TypeKind::Named(name, args) => {
            let first = args.first().map(|arg| read(compiler, arg, aliases));
            let second = args.get(1).map(|arg| read(compiler, arg, aliases));
            match (name, args.len()) {
                ("any" | "unknown", 0) => TypeCheck::Any,
                ("nil", 0) => TypeCheck::Nil,
                ("bool", 0) => TypeCheck::Bool,
                ("int", 0) => TypeCheck::Int,
                ("float" | "number", 0) => TypeCheck::Float,
                ("string", 0) => TypeCheck::Str,
                ("list", 0 | 1) => TypeCheck::List(Box::new(first.unwrap_or(TypeCheck::Any))),
                ("dict", 0 | 2) => TypeCheck::Dict(Box::new(second.unwrap_or(TypeCheck::Any))),
                ("closure", 0) => TypeCheck::Callable,
                ("HarnessAst", 0) => TypeCheck::Harness,
                _ => named(compiler, ty, name, aliases),
            }
        }
        TypeKind::Optional(inner) => {
            TypeCheck::Union(vec![read(compiler, inner, aliases), TypeCheck::Nil])
        }
        TypeKind::Union(types) => {
            TypeCheck::Union(types.iter().map(|ty| read(compiler, ty, aliases)).collect())
        }
        TypeKind::List(item) => TypeCheck::List(Box::new(read(compiler, item, aliases))),
        TypeKind::Function(params, result) => {
            for param in params {
                read(compiler, param, aliases);
            }
            read(compiler, result, aliases);
            TypeCheck::Callable
        }
        TypeKind::Shape(fields) => TypeCheck::Shape(
            fields
                .iter()
                .map(|(name, optional, ty)| {
                    ((*name).into(), *optional, read(compiler, ty, aliases))
                })
                .collect(),
        ),
        TypeKind::Str(text) => TypeCheck::Literal(Constant::Str(text.into())),
        TypeKind::Int(value) => TypeCheck::Literal(Constant::Int(value)),
    }
}

fn named<'a>(
    compiler: &mut Compiler<'a, '_>,
    ty: &Type<'a>,
    name: &'a str,
    aliases: usize,
) -> TypeCheck {
    if let Some(alias) = compiler.alias(name)
        && aliases < MAX_ALIASES
    {
        return read(compiler, &alias, aliases + 1);
    }
    if is_capability(name) {
        // No value is of it. Predicates that want one are refused, the others of the
        // file are not.
        return TypeCheck::Union(Vec::new());
    }
    let message = format!("there is no type `{name}`");
    let help =
        "there are any, nil, bool, int, float, string, list<T>, dict<K, V>, shapes and unions";
    compiler.error(HarnCode::UnknownType, ty.span, message, help);
    TypeCheck::Any
}
