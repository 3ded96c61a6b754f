//! What was counted before: for each content and each pattern how many lines match,
//! kept on disk so that a content is scanned once ever.
//!
//! ```text
//! DIR/counts/SPACE/NAME    one segment, see `segment.rs`, sealed as all files of a
//!                          cache directory
//! ```
//!
//! A space belongs to one workspace or repository. A [`Session`] reads its segments,
//! takes new counts and in the end writes them as one more segment, into which it
//! merges older ones that are not much larger. Files appear whole under names of
//! their own and are never changed, so any number of processes may share a space;
//! what one does not know it counts again. Whatever does not open is ignored: the
//! worst case is a scan.

mod all;
mod known;
mod merge;
mod numbers;
mod part;
mod segment;
mod session;
mod slots;
mod store;
#[cfg(test)]
mod store_tests;
mod trim;
mod unions;
#[cfg(test)]
mod upkeep_tests;
mod wire;
mod writer;

pub use known::Known;
pub use segment::Segment;
pub use session::{Saved, Session};
pub use slots::SlotSet;
pub use store::{CountStats, DEFAULT_MAX_BYTES, Store, clear, stats};

/// Names what is counted: a pattern with all that its count depends on beside the
/// content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotKey(pub [u8; 16]);

/// How many there are of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number, or a lower bound of it.
    pub count: u64,
    /// True if it is the number.
    pub exact: bool,
}

impl Count {
    /// Exactly none.
    pub const ZERO: Self = Self::exact(0);

    /// Exactly so many.
    #[must_use]
    pub const fn exact(count: u64) -> Self {
        Self { count, exact: true }
    }

    /// So many or more.
    #[must_use]
    pub const fn at_least(count: u64) -> Self {
        Self {
            count,
            exact: false,
        }
    }
}
