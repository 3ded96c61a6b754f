//! Annotations as GitHub Actions reads them off a log: workflow commands.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::report::level::{At, LONGEST, Level};
use crate::report::{escape, escape_lines};

/// Most annotations of a level in a run. GitHub shows ten of each for a step and drops
/// the others; one notice is left for the closing line, which counts them.
pub(super) const MOST: [u64; 3] = [10, 10, 9];

/// Most characters of a message.
const MESSAGE: usize = 4000;

/// Most characters of a title or a path.
const WIDTH: usize = 250;

/// Counts annotations, and writes no more than are shown.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    seen: [u64; 3],
}

impl Annotations {
    /// Writes an annotation, or only counts it.
    pub(super) fn write(
        &mut self,
        out: &mut impl Write,
        level: Level,
        at: Option<At<'_>>,
        title: &str,
        message: &str,
    ) -> io::Result<()> {
        let seen = &mut self.seen[level as usize];
        *seen += 1;
        if *seen > MOST[level as usize] {
            return Ok(());
        }
        command(out, level, at, title, message)
    }

    /// The closing line: what the run came to, and how many annotations are missing.
    pub(super) fn finish(&self, out: &mut impl Write, summary: &str) -> io::Result<()> {
        let missing: u64 = self
            .seen
            .iter()
            .zip(MOST)
            .map(|(seen, most)| seen.saturating_sub(most))
            .sum();
        let mut summary = summary.to_owned();
        if missing > 0 {
            let _ = write!(
                summary,
                "; {missing} more not shown here, see --format text, json or sarif"
            );
        }
        command(out, Level::Note, None, "probity", &summary)
    }
}

fn command(
    out: &mut impl Write,
    level: Level,
    at: Option<At<'_>>,
    title: &str,
    message: &str,
) -> io::Result<()> {
    let name = match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    write!(out, "::{name} ")?;
    if let Some(at) = at {
        write!(out, "file={},", property(&escape(at.path, LONGEST)))?;
        if let Some(line) = at.line {
            write!(out, "line={line},")?;
        }
    }
    let message = data(&escape_lines(message, MESSAGE));
    writeln!(out, "title={}::{message}", property(&escape(title, WIDTH)))
}

/// The text of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of one of its properties.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_property_or_a_line_is_escaped() {
        let mut out = Vec::new();
        let at = At::new("a,b:c%.rs", Some(3));
        let message = "50%\r\n::error::faked\u{1b}[2J";
        Annotations::default()
            .write(&mut out, Level::Error, Some(at), "x::y,z", message)
            .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "::error file=a%2Cb%3Ac%25.rs,line=3,title=x%3A%3Ay%2Cz::50%25\\r%0A::error::faked\\u{1b}[2J\n"
        );
    }

    #[test]
    fn no_more_are_written_than_are_shown() {
        let mut out = Vec::new();
        let mut annotations = Annotations::default();
        for _ in 0..25 {
            for level in [Level::Error, Level::Warning, Level::Note] {
                annotations.write(&mut out, level, None, "t", "m").unwrap();
            }
        }
        annotations.finish(&mut out, "done").unwrap();
        let text = String::from_utf8(out).unwrap();
        for name in ["::error ", "::warning ", "::notice "] {
            let count = text.lines().filter(|line| line.starts_with(name)).count();
            assert_eq!(count, 10, "{name}");
        }
        assert!(text.ends_with("done; 46 more not shown here, see --format text, json or sarif\n"));
    }
}
