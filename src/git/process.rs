//! A `git cat-file --batch` that answers questions in their order.
//!
//! Questions may be sent ahead: git then looks for the next objects while the last is
//! searched. It has no more of them than it can take without being read from.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, Read as _, Take, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::git::command::Git;
use crate::git::{GitError, Oid};

/// Questions that are sent ahead. All of them fit into a pipe, so that sending never
/// waits for git, which may wait for us.
const MAX_PENDING: usize = 16;

/// The longest answer to a question, without the object itself.
const MAX_ANSWER_BYTES: u64 = 1 << 10;

/// What nobody wants is read and dropped up to here; beyond, a new process is cheaper.
const MAX_DROPPED_BYTES: u64 = 8 << 20;

/// A buffer that grew past this is given back.
const KEPT_BYTES: usize = 4 << 20;

/// What kind of object is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Blob,
    Tree,
    Commit,
}

impl Type {
    const fn name(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Tree => "tree",
            Self::Commit => "commit",
        }
    }

    const fn is_wanted(self) -> &'static str {
        match self {
            Self::Blob => "is no blob",
            Self::Tree => "is no tree",
            Self::Commit => "is no commit",
        }
    }
}

/// A process that answers.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What was asked and is not answered.
    pending: VecDeque<Oid>,
    /// The number of the announced object that comes next, see
    /// [`crate::git::ahead::Ahead`].
    pub(super) next: Option<u64>,
    object: Vec<u8>,
}

impl Drop for Process {
    fn drop(&mut self) {
        // It holds nothing that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Process {
    pub(super) fn spawn(git: &Git) -> Result<Self, GitError> {
        let mut child = git
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or_else(|| io::Error::other("no pipe to git"))?;
        Ok(Self {
            child,
            questions,
            answers: BufReader::with_capacity(64 << 10, answers),
            pending: VecDeque::new(),
            next: None,
            object: Vec::new(),
        })
    }

    /// The object that was read last.
    pub(super) fn object(&self) -> &[u8] {
        &self.object
    }

    /// Makes it ready to wait.
    pub(super) fn rest(&mut self) {
        if self.object.capacity() > KEPT_BYTES {
            self.object = Vec::new();
        }
    }

    /// True if it was asked for an object and did not give it yet.
    pub(super) fn has(&self, oid: Oid) -> bool {
        self.pending.contains(&oid)
    }

    /// True if it owes no answer.
    pub(super) fn is_free(&self) -> bool {
        self.pending.is_empty()
    }

    /// How many more questions should be sent. None, as long as there are enough: they
    /// are sent many at once.
    pub(super) fn room(&self) -> usize {
        match self.pending.len() {
            len if len > MAX_PENDING / 2 => 0,
            len => MAX_PENDING - len,
        }
    }

    /// Asks for objects.
    pub(super) fn ask(&mut self, oids: &[Oid]) -> Result<(), GitError> {
        let mut lines = String::new();
        for oid in oids {
            // It goes to memory.
            let _ = writeln!(lines, "{oid}");
        }
        self.questions.write_all(lines.as_bytes())?;
        self.pending.extend(oids);
        Ok(())
    }

    /// Drops what it owes before an object, or all if it was not asked for that.
    pub(super) fn skip_to(&mut self, oid: Oid) -> Result<(), GitError> {
        while let Some(&first) = self.pending.front() {
            if first == oid {
                break;
            }
            if let Some((_, size)) = self.header(first)? {
                self.skip(size)?;
            }
            self.pending.pop_front();
        }
        Ok(())
    }

    /// Reads the object that it owes next into the buffer, or, if that has more than
    /// `whole` bytes, gives its size and leaves it to [`Process::rest_of_it`]. The outer
    /// error ends the process, the inner one does not.
    pub(super) fn receive(
        &mut self,
        oid: Oid,
        kind: Type,
        (cap, whole): (u64, u64),
    ) -> Result<Result<Option<u64>, GitError>, GitError> {
        self.object.clear();
        let header = self.header(oid)?;
        self.pending.pop_front();
        let Some((found, size)) = header else {
            let what = kind.name();
            return Ok(Err(GitError::Missing { what, oid }));
        };
        let refused = if found != kind.name() {
            let problem = kind.is_wanted();
            Some(GitError::Damaged { oid, problem })
        } else if size > cap {
            Some(GitError::TooLarge { oid, cap, size })
        } else {
            None
        };
        if let Some(error) = refused {
            if size > MAX_DROPPED_BYTES {
                return Err(error);
            }
            self.skip(size)?;
            return Ok(Err(error));
        }
        if size > whole {
            return Ok(Ok(Some(size)));
        }
        let mut object = self.answers.by_ref().take(size);
        if object.read_to_end(&mut self.object)? as u64 != size {
            return Err(cut_off());
        }
        self.end()?;
        Ok(Ok(None))
    }

    /// An object that was left in the pipe.
    pub(super) fn rest_of_it(&mut self, size: u64) -> Take<&mut BufReader<ChildStdout>> {
        self.answers.by_ref().take(size)
    }

    /// The kind and size of an object; `None` if it is not there.
    fn header(&mut self, oid: Oid) -> Result<Option<(String, u64)>, GitError> {
        let mut line = Vec::new();
        let answers = self.answers.by_ref();
        answers
            .take(MAX_ANSWER_BYTES)
            .read_until(b'\n', &mut line)?;
        let line = line.strip_suffix(b"\n").ok_or_else(cut_off)?;
        let line = String::from_utf8_lossy(line).into_owned();
        let mut words = line.split(' ');
        let name = words.next().and_then(Oid::parse);
        match (words.next(), words.next(), words.next()) {
            _ if name != Some(oid) => {}
            (Some("missing"), None, None) => return Ok(None),
            (Some(found), Some(size), None) => {
                if let Ok(size) = size.parse() {
                    return Ok(Some((found.to_owned(), size)));
                }
            }
            _ => {}
        }
        Err(GitError::Answer(line))
    }

    /// Drops an object, or what is left of one.
    pub(super) fn skip(&mut self, size: u64) -> Result<(), GitError> {
        if size > MAX_DROPPED_BYTES {
            return Err(io::Error::other("too much to be dropped").into());
        }
        let mut object = self.answers.by_ref().take(size);
        if io::copy(&mut object, &mut io::sink())? != size {
            return Err(cut_off());
        }
        self.end()
    }

    /// The line end behind an object.
    fn end(&mut self) -> Result<(), GitError> {
        let mut end = [0];
        self.answers.read_exact(&mut end)?;
        match end {
            [b'\n'] => Ok(()),
            _ => Err(cut_off()),
        }
    }
}

fn cut_off() -> GitError {
    io::Error::from(io::ErrorKind::UnexpectedEof).into()
}
