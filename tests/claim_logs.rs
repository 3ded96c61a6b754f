//! Claim logs through the public API: several inputs, their faults, and logs
//! longer than the memory they may take.

use std::fs;
use std::io::{self, Cursor, Read, Write as _};

use flate2::{Compression, write::GzEncoder};
use probity::claims::{
    Body, Input, InputError, Limits, LogReader, Options, Record, Window, parse_record,
};
use probity::diagnostic::Code;
use rayon::iter::ParallelIterator as _;

fn claim(id: &str) -> String {
    format!(
        r#"{{"id":"{id}","kind":"assertion","assertion":{{"form":"predicate","expression":{{"language":"elench-predicate-v1","source":"exists(\"{id}\")"}}}},"origin":{{"kind":"agent-asserted","producer":{{"id":"agent-1"}}}},"anchor":{{"tree":"t","strategy":"multi"}},"timestamp":1700000000,"dependsOn":[],"evidence":[],"target":[]}}"#
    )
}

fn gzip(text: &str) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// Places of all records, each with the id or the first diagnostic's code.
fn outline(reader: &mut LogReader) -> Vec<String> {
    let mut window = Window::default();
    let mut lines = Vec::new();
    while reader.fill(&mut window) {
        for raw in window.iter() {
            let record = parse_record(raw, &Options::default());
            let what = match record.body {
                Body::Invalid => record.diagnostics[0].code.name(),
                _ => record.id.as_deref().unwrap_or("-"),
            };
            lines.push(format!("{} {what}", raw.place));
        }
    }
    assert!(!reader.fill(&mut window) && window.is_empty());
    lines
}

fn names(errors: &[InputError]) -> Vec<&str> {
    errors.iter().map(|error| &*error.name).collect()
}

#[test]
fn several_inputs_in_order_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let lines = format!("{}\n\n{}\n", claim("a"), claim("b"));
    let lines = path("lines", lines.as_bytes());
    let array = format!("[{},\n{}]", claim("c"), claim("d"));
    let array = path("array", array.as_bytes());
    // Names say nothing: the content does.
    let packed = path("packed.jsonl", &gzip(&claim("e")).unwrap());
    let empty = path("empty.gz", b"");
    let inputs = [
        Input::path(&lines),
        Input::from_arg(array.as_os_str()),
        Input::path(&empty),
        Input::path(&packed),
        Input::reader("host", Cursor::new(claim("f"))),
    ];
    let mut reader = LogReader::new(inputs);
    let [lines, array, packed] = [lines, array, packed].map(|path| path.display().to_string());
    assert_eq!(
        outline(&mut reader),
        [
            format!("{lines}:1 a"),
            format!("{lines}:3 b"),
            format!("{array}:[0] c"),
            format!("{array}:[1] d"),
            format!("{packed}:1 e"),
            "host:1 f".to_owned(),
        ]
    );
    assert!(reader.errors().is_empty());
}

#[test]
fn inputs_that_cannot_be_read_do_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let good = |name: &str| Input::reader(name, Cursor::new(claim(name)));
    let inputs = [
        Input::path(&missing),
        good("a"),
        Input::path(folder.path()),
        Input::reader("utf-16", Cursor::new(b"\xff\xfe{\0}\0".to_vec())),
        good("b"),
    ];
    let mut reader = LogReader::new(inputs);
    assert_eq!(outline(&mut reader), ["a:1 a", "b:1 b"]);
    let missing = missing.to_string_lossy();
    let folder = folder.path().to_string_lossy();
    assert_eq!(names(reader.errors()), [&*missing, &*folder, "utf-16"]);
    assert_eq!(
        reader.errors()[2].to_string(),
        "cannot read claim log `utf-16`: it is UTF-16; convert it to UTF-8"
    );
}

#[test]
fn what_came_before_a_fault_stays() {
    // Ids that compress badly, so that the fault lies far behind the start.
    let ids = (0..2000_u64).map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let text: String = ids.map(|id| claim(&format!("{id:x}")) + "\n").collect();
    let input = |bytes| Input::reader("log", Cursor::new(bytes));
    let whole = outline(&mut LogReader::new([input(gzip(&text).unwrap())]));
    assert_eq!(whole.len(), 2000);

    let mut cut = gzip(&text).unwrap();
    cut.truncate(cut.len() * 3 / 4);
    let next = Input::reader("next", Cursor::new(claim("n")));
    let mut reader = LogReader::new([input(cut), next]);
    let mut before = outline(&mut reader);
    assert_eq!(names(reader.errors()), ["log"]);
    assert_eq!(before.pop().as_deref(), Some("next:1 n"));
    // The fault may lie in the middle of a record.
    before.pop_if(|last| last.ends_with("truncated_record"));
    assert!(before.len() > 1000 && whole.starts_with(&before));
}

/// Gives the same line over and over.
struct Repeat {
    line: Vec<u8>,
    left: usize,
    at: usize,
}

impl Read for Repeat {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let rest = &self.line[self.at..];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.at = (self.at + len) % self.line.len();
        self.left -= usize::from(self.at == 0);
        Ok(len)
    }
}

fn repeat(line: &str, times: usize) -> Input {
    let reader = Repeat {
        line: line.as_bytes().to_vec(),
        left: times,
        at: 0,
    };
    Input::reader("log", reader)
}

#[test]
fn windows_stay_small_whatever_the_log() {
    let limits = Limits {
        window_records: 1 << 20,
        window_bytes: 64 << 10,
        ..Limits::default()
    };
    let line = claim("a") + "\n";
    let mut reader = LogReader::with_limits([repeat(&line, 50_000)], limits);
    let mut window = Window::default();
    let mut records = 0;
    while reader.fill(&mut window) {
        let bytes: usize = window.iter().map(|raw| raw.bytes.len()).sum();
        assert!(bytes < limits.window_bytes + line.len());
        records += window.len();
        let last = window.get(window.len() - 1).unwrap();
        assert_eq!(last.place.line, records as u64);
    }
    assert_eq!(records, 50_000);
}

#[test]
fn a_line_of_a_gigabyte_is_skipped_without_being_held() {
    let tail = format!("\"}}\n{}\n", claim("b"));
    let huge = Cursor::new(b"{\"x\": \"")
        .chain(io::repeat(b'y').take(1 << 30))
        .chain(Cursor::new(tail));
    let mut reader = LogReader::new([Input::reader("huge", huge)]);
    assert_eq!(
        outline(&mut reader),
        ["huge:1 record_too_large", "huge:2 b"]
    );
}

#[test]
fn threads_see_the_same_records() {
    let line = claim("a") + "\n" + &claim("b")[..50] + "\n";
    let mut reader = LogReader::new([repeat(&line, 5000)]);
    let mut window = Window::default();
    let options = Options::default();
    let mut records = 0;
    while reader.fill(&mut window) {
        let serial: Vec<Record<'_>> = window
            .iter()
            .map(|raw| parse_record(raw, &options))
            .collect();
        let parallel: Vec<Record<'_>> = window
            .par_iter()
            .map(|raw| parse_record(raw, &options))
            .collect();
        assert_eq!(serial, parallel);
        records += serial.len();
    }
    assert_eq!(records, 10_000);
}

#[test]
fn invalid_records_say_where() {
    let text = format!("{}\n{{\"id\": }}\n", claim("a"));
    let mut reader = LogReader::new([Input::reader("claims.jsonl", Cursor::new(text))]);
    let mut window = Window::default();
    assert!(reader.fill(&mut window));
    let raw = window.get(1).unwrap();
    let record = parse_record(raw, &Options::default());
    assert_eq!(raw.place.to_string(), "claims.jsonl:2");
    assert_eq!(record.diagnostics[0].code, Code::MalformedRecord);
    assert_eq!(
        &*record.diagnostics[0].message,
        "not valid JSON at line 2, column 8: expected value"
    );
}
