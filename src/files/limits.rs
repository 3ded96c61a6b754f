//! How much of a workspace one fact may make us read.

/// Caps on files. A file over a cap makes the facts that need it unknown
/// (`too_large`); it is never cut short in silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file that is searched, in bytes. 256 MiB by default: larger
    /// ones are data, and reading them would starve the rest of the batch.
    pub max_file_bytes: u64,
    /// The longest line that is searched, in bytes without its terminator.
    /// 16 MiB by default: a line has to be in memory as a whole.
    pub max_line_bytes: usize,
    /// The largest file that is matched as one text (`count` with the flags `s`
    /// or `m`), in bytes. 16 MiB by default: the file has to be in memory as a
    /// whole.
    pub max_text_bytes: usize,
    /// The most bytes that counting the matches of one pattern in one file may
    /// look at more than once. 1 GiB by default, about a second: iterating
    /// matches is quadratic in the worst case, counting lines is not.
    pub max_count_work: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_file_bytes: 256 << 20,
            max_line_bytes: 16 << 20,
            max_text_bytes: 16 << 20,
            max_count_work: 1 << 30,
        }
    }
}
