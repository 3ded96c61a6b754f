//! The workspace on disk as a [`Tree`].

use std::os::fd::AsFd as _;

use rustix::fs::{AtFlags, FileType, statat};

use crate::files::open::{FileId, OpenFile};
use crate::files::tree::{Node, ReadFile, Tree, Walking};
use crate::files::{
    Block, ContentId, File, FileError, Flow, Found, Kind, Reader, Reading, Root, Walk,
};

impl Tree for Root {
    fn space(&self) -> Vec<u8> {
        let id = FileId::at(self.as_fd());
        [
            b"directory".as_slice(),
            &id.map(FileId::bytes).unwrap_or_default(),
        ]
        .concat()
    }

    fn kind(&self, path: &str) -> Result<Kind, FileError> {
        Ok(Root::find(self, path)?.kind())
    }

    fn find<'a>(&'a self, path: &'a str) -> Result<Node<'a>, FileError> {
        let found = Root::find(self, path)?;
        match found.kind() {
            Kind::Directory => Ok(Node::Directory(found.location()?)),
            Kind::File => Ok(Node::File(Box::new(found))),
            Kind::Other(name) => Err(FileError::NotRegular(name)),
        }
    }

    fn dangles(&self, path: &str) -> bool {
        let is_missing = matches!(Root::find(self, path), Err(FileError::NotFound));
        // Only looked at: nothing is opened, and links on the way stay inside, or
        // nothing would be missing.
        is_missing
            && statat(self.as_fd(), path, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    }

    fn walk(&self, location: &[u8]) -> Walking {
        Box::new(Walk::new(self, location))
    }
}

impl File for Found<'_> {
    fn id(&self) -> Result<Option<ContentId>, FileError> {
        Ok(self.content_id())
    }

    fn read(
        &self,
        reader: &mut Reader,
        reading: &Reading,
        consume: &mut dyn FnMut(Block<'_>) -> Flow,
    ) -> ReadFile {
        read_opened(self.open(), reader, reading, consume)
    }

    fn prefetch(&self) {
        self.announce();
    }
}

/// Reads a file that was just opened.
pub(super) fn read_opened(
    opened: Result<OpenFile, FileError>,
    reader: &mut Reader,
    reading: &Reading,
    consume: &mut dyn FnMut(Block<'_>) -> Flow,
) -> ReadFile {
    let file = match opened {
        Ok(file) => file,
        Err(error) => {
            return ReadFile {
                size: 0,
                id: None,
                content: Err(error),
            };
        }
    };
    ReadFile {
        size: file.size(),
        id: file.content_id(),
        content: reader.read(&file, reading, consume),
    }
}
