//! Makes a repository with a history of small commits in an empty directory, the same
//! one for the same numbers: `cargo run --release --example generate_history -- DIR
//! FILES COMMITS`. Each commit changes one to three of the files, each of some 100
//! lines of made-up code.

use std::io::{self, Write};
use std::process::{Command, Stdio};

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next();
    let mut numbers = arguments.map(|text| text.parse::<u64>());
    let (Some(dir), Some(Ok(files)), Some(Ok(commits))) = (dir, numbers.next(), numbers.next())
    else {
        return Err(io::Error::other(
            "usage: generate_history DIR FILES COMMITS",
        ));
    };
    std::fs::create_dir_all(&dir)?;
    git(&dir, &["init", "--quiet", "--initial-branch=main"])?;
    let mut import = Command::new("git")
        .args(["-C", &dir, "fast-import", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()?;
    if let Some(stdin) = import.stdin.take() {
        write_history(&mut io::BufWriter::new(stdin), files.max(1), commits)?;
    }
    if !import.wait()?.success() {
        return Err(io::Error::other("git fast-import failed"));
    }
    git(&dir, &["reset", "--quiet", "--hard", "main"])
}

fn git(dir: &str, args: &[&str]) -> io::Result<()> {
    let status = Command::new("git").args(["-C", dir]).args(args).status()?;
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("git {args:?} failed"))),
    }
}

fn write_history(out: &mut impl Write, files: u64, commits: u64) -> io::Result<()> {
    let mut state = 7_u64;
    let mut random = move |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % end
    };
    for commit in 0..commits {
        let message = format!("change {commit}\n");
        writeln!(out, "commit refs/heads/main")?;
        writeln!(
            out,
            "committer A <a@b> {} +0000",
            1_600_000_000 + commit * 3600
        )?;
        writeln!(out, "data {}\n{message}", message.len())?;
        let changed: Vec<u64> = if commit == 0 {
            (0..files).collect()
        } else {
            (0..=random(3)).map(|_| random(files)).collect()
        };
        for file in changed {
            let mut text = String::new();
            for line in 0..100 {
                let (name, other) = (random(5000), random(5000));
                text += &match line % 4 {
                    0 => format!("/// Makes item {name} of kind {other}.\n"),
                    1 => format!("pub fn make_item_{name}(count: usize) -> Kind{other} {{\n"),
                    2 => format!("    let value_{name} = count.wrapping_add({other});\n"),
                    _ => "    todo!()\n}\n".to_owned(),
                };
            }
            let path = format!("crates/c{}/src/m{}/f{file}.rs", file % 10, file % 37);
            writeln!(out, "M 100644 inline {path}")?;
            writeln!(out, "data {}\n{text}", text.len())?;
        }
    }
    out.flush()
}
