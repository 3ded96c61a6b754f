//! Files of a cache directory that only its owner can have written.
//!
//! Every file starts with a tag under a secret of the directory. A checksum alone
//! would let whoever can write the directory plant a file that makes a claim pass.

mod dir;
mod file;
mod seal;

pub use dir::DirError;
pub(crate) use dir::unlock;
pub(crate) use file::{
    ABANDONED_AFTER, make_dir, read_dir, read_file, remove_abandoned, write_file,
};
pub(crate) use seal::{Secret, TAG_BYTES, open, seal};
