//! Where the parts of a substrate lie: `.cp9/<name>/terraform/`.

use camino::{Utf8Path, Utf8PathBuf};

use crate::folder::Folder;

/// The paths of a substrate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paths {
    /// The folder itself.
    pub(crate) root: Utf8PathBuf,
}

impl Paths {
    /// The paths of a session.
    pub(crate) fn of(folder: &Folder) -> Self {
        Self {
            root: folder.join("terraform"),
        }
    }

    /// The working copy.
    pub(crate) fn source(&self) -> Utf8PathBuf {
        self.root.join("source")
    }

    /// Where Terraform keeps providers and modules.
    pub(crate) fn data(&self) -> Utf8PathBuf {
        self.root.join("data")
    }

    /// The session's values.
    pub(crate) fn values(&self) -> Utf8PathBuf {
        self.root.join("cp9.tfvars.json")
    }

    /// The state.
    pub(crate) fn state(&self) -> Utf8PathBuf {
        self.root.join("terraform.tfstate")
    }

    /// The saved plan.
    pub(crate) fn saved(&self) -> Utf8PathBuf {
        self.root.join("tfplan")
    }

    /// What the working copy was initialised for.
    pub(crate) fn init(&self) -> Utf8PathBuf {
        self.root.join("init.json")
    }

    /// What the saved plan does, for people and for the apply.
    pub(crate) fn plan(&self) -> Utf8PathBuf {
        self.root.join("plan.json")
    }

    /// Which plan was applied, and what came of it.
    pub(crate) fn applied(&self) -> Utf8PathBuf {
        self.root.join("applied.json")
    }

    /// The outputs.
    pub(crate) fn outputs(&self) -> Utf8PathBuf {
        self.root.join("outputs.json")
    }

    /// The logs.
    pub(crate) fn logs(&self) -> Utf8PathBuf {
        self.root.join("logs")
    }

    /// The log of a command that works, or whose effects are not known yet.
    pub(crate) fn log(&self, command: &str) -> Utf8PathBuf {
        self.logs().join(format!("{command}.running.jsonl"))
    }

    /// The log of a command whose effects are known.
    pub(crate) fn settled_log(&self, command: &str) -> Utf8PathBuf {
        self.logs().join(format!("{command}.jsonl"))
    }

    /// A state that Terraform could not write where it belongs.
    pub(crate) fn errored(root: &Utf8Path) -> Utf8PathBuf {
        root.join("errored.tfstate")
    }
}
