//! Tests of the reader as a whole, from bytes to records.

mod envelopes;
mod forms;
mod records;
mod roundtrip;
mod support;
