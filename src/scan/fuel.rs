//! What scanning costs on the deterministic account. Equal input gives equal
//! fuel on any machine, whatever the schedule of the threads.

/// Bytes of a file that one unit of fuel pays for, per pattern. Every file is
/// charged at its full size, whether or not the count was decided early in it.
pub const BYTES_PER_UNIT: u64 = 16;

/// Finding and opening a file, per pattern.
pub const FILE: u64 = 50;

/// Having the regex of a fact ready, whether built for it or for another.
pub const REGEX: u64 = 1000;

/// Resolving a path, as `exists` does.
pub const RESOLVE: u64 = 50;

/// Looking at one entry of a tree for a glob, per glob.
pub const ENTRY: u64 = 1;

/// The fuel for one pattern over one file, `bytes` being its size and whatever
/// had to be looked at more than once.
#[must_use]
pub const fn file(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_UNIT).saturating_add(FILE)
}
