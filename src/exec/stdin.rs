//! Standard input of a command that is given one.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;

/// A file in memory that holds these bytes, at its beginning. It has room for all of them,
/// so nobody has to wait until they are read, and nobody can change them.
pub(super) fn holding(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Some systems insist on the further flag, and Linux before 6.3 does not know it.
    let file = match memfd_create("stdin", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create("stdin", flags),
        made => made,
    };
    let mut file = File::from(file?);
    file.write_all(bytes)?;
    file.rewind()?;
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn it_is_read_from_the_beginning_and_never_written() {
        for bytes in [Vec::new(), vec![b'x'; 3 << 20]] {
            let mut file = File::from(holding(&bytes).unwrap());
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
            file.write_all(b"y").unwrap_err();
            file.set_len(1).unwrap_err();
        }
    }
}
