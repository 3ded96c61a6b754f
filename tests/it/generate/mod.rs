//! Generated input: well-typed predicates with the facts they hang on, and
//! workspaces with patterns that find something in them.

mod facts;
mod predicate;
mod world;

pub(crate) use predicate::{known_predicates, predicates};
pub(crate) use world::sought;
