//! What a commit says of itself.

use crate::git::{GitError, Oid};

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its name.
    pub id: Oid,
    /// The tree of all files.
    pub tree: Oid,
    /// Its first parent, if it has any.
    pub parent: Option<Oid>,
    /// When it was committed, in seconds since 1970.
    pub time: i64,
    /// The first line of its message; bytes that are not UTF-8 are replaced.
    pub subject: Box<str>,
}

impl Commit {
    /// Reads a commit object.
    pub(super) fn parse(id: Oid, object: &[u8]) -> Result<Self, GitError> {
        let damaged = |problem| GitError::Damaged { oid: id, problem };
        let (mut tree, mut parent, mut time) = (None, None, None);
        let mut rest = object;
        let message = loop {
            let (line, after) = split_line(rest);
            if line.is_empty() {
                break after;
            }
            let text = String::from_utf8_lossy(line);
            if let Some(name) = text.strip_prefix("tree ") {
                tree = tree.or_else(|| Oid::parse(name));
            } else if let Some(name) = text.strip_prefix("parent ") {
                let name =
                    Oid::parse(name).ok_or_else(|| damaged("has a parent that is no object"))?;
                parent = parent.or(Some(name));
            } else if let Some(person) = text.strip_prefix("committer ") {
                // `Name <mail> seconds zone`
                let seconds = person.rsplit(' ').nth(1);
                time = time.or_else(|| seconds?.parse().ok());
            }
            rest = after;
        };
        let subject = split_line(message.trim_ascii_start()).0;
        Ok(Self {
            id,
            tree: tree.ok_or_else(|| damaged("is a commit without a tree"))?,
            parent,
            // Some old commits have none that makes sense.
            time: time.unwrap_or(0),
            subject: String::from_utf8_lossy(subject).into(),
        })
    }
}

/// The first line and what follows it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', text) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(digit: &str) -> Oid {
        Oid::parse(&digit.repeat(40)).unwrap()
    }

    #[test]
    fn the_header_and_the_subject_are_read() {
        let text = format!(
            "tree {}\nparent {}\nparent {}\nauthor A <a@b> 1 +0000\ncommitter C D <c@d> 1700000000 -0230\ngpgsig -----BEGIN\n tree {}\n\n\nSubject é\n\nbody\n",
            oid("a"),
            oid("b"),
            oid("c"),
            oid("d")
        );
        let commit = Commit::parse(oid("1"), text.as_bytes()).unwrap();
        assert_eq!((commit.tree, commit.parent), (oid("a"), Some(oid("b"))));
        assert_eq!(
            (commit.time, &*commit.subject),
            (1_700_000_000, "Subject é")
        );
        let bare = format!("tree {}\n", oid("a"));
        let commit = Commit::parse(oid("1"), bare.as_bytes()).unwrap();
        assert_eq!(
            (commit.parent, commit.time, &*commit.subject),
            (None, 0, "")
        );
        assert!(Commit::parse(oid("1"), b"parent x\n").is_err());
        assert!(Commit::parse(oid("1"), b"").is_err());
    }
}
