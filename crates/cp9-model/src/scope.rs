//! The scope of a session: what marks everything that belongs to it.

use serde::{Deserialize, Serialize};

use crate::name::{Owner, SessionName};

/// Environment variable that carries the session name into every process of a session.
pub const ENV_SESSION: &str = "CP9_SESSION";
/// Environment variable that carries the owner.
pub const ENV_OWNER: &str = "CP9_SESSION_OWNER";
/// Environment variable that carries the id of the session folder.
pub const ENV_ID: &str = "CP9_SESSION_ID";
/// Environment variable that carries one start of one service into all that it starts in turn.
pub const ENV_START: &str = "CP9_START";
/// Label and tag key of the owner.
pub const TAG_OWNER: &str = "cp9-owner";
/// Label and tag key of the session.
pub const TAG_SESSION: &str = "cp9-session";

/// Owner, session and folder id together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Who the session belongs to.
    pub owner: Owner,
    /// The session's name.
    pub session: SessionName,
    /// The random id of the session folder, made at the first `up`.
    pub id: String,
}

impl Scope {
    /// The variables that every process of the session carries.
    pub fn env(&self) -> [(&'static str, String); 3] {
        [
            (ENV_SESSION, self.session.to_string()),
            (ENV_OWNER, self.owner.to_string()),
            (ENV_ID, self.id.clone()),
        ]
    }
}
