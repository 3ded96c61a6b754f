//! Durations as options take them.

use std::time::Duration;

/// Not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DurationError {
    /// No number before the unit.
    #[error("start with a whole number, like `500ms`, `10s`, `2m` or `1h`")]
    Number,
    /// No unit that is known.
    #[error("end with a unit: `ms`, `s`, `m` or `h`")]
    Unit,
    /// Zero, or more than fits.
    #[error("give more than zero and less than a million hours")]
    Range,
}

/// Most that is taken: no sum with a point in time overflows.
const MAX: Duration = Duration::from_secs(1_000_000 * 3600);

/// Reads a whole number and a unit: `500ms`, `10s`, `2m`, `1h`.
pub(super) fn parse(text: &str) -> Result<Duration, DurationError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let millis: u64 = match unit {
        _ if number.is_empty() => return Err(DurationError::Number),
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(DurationError::Unit),
    };
    let number: u64 = number.parse().map_err(|_| DurationError::Range)?;
    let duration = number
        .checked_mul(millis)
        .map(Duration::from_millis)
        .ok_or(DurationError::Range)?;
    if duration.is_zero() || duration >= MAX {
        return Err(DurationError::Range);
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit_make_a_duration() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(parse("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse("1h"), Ok(Duration::from_secs(3600)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "s", "-1s", " 1s", "1.5s"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(parse("10"), Err(DurationError::Unit));
        assert_eq!(parse("10 s"), Err(DurationError::Unit));
        assert_eq!(parse("0s"), Err(DurationError::Range));
        assert_eq!(parse("99999999999999999999s"), Err(DurationError::Range));
        assert_eq!(parse("18446744073709551615h"), Err(DurationError::Range));
        assert_eq!(parse("1000000h"), Err(DurationError::Range));
    }
}
