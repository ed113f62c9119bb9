//! What can go wrong with a store, and what to do about it.

use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why the store did not do what was asked. Nothing that it held before is lost in any of these.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no store at `{}`", .path.display())]
    Absent { path: PathBuf },
    #[error("`{}` is not a Roofline store: {why}", .path.display())]
    Foreign { path: PathBuf, why: String },
    #[error("the store `{}` has schema {found}, this Roofline knows schemas up to {known}", .path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error("the store `{}` cannot be written", .path.display())]
    ReadOnly { path: PathBuf },
    #[error("the store `{}` could not be written to the disk: {why}", .path.display())]
    Full { path: PathBuf, why: String },
    #[error("the store `{}` is no longer the file that was opened: {why}", .path.display())]
    Gone { path: PathBuf, why: String },
    #[error("the store `{}` is in use by another process, waited {seconds} s", .path.display())]
    Busy { path: PathBuf, seconds: u64 },
    #[error("the store `{}` is damaged: {why}", .path.display())]
    Corrupt { path: PathBuf, why: String },
    #[error(transparent)]
    Damaged(#[from] Damaged),
    #[error("`{id}` is in the store already")]
    Duplicate { id: String },
    #[error("record `{id}` of `{}` is in the store already, and says something else there", .row.escape_debug())]
    Conflict { id: String, row: String },
    #[error("record `{id}` belongs to the run `{run}`, which is not in the store")]
    UnknownRun { id: String, run: String },
    #[error("`{id}` cannot be kept: {why}")]
    Unstorable { id: String, why: String },
    #[error("cannot open the store `{}`: {why}", .path.display())]
    Unopened { path: PathBuf, why: String },
}

impl StoreError {
    /// What to do.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Absent { .. } => {
                "`roofline run` makes one in the folder where it is started; name another with `--store`".into()
            }
            StoreError::Foreign { .. } => {
                "it was left as it is; name another file with `--store`, or move this one away".into()
            }
            StoreError::Newer { .. } => {
                "it was left as it is; use the newer Roofline that wrote it, or name another file with `--store`"
                    .into()
            }
            StoreError::ReadOnly { path } => format!(
                "the file and its folder `{}` must be writable, a journal is made beside it; or name another \
                 file with `--store`",
                folder(path).display()
            ),
            StoreError::Full { .. } => {
                "what was appended before is kept; make room or lift the limit on file sizes, then start again"
                    .into()
            }
            StoreError::Gone { .. } => {
                "what was measured is printed above and was not kept; start again, with `--format jsonl > FILE` for a \
                 copy of your own, and leave the store alone meanwhile"
                    .into()
            }
            StoreError::Busy { .. } => {
                "wait for the other `roofline` to end, or name another file with `--store`".into()
            }
            StoreError::Corrupt { path, .. } => format!(
                "keep a copy, then `sqlite3 {0} .recover | sqlite3 recovered.db` saves what can be read",
                path.display()
            ),
            StoreError::Damaged(_) => Damaged::HINT.into(),
            StoreError::Duplicate { .. } => "an id is appended once; this one is kept as it was".into(),
            StoreError::Conflict { .. } => {
                "nothing was taken; an id is given once, so that one of the two was changed by hand: keep them apart".into()
            }
            StoreError::UnknownRun { .. } => "append the run before its records".into(),
            StoreError::Unstorable { .. } => {
                "a document takes no NaN, no infinity and no more than 1 GB; please report how it came to this".into()
            }
            StoreError::Unopened { path, .. } => {
                format!("look at the path and the permissions of `{}`", path.display())
            }
        }
    }
}

/// A run or record that is there but cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{}` in the store cannot be read: {why}", .id.escape_debug())]
pub struct Damaged {
    /// `run` or `record`.
    pub kind: &'static str,
    /// As far as it can be told.
    pub id: String,
    pub why: String,
}

impl Damaged {
    pub const HINT: &str = "it was skipped and left as it is; all others are read";
}

/// What was being done when the engine failed: the same code means different things.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Doing {
    Opening,
    Reading,
    Writing,
}

/// How long to wait for another process, in seconds.
pub(crate) const PATIENCE: u64 = 5;

/// SQLite's errors in the store's words.
pub(crate) fn classify(path: &Path, doing: Doing, error: &rusqlite::Error) -> StoreError {
    let (path, why) = (path.to_owned(), error.to_string());
    let extended = error.sqlite_error().map(|error| error.extended_code);
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            StoreError::Foreign { path, why: "it is not a SQLite file".to_owned() }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { path, seconds: PATIENCE }
        }
        Some(ErrorCode::ReadOnly) if extended == Some(rusqlite::ffi::SQLITE_READONLY_DBMOVED) => {
            let why = missing(&path).unwrap_or("another file lies there");
            StoreError::Gone { path, why: why.to_owned() }
        }
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        // The journal could not be made beside the file.
        Some(ErrorCode::CannotOpen) if doing == Doing::Writing => StoreError::ReadOnly { path },
        Some(ErrorCode::DiskFull) => StoreError::Full { path, why },
        Some(ErrorCode::SystemIoFailure) if doing == Doing::Writing => StoreError::Full { path, why },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Corrupt { path, why },
        Some(_) if doing == Doing::Opening => StoreError::Unopened { path, why },
        _ => StoreError::Corrupt { path, why },
    }
}

/// How much of a path is missing, if any of it is.
pub(crate) fn missing(path: &Path) -> Option<&'static str> {
    match (path.try_exists(), folder(path).try_exists()) {
        (Ok(true), _) => None,
        (_, Ok(false)) => Some("its folder was removed"),
        _ => Some("it was removed"),
    }
}

/// Errors of making the folder.
pub(crate) fn of_folder(path: &Path, error: &io::Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            StoreError::Full { path, why: error.to_string() }
        }
        _ => StoreError::Unopened { path, why: error.to_string() },
    }
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
