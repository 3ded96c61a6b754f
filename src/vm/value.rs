//! What registers hold.

use std::fmt;

use crate::facts::{Cell, FactTable};
use crate::reason::{Reason, ReasonCode};

/// Why a value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Why {
    /// The fact is not fetched yet.
    Pending,
    /// The fact could not be established.
    Fact,
    /// The answer depends on output past the capture limit.
    Truncated,
    /// The source of the fact gave a value of another type.
    Mistyped,
    /// The source of the fact stopped counting before the comparison is decided.
    Inexact,
    /// A regex of the program could not be built.
    Regex,
    /// The program itself is unsound.
    Program,
}

impl Why {
    const ALL: [Self; 7] = [
        Self::Pending,
        Self::Fact,
        Self::Truncated,
        Self::Mistyped,
        Self::Inexact,
        Self::Regex,
        Self::Program,
    ];

    const fn of(kind: u8) -> Self {
        if (kind as usize) < Self::ALL.len() {
            Self::ALL[kind as usize]
        } else {
            Self::Program
        }
    }
}

/// Where an unknown comes from: 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The number of the fact in the table.
    pub fact: u32,
    /// What is the matter with it.
    pub why: Why,
}

impl Cause {
    /// The cause in words.
    #[must_use]
    pub fn reason(self, table: &FactTable) -> Reason {
        let (code, detail) = match self.why {
            Why::Pending => (ReasonCode::FactMissing, "the fact was not supplied"),
            Why::Fact => {
                if let Cell::Unknown(number) = table.cell(self.fact)
                    && let Some(reason) = table.reason(number)
                {
                    return reason.clone();
                }
                (ReasonCode::FactMissing, "the fact is unknown")
            }
            Why::Truncated => (
                ReasonCode::OutputTruncated,
                "the output was cut at the capture limit, and what was cut may decide; raise `output` in the policy",
            ),
            Why::Mistyped => (
                ReasonCode::FactMistyped,
                "the fact source answered with a value of another type",
            ),
            Why::Inexact => (
                ReasonCode::FactMistyped,
                "the fact source stopped counting before the comparison is decided",
            ),
            Why::Regex => (
                ReasonCode::PatternTooLarge,
                "a regex of the predicate cannot be built within its size limit",
            ),
            Why::Program => (
                ReasonCode::UnsupportedVersion,
                "the program holds an instruction that this engine does not have",
            ),
        };
        Reason::new(code, detail)
    }
}

/// What a predicate comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Neither: the leftmost unknown that decides.
    Unknown(Cause),
}

/// Which of a fact's strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Text {
    /// A string of the constant pool.
    Const,
    /// Standard output of a run.
    Stdout,
    /// Standard error of a run.
    Stderr,
}

impl Text {
    const fn of(kind: u8) -> Self {
        match kind {
            1 => Self::Stdout,
            2 => Self::Stderr,
            _ => Self::Const,
        }
    }
}

/// A register: 16 bytes, two words.
///
/// Two plain words stay in machine registers on their way into the register
/// file. An enum of the same size is written to memory field by field and read
/// back whole, which stalls the load on every instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Value {
    /// Tag in bits 0-7, a cause's or string's kind in bits 8-15, the number of a
    /// fact or constant in bits 32-63.
    meta: u64,
    payload: u64,
}

/// What a [`Value`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// A known truth value.
    Bool(bool),
    /// A known int.
    Int(i64),
    /// An int that is at least this, and the fact it comes from.
    AtLeast(i64, u32),
    /// A string: the number of the constant or fact, and which string.
    Str(u32, Text),
    /// Not known.
    Unknown(Cause),
}

const BOOL: u64 = 0;
const INT: u64 = 1;
const AT_LEAST: u64 = 2;
const STR: u64 = 3;
const UNKNOWN: u64 = 4;

impl Value {
    /// The register before anything is written to it.
    pub(crate) const FALSE: Self = Self::bool(false);

    #[inline]
    pub(crate) const fn bool(value: bool) -> Self {
        Self {
            meta: BOOL,
            payload: value as u64,
        }
    }

    #[inline]
    pub(crate) const fn int(value: i64) -> Self {
        Self {
            meta: INT,
            payload: value.cast_unsigned(),
        }
    }

    #[inline]
    pub(crate) const fn at_least(bound: i64, fact: u32) -> Self {
        Self {
            meta: AT_LEAST | (fact as u64) << 32,
            payload: bound.cast_unsigned(),
        }
    }

    #[inline]
    pub(crate) const fn str(number: u32, text: Text) -> Self {
        Self {
            meta: STR | (text as u64) << 8 | (number as u64) << 32,
            payload: 0,
        }
    }

    #[inline]
    pub(crate) const fn unknown(fact: u32, why: Why) -> Self {
        Self {
            meta: UNKNOWN | (why as u64) << 8 | (fact as u64) << 32,
            payload: 0,
        }
    }

    /// The value of an operation that no sound program comes to.
    pub(crate) const UNSOUND: Self = Self::unknown(0, Why::Program);

    /// What the register holds.
    #[inline]
    #[must_use]
    pub const fn view(self) -> View {
        let number = (self.meta >> 32) as u32;
        let kind = (self.meta >> 8) as u8;
        match self.meta & 0xff {
            BOOL => View::Bool(self.payload != 0),
            INT => View::Int(self.payload.cast_signed()),
            AT_LEAST => View::AtLeast(self.payload.cast_signed(), number),
            STR => View::Str(number, Text::of(kind)),
            _ => View::Unknown(Cause {
                fact: number,
                why: Why::of(kind),
            }),
        }
    }

    #[inline]
    pub(crate) const fn is_unknown(self) -> bool {
        self.meta & 0xff == UNKNOWN
    }

    /// The value as a truth value; another type means an unsound program.
    #[inline]
    pub(crate) const fn truth(self) -> Truth {
        match self.view() {
            View::Bool(true) => Truth::True,
            View::Bool(false) => Truth::False,
            View::Unknown(cause) => Truth::Unknown(cause),
            View::Int(_) | View::AtLeast(..) | View::Str(..) => Truth::Unknown(Cause {
                fact: 0,
                why: Why::Program,
            }),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_sixteen_bytes() {
        assert_eq!(size_of::<Value>(), 16);
        assert_eq!(size_of::<Cause>(), 8);
    }

    #[test]
    fn a_value_is_seen_as_it_was_made() {
        for fact in [0, 7, u32::MAX] {
            for why in Why::ALL {
                let cause = Cause { fact, why };
                assert_eq!(Value::unknown(fact, why).view(), View::Unknown(cause));
            }
            for text in [Text::Const, Text::Stdout, Text::Stderr] {
                assert_eq!(Value::str(fact, text).view(), View::Str(fact, text));
            }
            for int in [i64::MIN, -1, 0, i64::MAX] {
                assert_eq!(Value::int(int).view(), View::Int(int));
                assert_eq!(Value::at_least(int, fact).view(), View::AtLeast(int, fact));
            }
        }
        assert_eq!(Value::bool(true).view(), View::Bool(true));
        assert_eq!(Value::FALSE.view(), View::Bool(false));
    }
}
