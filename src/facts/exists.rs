//! `exists(path)`: decided on a descriptor that cannot read, so FIFOs and devices
//! are never opened.

use globset::GlobMatcher;
use rayon::prelude::*;

use crate::facts::{CancelToken, Cost, FactValue, Fetched, PathSpec};
use crate::files::{FileError, Tree};
use crate::reason::{Reason, ReasonCode};
use crate::scan::{fuel, glob};

/// Paths resolved by one thread in a row; each takes about a microsecond.
const PATHS_PER_TASK: usize = 64;

/// Answers whether paths exist, in order.
pub(super) fn exist(root: &dyn Tree, paths: &[&PathSpec], cancel: &CancelToken) -> Vec<Fetched> {
    let mut answers: Vec<_> = paths
        .par_iter()
        .with_min_len(PATHS_PER_TASK)
        .map(|path| {
            if cancel.is_cancelled() {
                return answer(Err(cancelled()), 0);
            }
            let resolved = if path.glob {
                Ok(false)
            } else {
                resolves(root, &path.text)
            };
            answer(resolved, fuel::RESOLVE)
        })
        .collect();
    for (index, answer) in match_globs(root, paths, cancel) {
        answers[index] = answer;
    }
    answers
}

fn answer(exists: Result<bool, Reason>, fuel: u64) -> Fetched {
    Fetched {
        value: exists.map_or_else(FactValue::Unknown, FactValue::Bool),
        cost: Cost {
            fuel,
            ..Cost::default()
        },
        places: Vec::new(),
    }
}

fn cancelled() -> Reason {
    Reason::new(
        ReasonCode::Cancelled,
        "the batch was cancelled or ran into its deadline before the path was looked at",
    )
}

fn resolves(root: &dyn Tree, path: &str) -> Result<bool, Reason> {
    match root.kind(path) {
        Ok(_) => Ok(true),
        Err(FileError::NotFound | FileError::LinkLoop) => Ok(false),
        Err(error) => Err(error.reason(path)),
    }
}

/// A glob that nothing matched yet.
struct Open {
    index: usize,
    glob: GlobMatcher,
}

/// One walk for all globs, up to the entry that decides the last of them.
fn match_globs(
    root: &dyn Tree,
    paths: &[&PathSpec],
    cancel: &CancelToken,
) -> Vec<(usize, Fetched)> {
    let mut answers = Vec::new();
    let mut open = Vec::new();
    for (index, path) in paths.iter().enumerate().filter(|(_, path)| path.glob) {
        match glob(&path.text) {
            Ok(glob) => open.push(Open { index, glob }),
            Err(reason) => answers.push((index, answer(Err(reason), 0))),
        }
    }
    if open.is_empty() {
        return answers;
    }
    let mut fuel = fuel::RESOLVE;
    let mut outcome = Ok(false);
    for entry in root.walk(b"") {
        if cancel.is_cancelled() {
            outcome = Err(cancelled());
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(failed) => {
                let path = String::from_utf8_lossy(&failed.path);
                outcome = Err(failed
                    .error
                    .reason(if path.is_empty() { "." } else { &path }));
                break;
            }
        };
        fuel += fuel::ENTRY;
        open.retain(|Open { index, glob }| {
            let matches = glob.is_match(entry.path());
            if matches {
                answers.push((*index, answer(Ok(true), fuel)));
            }
            !matches
        });
        if open.is_empty() {
            break;
        }
    }
    let undecided = open
        .iter()
        .map(|open| (open.index, answer(outcome.clone(), fuel)));
    answers.extend(undecided);
    answers
}
