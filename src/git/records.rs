//! Lists that `git` prints, each entry with a NUL behind it.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::thread;

use crate::git::GitError;

/// The longest entry: no path that a system takes is that long.
const MAX_RECORD_BYTES: u64 = 1 << 16;

/// As many entries are taken of one list.
const MAX_RECORDS: usize = 1 << 22;

/// What is kept of what `git` says of a failure, in bytes.
const MAX_SAID_BYTES: u64 = 1 << 12;

/// Ends a process that is not waited for.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It only reads, and may have ended before.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command and hands out what it prints, entry by entry. The inner error is what
/// it says of a failure: what was handed out is then of no use.
pub(super) fn records(
    mut command: Command,
    visit: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
) -> Result<Result<(), String>, GitError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(command.spawn()?);
    let pipes = running.0.stdout.take().zip(running.0.stderr.take());
    let (printed, said) = pipes.ok_or_else(|| io::Error::other("no pipe to git"))?;
    // What is not read would stop it in the middle.
    let said = thread::spawn(move || {
        let mut said = said;
        let mut kept = Vec::new();
        let read = said.by_ref().take(MAX_SAID_BYTES).read_to_end(&mut kept);
        let _ = read.and_then(|_| io::copy(&mut said, &mut io::sink()));
        String::from_utf8_lossy(&kept).into_owned()
    });
    let mut printed = BufReader::with_capacity(64 << 10, printed);
    let mut record = Vec::new();
    let mut left = MAX_RECORDS;
    let is_whole = loop {
        record.clear();
        let mut source = printed.by_ref().take(MAX_RECORD_BYTES);
        if source.read_until(0, &mut record)? == 0 {
            break true;
        }
        let Some(record) = record.strip_suffix(b"\0") else {
            break false;
        };
        left = left.checked_sub(1).ok_or(GitError::TooMany(MAX_RECORDS))?;
        visit(record)?;
    };
    if !is_whole && record.len() as u64 == MAX_RECORD_BYTES {
        let start = record.get(..100).unwrap_or(&record);
        return Err(GitError::Answer(String::from_utf8_lossy(start).into()));
    }
    let status = running.0.wait()?;
    let said = said.join().unwrap_or_default();
    if is_whole && status.success() {
        return Ok(Ok(()));
    }
    let line = said.lines().find(|line| !line.starts_with("warning: "));
    let line = line.unwrap_or("it failed");
    Ok(Err(line.trim_start_matches("fatal: ").to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Result<Result<Vec<Vec<u8>>, String>, GitError> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut found = Vec::new();
        let ended = records(command, &mut |record| {
            found.push(record.to_vec());
            Ok(())
        })?;
        Ok(ended.map(|()| found))
    }

    #[test]
    fn a_list_is_taken_only_as_a_whole() {
        let all = run(r"printf 'a\0\0b\nc\0'").unwrap().unwrap();
        assert_eq!(all, [&b"a"[..], b"", b"b\nc"]);
        assert_eq!(run("true").unwrap().unwrap(), [b""; 0]);
        assert!(run(r"printf 'a\0b'").unwrap().is_err());
        let failed = run(r"printf 'a\0'; echo 'fatal: no such thing' >&2; exit 1");
        assert_eq!(failed.unwrap().unwrap_err(), "no such thing");
        let endless = run("yes");
        assert!(matches!(endless, Err(GitError::Answer(_))), "{endless:?}");
        let many = "yes '' | tr '\\n' '\\0'";
        assert!(matches!(run(many), Err(GitError::TooMany(_))));
    }

    #[test]
    fn what_is_said_meanwhile_stops_nothing() {
        let script = r"i=0; while [ $i -lt 3000 ]; do echo 'warning: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' >&2; i=$((i+1)); done; printf 'a\0'";
        assert_eq!(run(script).unwrap().unwrap(), [b"a"]);
    }
}
