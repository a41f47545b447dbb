//! A file that could not be read or changed.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};
use std::io::{Error, ErrorKind};

/// Why a file operation failed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// On which path.
        path: Utf8PathBuf,
        /// Why not.
        source: Error,
    },
    /// The folder that should hold the file is missing.
    #[error("cannot write `{path}`: the folder `{parent}` does not exist")]
    ParentMissing {
        /// The file.
        path: Utf8PathBuf,
        /// Its folder.
        parent: Utf8PathBuf,
    },
    /// The file is not text.
    #[error("`{path}` is not valid UTF-8 (byte {at})")]
    NotUtf8 {
        /// The file.
        path: Utf8PathBuf,
        /// The first byte that is wrong.
        at: usize,
    },
    /// A name that cannot be shown.
    #[error("the folder `{path}` holds a name that is not valid UTF-8")]
    NameNotUtf8 {
        /// The folder.
        path: Utf8PathBuf,
    },
    /// A link leads out of the tree.
    #[error("`{path}` is a link that leads out of `{root}`, in a circle or nowhere")]
    LinkOutside {
        /// The link.
        path: Utf8PathBuf,
        /// The tree.
        root: Utf8PathBuf,
    },
    /// Too large to be read whole.
    #[error("`{path}` is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        path: Utf8PathBuf,
        /// The limit.
        limit: u64,
    },
    /// Too many files to be read whole.
    #[error("`{path}` holds more than {limit} entries")]
    TooMany {
        /// The folder.
        path: Utf8PathBuf,
        /// The limit.
        limit: usize,
    },
    /// A name inside a tree that is absolute, empty or leads upwards.
    #[error("`{path}` is no path below a folder")]
    NotBelow {
        /// The name.
        path: Utf8PathBuf,
    },
}

impl FileError {
    /// The path that it is about.
    pub fn path(&self) -> &Utf8Path {
        match self {
            Self::Io { path, .. }
            | Self::ParentMissing { path, .. }
            | Self::NotUtf8 { path, .. }
            | Self::NameNotUtf8 { path }
            | Self::LinkOutside { path, .. }
            | Self::TooLarge { path, .. }
            | Self::TooMany { path, .. }
            | Self::NotBelow { path } => path,
        }
    }
}

/// Names action and path beside the system's reason.
pub(super) fn failed(action: &'static str, path: &Utf8Path) -> impl Fn(Error) -> FileError {
    move |source| FileError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}

impl Explain for FileError {
    fn category(&self) -> Category {
        match self {
            Self::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::ReadOnlyFilesystem => Category::Config,
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Category::Resource,
                ErrorKind::Interrupted => Category::Transient,
                _ => Category::Permanent,
            },
            _ => Category::Config,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match source.kind() {
                ErrorKind::NotFound => "file-not-found",
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "file-denied",
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "disk-full",
                _ => "file-failed",
            },
            Self::ParentMissing { .. } => "folder-missing",
            Self::NotUtf8 { .. } | Self::NameNotUtf8 { .. } => "not-utf8",
            Self::LinkOutside { .. } => "link-outside",
            Self::TooLarge { .. } | Self::TooMany { .. } => "file-too-large",
            Self::NotBelow { .. } => "path-not-below",
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Io { path, source, .. } => match source.kind() {
                ErrorKind::NotFound => Some(format!("check that {path} exists")),
                ErrorKind::PermissionDenied => {
                    Some(format!("check owner and mode of {path}: ls -ld {path}"))
                }
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    Some(format!("free space where {path} lies"))
                }
                _ => None,
            },
            Self::ParentMissing { parent, .. } => Some(format!("create it: mkdir -p {parent}")),
            Self::LinkOutside { path, .. } => {
                Some(format!("replace the link {path} by what it should hold"))
            }
            Self::NotUtf8 { path, .. } => Some(format!("save {path} as UTF-8")),
            _ => None,
        }
    }
}
