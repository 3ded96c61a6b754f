//! The files below a directory of objects, in the order of [`crate::files::Walk`].

use std::sync::Arc;

use crate::files::components::PATH_MAX;
use crate::files::objects::entry;
use crate::files::rules::{MAX_RULES_BYTES, Rules};
use crate::files::walk::{MAX_OPEN, join};
use crate::files::{Entry, FileError, Object, ObjectKind, Objects, WalkError};

/// A directory whose entries are being walked.
struct Level<I> {
    path: Vec<u8>,
    rules: Rules,
    entries: Arc<[Object<I>]>,
    next: usize,
}

/// A walk over the files and directories of a tree of objects.
pub(super) struct ObjectWalk<O: Objects> {
    objects: Arc<O>,
    levels: Vec<Level<O::Id>>,
    failed: Option<WalkError>,
}

impl<O: Objects> ObjectWalk<O> {
    /// A walk below a location, which was resolved before. Empty if the directory is
    /// itself left out.
    pub(super) fn new(objects: Arc<O>, location: &[u8]) -> Self {
        let mut walk = Self {
            objects,
            levels: Vec::new(),
            failed: None,
        };
        if let Err(error) = walk.start(location) {
            walk.fail(location, error);
        }
        walk
    }

    fn start(&mut self, location: &[u8]) -> Result<(), FileError> {
        let mut directory = self.objects.root();
        let mut path = Vec::new();
        let mut rules = Rules::default();
        for name in location.split(|&byte| byte == b'/') {
            if name.is_empty() {
                continue;
            }
            let entries = self.objects.list(&directory)?;
            rules = self.rules(&entries, &path, &rules)?;
            path = join(&path, name);
            if name == b".git" || rules.exclude(&path, true) {
                return Ok(());
            }
            directory = match entry(&entries, name) {
                Some(found) if found.kind == ObjectKind::Directory => found.id,
                _ => return Err(FileError::Changed),
            };
        }
        self.enter(&directory, path, &rules)
    }

    /// The rules of a directory with its own.
    fn rules(
        &self,
        entries: &[Object<O::Id>],
        path: &[u8],
        rules: &Rules,
    ) -> Result<Rules, FileError> {
        match entry(entries, b".gitignore") {
            Some(file) if file.kind == ObjectKind::File => {
                let text = self
                    .objects
                    .text(&file.id, MAX_RULES_BYTES, ".gitignore file")?;
                rules.with(path, &text)
            }
            _ => Ok(rules.clone()),
        }
    }

    fn enter(&mut self, id: &O::Id, path: Vec<u8>, rules: &Rules) -> Result<(), FileError> {
        let entries = self.objects.list(id)?;
        let rules = self.rules(&entries, &path, rules)?;
        while self
            .levels
            .last()
            .is_some_and(|level| level.next == level.entries.len())
        {
            self.levels.pop();
        }
        if self.levels.len() == MAX_OPEN {
            return Err(FileError::TooDeep);
        }
        self.levels.push(Level {
            path,
            rules,
            entries,
            next: 0,
        });
        self.skip_links();
        Ok(())
    }

    fn fail(&mut self, path: &[u8], error: FileError) {
        self.failed = Some(WalkError {
            path: path.to_vec(),
            error,
        });
    }

    fn advance(&mut self) -> Option<Entry> {
        loop {
            let level = self.levels.last_mut()?;
            let Some(object) = level.entries.get(level.next).cloned() else {
                self.levels.pop();
                continue;
            };
            level.next += 1;
            let path = join(&level.path, &object.name);
            let is_directory = object.kind == ObjectKind::Directory;
            if object.kind == ObjectKind::Link
                || *object.name == *b".git"
                || level.rules.exclude(&path, is_directory)
            {
                // On disk, entries that are no files are left out before the rest is
                // counted.
                self.skip_links();
                continue;
            }
            self.skip_links();
            if !is_directory {
                return Some(Entry {
                    path,
                    file: Some(self.objects.file(&object.id)),
                });
            }
            let rules = self.levels.last().map(|level| level.rules.clone());
            let entered = if path.len() < PATH_MAX {
                self.enter(&object.id, path.clone(), &rules.unwrap_or_default())
            } else {
                Err(FileError::TooDeep)
            };
            if let Err(error) = entered {
                self.fail(&path, error);
            }
            return Some(Entry { path, file: None });
        }
    }

    /// Passes over what no walk shows.
    fn skip_links(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            while level
                .entries
                .get(level.next)
                .is_some_and(|object| object.kind == ObjectKind::Link || *object.name == *b".git")
            {
                level.next += 1;
            }
        }
    }
}

impl<O: Objects> Iterator for ObjectWalk<O> {
    type Item = Result<Entry, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.failed.take() {
            Some(error) => Some(Err(error)),
            None => self.advance().map(Ok),
        }
    }
}
