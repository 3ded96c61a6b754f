//! Texts that are put together: paid for, and no longer than the heap has room for.

use crate::harn::builtins::Calls;
use crate::harn::builtins::args::Args;
use crate::harn::builtins::compare::text_cost;
use crate::harn::fault::{Fault, Limit};
use crate::harn::value::{Str, Value};

/// The longest text that a function makes from shorter ones.
pub(super) const MAX_TEXT: usize = 16 << 20;

/// A text that grows.
pub(super) struct Builder {
    text: String,
    most: usize,
}

impl Builder {
    pub(super) fn new(calls: &dyn Calls) -> Self {
        Self {
            text: String::new(),
            most: calls.heap().room().min(MAX_TEXT),
        }
    }

    /// A builder for a text whose length is known, and which is paid for here.
    pub(super) fn sized(calls: &mut dyn Calls, bytes: usize) -> Result<Self, Fault> {
        pay_for(calls, bytes)?;
        let mut builder = Self::new(calls);
        builder.text.reserve_exact(bytes);
        Ok(builder)
    }

    pub(super) fn push(&mut self, calls: &mut dyn Calls, piece: &str) -> Result<(), Fault> {
        calls.pay(text_cost(piece.len()))?;
        self.push_paid(piece)
    }

    pub(super) fn push_paid(&mut self, piece: &str) -> Result<(), Fault> {
        if self.text.len().saturating_add(piece.len()) > self.most {
            return Err(Fault::Limit(Limit::Memory));
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// The text form of a value.
    pub(super) fn push_value(&mut self, calls: &mut dyn Calls, value: &Value) -> Result<(), Fault> {
        match value {
            Value::Str(text) => self.push(calls, text.as_str()),
            other => {
                let text = whole_text(calls, other)?;
                self.push(calls, &text)
            }
        }
    }

    /// Fills the text through a function that never writes more than so many bytes in
    /// all, and says whether they were enough.
    pub(super) fn fill(
        &mut self,
        calls: &mut dyn Calls,
        write: impl FnOnce(&mut String, usize) -> bool,
    ) -> Result<(), Fault> {
        let before = self.text.len();
        let was_enough = write(&mut self.text, self.most);
        calls.pay(text_cost(self.text.len().saturating_sub(before)))?;
        if was_enough && self.text.len() <= self.most {
            return Ok(());
        }
        Err(Fault::Limit(Limit::Memory))
    }

    pub(super) fn finish(self, calls: &dyn Calls) -> Result<Value, Fault> {
        let mut text = self.text;
        text.shrink_to_fit();
        Value::text(text, calls.heap())
    }
}

/// Pays for a text of so many bytes, if there may be one.
pub(super) fn pay_for(calls: &mut dyn Calls, bytes: usize) -> Result<(), Fault> {
    if bytes > MAX_TEXT {
        return Err(Fault::Limit(Limit::Memory));
    }
    calls.heap().has_room(bytes)?;
    calls.pay(text_cost(bytes))
}

/// The text form of a value.
pub(super) fn whole_text(calls: &mut dyn Calls, value: &Value) -> Result<String, Fault> {
    calls.pay(value.weight() as usize)?;
    let text = value.whole_text(calls.heap())?;
    calls.pay(text.len() / 16)?;
    Ok(text)
}

/// The text form of an argument. There is none of nil, which stands for something that
/// is missing. (harn.md, sections 5 and 10.)
pub(super) fn piece(
    calls: &mut dyn Calls,
    args: Args<'_>,
    at: usize,
    role: &str,
) -> Result<Str, Fault> {
    match args.given(at) {
        Some(value) => text_of(calls, value),
        None => Err(args.wrong(at, "a string", role)),
    }
}

/// The text form of a value, itself if it is a text.
pub(super) fn text_of(calls: &mut dyn Calls, value: &Value) -> Result<Str, Fault> {
    match value {
        Value::Str(text) => Ok(text.clone()),
        other => {
            let text = whole_text(calls, other)?;
            Str::new(text, calls.heap())
        }
    }
}
