//! The files that a change starts from and leads to.

use std::path::Path;
use std::sync::Arc;

use crate::files::{Root, Tree};
use crate::flow::changes::{Changes, ChangesError, Head, HeadId};
use crate::git::{CommitFiles, CommitTree, IndexFiles, IndexTree, Oid, Repository};

impl Changes {
    /// The files with the change: those of the commit, of the index, or on disk below
    /// `root`, which is the directory that the repository was opened for.
    ///
    /// # Errors
    /// [`ChangesError`] if they cannot be read.
    pub fn tree_at_head(
        &self,
        repository: &Arc<Repository>,
        root: &Path,
        head: Head<'_>,
    ) -> Result<Arc<dyn Tree>, ChangesError> {
        Ok(match (head, self.head()) {
            (Head::WorkTree, _) => Arc::new(Root::open(root)?),
            (Head::Index, _) => {
                let files = IndexFiles::new(Arc::clone(repository))?;
                Arc::new(IndexTree::new(files))
            }
            (Head::Commit(_), HeadId::Commit(id)) => commit(repository, *id)?,
            (Head::Commit(revision), HeadId::Content(_)) => {
                commit(repository, repository.resolve(revision)?.id)?
            }
        })
    }

    /// The files without it: those of the commit that it starts from, and no files if
    /// nothing was ever committed.
    ///
    /// # Errors
    /// As [`Changes::tree_at_head`].
    pub fn tree_at_base(
        &self,
        repository: &Arc<Repository>,
    ) -> Result<Arc<dyn Tree>, ChangesError> {
        match self.base() {
            Some(id) => commit(repository, id),
            None => {
                let files = CommitFiles::none(Arc::clone(repository));
                Ok(Arc::new(CommitTree::new(files)))
            }
        }
    }
}

fn commit(repository: &Arc<Repository>, id: Oid) -> Result<Arc<dyn Tree>, ChangesError> {
    let commit = repository.commit(id)?;
    let files = CommitFiles::new(Arc::clone(repository), &commit)?;
    Ok(Arc::new(CommitTree::new(files)))
}
