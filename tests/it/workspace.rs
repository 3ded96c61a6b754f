//! Workspaces that live as long as a test.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::case::{Entry, hex};

/// A directory with `root` in it, and beside that `outside/secret.txt`.
pub(crate) struct Workspace {
    _dir: TempDir,
    root: PathBuf,
}

impl Workspace {
    /// Makes every entry below a fresh root.
    pub(crate) fn new(entries: &[Entry]) -> Self {
        let dir = TempDir::new().expect("a temporary directory can be made");
        let base = dir.path().canonicalize().expect("the directory is there");
        let root = base.join("root");
        fs::create_dir(&root).expect("the root can be made");
        fs::create_dir(base.join("outside")).expect("a neighbour can be made");
        fs::write(base.join("outside/secret.txt"), "secret\n").expect("a file can be written");
        for entry in entries {
            make(&root, entry).unwrap_or_else(|error| panic!("{}: {error}", entry.path));
        }
        Self { _dir: dir, root }
    }

    /// The absolute path of the root, without links in it.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

fn make(root: &Path, entry: &Entry) -> std::io::Result<()> {
    let path = root.join(&entry.path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    if let Some(target) = &entry.symlink {
        return symlink(target.replace("{root}", &root.to_string_lossy()), path);
    }
    if entry.dir {
        return fs::create_dir_all(path);
    }
    if entry.fifo {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        return Ok(mknodat(
            CWD,
            &path,
            FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )?);
    }
    let mut content = entry.text.repeat(entry.repeat.unwrap_or(1)).into_bytes();
    content.extend(hex(&entry.hex));
    fs::write(path, content)
}
