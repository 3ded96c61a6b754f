//! From the root down. (flow.md, sections 2.1, 2.4 and 5.)

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::diagnostic::Severity;
use crate::files::{FileError, OpenError, Root, Tree, read_whole};
use crate::flow::compose::{ResolvedPredicate, union_predicates};
use crate::flow::discovery::content::Content;
use crate::flow::discovery::diagnostic::{DiagnosticKind, DiscoveryDiagnostic, Places};
use crate::flow::discovery::file::{Fallback, PredicateFile};
use crate::flow::discovery::modules::Modules;
use crate::flow::discovery::path;
use crate::harn::{Mode, import_from, syntax::MAX_SOURCE};

/// The name of predicate files.
const FILE: &str = "invariants.harn";

/// The predicate files of a tree, each looked for, read and compiled once.
///
/// It keeps every directory that it was asked for, and assumes that the tree stays as it
/// is.
pub struct Discovery<'t> {
    tree: &'t dyn Tree,
    modules: Arc<Modules>,
    /// Directories that were looked at; the root, if any, is the first.
    nodes: Vec<Node>,
}

/// A directory.
struct Node {
    parent: Option<usize>,
    children: BTreeMap<Box<str>, usize>,
    file: Option<Arc<PredicateFile>>,
    /// Paths below it cannot be looked at: they are too long or too deep.
    is_end: bool,
}

/// What applies to a set of directories.
#[derive(Debug)]
pub struct Union {
    /// The files, in the order in which they were first seen: target by target, the root
    /// first.
    pub files: Vec<Arc<PredicateFile>>,
    /// Their predicates, each once, by depth, directory and order of the source.
    pub predicates: Vec<ResolvedPredicate>,
}

impl Union {
    /// True if a file has an error. Whoever gates on the union must refuse then.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.files.iter().any(|file| file.has_errors())
    }

    /// What is said of the files, in their order.
    pub fn diagnostics(&self) -> impl Iterator<Item = (&PredicateFile, &DiscoveryDiagnostic)> {
        let files = self.files.iter();
        files.flat_map(|file| file.diagnostics().iter().map(|it| (&**file, it)))
    }
}

/// Why nothing could be discovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// The root cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The path of the target is no UTF-8, so no file on the way to it can be named.
    #[error("the target {0:?} is no UTF-8; rename its directories")]
    NotUtf8(Box<Path>),
}

/// The predicate files on the way from a root directory to a target, root first. An
/// absolute target below the root is taken for one relative to it.
///
/// # Errors
/// If the root cannot be opened, or the target is no UTF-8. What is wrong with a file is
/// in its diagnostics.
pub fn discover(root: &Path, target: &Path) -> Result<Vec<Arc<PredicateFile>>, DiscoverError> {
    let tree = Root::open(root)?;
    let relative = if target.is_absolute() {
        below(root, target)
    } else {
        target
    };
    let text = relative
        .to_str()
        .ok_or_else(|| DiscoverError::NotUtf8(target.into()))?;
    Ok(Discovery::new(&tree).chain(text))
}

/// What of an absolute path lies below the root; the path itself if it lies elsewhere.
fn below<'p>(root: &Path, target: &'p Path) -> &'p Path {
    let spellings = [
        Some(root.to_owned()),
        std::path::absolute(root).ok(),
        root.canonicalize().ok(),
    ];
    let mut spellings = spellings.into_iter().flatten();
    let stripped = spellings.find_map(|root| target.strip_prefix(root).ok());
    stripped.unwrap_or(target)
}

impl<'t> Discovery<'t> {
    /// Looks for the predicate files of a tree: a [`Root`] on disk, a commit, files in
    /// memory.
    #[must_use]
    pub fn new(tree: &'t dyn Tree) -> Self {
        Self::with_modules(tree, Arc::default())
    }

    /// The same with what was compiled before.
    #[must_use]
    pub fn with_modules(tree: &'t dyn Tree, modules: Arc<Modules>) -> Self {
        Self {
            tree,
            modules,
            nodes: Vec::new(),
        }
    }

    /// The files on the way from the root to a directory, root first. The directory need
    /// not be there.
    pub fn chain(&mut self, target: &str) -> Vec<Arc<PredicateFile>> {
        let names = path::names(target).unwrap_or_default();
        let nodes = self.way(&names);
        let files = nodes.iter().filter_map(|at| self.nodes[*at].file.clone());
        files.collect()
    }

    /// What applies to directories together, such as those that a slice touches.
    pub fn union<T: AsRef<str>>(&mut self, targets: impl IntoIterator<Item = T>) -> Union {
        let mut seen = Vec::new();
        let mut files = Vec::new();
        for target in targets {
            let names = path::names(target.as_ref()).unwrap_or_default();
            for at in self.way(&names) {
                seen.resize(self.nodes.len(), false);
                if !std::mem::replace(&mut seen[at], true) {
                    files.extend(self.nodes[at].file.clone());
                }
            }
        }
        Union {
            predicates: union_predicates(&files),
            files,
        }
    }

    /// The file that a directory would have with another text, its fallbacks looked for
    /// in that text and in the ancestors as they are.
    pub fn proposed(&mut self, directory: &str, source: &str) -> PredicateFile {
        let names = path::names(directory).unwrap_or_default();
        let parent = match names.split_last() {
            Some((_, parents)) => self.way(parents).pop(),
            None => None,
        };
        let place = FilePlace::new(&path::directory(&names), names.len());
        self.file(place, parent, source)
    }

    /// The nodes from the root to a directory, as far down as anything can be there.
    fn way(&mut self, names: &[&str]) -> Vec<usize> {
        if self.nodes.is_empty() {
            self.look(None, &FilePlace::new(".", 0));
        }
        let mut way = vec![0];
        let mut at = 0;
        for (depth, name) in (1..).zip(names) {
            if self.nodes[at].is_end {
                break;
            }
            at = match self.nodes[at].children.get(*name) {
                Some(known) => *known,
                None => {
                    let directory = names.get(..depth).unwrap_or(names).join("/");
                    let new = self.look(Some(at), &FilePlace::new(&directory, depth));
                    self.nodes[at].children.insert((*name).into(), new);
                    new
                }
            };
            way.push(at);
        }
        way
    }

    /// Looks at a directory for the first time.
    fn look(&mut self, parent: Option<usize>, place: &FilePlace) -> usize {
        let read = read_whole(self.tree, &place.path, MAX_SOURCE as u64);
        let mut is_end = false;
        let file = match read {
            Ok(bytes) => Some(match String::from_utf8(bytes) {
                Ok(source) => self.file(place.clone(), parent, &source),
                Err(error) => {
                    let valid = error.utf8_error().valid_up_to();
                    place.unreadable(&format!("it is no UTF-8 from byte {valid} on"))
                }
            }),
            Err(FileError::NotFound) => self
                .tree
                .dangles(&place.path)
                .then(|| place.unreadable("it is a link that leads nowhere")),
            Err(error) => {
                is_end = matches!(error, FileError::Invalid(_) | FileError::TooDeep);
                Some(place.unreadable(&error.to_string()))
            }
        };
        self.nodes.push(Node {
            parent,
            children: BTreeMap::new(),
            file: file.map(Arc::new),
            is_end,
        });
        self.nodes.len() - 1
    }

    /// A file of a source, below the files of `parent`.
    fn file(&self, place: FilePlace, parent: Option<usize>, source: &str) -> PredicateFile {
        let tree = self.tree;
        let prefix = place.prefix();
        let content = self.modules.content(source, &|path| {
            import_from(tree, &format!("{prefix}{path}"))
        });
        let mut diagnostics = content.diagnostics.clone();
        let mut fallbacks = Vec::new();
        let mut places = Places::new(source);
        let mut lines = Vec::new();
        for declaration in &content.inspection.declarations {
            lines.push(places.of(declaration.function_span).line);
            let Some(name) = declaration.fallback.as_deref() else {
                fallbacks.push(None);
                continue;
            };
            let found = self.find(Mode::Deterministic, name, &place, &content, parent);
            if found.is_none() {
                let semantic = self.find(Mode::Semantic, name, &place, &content, parent);
                diagnostics.push(DiscoveryDiagnostic {
                    severity: Severity::Error,
                    kind: match semantic {
                        Some(_) => DiagnosticKind::SemanticFallback,
                        None => DiagnosticKind::UnresolvedFallback,
                    },
                    message: format!(
                        "the fallback `{name}` of `{}` is no deterministic predicate of the \
                         same {FILE} file or an ancestor file",
                        declaration.name
                    )
                    .into(),
                    place: Some(places.of(declaration.function_span)),
                    predicate: Some(declaration.name.clone()),
                    problem: None,
                });
            }
            fallbacks.push(found);
        }
        PredicateFile {
            path: place.path,
            relative_dir: place.directory,
            depth: place.depth,
            content: Some(content),
            lines,
            fallbacks,
            diagnostics,
        }
    }

    /// The nearest predicate of a name, from a file up to the root.
    fn find(
        &self,
        mode: Mode,
        name: &str,
        place: &FilePlace,
        content: &Content,
        parent: Option<usize>,
    ) -> Option<Fallback> {
        let of = |content: &Content, relative_dir: &Arc<str>| {
            let at = content.named(mode, name)?;
            let declaration = content.inspection.declarations.get(at)?;
            Some(Fallback {
                relative_dir: relative_dir.clone(),
                name: declaration.name.clone(),
                hash: declaration.hash,
            })
        };
        if let Some(found) = of(content, &place.directory) {
            return Some(found);
        }
        let mut next = parent;
        while let Some(node) = next.map(|at| &self.nodes[at]) {
            if let Some(file) = &node.file
                && let Some(content) = &file.content
                && let Some(found) = of(content, &file.relative_dir)
            {
                return Some(found);
            }
            next = node.parent;
        }
        None
    }
}

/// Where a predicate file is looked for.
#[derive(Clone)]
struct FilePlace {
    directory: Arc<str>,
    path: Box<str>,
    depth: usize,
}

impl FilePlace {
    fn new(directory: &str, depth: usize) -> Self {
        let mut place = Self {
            directory: directory.into(),
            path: Box::default(),
            depth,
        };
        place.path = format!("{}{FILE}", place.prefix()).into();
        place
    }

    /// What stands before the names of the directory's files.
    fn prefix(&self) -> String {
        match &*self.directory {
            "." => String::new(),
            directory => format!("{directory}/"),
        }
    }

    /// A file that is there and cannot be read.
    fn unreadable(&self, reason: &str) -> PredicateFile {
        let diagnostic = DiscoveryDiagnostic {
            severity: Severity::Error,
            kind: DiagnosticKind::Unreadable,
            message: format!("the predicate file cannot be read: {reason}").into(),
            place: None,
            predicate: None,
            problem: None,
        };
        PredicateFile {
            path: self.path.clone(),
            relative_dir: self.directory.clone(),
            depth: self.depth,
            content: None,
            lines: Vec::new(),
            fallbacks: Vec::new(),
            diagnostics: vec![diagnostic],
        }
    }
}
