//! Objects from long-lived `git cat-file --batch` processes, one for each thread that
//! asks at the same time.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::git::command::Git;
use crate::git::{GitError, Oid};

/// The longest answer to a question, without the object itself.
const MAX_ANSWER_BYTES: u64 = 1 << 10;

/// What is too large is read and dropped up to here; beyond, a new process is
/// cheaper.
const MAX_DROPPED_BYTES: u64 = 8 << 20;

/// A buffer that grew past this is given back.
const KEPT_BYTES: usize = 4 << 20;

/// The objects of a repository.
#[derive(Debug)]
pub(super) struct Batch {
    git: Git,
    git_dir: OsString,
    idle: Mutex<Vec<Reader>>,
}

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
struct Reader {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    object: Vec<u8>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It holds nothing that could be lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Batch {
    pub(super) fn new(git: Git, git_dir: &Path) -> Self {
        let mut argument = OsString::from("--git-dir=");
        argument.push(git_dir);
        Self {
            git,
            git_dir: argument,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Reads an object of at most `cap` bytes and lends it.
    pub(super) fn read<R>(
        &self,
        oid: Oid,
        kind: Type,
        cap: u64,
        consume: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GitError> {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = lock().pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => self.spawn()?,
        };
        let (result, is_sound) = reader.read(oid, kind, cap);
        let result = result.map(|()| consume(&reader.object));
        if is_sound {
            if reader.object.capacity() > KEPT_BYTES {
                reader.object = Vec::new();
            }
            lock().push(reader);
        }
        result
    }

    fn spawn(&self) -> Result<Reader, GitError> {
        let mut child = self
            .git
            .command()
            .arg(&self.git_dir)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or_else(|| io::Error::other("no pipe to git"))?;
        Ok(Reader {
            child,
            questions,
            answers: BufReader::with_capacity(64 << 10, answers),
            object: Vec::new(),
        })
    }
}

impl Reader {
    /// Reads an object into the buffer; also says whether the process can go on.
    fn read(&mut self, oid: Oid, kind: Type, cap: u64) -> (Result<(), GitError>, bool) {
        match self.exchange(oid, kind, cap) {
            Ok(done) => (done, true),
            Err(error) => (Err(error), false),
        }
    }

    /// The outer error ends the process, the inner one does not.
    fn exchange(
        &mut self,
        oid: Oid,
        kind: Type,
        cap: u64,
    ) -> Result<Result<(), GitError>, GitError> {
        self.object.clear();
        writeln!(self.questions, "{oid}")?;
        self.questions.flush()?;
        let mut answer = Vec::new();
        let answers = self.answers.by_ref();
        answers
            .take(MAX_ANSWER_BYTES)
            .read_until(b'\n', &mut answer)?;
        let Some(answer) = answer.strip_suffix(b"\n") else {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        };
        let answer = String::from_utf8_lossy(answer).into_owned();
        let mut words = answer.split(' ');
        let (name, found, size) = (words.next(), words.next(), words.next());
        if name != Some(oid.to_string().as_str()) {
            return Err(GitError::Answer(answer));
        }
        let (found, size) = match (found, size) {
            (Some("missing"), None) => {
                let what = kind.name();
                return Ok(Err(GitError::Missing { what, oid }));
            }
            (Some(found), Some(size)) => (found, size.parse::<u64>()),
            _ => return Err(GitError::Answer(answer)),
        };
        let Ok(size) = size else {
            return Err(GitError::Answer(answer));
        };
        if size > cap {
            let error = GitError::TooLarge { oid, cap, size };
            if size > MAX_DROPPED_BYTES {
                return Err(error);
            }
            self.receive(size)?;
            self.object.clear();
            return Ok(Err(error));
        }
        self.receive(size)?;
        if found != kind.name() {
            let problem = kind.is_wanted();
            return Ok(Err(GitError::Damaged { oid, problem }));
        }
        Ok(Ok(()))
    }

    fn receive(&mut self, size: u64) -> Result<(), GitError> {
        let answers = self.answers.by_ref();
        let received = answers.take(size).read_to_end(&mut self.object)?;
        let mut end = [0];
        self.answers.read_exact(&mut end)?;
        if received as u64 != size || end != [b'\n'] {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }
}
