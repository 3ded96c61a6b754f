//! Writes a claim log of a given size to standard output, the same one on every
//! machine: `cargo run --release --example generate_log -- RECORDS DISTINCT`.

#[path = "../benches/common/mod.rs"]
#[expect(dead_code, reason = "the benches use the rest")]
mod common;

use std::io::{self, Write as _};

fn main() -> io::Result<()> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let (Some(Ok(records)), Some(Ok(distinct))) = (numbers.next(), numbers.next()) else {
        return Err(io::Error::other("usage: generate_log RECORDS DISTINCT"));
    };
    io::stdout()
        .lock()
        .write_all(&common::claim_log(records, distinct.max(1)))
}
