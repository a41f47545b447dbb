//! The hidden `cp9 controller credentials --folder PATH`: what the SDKs run as the `credential_process` of the
//! session's profile. It works inside the session, and for its processes and its user alone.

use camino::Utf8PathBuf;
use cp9_model::control::Credentials;
use cp9_model::scope::ENV_ID;
use cp9_model::{Category, Explain};
use cp9_tools::Secret;
use serde_json::json;
use thiserror::Error;

use super::{controller, status};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::session;

/// A process of one session asked for the identity of another.
#[derive(Debug, Error)]
#[error("a process of another session asks for the credentials of session `{session}`")]
struct Foreign {
    session: String,
}

impl Explain for Foreign {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "credentials-foreign"
    }
    fn remedy(&self) -> Option<String> {
        Some("leave AWS_CONFIG_FILE and AWS_PROFILE as the session sets them".into())
    }
}

/// Asks the session's controller, and answers in the format of the AWS tools.
pub async fn credentials(engine: &Engine, folder: Utf8PathBuf) -> Result<Secret, EngineError> {
    let root = engine.cwd.join(folder);
    let name = root.file_name().unwrap_or_default().to_owned();
    let folder = Folder { root, name };
    let missing = || status::NoSession::Missing {
        name: folder.name.clone(),
    };
    let state = session::load(&engine.doors, &folder)?.ok_or_else(missing)?;
    session::refuse_copy(&engine.doors, &folder, &state)?;
    let asks = engine.doors.env.get(ENV_ID);
    if asks.is_some_and(|id| id != state.id) {
        return Err(Foreign {
            session: folder.name,
        }
        .into());
    }
    Ok(printed(&ask(engine, &folder, &state.id).await?))
}

/// Asks for the credentials of a session of this id.
pub(crate) async fn ask(
    engine: &Engine,
    folder: &Folder,
    id: &str,
) -> Result<Credentials, EngineError> {
    if controller::holder(folder).is_none() {
        return Err(status::NoSession::NoController {
            name: folder.name.clone(),
        }
        .into());
    }
    let mut client = status::client_of(engine, folder, id).await?;
    Ok(client.credentials().await?)
}

fn printed(credentials: &Credentials) -> Secret {
    let text = json!({
        "Version": 1,
        "AccessKeyId": credentials.access_key,
        "SecretAccessKey": credentials.secret_key,
        "SessionToken": credentials.session_token,
        "Expiration": credentials.expiration,
    });
    Secret::new(text.to_string())
}
