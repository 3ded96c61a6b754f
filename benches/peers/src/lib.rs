//! Holds the comparative benches; there is no library.

pub mod scan;
