//! Finding predicates: `invariants.harn` files from the root of a tree down to the
//! directories that a slice touches. (flow.md, section 2.)
//!
//! - **Chains.** The chain of a directory is the root, then each directory on the way to
//!   it. `.` and `..` are resolved by their text: `a/../b` is `b`. A target that leaves
//!   the root, or is absolute and lies elsewhere, has the chain of the root. A link that
//!   stays inside the root is followed; the directories of a chain are those of the path
//!   as it is written.
//! - **What cannot be read is an error** of its place in the chain, never passed over:
//!   what is no regular file, no UTF-8 or over 1 MiB, a link that leads nowhere or out of
//!   the root, a path too long for the system. Only a file that is not there is no entry.
//! - **Each file is read and compiled once**, however many directories lie below it, and
//!   files that hold the same share what was compiled ([`Modules`]). What is compiled and
//!   what is hashed is the same text.
//! - **Declarations survive errors.** One bad attribute refuses its predicate and leaves
//!   the others to be evaluated; the file still has an error, by which a gate refuses.
//! - **Fallbacks** are looked for in the file itself, then in its ancestors, the nearest
//!   first; only deterministic predicates count.
//!
//! ```
//! use probity::files::memory_tree;
//! use probity::flow::Discovery;
//!
//! let tree = memory_tree([(
//!     "invariants.harn",
//!     *b"@invariant @deterministic fn p(slice) { return flow_invariant_allow() }",
//! )])?;
//! let chain = Discovery::new(&tree).chain("src/net");
//! assert_eq!(chain.len(), 1);
//! assert_eq!(chain[0].relative_dir(), ".");
//! assert_eq!(&*chain[0].predicates()[0].name, "p");
//! assert_eq!(chain[0].diagnostics()[0].code(), "predicate_discovery_error");
//! # Ok::<(), probity::files::FileError>(())
//! ```

mod content;
mod diagnostic;
mod file;
mod modules;
mod path;
mod touched;
mod walk;

pub use diagnostic::{DiagnosticKind, DiscoveryDiagnostic, Place};
pub use file::{Fallback, PredicateFile};
pub use modules::Modules;
pub use touched::{TouchedError, touched_directories};
pub use walk::{DiscoverError, Discovery, Union, discover};
