//! Predicate files on disk, and the files beside them that they import.

use std::path::{Component, Path, PathBuf};

use crate::files::read_text;
use crate::harn::compile::compile;
use crate::harn::module::Module;
use crate::harn::problem::Problem;
use crate::harn::syntax::MAX_SOURCE;

/// Compiles a file. It may import others of its directory and those below:
/// `import { a } from "./lib"` reads `lib.harn`.
///
/// # Errors
/// What is wrong with it.
pub fn compile_file(path: &Path, source: &str) -> Result<Module, Vec<Problem>> {
    let root = path.parent().unwrap_or(Path::new("")).to_owned();
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    compile(&name.to_string_lossy(), source, &|from, wanted| {
        load(&root, from, wanted)
    })
}

/// The file that an import names, by its path below the root, and its text.
fn load(root: &Path, from: &str, wanted: &str) -> Result<(String, String), String> {
    let mut path = Path::new(from).parent().unwrap_or(Path::new("")).to_owned();
    if !wanted.starts_with("./") && !wanted.starts_with("../") {
        return Err("a path of a file begins with `./` or `../`".into());
    }
    for part in Path::new(wanted).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => path.push(part),
            Component::ParentDir if path.pop() => {}
            _ => return Err("it is outside of the directory".into()),
        }
    }
    if path.extension().is_none() {
        path.set_extension("harn");
    }
    let file = root.join(&path);
    let inside = |file: &Path| -> std::io::Result<bool> {
        let root = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            root
        };
        Ok(file.canonicalize()?.starts_with(root.canonicalize()?))
    };
    // A link may lead out.
    match inside(&file) {
        Ok(true) => {}
        Ok(false) => return Err("it is outside of the directory".into()),
        Err(error) => return Err(error.to_string()),
    }
    let text = read_text(&file, MAX_SOURCE as u64).map_err(|error| error.to_string())?;
    Ok((path.to_string_lossy().into_owned(), text))
}
