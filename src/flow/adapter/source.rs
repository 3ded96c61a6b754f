//! The file that is evaluated, and those that it may look for fallbacks in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::{OpenError, Root, Tree, memory_tree, read_text};
use crate::flow::discovery::{DiagnosticKind, Discovery, DiscoveryDiagnostic, PredicateFile};
use crate::harn::{Problem, syntax::MAX_SOURCE};

use super::options::EvaluateOptions;

/// A file that cannot be evaluated, of which there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// It cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its directory, or the root, cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A directory between the root and the file cannot be named.
    #[error("the path {0:?} is no UTF-8; rename its directories")]
    NotUtf8(PathBuf),
    /// It parses and cannot be compiled.
    #[error("`{name}` cannot be compiled: {}", first(problems))]
    Load {
        /// What it is called.
        name: String,
        /// Its text.
        text: Arc<str>,
        /// What is wrong with it.
        problems: Vec<Problem>,
    },
}

fn first(problems: &[Problem]) -> String {
    let Some(first) = problems.iter().find(|problem| problem.is_error()) else {
        return "it has no module".into();
    };
    let message = format!("{} ({})", first.message, first.code);
    match problems.iter().filter(|problem| problem.is_error()).count() {
        0 | 1 => message,
        errors => format!("{message}, and {} more", errors - 1),
    }
}

/// A file with its ancestors.
pub(super) struct Source {
    pub(super) file: Arc<PredicateFile>,
    /// The root's first.
    pub(super) ancestors: Vec<Arc<PredicateFile>>,
}

impl Source {
    pub(super) fn read(source: &str, options: &EvaluateOptions) -> Result<Self, EvaluateError> {
        let Some(path) = &options.path else {
            // It has no directory, so there is nothing to import.
            let nothing: [(&str, Vec<u8>); 0] = [];
            return Ok(match memory_tree(nothing) {
                Ok(tree) => Self::of(&tree, ".", source),
                Err(error) => {
                    let source = std::io::Error::other(error);
                    let path = options.name().into();
                    return Err(EvaluateError::Read { path, source });
                }
            });
        };
        let read = |source| EvaluateError::Read {
            path: path.clone(),
            source,
        };
        // What is hashed, compiled and run is this text.
        let text = read_text(path, MAX_SOURCE as u64).map_err(read)?;
        let directory = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if let Some(root) = &options.root {
            let tree = Root::open(root)?;
            let below = relative(root, directory).map_err(read)?;
            if let Some(below) = below {
                let name = below
                    .to_str()
                    .ok_or(EvaluateError::NotUtf8(below.clone()))?;
                let name = if name.is_empty() { "." } else { name };
                return Ok(Self::of(&tree, name, &text));
            }
        }
        Ok(Self::of(&Root::open(directory)?, ".", &text))
    }

    fn of(tree: &dyn Tree, directory: &str, text: &str) -> Self {
        let mut discovery = Discovery::new(tree);
        let file = Arc::new(discovery.proposed(directory, text));
        let ancestors = match directory.rsplit_once('/') {
            Some((parent, _)) => discovery.chain(parent),
            None if directory == "." => Vec::new(),
            None => discovery.chain("."),
        };
        Self { file, ancestors }
    }

    /// Files that cannot be evaluated as a whole, although fallbacks were looked for in
    /// them, with why.
    pub(super) fn broken(&self) -> impl Iterator<Item = (&str, &DiscoveryDiagnostic)> {
        let predicates = 0..self.file.predicates().len();
        let behind = predicates.filter_map(|at| {
            let fallback = self.file.fallback(at)?;
            let mut found = self.ancestors.iter();
            let found = found.find(|it| it.relative_dir() == &*fallback.relative_dir)?;
            Some(found.depth())
        });
        let least = behind.min();
        let concerned = self.ancestors.iter();
        let concerned =
            concerned.filter(move |file| least.is_some_and(|least| file.depth() >= least));
        concerned.flat_map(|file| {
            let errors = file.diagnostics().iter().filter(|it| it.is_error());
            let errors = errors.filter(|it| {
                matches!(
                    it.kind,
                    DiagnosticKind::Unreadable
                        | DiagnosticKind::Lex
                        | DiagnosticKind::Parse
                        | DiagnosticKind::Load
                )
            });
            errors.map(|it| (file.path(), it))
        })
    }
}

/// A directory relative to another one that it lies in, links resolved.
fn relative(root: &Path, directory: &Path) -> std::io::Result<Option<PathBuf>> {
    let (root, directory) = (root.canonicalize()?, directory.canonicalize()?);
    Ok(directory.strip_prefix(root).map(Path::to_owned).ok())
}
