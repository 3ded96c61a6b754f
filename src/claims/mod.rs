//! Claim logs: from files and pipes in any of their forms to records.
//!
//! ```text
//! Input ──open, decompress──▶ Feed ──split──▶ Window ──parse_record──▶ Record
//! ```
//!
//! [`LogReader::fill`] runs on one thread and does no more than find where
//! records begin and end; [`parse_record`] borrows from the window and can run
//! on all threads at once. Memory is bounded by the window and the largest
//! record, whatever the length of the log.
//!
//! ```
//! use probity::claims::{Body, Input, LogReader, Options, Window, parse_record};
//!
//! let log = br#"{"assertion":{"form":"predicate","expression":
//!     {"language":"elench-predicate-v1","source":"exists(\"Cargo.toml\")"}}}"#;
//! let mut reader = LogReader::new([Input::reader("claims.json", &log[..])]);
//! let mut window = Window::default();
//! while reader.fill(&mut window) {
//!     for raw in window.iter() {
//!         assert_eq!(raw.place.to_string(), "claims.json:1");
//!         let record = parse_record(raw, &Options::default());
//!         let Body::Predicate(expression) = record.body else { panic!() };
//!         assert_eq!(expression.source, r#"exists("Cargo.toml")"#);
//!     }
//! }
//! assert!(reader.errors().is_empty());
//! ```

mod brackets;
mod check;
mod envelope;
mod feed;
mod field;
pub mod id;
mod input;
mod judge;
mod parse;
mod reader;
mod record;
mod shape;
mod skip;
mod split;
#[cfg(test)]
mod tests;
mod window;
mod zstd;

pub use check::{LogReport, check_logs};
pub use input::{Input, InputError};
pub use parse::{Options, parse_record};
pub use reader::{Limits, LogReader};
pub use record::{Body, Expression, Record};
pub use window::{Place, RawRecord, Window};
