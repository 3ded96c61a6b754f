//! The functions and methods that programs may call: all of them, so that a program
//! has no other way to reach anything. (harn.md, section 5.)
//!
//! Arguments of other types, too few and too many are errors; upstream takes most of
//! them for something.

mod args;
mod ast;
mod builder;
mod compare;
mod data;
mod dicts;
mod facts;
mod flow;
mod functions;
mod json;
mod lists;
mod methods;
mod numbers;
mod orders;
mod regexes;
mod strings;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use crate::facts::{FactKey, FactValue};
use crate::harn::fault::Fault;
#[cfg(feature = "ast")]
use crate::harn::fault::Limit;
use crate::harn::value::{Heap, Str, Value};

pub(crate) use compare::{equal, ordered, position, text_cost};
pub(crate) use facts::constant_fact;
pub(crate) use functions::FUNCTIONS;
pub(crate) use methods::{METHODS, removed};
pub(crate) use regexes::{Regex, all_matches, compile, fits, is_match, most_built, parse, weight};

/// What a builtin may ask of the machine that calls it.
pub(crate) trait Calls {
    /// Where values are counted.
    fn heap(&self) -> &Heap;

    /// Pays for work that grows with its input: about one unit for each item that is
    /// looked at, or for 16 bytes.
    fn pay(&mut self, fuel: usize) -> Result<(), Fault>;

    /// How much is left to pay with.
    #[cfg(feature = "ast")]
    fn fuel(&self) -> u64;

    /// Why work that takes long should end before its fuel does.
    #[cfg(feature = "ast")]
    fn stop_cause(&self) -> Option<Limit>;

    /// Calls a function.
    fn call(&mut self, callee: &Value, args: &[Value]) -> Result<Value, Fault>;

    /// The regex of a pattern with flags, built once. If it is none, a text that begins
    /// with "invalid regex" is thrown.
    fn regex(&mut self, pattern: &str, flags: &str) -> Result<Arc<Regex>, Fault>;

    /// What text costs to search with a pattern, as a multiple of the usual, if it is
    /// known already that there is no match. What [`Calls::regex`] costs is then paid.
    fn ruled_out(&mut self, pattern: &str, flags: &str, text: &Str)
    -> Result<Option<usize>, Fault>;

    /// What is known of the workspace, paid for. A fact that is not known is a fault.
    fn fact(&mut self, key: FactKey) -> Result<FactValue, Fault>;
}

/// A function, or a method whose receiver is its first argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    /// The fewest and the most arguments, without the receiver.
    pub(crate) least: u8,
    pub(crate) most: u8,
    pub(crate) run: Run,
}

pub(crate) type Run = fn(&mut dyn Calls, &[Value]) -> Result<Value, Fault>;

/// The methods of one name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) string: Option<Signature>,
    pub(crate) list: Option<Signature>,
    pub(crate) dict: Option<Signature>,
}

/// A builtin function, by its number in the table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin(pub(crate) u8);

impl Builtin {
    /// The builtin of a name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let at = FUNCTIONS.iter().position(|known| known.name == name)?;
        Some(Self(u8::try_from(at).ok()?))
    }

    pub(crate) fn signature(self) -> &'static Signature {
        &FUNCTIONS[usize::from(self.0) % FUNCTIONS.len()]
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.signature().name
    }
}

/// The number of the methods of a name in [`METHODS`].
pub(crate) fn method(name: &str) -> Option<u16> {
    let at = METHODS.iter().position(|known| known.name == name)?;
    u16::try_from(at).ok()
}

impl Method {
    /// The method of a receiver.
    pub(crate) const fn of(&self, receiver: &Value) -> Option<&Signature> {
        match receiver {
            Value::Str(_) => self.string.as_ref(),
            Value::List(_) => self.list.as_ref(),
            Value::Dict(_) => self.dict.as_ref(),
            _ => None,
        }
    }
}

impl Signature {
    /// Calls it, if the number of arguments is right. `receivers` is 1 for methods.
    pub(crate) fn call(
        &self,
        calls: &mut dyn Calls,
        args: &[Value],
        receivers: usize,
    ) -> Result<Value, Fault> {
        let given = args.len().saturating_sub(receivers);
        let (least, most) = (usize::from(self.least), usize::from(self.most));
        if (least..=most).contains(&given) {
            return (self.run)(calls, args);
        }
        let wanted = match (least, most) {
            (0, 0) => "none".to_owned(),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(Fault::arity(format!(
            "`{}` takes {wanted} arguments and got {given}",
            self.name
        )))
    }
}
