//! What every use case is given: the doors, the user's folders, the place it was called from.

use camino::Utf8PathBuf;
use cp9_tools::Doors;

use crate::contract::JudgeContract;

/// The use cases' surroundings.
#[derive(Debug, Clone)]
pub struct Engine {
    /// Programs, HTTP, files, clock, environment, cancellation.
    pub doors: Doors,
    /// Where cp9 was called from.
    pub cwd: Utf8PathBuf,
    /// This executable, started again as the controller.
    pub exe: Utf8PathBuf,
    /// The version of this build.
    pub version: &'static str,
    /// What can be served as a stub.
    pub judge_contract: JudgeContract,
}

/// Which session a command is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Select {
    /// `--config PATH`.
    pub config: Option<Utf8PathBuf>,
    /// `--session NAME`.
    pub session: Option<String>,
}
