//! The change that the options name.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::cli::error::CliError;
use crate::cli::gate::GateArgs;
use crate::cli::json;
use crate::diagnostic::Severity;
use crate::files::{Root, Tree};
use crate::flow::{
    ChangeLimits, ChangedFile, Changes, Content, DiagnosticKind, DiscoveryDiagnostic,
    GateDiagnostic, GateJob, GateSlice, Head, Slice, touched_directories,
};
use crate::git::Repository;
use crate::harn::Given;

/// The largest text of a changed file, in bytes.
const MOST_TEXT: u64 = 16 << 20;

/// Most files without a text that are named.
const MOST_NAMED: usize = 20;

/// A change, and the trees that its predicate files are in.
pub(super) struct Change {
    slice: Slice,
    repo_at_base: Option<Given>,
    about: GateSlice,
    diagnostics: Vec<GateDiagnostic>,
    /// The files with the change.
    pub(super) tree: Arc<dyn Tree>,
    /// The files without it, if they are known.
    pub(super) base: Option<Arc<dyn Tree>>,
}

impl Change {
    pub(super) fn read(args: &GateArgs) -> Result<Self, CliError> {
        match &args.slice {
            Some(path) => Self::of_json(args, path),
            None => Self::of_git(args),
        }
    }

    fn of_json(args: &GateArgs, path: &Path) -> Result<Self, CliError> {
        let slice = json::read(path)?;
        let id = slice.get("id").and_then(Json::as_str).map(Into::into);
        let slice = Slice::from_json(&slice)
            .map_err(|error| CliError::Usage(format!("`{}`: {error}", path.display())))?;
        let base = args.repo_at_base.as_deref().map(json::read).transpose()?;
        let root = Root::open(&args.root).map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(Self {
            about: GateSlice {
                id,
                files: slice.files().len(),
                ..GateSlice::default()
            },
            slice,
            repo_at_base: base.as_ref().map(Given::new),
            diagnostics: Vec::new(),
            tree: Arc::new(root),
            base: None,
        })
    }

    fn of_git(args: &GateArgs) -> Result<Self, CliError> {
        let repository = Arc::new(Repository::open(&args.root)?);
        let head = match (&args.head, args.staged) {
            (Some(revision), _) => Head::Commit(revision),
            (None, true) => Head::Index,
            (None, false) => Head::WorkTree,
        };
        let limits = ChangeLimits {
            max_text_bytes: MOST_TEXT,
            ..ChangeLimits::default()
        };
        let changes = Changes::read(&repository, args.base.as_deref(), head, &limits)?;
        let slice = changes.slice();
        Ok(Self {
            about: GateSlice {
                id: None,
                base: changes.base().map(|base| base.to_string().into()),
                head: Some(changes.head().to_string().into()),
                files: slice.files().len(),
            },
            slice,
            repo_at_base: Some(Given::new(&changes.repo_at_base())),
            diagnostics: unread(&changes),
            tree: changes.tree_at_head(&repository, &args.root, head)?,
            base: Some(changes.tree_at_base(&repository)?),
        })
    }

    pub(super) fn job(&self) -> Result<GateJob<'_>, CliError> {
        let touched =
            touched_directories(&self.slice).map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(GateJob {
            base: self.repo_at_base.clone(),
            about: self.about.clone(),
            diagnostics: self.diagnostics.clone(),
            ..GateJob::new(&self.slice, touched)
        })
    }

    /// Whether it may change what a predicate reaches.
    pub(super) fn touches_rules(&self) -> bool {
        let is_harn = |path: &str| Path::new(path).extension().is_some_and(|it| it == "harn");
        let renamed = |file| crate::flow::SliceFile::get(file, "renamed_from");
        self.slice.files().iter().any(|file| {
            is_harn(&file.path) || renamed(file).and_then(Json::as_str).is_some_and(is_harn)
        })
    }
}

/// What predicates cannot read of a change: an error if it may be text.
fn unread(changes: &Changes) -> Vec<GateDiagnostic> {
    let remark = |path: &str, severity, kind, message: String| GateDiagnostic {
        path: path.into(),
        diagnostic: DiscoveryDiagnostic {
            severity,
            kind,
            message: message.into(),
            place: None,
            predicate: None,
            problem: None,
        },
    };
    let content = |file: &ChangedFile| file.head.as_ref().map(|head| head.content.clone());
    let mut remarks = Vec::new();
    let mut more = 0_usize;
    for file in changes.unread() {
        match content(file) {
            Some(Content::TooLarge(size)) => {
                let size = size.map_or_else(String::new, |size| format!(" of {size} bytes"));
                let message = format!(
                    "the file{size} is over {MOST_TEXT} bytes, so predicates cannot judge it"
                );
                let kind = DiagnosticKind::TooLarge;
                remarks.push(remark(&file.path, Severity::Error, kind, message));
            }
            Some(Content::Binary(size)) if remarks.len() < MOST_NAMED => {
                let message =
                    format!("the file of {size} bytes is no UTF-8: predicates see no text of it");
                let kind = DiagnosticKind::NoText;
                remarks.push(remark(&file.path, Severity::Warning, kind, message));
            }
            Some(Content::Binary(_)) => more += 1,
            _ => {}
        }
    }
    if more > 0 {
        let message = format!("{more} more files are no UTF-8: predicates see no text of them");
        let kind = DiagnosticKind::NoText;
        remarks.push(remark(".", Severity::Warning, kind, message));
    }
    remarks
}
