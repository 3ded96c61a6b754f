//! Blocks, caps and changes of files that are read or mapped.

use std::fs;
use std::path::Path;

use crate::files::{Content, FileError, Flow, Limits, Reader, Reading, Root};

fn reading(limits: Limits) -> Reading {
    Reading {
        limits,
        skip_binary: false,
        as_one: 0,
    }
}

/// The blocks of a file, and what reading it came to; mapped or not is the same.
fn blocks(root: &Path, reading: &Reading) -> (Vec<(usize, u64)>, Result<Content, FileError>) {
    let [read, mapped] = [u64::MAX, 0].map(|map_from| {
        let root = Root::open(root).unwrap();
        let file = root.find("file").unwrap().open().unwrap();
        let mut blocks = Vec::new();
        let mut reader = Reader::mapping_from(map_from);
        let content = reader.read(&file, reading, &mut |block| {
            blocks.push((block.bytes.len(), block.lines_before));
            Flow::More
        });
        (blocks, content)
    });
    assert_eq!(read, mapped);
    read
}

#[test]
fn blocks_hold_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let line = "x".repeat(99) + "\n";
    for (text, expected) in [
        (String::new(), vec![(0, 0)]),
        ("a".into(), vec![(1, 0)]),
        (line.repeat(20_000), vec![(1_048_500, 0), (951_500, 10_485)]),
        (
            line.clone() + &"y".repeat(3 << 20) + "\nz",
            vec![(100, 0), ((3 << 20) + 2, 1)],
        ),
    ] {
        fs::write(&path, &text).unwrap();
        let (blocks, content) = blocks(directory.path(), &reading(Limits::default()));
        assert_eq!(blocks, expected);
        assert_eq!(content, Ok(Content::Text));
    }
}

#[test]
fn caps_are_honoured_to_the_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let limits = Limits {
        max_file_bytes: 3 << 20,
        max_line_bytes: 2 << 20,
        ..Limits::default()
    };
    let line = |len: usize, end: &str| "x".repeat(len) + end;
    for (text, too_large) in [
        (line(3 << 20, ""), Some("line")),
        (line((3 << 20) + 1, ""), Some("file")),
        (line(2 << 20, "\n"), None),
        (line(2 << 20, "\r\n"), None),
        (line((2 << 20) + 1, "\n"), Some("line")),
        ("\n".repeat(3 << 20), None),
    ] {
        fs::write(&path, &text).unwrap();
        let (_, content) = blocks(directory.path(), &reading(limits));
        match (content, too_large) {
            (Ok(_), None) => {}
            (Err(FileError::TooLarge { what, .. }), Some(expected)) => {
                assert_eq!(what, expected);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn sparse_files_over_the_cap_are_not_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = fs::File::create(directory.path().join("file")).unwrap();
    file.set_len(1 << 40).unwrap();
    let (blocks, content) = blocks(directory.path(), &reading(Limits::default()));
    assert!(blocks.is_empty());
    assert!(matches!(
        content,
        Err(FileError::TooLarge { what: "file", .. })
    ));
}

#[test]
fn data_is_told_by_a_nul_in_the_first_8_kib() {
    let directory = tempfile::tempdir().unwrap();
    for (nul_at, size, expected) in [
        (0, 1, Content::Binary),
        (8191, 8192, Content::Binary),
        (8191, 100_000, Content::Binary),
        (8192, 8193, Content::Text),
        (8192, 100_000, Content::Text),
    ] {
        let mut text = vec![b'x'; size];
        text[nul_at] = 0;
        fs::write(directory.path().join("file"), &text).unwrap();
        let skipping = Reading {
            skip_binary: true,
            ..reading(Limits::default())
        };
        let (read, content) = blocks(directory.path(), &skipping);
        assert_eq!(content, Ok(expected));
        assert_eq!(read.is_empty(), expected == Content::Binary);
        let (_, content) = blocks(directory.path(), &reading(Limits::default()));
        assert_eq!(content, Ok(Content::Text));
    }
}

#[test]
fn a_file_written_to_while_it_is_read_has_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    type Change = fn(&fs::File);
    let changes: [Change; 3] = [
        |file| file.set_len(10).unwrap(),
        |file| file.set_len(5 << 20).unwrap(),
        |file| std::os::unix::fs::FileExt::write_all_at(file, b"y", 0).unwrap(),
    ];
    for (change, map_from) in changes.into_iter().flat_map(|it| [(it, u64::MAX), (it, 0)]) {
        fs::write(&path, "line\n".repeat(1 << 19)).unwrap();
        // Times are kept in ticks of a few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let root = Root::open(directory.path()).unwrap();
        let file = root.find("file").unwrap().open().unwrap();
        let writer = fs::File::options().write(true).open(&path).unwrap();
        let mut reader = Reader::mapping_from(map_from);
        let content = reader.read(&file, &reading(Limits::default()), &mut |_| {
            change(&writer);
            Flow::More
        });
        assert_eq!(content, Err(FileError::Changed));
    }
}
