//! Objects from long-lived `git cat-file --batch` processes, one for each thread that
//! asks at the same time.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    pub(super) fn new(git: Git) -> Self {
        Self {
            git,
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
        let (mut reader, answer) = self.ask(oid, kind, cap)?;
        let result = answer.map(|()| consume(&reader.object));
        if reader.object.capacity() > KEPT_BYTES {
            reader.object = Vec::new();
        }
        self.idle().push(reader);
        result
    }

    /// Has a process answer, and another one if that has ended since it answered last.
    fn ask(
        &self,
        oid: Oid,
        kind: Type,
        cap: u64,
    ) -> Result<(Reader, Result<(), GitError>), GitError> {
        let waiting = self.idle().pop();
        if let Some(mut reader) = waiting {
            match reader.exchange(oid, kind, cap) {
                Ok(answer) => return Ok((reader, answer)),
                Err(GitError::Io(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let mut reader = self.spawn()?;
        match reader.exchange(oid, kind, cap) {
            Ok(answer) => Ok((reader, answer)),
            // This very object ends it.
            Err(GitError::Io(_)) => Err(GitError::Damaged {
                oid,
                problem: "cannot be read",
            }),
            Err(error) => Err(error),
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self) -> Result<Reader, GitError> {
        let mut child = self
            .git
            .command()
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
    /// Reads an object into the buffer. The outer error ends the process, the inner
    /// one does not.
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::git::discover::discover;

    /// A repository with one blob.
    fn repository(dir: &std::path::Path) -> (Batch, Oid) {
        let git = |args: &[&str]| {
            let mut command = std::process::Command::new("git");
            let output = command.arg("-C").arg(dir).args(args).output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"]);
        fs::write(dir.join("file"), "some text\n").unwrap();
        let oid = git(&["hash-object", "-w", "file"]);
        let batch = Batch::new(Git::find(&discover(dir).unwrap()).unwrap());
        (batch, Oid::parse(&oid).unwrap())
    }

    fn read(batch: &Batch, oid: Oid, cap: u64) -> Result<Vec<u8>, GitError> {
        batch.read(oid, Type::Blob, cap, <[u8]>::to_vec)
    }

    #[test]
    fn a_process_that_ended_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (batch, oid) = repository(dir.path());
        for _ in 0..3 {
            assert_eq!(read(&batch, oid, 100).unwrap(), b"some text\n");
            let mut idle = batch.idle();
            assert_eq!(idle.len(), 1);
            let child = &mut idle[0].child;
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn an_error_about_one_object_is_about_that_one_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (batch, oid) = repository(dir.path());
        let absent = Oid::new(&[7; 20]).unwrap();
        for _ in 0..2 {
            assert!(matches!(
                read(&batch, absent, 100),
                Err(GitError::Missing { .. })
            ));
            assert!(matches!(
                read(&batch, oid, 9),
                Err(GitError::TooLarge { size: 10, .. })
            ));
            let as_tree = batch.read(oid, Type::Tree, 100, |_| ());
            assert!(matches!(as_tree, Err(GitError::Damaged { .. })));
            assert_eq!(read(&batch, oid, 10).unwrap(), b"some text\n");
        }
    }

    #[test]
    fn a_repository_that_is_gone_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (batch, oid) = repository(dir.path());
        fs::remove_dir_all(dir.path().join(".git")).unwrap();
        assert!(matches!(
            read(&batch, oid, 100),
            Err(GitError::Damaged { .. })
        ));
    }
}
