//! Where everything of a session lies: `.cp9/<name>/` beside its session file.

use camino::{Utf8Path, Utf8PathBuf};

/// The paths of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    /// `.cp9/<name>`, absolute.
    pub(crate) root: Utf8PathBuf,
    /// The session's name.
    pub(crate) name: String,
}

impl Folder {
    /// The folder of a name below a `.cp9`.
    pub(crate) fn below(dot_cp9: &Utf8Path, name: &str) -> Self {
        Self {
            root: dot_cp9.join(name),
            name: name.to_owned(),
        }
    }

    /// The folder of a name beside a session file.
    pub(crate) fn beside(session_file: &Utf8Path, name: &str) -> Self {
        Self::below(&dot_cp9(session_file), name)
    }

    /// A path below the folder.
    pub(crate) fn join(&self, below: &str) -> Utf8PathBuf {
        self.root.join(below)
    }

    /// The journal.
    pub(crate) fn state(&self) -> Utf8PathBuf {
        self.join("state.json")
    }

    /// The session's lock.
    pub(crate) fn lock(&self) -> Utf8PathBuf {
        self.join("lock")
    }

    /// The resolved session file.
    pub(crate) fn resolved(&self) -> Utf8PathBuf {
        self.join("cp9.resolved.yaml")
    }

    /// The host's facts.
    pub(crate) fn host(&self) -> Utf8PathBuf {
        self.join("host.json")
    }

    /// The service graph.
    pub(crate) fn graph(&self) -> Utf8PathBuf {
        self.join("services/plan.json")
    }

    /// The rendered inputs.
    pub(crate) fn inputs(&self) -> Utf8PathBuf {
        self.join("tilt/inputs")
    }

    /// The dev plan.
    pub(crate) fn dev_plan(&self) -> Utf8PathBuf {
        self.join("tilt/dev-plan.json")
    }

    /// The context report.
    pub(crate) fn context_report(&self) -> Utf8PathBuf {
        self.join("tilt/reports/context-report.json")
    }

    /// The secret files.
    pub(crate) fn secrets(&self) -> Utf8PathBuf {
        self.join("secrets")
    }

    /// The AWS profile of the session's processes.
    pub(crate) fn aws(&self) -> Utf8PathBuf {
        self.join("aws")
    }

    /// The session facts.
    pub(crate) fn facts(&self) -> Utf8PathBuf {
        self.join("session-facts.json")
    }

    /// The time of the last use.
    pub(crate) fn last_active(&self) -> Utf8PathBuf {
        self.join("last-active")
    }

    /// Logs and records.
    pub(crate) fn logs(&self) -> Utf8PathBuf {
        self.join("logs")
    }

    /// The controller's own lock.
    pub(crate) fn controller_lock(&self) -> Utf8PathBuf {
        self.join("controller.lock")
    }

    /// What a destroy has done so far.
    pub(crate) fn destroy(&self) -> Utf8PathBuf {
        self.join("destroy")
    }

    /// The `.cp9` that holds the folder.
    pub(crate) fn dot_cp9(&self) -> &Utf8Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// The small record that stays after a destroy.
    pub(crate) fn destroy_record(&self) -> Utf8PathBuf {
        self.dot_cp9()
            .join(".destroyed")
            .join(format!("{}.json", self.name))
    }
}

/// The `.cp9` beside a session file.
pub(crate) fn dot_cp9(session_file: &Utf8Path) -> Utf8PathBuf {
    session_file
        .parent()
        .unwrap_or(Utf8Path::new("/"))
        .join(".cp9")
}
