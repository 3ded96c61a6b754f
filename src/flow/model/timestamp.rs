//! Times, which are hashed as the text that they were given as. (flow.md, section 1.2.)

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A time of RFC 3339, such as `2026-04-26T00:00:00Z`. Its text is kept: two texts of one
/// time are two timestamps, because the text goes into the id of an atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp {
    text: String,
    nanoseconds: i128,
}

/// A text that is no time of RFC 3339.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no time of RFC 3339, such as `2026-04-26T00:00:00Z`: {0}")]
pub struct TimestampError(String);

impl Timestamp {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Nanoseconds since the start of 1970 in UTC.
    #[must_use]
    pub const fn unix_nanoseconds(&self) -> i128 {
        self.nanoseconds
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, TimestampError> {
        // `time` takes any byte there; RFC 3339 has `T`, and a space for readability.
        if !matches!(text.as_bytes().get(10), Some(b'T' | b't' | b' ')) {
            let problem = "wants `T` between the date and the time of day";
            return Err(TimestampError(problem.into()));
        }
        let time = OffsetDateTime::parse(&text, &Rfc3339)
            .map_err(|error| TimestampError(error.to_string()))?;
        Ok(Self {
            nanoseconds: time.unix_timestamp_nanos(),
            text,
        })
    }
}

impl From<Timestamp> for String {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.text
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        Self::try_from(text.to_owned())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn times_keep_their_text_and_tell_their_instant() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T01:00:00+01:00", 0),
            ("2026-04-26T00:00:00Z", 1_777_161_600),
            ("2026-04-26t02:00:00.000000+02:00", 1_777_161_600),
            ("2026-04-26 00:00:00z", 1_777_161_600),
        ] {
            let time: Timestamp = text.parse().expect(text);
            assert_eq!(time.as_str(), text);
            assert_eq!(time.unix_nanoseconds(), seconds * 1_000_000_000, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2026-04-26",
            "2026-04-26T00:00:00",
            "2026-04-26x00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-04-26T25:00:00Z",
            "2026-04-26T00:00:00+99:00",
            "2026-04-26T00:00:00Z ",
            "2026-04-26é00:00:00Z",
        ] {
            let error = text.parse::<Timestamp>().expect_err(text);
            assert!(error.to_string().contains("RFC 3339"), "{error}");
        }
    }
}
