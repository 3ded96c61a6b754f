//! Whatever is staged, and however much of it, the tree is what a checkout holds.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use probity::files::{Node, Tree as _};

use super::{agree, staged};
use crate::changes::repository;
use crate::git::{git, walked};

#[test]
fn whatever_is_staged_a_checkout_holds_the_same() {
    let bench = repository();
    let root = bench.root();
    let mut state = 11_u64;
    let mut random = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    let mut most = 0;
    for round in 0..30 {
        for _ in 0..12 {
            let names = ["a", "a.b", "a0", "b", ".gitignore"];
            let depth = random(3);
            let mut path = PathBuf::new();
            for _ in 0..=depth {
                path.push(names[usize::try_from(random(5)).expect("small")]);
            }
            // A directory gives way to a file, and a file to a directory.
            let file = root.join(&path);
            for above in path.ancestors().skip(1) {
                let above = root.join(above);
                if above.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
                    fs::remove_file(&above).expect("removed");
                }
            }
            drop(fs::remove_file(&file));
            drop(fs::remove_dir_all(&file));
            fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            match random(6) {
                0 => {}
                1 => symlink(["a", "../a", "b/a.b"][random(3) as usize], &file).expect("a link"),
                2 => {
                    fs::write(&file, "#!/bin/sh\n").expect("written");
                    let mode = fs::Permissions::from_mode(0o755);
                    fs::set_permissions(&file, mode).expect("set");
                }
                _ => fs::write(&file, ["a0\n", "*.b\n", "", "b\n"][random(4) as usize])
                    .expect("written"),
            }
        }
        git(&root, &["add", "--all", "--force"]);
        most = most.max(agree(&bench, "").len());
        for workspace in ["a", "b", "a.b"] {
            if root.join(workspace).is_dir() && bench.outside("checkout").join(workspace).is_dir() {
                agree(&bench, workspace);
            }
        }
        if round % 5 == 0 {
            git(&root, &["commit", "--quiet", "--allow-empty", "-m", "next"]);
        }
    }
    assert!(most > 10, "{most}");
}

#[test]
fn thousands_of_files_are_one_listing() {
    let bench = repository();
    for number in 0..5000 {
        bench.file(&format!("d{}/e/{number}", number % 500), number.to_string());
    }
    git(&bench.root(), &["add", "--all"]);
    let start = std::time::Instant::now();
    let tree = staged(&bench.root());
    let read = start.elapsed();
    assert_eq!(walked(&tree, b"").len(), 6000);
    assert!(matches!(tree.find("d7/e/7"), Ok(Node::File(_))));
    // A process for each file or directory would take longer by far.
    assert!(read.as_secs() < 5, "{read:?}");
    println!("{read:?}");
}
