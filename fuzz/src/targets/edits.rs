//! Counts that are kept, while files change: the answers are those of the files as
//! they are by now.
//!
//! Requests, one a line, then `%%` and an edit on each line:
//!
//! - `w2text`: the third file holds the text; `\n` stands for a line end
//! - `d2`: it is deleted
//! - `r23`: it is renamed, over the fourth
//! - `s2`: its bytes are turned round, and the size stays
//! - `t2`: it is written anew as it was
//! - `e9`: the counts may take 9 KiB from here on
//! - `x.0text`: one more request
//!
//! After every edit all is asked anew.

use std::fmt::Write as _;

use probity::counts::{DEFAULT_MAX_BYTES, Store};

use super::scans::{Files, NAMES, Wish, agree, answers, wishes};

/// Every edit is a scan or three.
const MAX_EDITS: usize = 12;

/// A workspace between two runs.
struct Workspace {
    files: Files,
    wishes: Vec<Wish>,
    max_bytes: u64,
}

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (requests, edits) = text.split_once("%%\n").unwrap_or((text, ""));
    let mut workspace = Workspace {
        files: Files::new(),
        wishes: wishes(requests),
        max_bytes: DEFAULT_MAX_BYTES,
    };
    let directory = tempfile::tempdir().expect("there is a place for the counts");
    let mut done = String::new();
    for edit in edits.lines().take(MAX_EDITS) {
        if workspace.edit(edit).is_none() {
            continue;
        }
        writeln!(done, "{edit}").expect("a string takes it");
        let Workspace { files, wishes, .. } = &workspace;
        // Each run is a process of its own.
        let store = Store::open(directory.path(), b"fuzz", workspace.max_bytes);
        let store = store.expect("the counts can be opened");
        let fresh = answers(files, wishes, None, None);
        agree(files, wishes, &fresh, &done);
        for _ in 0..2 {
            let kept = answers(files, wishes, None, Some(&store));
            assert_eq!(kept, fresh, "{done}");
        }
    }
}

impl Workspace {
    /// Edits as a line says, if it says anything.
    fn edit(&mut self, line: &str) -> Option<()> {
        let mut chars = line.chars();
        let what = chars.next()?;
        let rest = chars.as_str();
        if what == 'x' {
            self.wishes.extend(wishes(rest));
            return Some(());
        }
        let digit = |at: usize| rest.chars().nth(at)?.to_digit(10);
        let name = |at| NAMES.get(digit(at)? as usize).copied();
        match what {
            'w' => {
                let text = rest.get(1..)?.replace("\\n", "\n");
                self.files.insert(name(0)?, text.into());
            }
            'd' => drop(self.files.remove(name(0)?)),
            'r' => {
                let to = name(1)?;
                let content = self.files.remove(name(0)?)?;
                self.files.insert(to, content);
            }
            's' => self.files.get_mut(name(0)?)?.reverse(),
            't' => drop(self.files.get(name(0)?)?),
            'e' => self.max_bytes = u64::from(digit(0)?) << 10,
            _ => return None,
        }
        Some(())
    }
}
