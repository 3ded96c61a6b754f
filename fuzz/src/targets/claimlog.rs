//! The reader of claim logs on arbitrary bytes: no panic, and the same records
//! however small the windows are.

use std::io::Cursor;

use probity::claims::{Input, Limits, LogReader, Options, Window, parse_record};

pub(crate) fn run(data: &[u8]) {
    // A few bytes of gzip can be a great many of JSON.
    let whole = Limits {
        record_bytes: 1 << 16,
        ..Limits::default()
    };
    let narrow = Limits {
        window_records: 2,
        window_bytes: 64,
        ..whole
    };
    assert_eq!(records(data, whole), records(data, narrow));
}

/// Every record as its place and what was made of it.
fn records(data: &[u8], limits: Limits) -> Vec<String> {
    let input = Input::reader("fuzz", Cursor::new(data.to_vec()));
    let mut reader = LogReader::with_limits([input], limits);
    let mut window = Window::default();
    let mut records = Vec::new();
    while reader.fill(&mut window) {
        for raw in window.iter() {
            let record = parse_record(raw, &Options::default());
            records.push(format!("{} {record:?}", raw.place));
        }
    }
    records.extend(reader.errors().iter().map(ToString::to_string));
    records
}
