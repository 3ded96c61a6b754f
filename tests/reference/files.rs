//! What a workspace says: whole files, plain loops, one open per question.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::path::{Path as FsPath, PathBuf};

use super::eval::FactValue;
use super::tree::{Fact, Path, Pattern};
use super::{glob, ignored};

/// More links than this in one path are taken for a loop.
const MAX_LINKS: usize = 40;
/// A NUL among the first bytes of a file makes it binary.
const BINARY_WINDOW: usize = 8 << 10;

/// A reason code.
type Code = &'static str;

/// The value of a fact in a workspace in which nothing may run.
pub(crate) fn fact_in(root: &FsPath, fact: &Fact) -> FactValue {
    let unknown = |code: Code| FactValue::Unknown(code.to_owned());
    match fact {
        Fact::Exists(path) => exists(root, path).map_or_else(unknown, FactValue::Bool),
        Fact::Grep(pattern, path) => {
            grep_count(root, pattern, path).map_or_else(unknown, FactValue::Count)
        }
        Fact::Count(pattern, path) => {
            count_matches(root, pattern, path).map_or_else(unknown, FactValue::Count)
        }
        Fact::Test(_) | Fact::Run(_) => unknown("command_not_allowed"),
    }
}

/// Whether the path resolves inside the workspace.
pub(crate) fn exists(root: &FsPath, path: &Path) -> Result<bool, Code> {
    if path.glob {
        return Ok(!matching(root, &path.text)?.is_empty());
    }
    Ok(locate(root, &path.text)?.is_some())
}

/// The number of lines that match.
pub(crate) fn grep_count(root: &FsPath, pattern: &Pattern, path: &Path) -> Result<u64, Code> {
    let regex = pattern.compile().map_err(|_| "pattern_too_large")?;
    let mut count = 0;
    for content in contents(root, path)? {
        for line in lines(&content) {
            if regex.is_match(line) {
                count += 1;
            }
        }
    }
    Ok(count)
}

/// The number of non-overlapping matches, within lines or, with the flags `m`
/// or `s`, within whole files.
pub(crate) fn count_matches(root: &FsPath, pattern: &Pattern, path: &Path) -> Result<u64, Code> {
    let regex = pattern.compile().map_err(|_| "pattern_too_large")?;
    let mut count = 0;
    for content in contents(root, path)? {
        let haystacks = if pattern.is_whole_file() {
            vec![&content[..]]
        } else {
            lines(&content)
        };
        for haystack in haystacks {
            count += regex.find_iter(haystack).count() as u64;
        }
    }
    Ok(count)
}

/// The lines of a text without their terminators.
pub(crate) fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        match rest.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = &rest[..end];
                lines.push(line.strip_suffix(b"\r").unwrap_or(line));
                rest = &rest[end + 1..];
            }
            None => {
                lines.push(rest);
                rest = &[];
            }
        }
    }
    lines
}

/// The contents of every file that a path stands for.
fn contents(root: &FsPath, path: &Path) -> Result<Vec<Vec<u8>>, Code> {
    if path.glob {
        let mut matched = matching(root, &path.text)?;
        matched.retain(|(_, kind)| kind.is_file());
        if matched.is_empty() {
            return Err("path_not_found");
        }
        let mut files = Vec::new();
        for (file, _) in matched {
            files.extend(text_of(&root.join(file))?);
        }
        return Ok(files);
    }
    let found = locate(root, &path.text)?.ok_or("path_not_found")?;
    let kind = kind_of(&root.join(&found))?;
    if kind.is_file() {
        return Ok(vec![fs::read(root.join(found)).map_err(|_| "read_error")?]);
    }
    if !kind.is_dir() {
        return Err("not_a_regular_file");
    }
    texts(root, found.to_str().ok_or("read_error")?)
}

/// The contents of every file below a directory that is not binary.
pub(crate) fn texts(root: &FsPath, dir: &str) -> Result<Vec<Vec<u8>>, Code> {
    let mut files = Vec::new();
    for (file, kind) in walk(root, FsPath::new(dir))? {
        if kind.is_file() {
            files.extend(text_of(&root.join(file))?);
        }
    }
    Ok(files)
}

/// What a glob matches: files and directories that a walk of the workspace
/// comes across.
fn matching(root: &FsPath, text: &str) -> Result<Vec<(PathBuf, FileType)>, Code> {
    if text.starts_with('/') || text.split('/').any(|part| part == "..") {
        return Err("path_outside_workspace");
    }
    let matcher = glob::compile(text).ok_or("path_invalid")?;
    let mut found = walk(root, FsPath::new(""))?;
    found.retain(|(path, _)| matcher.is_match(path));
    Ok(found)
}

/// The content of a file, unless it is binary.
fn text_of(file: &FsPath) -> Result<Option<Vec<u8>>, Code> {
    let content = fs::read(file).map_err(|_| "read_error")?;
    let window = &content[..content.len().min(BINARY_WINDOW)];
    Ok((!window.contains(&0)).then_some(content))
}

/// Everything below a directory in sorted order, but for `.git` and what is
/// ignored. Links are listed and not followed.
fn walk(root: &FsPath, dir: &FsPath) -> Result<Vec<(PathBuf, FileType)>, Code> {
    let mut names: Vec<OsString> = Vec::new();
    for entry in fs::read_dir(root.join(dir)).map_err(|_| "read_error")? {
        names.push(entry.map_err(|_| "read_error")?.file_name());
    }
    names.sort();
    let mut found = Vec::new();
    for name in names {
        let path = dir.join(&name);
        let kind = kind_of(&root.join(&path))?;
        let is_git = name == ".git";
        if is_git || ignored::is_ignored(root, &path.to_string_lossy(), kind.is_dir()) {
            continue;
        }
        found.push((path.clone(), kind));
        if kind.is_dir() {
            found.extend(walk(root, &path)?);
        }
    }
    Ok(found)
}

fn kind_of(path: &FsPath) -> Result<FileType, Code> {
    Ok(fs::symlink_metadata(path)
        .map_err(|_| "read_error")?
        .file_type())
}

/// Follows a path from the root, component by component, and gives the place
/// it leads to without links in it; `None` if it leads nowhere.
fn locate(root: &FsPath, path: &str) -> Result<Option<PathBuf>, Code> {
    if path.is_empty() || path.contains('\0') || path.split('/').any(|part| part.len() > 255) {
        return Err("path_invalid");
    }
    if path.starts_with('/') {
        return Err("path_outside_workspace");
    }
    let mut pending: VecDeque<String> = path.split('/').map(str::to_owned).collect();
    let mut here = PathBuf::new();
    let mut links = 0;
    while let Some(part) = pending.pop_front() {
        if !root.join(&here).is_dir() {
            return Ok(None);
        }
        if part == ".." && !here.pop() {
            return Err("path_outside_workspace");
        }
        if part.is_empty() || part == "." || part == ".." {
            continue;
        }
        let next = here.join(&part);
        let Ok(metadata) = fs::symlink_metadata(root.join(&next)) else {
            return Ok(None);
        };
        if !metadata.is_symlink() {
            here = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return Ok(None);
        }
        let target = fs::read_link(root.join(&next)).map_err(|_| "read_error")?;
        if target.is_absolute() {
            return Err("path_outside_workspace");
        }
        for part in target.to_string_lossy().split('/').rev() {
            pending.push_front(part.to_owned());
        }
    }
    Ok(Some(here))
}
