//! What a session's file and environment wish of an identity, and what was proven of it.

use camino::Utf8PathBuf;
use cp9_cloud::aws::{self, Aws, AwsProof, AwsSettings, IdentityError, Proven, Wishes};
use cp9_cloud::{Cloud as _, local::Local};
use cp9_model::config::resolved::{CloudName, ResolvedConfig};
use cp9_model::identity::AccountError;
use cp9_model::report::IdentityReport;
use cp9_model::{Category, Explain, Scope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::states::refuse_other;
use crate::{document, profile};

/// The variable by which CI says for whom it acts.
pub(crate) const ENV_CLAIM: &str = "CP9_OWNER";

/// The proof of a session, as `identity.json` keeps it for later states and for people. It holds no secret
/// and proves nothing by itself: each process that writes proves anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    #[serde(rename = "apiVersion")]
    api_version: String,
    /// What AWS proved.
    pub(crate) aws: AwsProof,
}

fn path(folder: &Folder) -> Utf8PathBuf {
    folder.join("identity.json")
}

/// Keeps what was proven.
pub(crate) fn record(
    engine: &Engine,
    folder: &Folder,
    proof: &AwsProof,
) -> Result<(), EngineError> {
    let identity = Identity {
        api_version: "cp9.identity/v1".into(),
        aws: proof.clone(),
    };
    let bytes = document::bytes(&identity);
    engine
        .doors
        .write_if_changed(&path(folder), &bytes, 0o600)?;
    Ok(())
}

/// What was last proven, if anything was.
pub(crate) fn recorded(engine: &Engine, folder: &Folder) -> Option<Identity> {
    let bytes = engine.doors.read(&path(folder)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What was proven, in words that are the same as long as it is.
pub(crate) fn told(proof: &AwsProof) -> Vec<String> {
    let tags = if proof.session_tags {
        "the session carries the tags cp9-owner and cp9-session"
    } else {
        "each request carries the tags cp9-owner and cp9-session"
    };
    vec![
        format!(
            "account {} in {} as {}",
            proof.account, proof.region, proof.principal
        ),
        tags.to_owned(),
        "what a destroy asks first was answered for this scope".to_owned(),
    ]
}

/// The session would go on in another place than where it began.
#[derive(Debug, Error)]
#[error("session `{session}` has written to {was}, and would now write to {now}")]
struct Moved {
    session: String,
    was: String,
    now: String,
}

impl Explain for Moved {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "target-changed"
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "set `target` and the profile as they were, then run `cp9 destroy --session {}` first",
            self.session
        ))
    }
}

/// What a session made in one place would be forgotten if it went on in another.
pub(crate) fn refuse_move(
    engine: &Engine,
    folder: &Folder,
    proof: Option<&AwsProof>,
) -> Result<(), EngineError> {
    let Some(before) = recorded(engine, folder) else {
        return Ok(());
    };
    let place = |proof: &AwsProof| format!("account {} in {}", proof.account, proof.region);
    let (was, now) = (place(&before.aws), proof.map(place));
    if now.as_ref() == Some(&was) {
        return Ok(());
    }
    Err(Moved {
        session: folder.name.clone(),
        was,
        now: now.unwrap_or_else(|| "no account at all".into()),
    }
    .into())
}

/// Why a session's identity was not proven.
#[derive(Debug)]
pub(crate) enum Unproven {
    /// Somebody was proven who is not the session's, or a place where nothing may be done.
    Refused(EngineError),
    /// Nobody was.
    Failed(EngineError),
}

impl From<Unproven> for EngineError {
    fn from(unproven: Unproven) -> Self {
        match unproven {
            Unproven::Refused(error) | Unproven::Failed(error) => error,
        }
    }
}

impl From<IdentityError> for Unproven {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Account(AccountError::Blocked { .. }) => Self::Refused(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}

/// Proves anew who acts for a session that is there. Another owner and another place than the session's are
/// refused.
pub(crate) async fn prove(
    engine: &Engine,
    folder: &Folder,
    scope: &Scope,
    config: &ResolvedConfig,
) -> Result<Option<Proven>, Unproven> {
    let Some((client, wishes)) = question(engine, config) else {
        refuse_move(engine, folder, None).map_err(Unproven::Refused)?;
        return Ok(None);
    };
    profile::refuse_own(engine, folder).map_err(|error| Unproven::Failed(error.into()))?;
    let known = Box::pin(aws::identify(client, &wishes)).await?;
    refuse_other(&folder.name, Some(&scope.owner), &known.owner).map_err(Unproven::Refused)?;
    let local = Local::new(engine.doors.clone(), folder.root.clone());
    let local = local.prove(scope.clone()).await;
    let local = local.map_err(|error| Unproven::Failed(error.into()))?;
    let proven = Box::pin(aws::prove(&known, &local, &wishes)).await?;
    refuse_move(engine, folder, proven.scope.aws()).map_err(Unproven::Refused)?;
    Ok(Some(proven))
}

/// What was last proven, for people.
pub(crate) fn report(engine: &Engine, folder: &Folder, proof: &AwsProof) -> IdentityReport {
    let source = serde_json::to_value(proof.owner_source).ok();
    let source = source.and_then(|source| source.as_str().map(str::to_owned));
    let now = engine.doors.clock.now();
    let left = |at: Timestamp| at.duration_since(now).as_secs();
    IdentityReport {
        account: proof.account.clone(),
        region: proof.region.clone(),
        principal: proof.principal.to_string(),
        owner_source: source.unwrap_or_default(),
        credentials: proof.credentials.clone(),
        profile: Some(profile::path(folder))
            .filter(|path| engine.doors.exists(path))
            .map(Utf8PathBuf::into_string),
        expires: proof.expires.map(|at| at.to_string()),
        expires_in: proof.expires.map(left),
    }
}

/// Whom to ask about a session's identity, and what it asks of it; none where it writes to no AWS.
pub(crate) fn question<'a>(
    engine: &'a Engine,
    config: &'a ResolvedConfig,
) -> Option<(Aws, Wishes<'a>)> {
    let settings = AwsSettings {
        profile: target(config)?.profile.clone(),
        region: config.target.region.clone().unwrap_or_default(),
    };
    let client = Aws::new(engine.doors.clone(), settings);
    Some((client, wishes(engine, config)?))
}

/// What the session asks of an identity on AWS.
pub(crate) fn wishes<'a>(engine: &'a Engine, config: &'a ResolvedConfig) -> Option<Wishes<'a>> {
    let target = target(config)?;
    Some(Wishes {
        role: target.role_arn.as_ref(),
        asked: engine.doors.env.get(ENV_CLAIM),
        allowlist: &config.ci.owner_allowlist,
        tags: &target.session_tags,
        accounts: target.accounts(),
        file: &config.file,
    })
}

fn target(config: &ResolvedConfig) -> Option<&cp9_model::config::resolved::AwsTarget> {
    let target = config.target.aws.as_ref();
    target.filter(|_| config.target.cloud == CloudName::Aws)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blocked_account_is_refused_and_one_that_is_not_listed_yet_fails() {
        let (account, principal) = ("123456789012".to_owned(), "arn".to_owned());
        let blocked = AccountError::Blocked {
            account: account.clone(),
            principal: principal.clone(),
        };
        let unlisted = AccountError::NotAllowed {
            account,
            principal,
            allowed: Vec::new(),
        };
        let unproven = |error| Unproven::from(IdentityError::Account(error));
        assert!(matches!(unproven(blocked), Unproven::Refused(_)));
        assert!(matches!(unproven(unlisted), Unproven::Failed(_)));
    }
}
