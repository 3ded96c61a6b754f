//! What registers hold.

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

/// A register: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A known truth value.
    Bool(bool),
    /// A known int.
    Int(i64),
    /// An int that is at least this, from a fact.
    AtLeast(i64, FactNumber),
    /// A string: the number of the constant or fact, and which string.
    Str(u32, Text),
    /// Not known.
    Unknown(Cause),
}

/// The number of a fact, in the three bytes that a register has to spare: a
/// number over 2^24 - 1 reads as the last one, which only blurs a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactNumber([u8; 3]);

impl FactNumber {
    pub(crate) const fn new(number: u32) -> Self {
        let number = if number > 0xff_ffff {
            0xff_ffff
        } else {
            number
        };
        let [a, b, c, _] = number.to_le_bytes();
        Self([a, b, c])
    }

    pub(crate) const fn get(self) -> u32 {
        let [a, b, c] = self.0;
        u32::from_le_bytes([a, b, c, 0])
    }
}

impl Value {
    /// The value as a truth value; another type means an unsound program.
    pub(crate) const fn truth(self) -> Truth {
        match self {
            Self::Bool(true) => Truth::True,
            Self::Bool(false) => Truth::False,
            Self::Unknown(cause) => Truth::Unknown(cause),
            Self::Int(_) | Self::AtLeast(..) | Self::Str(..) => Truth::Unknown(Cause {
                fact: 0,
                why: Why::Program,
            }),
        }
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
    fn a_fact_number_saturates() {
        assert_eq!(FactNumber::new(70_000).get(), 70_000);
        assert_eq!(FactNumber::new(u32::MAX).get(), 0xff_ffff);
    }
}
