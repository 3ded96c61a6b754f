//! Objects of a repository, from as many processes as threads ask at the same time.

use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use crate::git::ahead::Ahead;
use crate::git::command::Git;
use crate::git::process::{Process, Type};
use crate::git::{GitError, Oid};

/// A blob of up to this many bytes is lent as a whole.
const WHOLE_BYTES: u64 = 4 << 20;

/// What a blob holds.
pub(super) enum Body<'a> {
    Whole(&'a [u8]),
    /// A source of so many bytes.
    Stream(&'a mut dyn Read, u64),
}

/// The objects of a repository.
#[derive(Debug)]
pub(super) struct Batch {
    git: Git,
    /// Processes that nobody reads from, the longest idle first.
    idle: Mutex<Vec<Process>>,
    max_idle: usize,
    ahead: Mutex<Ahead>,
}

impl Batch {
    pub(super) fn new(git: Git) -> Self {
        Self {
            git,
            idle: Mutex::new(Vec::new()),
            // One more for who walks.
            max_idle: available_parallelism().map_or(1, usize::from) + 1,
            ahead: Mutex::new(Ahead::new()),
        }
    }

    /// Says that an object will be read soon, behind those said before.
    pub(super) fn announce(&self, oid: Oid) {
        self.ahead().push(oid);
    }

    /// Reads an object of at most `cap` bytes and lends it.
    pub(super) fn read<R>(
        &self,
        oid: Oid,
        kind: Type,
        cap: u64,
        consume: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GitError> {
        let (process, answer) = self.answer(oid, kind, (cap, u64::MAX))?;
        let result = answer.map(|_| consume(process.object()));
        self.keep(process);
        result
    }

    /// Lends a blob of at most `cap` bytes: whole, or, if it is large, with its size as
    /// it comes. It need not be read to its end.
    pub(super) fn lend<R>(
        &self,
        oid: Oid,
        cap: u64,
        consume: impl FnOnce(Body<'_>) -> io::Result<R>,
    ) -> Result<R, GitError> {
        let broken = |_| GitError::Damaged {
            oid,
            problem: "cannot be read",
        };
        let (mut process, answer) = self.answer(oid, Type::Blob, (cap, WHOLE_BYTES))?;
        let result = match answer {
            Err(error) => Err(error),
            Ok(None) => consume(Body::Whole(process.object())).map_err(broken),
            Ok(Some(size)) => {
                let mut source = process.rest_of_it(size);
                let result = consume(Body::Stream(&mut source, size)).map_err(broken)?;
                let left = source.limit();
                match process.skip(left) {
                    Ok(()) => Ok(result),
                    // Git fails behind the last byte of what it finds damaged.
                    Err(_) if left == 0 => {
                        return Err(GitError::Damaged {
                            oid,
                            problem: "cannot be read",
                        });
                    }
                    Err(_) => return Ok(result),
                }
            }
        };
        self.keep(process);
        result
    }

    fn keep(&self, mut process: Process) {
        process.rest();
        self.idle().push(process);
    }

    /// Has a process answer, and another one if that has ended since it answered last.
    fn answer(
        &self,
        oid: Oid,
        kind: Type,
        caps: (u64, u64),
    ) -> Result<(Process, Result<Option<u64>, GitError>), GitError> {
        let number = self.ahead().remove(oid);
        let waiting = self.choose(oid);
        let is_waiting = waiting.is_some();
        let mut process = waiting.map_or_else(|| Process::spawn(&self.git), Ok)?;
        let mut answered = self.exchange(&mut process, (oid, number), kind, caps);
        if is_waiting && matches!(answered, Err(GitError::Io(_))) {
            process = Process::spawn(&self.git)?;
            answered = self.exchange(&mut process, (oid, None), kind, caps);
        }
        match answered {
            Ok(answer) => Ok((process, answer)),
            // This very object ends it.
            Err(GitError::Io(_)) => Err(GitError::Damaged {
                oid,
                problem: "cannot be read",
            }),
            Err(error) => Err(error),
        }
    }

    /// The idle process to ask: one that was asked already, one that owes nobody an
    /// answer, or, if there are enough of them, the one that was idle longest.
    fn choose(&self, oid: Oid) -> Option<Process> {
        let mut idle = self.idle();
        let at = idle
            .iter()
            .position(|process| process.has(oid))
            .or_else(|| idle.iter().rposition(Process::is_free))
            .or_else(|| (idle.len() >= self.max_idle).then_some(0))?;
        Some(idle.remove(at))
    }

    /// Asks for an object, and for those announced behind it, and reads it.
    fn exchange(
        &self,
        process: &mut Process,
        (oid, number): (Oid, Option<u64>),
        kind: Type,
        caps: (u64, u64),
    ) -> Result<Result<Option<u64>, GitError>, GitError> {
        process.skip_to(oid)?;
        let mut questions = Vec::new();
        if !process.has(oid) {
            questions.push(oid);
            process.next = number.map(|number| number + 1);
        }
        let room = process.room();
        if process.next.is_some() && questions.len() < room {
            let mut ahead = self.ahead();
            while questions.len() < room
                && let Some(number) = process.next
            {
                let announced = ahead.take(number);
                process.next = announced.map(|_| number + 1);
                questions.extend(announced);
            }
        }
        if !questions.is_empty() {
            process.ask(&questions)?;
        }
        process.receive(oid, kind, caps)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Process>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ahead(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[test]
    fn whatever_was_announced_each_object_is_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (batch, _) = repository(dir.path());
        let mut paths = String::new();
        let texts: Vec<String> = (0..200)
            .map(|number: usize| {
                let path = dir.path().join(number.to_string());
                // Some are larger than a pipe holds, some than is dropped.
                let len = match number % 50 {
                    7 => 200_000,
                    13 => 9 << 20,
                    _ => number,
                };
                let text = number.to_string() + &"x".repeat(len);
                fs::write(&path, &text).unwrap();
                paths += &format!("{}\n", path.display());
                text
            })
            .collect();
        let list = dir.path().join("list");
        fs::write(&list, paths).unwrap();
        let output = std::process::Command::new("git")
            .arg("-C")
            .arg(dir.path())
            .args(["hash-object", "-w", "--stdin-paths"])
            .stdin(fs::File::open(&list).unwrap())
            .output()
            .unwrap();
        let names = String::from_utf8(output.stdout).unwrap();
        let oids: Vec<Oid> = names
            .lines()
            .map(|name| Oid::parse(name).unwrap())
            .collect();
        assert_eq!(oids.len(), texts.len());
        let absent = |number: usize| Oid::new(&[u8::try_from(number).unwrap(); 20]).unwrap();
        let check = |number: usize| {
            let text = &texts[number];
            match read(&batch, oids[number], 1 << 20) {
                Ok(read) => assert!(read == text.as_bytes(), "{number}"),
                Err(GitError::TooLarge { size, .. }) => {
                    assert_eq!((number % 50, size), (13, text.len() as u64));
                }
                Err(error) => panic!("{number}: {error}"),
            }
        };
        let announce = || {
            for (number, &oid) in oids.iter().enumerate() {
                batch.announce(oid);
                if number % 20 == 0 {
                    batch.announce(absent(number));
                }
            }
        };
        announce();
        (0..200).for_each(check);
        announce();
        (0..200).rev().for_each(check);
        announce();
        (0..200).map(|number| number * 7 % 200).for_each(check);
        assert!(batch.idle().len() <= batch.max_idle);
        announce();
        let check = &check;
        std::thread::scope(|scope| {
            for start in [0, 50, 60, 150] {
                scope.spawn(move || (start..start + 50).for_each(check));
            }
        });
        assert!(matches!(
            read(&batch, absent(20), 1),
            Err(GitError::Missing { .. })
        ));
    }
}
