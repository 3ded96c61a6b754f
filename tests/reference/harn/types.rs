//! Whether values are of the types that parameters and bindings name.

use probity::harn::syntax::ast::{Type, TypeKind};

use super::failure::Failure;
use super::machine::Machine;
use super::value::Value;

impl Machine<'_> {
    /// Fails unless the value is of the type.
    pub(super) fn demand(&self, value: &Value, ty: &Type<'_>, what: &str) -> Result<(), Failure> {
        if self.fits(value, ty) {
            Ok(())
        } else {
            let name = value.type_name();
            Err(Failure::ty(format!(
                "{what} is of another type than {name}"
            )))
        }
    }

    fn fits(&self, value: &Value, ty: &Type<'_>) -> bool {
        match (&ty.kind, value) {
            (TypeKind::Optional(inner), _) => value.is_nil() || self.fits(value, inner),
            (TypeKind::Union(types), _) => types.iter().any(|ty| self.fits(value, ty)),
            (TypeKind::List(of), Value::List(items)) => items.iter().all(|it| self.fits(it, of)),
            (TypeKind::Function(..), _) => value.is_callable(),
            (TypeKind::Shape(fields), Value::Dict(entries)) => {
                fields.iter().all(|(name, optional, ty)| {
                    entries
                        .get(*name)
                        .map_or(*optional, |value| self.fits(value, ty))
                })
            }
            (TypeKind::Str(wanted), Value::Str(text)) => **text == **wanted,
            (TypeKind::Int(wanted), Value::Int(value)) => value == wanted,
            (TypeKind::Named(name, of), _) => self.fits_name(value, name, of),
            _ => false,
        }
    }

    fn fits_name(&self, value: &Value, name: &str, of: &[Type<'_>]) -> bool {
        match (name, value) {
            ("float", Value::Int(_)) => true,
            ("int" | "float" | "string" | "bool" | "nil" | "range", _) => value.type_name() == name,
            ("closure", _) => value.is_callable(),
            ("list", Value::List(items)) => {
                let fits = |item: &Value| of.first().is_none_or(|of| self.fits(item, of));
                items.iter().all(fits)
            }
            ("dict", Value::Dict(entries)) => {
                let fits = |value: &Value| of.get(1).is_none_or(|of| self.fits(value, of));
                entries.values().all(fits)
            }
            ("list" | "dict", _) => false,
            _ => match self.types.iter().find(|(known, _)| *known == name) {
                Some((_, ty)) => self.fits(value, ty),
                None => true,
            },
        }
    }
}
