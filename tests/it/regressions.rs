//! Replays what the fuzz targets keep: their seeds, and every input that once
//! broke a promise.

use std::fs;
use std::path::Path;

use super::targets::TARGETS;

#[test]
fn every_kept_input_holds() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    for (name, run) in TARGETS {
        let mut kept = 0;
        for folder in ["seeds", "regressions"] {
            let Ok(entries) = fs::read_dir(fuzz.join(folder).join(name)) else {
                continue;
            };
            for entry in entries {
                let path = entry.expect("the folder can be listed").path();
                eprintln!("{}", path.display());
                run(&fs::read(path).expect("the input can be read"));
                kept += 1;
            }
        }
        assert!(kept > 0, "{name} has no seeds");
    }
}
