//! Where results go.

use std::fs::{self, File, Permissions};
use std::io::{self, Stdout, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use tempfile::NamedTempFile;

use crate::cli::error::CliError;
use crate::cli::options::{Format, OutputOptions, TargetOptions};
use crate::report::{
    GitHubReport, JUnitReport, Job, JsonLinesReport, JsonReport, Report, SarifReport, TextReport,
};

/// Standard output, or a file that appears whole once it is kept.
pub(super) struct Output(Option<Draft>);

/// A file under a temporary name beside its final one.
struct Draft {
    file: NamedTempFile,
    path: PathBuf,
}

impl Output {
    /// Opens the target. A link is followed; anything but a regular file is
    /// refused, because a rename would replace it.
    pub(super) fn open(options: &TargetOptions) -> Result<Self, CliError> {
        let Some(path) = &options.output else {
            return Ok(Self(None));
        };
        let draft = draft(path).map_err(|source| CliError::Output {
            to: format!("`{}`", path.display()),
            source,
        })?;
        Ok(Self(Some(draft)))
    }

    /// A writer to the target. A progress bar is lifted while it writes.
    pub(super) fn writer(&self, bar: Option<ProgressBar>) -> Result<Writer, CliError> {
        let to = match &self.0 {
            None => To::Stdout(io::stdout()),
            Some(draft) => To::File(
                draft
                    .file
                    .as_file()
                    .try_clone()
                    .map_err(|error| self.error(error))?,
            ),
        };
        Ok(Writer { to, bar })
    }

    /// The writer of a format.
    pub(super) fn report(
        &self,
        options: &OutputOptions,
        job: Job,
        bar: Option<ProgressBar>,
    ) -> Result<Box<dyn Report>, CliError> {
        let out = self.writer(bar)?;
        let timings = !options.no_timings;
        Ok(match options.format {
            Format::Text => Box::new(TextReport::new(out, job, timings, self.colour())),
            Format::Jsonl => Box::new(JsonLinesReport::new(out, job, timings)),
            Format::Json => {
                let report = JsonReport::new(out, job, timings);
                Box::new(report.map_err(|error| self.error(error))?)
            }
            Format::Sarif => Box::new(SarifReport::new(out, job)),
            Format::Junit => {
                let report = JUnitReport::new(out, job, timings);
                Box::new(report.map_err(|error| self.error(error))?)
            }
            Format::Github => Box::new(GitHubReport::new(out, job)),
        })
    }

    /// Writes a whole result that is at hand.
    pub(super) fn write(self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = self.writer(None)?;
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(|error| self.error(error))?;
        self.keep()
    }

    /// True if results are coloured.
    pub(super) fn colour(&self) -> bool {
        let choice = match &self.0 {
            None => anstream::AutoStream::choice(&io::stdout()),
            Some(draft) => anstream::AutoStream::choice(draft.file.as_file()),
        };
        choice != anstream::ColorChoice::Never
    }

    /// Gives a file its name. Without this nothing is left of it.
    pub(super) fn keep(self) -> Result<(), CliError> {
        let Some(Draft { file, path }) = self.0 else {
            return Ok(());
        };
        file.as_file()
            .sync_data()
            .and_then(|()| file.persist(&path).map_err(|error| error.error))
            .map(drop)
            .map_err(|source| CliError::Output {
                to: format!("`{}`", path.display()),
                source,
            })
    }

    /// Says where writing failed.
    pub(super) fn error(&self, source: io::Error) -> CliError {
        let to = match &self.0 {
            None => String::from("to standard output"),
            Some(draft) => format!("`{}`", draft.path.display()),
        };
        CliError::Output { to, source }
    }
}

fn draft(path: &Path) -> io::Result<Draft> {
    let path = match fs::canonicalize(path) {
        Ok(existing) if !existing.is_file() => {
            return Err(io::Error::other("it is there and no regular file"));
        }
        Ok(existing) => existing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let dir = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let file = tempfile::Builder::new()
        .prefix(".probity-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(dir)?;
    Ok(Draft { file, path })
}

/// Writes to an [`Output`].
pub(super) struct Writer {
    to: To,
    bar: Option<ProgressBar>,
}

enum To {
    Stdout(Stdout),
    File(File),
}

impl To {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Self::Stdout(stdout) => stdout,
            Self::File(file) => file,
        }
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let to = self.to.as_write();
        match &self.bar {
            Some(bar) => bar.suspend(|| to.write(bytes)),
            None => to.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let to = self.to.as_write();
        match &self.bar {
            Some(bar) => bar.suspend(|| to.flush()),
            None => to.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path) -> Result<Output, CliError> {
        Output::open(&TargetOptions {
            output: Some(path.to_owned()),
        })
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_file_is_whole_or_absent() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report");
        let output = open(&path).unwrap();
        output.writer(None).unwrap().write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(output);
        assert!(names(dir.path()).is_empty());
        open(&path).unwrap().write(b"whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(names(dir.path()), ["report"]);
    }

    #[test]
    fn what_is_no_regular_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        assert!(open(dir.path()).is_err());
        assert!(open(Path::new("/dev/null")).is_err());
        let file = dir.path().join("file");
        let link = dir.path().join("link");
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        open(&link).unwrap().write(b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(link.is_symlink());
    }
}
