//! Whether the types of a tree fit.

use super::tree::{Expr, Fact};
use super::verdict::{Error, Stage};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Bool,
    Int,
    Str,
    Test,
    Run,
}

/// Checks that the whole tree is well typed and a bool.
pub(super) fn check(expr: &Expr) -> Result<(), Error> {
    wanted(expr, Type::Bool)
}

fn wanted(expr: &Expr, wanted: Type) -> Result<(), Error> {
    if type_of(expr)? == wanted {
        Ok(())
    } else {
        Err(refuse("another type is wanted"))
    }
}

fn refuse(message: &str) -> Error {
    Error {
        stage: Stage::Type,
        message: message.to_owned(),
    }
}

fn type_of(expr: &Expr) -> Result<Type, Error> {
    match expr {
        Expr::Bool(_) => Ok(Type::Bool),
        Expr::Int(_) => Ok(Type::Int),
        Expr::Str(_) => Ok(Type::Str),
        Expr::Call(Fact::Exists(_)) => Ok(Type::Bool),
        Expr::Call(Fact::Grep(..) | Fact::Count(..)) => Ok(Type::Int),
        Expr::Call(Fact::Test(_)) => Ok(Type::Test),
        Expr::Call(Fact::Run(_)) => Ok(Type::Run),
        Expr::Not(operand) => {
            wanted(operand, Type::Bool)?;
            Ok(Type::Bool)
        }
        Expr::And(operands) | Expr::Or(operands) => {
            for operand in operands {
                wanted(operand, Type::Bool)?;
            }
            Ok(Type::Bool)
        }
        Expr::Compare(op, left, right) => {
            let (left, right) = (type_of(left)?, type_of(right)?);
            let fits = match *op {
                "==" | "!=" => [Type::Int, Type::Bool, Type::Str].contains(&left),
                _ => left == Type::Int,
            };
            if left == right && fits {
                Ok(Type::Bool)
            } else {
                Err(refuse("operands cannot be compared"))
            }
        }
        Expr::Field(of, name) => match (type_of(of)?, name.as_str()) {
            (Type::Test, "passed") => Ok(Type::Bool),
            (Type::Run, "exit") => Ok(Type::Int),
            (Type::Run, "stdout" | "stderr") => Ok(Type::Str),
            (Type::Str, "lines") if matches!(**of, Expr::Field(..)) => Ok(Type::Int),
            _ => Err(refuse("no such field")),
        },
        Expr::Method(of, _) => {
            wanted(of, Type::Str)?;
            Ok(Type::Bool)
        }
    }
}
