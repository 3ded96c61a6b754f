//! Predicate files, and the files beside them that they import.

use std::path::{Component, Path, PathBuf};

use crate::files::{Root, Tree, read_whole};
use crate::harn::compile::compile;
use crate::harn::inspection::Inspection;
use crate::harn::module::Module;
use crate::harn::problem::Problem;
use crate::harn::syntax::MAX_SOURCE;

/// Gives the text of a file by its path, which is relative to the directory of the
/// predicate file and lies below it, or says why it cannot.
pub type Import<'i> = dyn Fn(&str) -> Result<String, String> + 'i;

/// Compiles a file. It may import others of its directory and those below:
/// `import { a } from "./lib"` reads `lib.harn`.
///
/// # Errors
/// What is wrong with it.
pub fn compile_file(path: &Path, source: &str) -> Result<Module, Vec<Problem>> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
    let import = |path: &str| {
        let root = Root::open(directory).map_err(|error| error.to_string())?;
        import_from(&root, path)
    };
    inspect_as(&name.to_string_lossy(), source, &import).into_module()
}

/// Looks at an `invariants.harn` file: what it declares, what is wrong with it, and its
/// module if it can be run. `import` reads the files that it imports.
#[must_use]
pub fn inspect(source: &str, import: &Import<'_>) -> Inspection {
    inspect_as("invariants.harn", source, import)
}

/// Reads a file that is imported, from a tree of files. Nothing outside of the tree is
/// read.
///
/// # Errors
/// Why it cannot be read.
pub(crate) fn import_from(tree: &dyn Tree, path: &str) -> Result<String, String> {
    let bytes = read_whole(tree, path, MAX_SOURCE as u64).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is no UTF-8".into())
}

fn inspect_as(name: &str, source: &str, import: &Import<'_>) -> Inspection {
    compile(name, source, &|from, wanted| {
        let path = resolve(from, wanted)?;
        let text = import(&path)?;
        Ok((path, text))
    })
}

/// The path of the file that an import names, relative to the directory.
fn resolve(from: &str, wanted: &str) -> Result<String, String> {
    if !wanted.starts_with("./") && !wanted.starts_with("../") {
        return Err("a path of a file begins with `./` or `../`".into());
    }
    let mut path = Path::new(from).parent().unwrap_or(Path::new("")).to_owned();
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
    Ok(path.to_string_lossy().into_owned())
}
