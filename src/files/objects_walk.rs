//! The files below a directory of objects, in the order of [`crate::files::Walk`].

use std::sync::Arc;

use crate::files::components::PATH_MAX;
use crate::files::objects::entry;
use crate::files::rules::{MAX_RULES_BYTES, Rules};
use crate::files::walk::{MAX_OPEN, join};
use crate::files::{Entry, FileError, Object, ObjectKind, Objects, WalkError};

/// Entries that one walk looks at. Objects cost nothing to be met again: a few
/// directories that hold each other many times over are a tree without an end, which
/// no disk could hold. The largest repositories known are below this.
pub(crate) const MAX_ENTRIES: usize = 1 << 22;

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
    /// Entries still to be looked at before it is too many.
    left: usize,
    failed: Option<WalkError>,
}

impl<O: Objects> ObjectWalk<O> {
    /// A walk below a location, which was resolved before. Empty if the directory is
    /// itself left out.
    pub(super) fn new(objects: Arc<O>, location: &[u8]) -> Self {
        let mut walk = Self {
            objects,
            levels: Vec::new(),
            left: MAX_ENTRIES,
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
        // Nothing behind it was looked at: the walk ends, with an error in the
        // directories that it stands in.
        let Some(left) = self.left.checked_sub(entries.len() + 1) else {
            self.levels.clear();
            return Err(FileError::TooMany(MAX_ENTRIES));
        };
        self.left = left;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{File, ObjectTree, Tree as _};

    /// Directories that hold the same directory many times over.
    struct Endless(Arc<[Object<()>]>);

    impl Objects for Endless {
        type Id = ();

        fn space(&self) -> Vec<u8> {
            Vec::new()
        }

        fn root(&self) {}

        fn list(&self, (): &()) -> Result<Arc<[Object<()>]>, FileError> {
            Ok(Arc::clone(&self.0))
        }

        fn text(&self, (): &(), _: u64, _: &'static str) -> Result<Vec<u8>, FileError> {
            Err(FileError::NotFound)
        }

        fn file(self: &Arc<Self>, (): &()) -> Box<dyn File> {
            unreachable!("there are only directories")
        }
    }

    #[test]
    fn trees_without_an_end_are_an_error_where_the_walk_ends() {
        let entries = (0..100_000).map(|number| Object {
            name: format!("{number:06}").into_bytes().into(),
            kind: ObjectKind::Directory,
            id: (),
        });
        let tree = ObjectTree::new(Endless(entries.collect()));
        let mut walk = tree.walk(b"");
        let found = walk.by_ref().take_while(Result::is_ok).count();
        assert!((30..50).contains(&found), "{found}");
        assert!(walk.next().is_none());
        let failed = tree.walk(b"").find_map(Result::err).unwrap();
        assert_eq!(failed.error, FileError::TooMany(MAX_ENTRIES));
        // The directories that were being walked are all above it.
        assert_eq!(failed.path, [b"000000".as_slice(); 41].join(&b'/'));
    }
}
