//! The AWS profile of a session's processes: files below `aws/` that hold no secret, only the way to whoever
//! gives credentials.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_cloud::aws::AwsProof;
use cp9_model::scope::{TAG_OWNER, TAG_SESSION};
use cp9_model::{Category, Explain, Scope};
use thiserror::Error;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;

/// Where the AWS tools look for profiles.
const ENV_CONFIG: &str = "AWS_CONFIG_FILE";

/// Why a session has no profile of its own.
#[derive(Debug, Error)]
pub(crate) enum ProfileError {
    /// The format has no way to say a path.
    #[error("path `{path}` has a line end, which an AWS profile cannot hold")]
    Path {
        /// The path.
        path: Utf8PathBuf,
    },
    /// cp9 was told to be who the session is.
    #[error(
        "`{ENV_CONFIG}` leads to `{path}`, whose credentials come from session `{session}` itself"
    )]
    Own {
        /// The profile's file.
        path: Utf8PathBuf,
        /// The session.
        session: String,
    },
}

impl Explain for ProfileError {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "profile-path",
            Self::Own { .. } => "profile-own",
        }
    }
    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Path { .. } => "move it to a folder whose path has none".into(),
            Self::Own { .. } => {
                format!("run the command again after `unset {ENV_CONFIG} AWS_PROFILE`")
            }
        })
    }
}

/// The file that holds the profile.
pub(crate) fn path(folder: &Folder) -> Utf8PathBuf {
    folder.aws().join("config")
}

/// Both files: the profile, and one without keys in place of the user's own.
pub(crate) fn files(
    engine: &Engine,
    folder: &Folder,
    scope: &Scope,
    proof: &AwsProof,
) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, ProfileError> {
    let command = [
        word(&engine.exe)?,
        "controller credentials --folder".to_owned(),
        word(&folder.root)?,
    ]
    .join(" ");
    let config = format!(
        "# Written by `cp9 up`: who session `{session}` is on AWS. No secret: the session's controller gives them.\n\
         [profile cp9]\n\
         credential_process = {command}\n\
         region = {region}\n\
         {TAG_OWNER} = {owner}\n\
         {TAG_SESSION} = {session}\n",
        session = scope.session,
        owner = scope.owner,
        region = proof.region,
    );
    let none = "# None: the session's controller gives credentials, as `config` says.\n";
    Ok(BTreeMap::from([
        ("config".into(), config.into_bytes()),
        ("credentials".into(), none.into()),
    ]))
}

/// A path as both a shell and the splitting of the Python tools take it back, and no reader of profiles for
/// the beginning of a comment.
fn word(path: &Utf8Path) -> Result<String, ProfileError> {
    if path.as_str().contains(['\n', '\r']) {
        return Err(ProfileError::Path {
            path: path.to_owned(),
        });
    }
    let plain = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let mut word = String::new();
    for c in path.as_str().chars() {
        if !plain(c) {
            word.push('\\');
        }
        word.push(c);
    }
    Ok(word)
}

/// The session's own profile says nothing new about who it may be, and would ask the controller that asks.
pub(crate) fn refuse_own(engine: &Engine, folder: &Folder) -> Result<(), ProfileError> {
    let own = path(folder);
    let named = engine.doors.env.get(ENV_CONFIG);
    let named = named.map(|named| engine.cwd.join(named));
    if named.as_ref() == Some(&own) {
        return Err(ProfileError::Own {
            path: own,
            session: folder.name.clone(),
        });
    }
    Ok(())
}

/// Writes the files.
pub(crate) fn write(
    engine: &Engine,
    folder: &Folder,
    files: &BTreeMap<Utf8PathBuf, Vec<u8>>,
) -> Result<(), EngineError> {
    engine.doors.sync_tree(&folder.aws(), files, 0o600)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_words_of_a_command_and_begin_no_comment() {
        let word = |path: &str| word(path.into()).expect("one line");
        assert_eq!(word("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(word("/a b/#c;'d"), r"/a\ b/\#c\;\'d");
        assert_eq!(word("/ä ö"), r"/ä\ ö");
        assert!(super::word("/a\nb".into()).is_err());
    }
}
