//! Durations and sizes as a policy states them.

use std::time::Duration;

use serde::Deserialize;

/// Longest time that a policy may allow.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);

/// A whole number and a unit: `500ms`, `60s`, `2m`, `1h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Time(pub(super) Duration);

/// A whole number and a unit: `64KiB`, `1MiB`, `2GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Size(pub(super) u64);

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
        let millis = scaled(&text, &units)?;
        let time = Duration::from_millis(millis);
        if time.is_zero() || time > MAX_DURATION {
            return Err(format!("`{text}` is not between 1ms and 24h"));
        }
        Ok(Self(time))
    }
}

impl TryFrom<String> for Size {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
        match scaled(&text, &units)? {
            0 => Err(format!("`{text}` is nothing")),
            bytes => Ok(Self(bytes)),
        }
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale = units.iter().find(|(name, _)| *name == unit);
    let number = number.parse::<u64>().ok();
    let scaled = number
        .zip(scale)
        .map(|(number, (_, scale))| number.checked_mul(*scale));
    scaled.flatten().ok_or_else(|| {
        let names: Vec<_> = units.iter().map(|(name, _)| format!("`{name}`")).collect();
        format!(
            "`{text}` is not a whole number followed by {}",
            names.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Result<Time, String> {
        Time::try_from(text.to_owned())
    }

    fn size(text: &str) -> Result<Size, String> {
        Size::try_from(text.to_owned())
    }

    #[test]
    fn a_number_and_a_unit() {
        assert_eq!(time("1500ms"), Ok(Time(Duration::from_millis(1500))));
        assert_eq!(time("2m"), Ok(Time(Duration::from_secs(120))));
        assert_eq!(size("3KiB"), Ok(Size(3072)));
        assert_eq!(size("2GiB"), Ok(Size(2 << 30)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "s",
            "10",
            "0s",
            "25h",
            "1.5s",
            "-1s",
            " 1s",
            "99999999999999999999h",
        ] {
            assert!(time(text).is_err(), "{text}");
        }
        for text in [
            "",
            "MiB",
            "1",
            "0KiB",
            "1MB",
            "1mib",
            "99999999999999999999GiB",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
