//! Values for facts, drawn from a number and what the fact asks.

use crate::reference::{Fact, FactValue, Output};

const CODES: [&str; 3] = ["path_not_found", "test_not_found", "command_timed_out"];
const TEXTS: [&str; 6] = ["", "a", "b\n", "ab\n12 passed\n", "é\r\nx", "aa"];

/// What a fact of the reference is worth.
pub(super) fn value(seed: u8, fact: &Fact) -> FactValue {
    let roll = hash(seed, &format!("{fact:?}"));
    let bits = |shift: u32| usize::try_from(roll >> shift & 0xff).unwrap_or(0);
    if bits(0) % 8 == 0 {
        return FactValue::Unknown(CODES[bits(8) % CODES.len()].to_owned());
    }
    let text = |shift| TEXTS[bits(shift) % TEXTS.len()].as_bytes().to_vec();
    match fact {
        Fact::Exists(_) | Fact::Test(_) => FactValue::Bool(bits(8) % 2 == 0),
        Fact::Grep(..) | Fact::Count(..) => FactValue::Count(roll >> 8 & 3),
        Fact::Run(_) => FactValue::Run(Output {
            exit: i64::try_from(bits(8) % 4).unwrap_or(0) - 1,
            stdout: text(16),
            stderr: text(24),
            stdout_truncated: bits(32) % 4 == 0,
            stderr_truncated: bits(40) % 4 == 0,
        }),
    }
}

/// FNV-1a, stirred once more so that the low bits can be used.
fn hash(seed: u8, text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ u64::from(seed);
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    (hash ^ hash >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8
}
