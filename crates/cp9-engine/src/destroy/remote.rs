//! The part of a destroy that reaches a cloud: whether one is owed at all, who does it, and what is left.

use cp9_cloud::aws::Proven;
use cp9_cloud::aws::tagged::{Tagged, tagged};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::report::Survivor;
use cp9_model::{Category, Explain};
use thiserror::Error;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::identity;

/// The session's file was lost although it wrote to a cloud.
#[derive(Debug, Error)]
#[error("session `{session}` wrote to account {account}, but `{file}` cannot be read")]
struct Lost {
    session: String,
    account: String,
    file: String,
}

impl Explain for Lost {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "target-lost"
    }
    fn remedy(&self) -> Option<String> {
        Some("run `cp9 up` once, which writes it again, or restore it".into())
    }
}

/// The session file as it was last resolved, if something may have been made in a cloud: from the first
/// proof on, which comes before anything that could.
pub(super) fn owed(
    engine: &Engine,
    folder: &Folder,
    config: Option<ResolvedConfig>,
) -> Result<Option<ResolvedConfig>, EngineError> {
    let Some(identity) = identity::recorded(engine, folder) else {
        return Ok(None);
    };
    let lost = || Lost {
        session: folder.name.clone(),
        account: identity.aws.account.clone(),
        file: folder.resolved().into_string(),
    };
    Ok(Some(config.ok_or_else(lost)?))
}

/// What still carries the scope's tags.
pub(super) async fn left(proven: &Proven) -> Result<Vec<Survivor>, EngineError> {
    let found = tagged(&proven.aws, proven.scope.scope()).await?;
    Ok(found.iter().map(survivor).collect())
}

fn survivor(found: &Tagged) -> Survivor {
    Survivor {
        cloud: "aws".into(),
        region: found.region.clone(),
        kind: found.kind(),
        id: found.arn.clone(),
        name: None,
        detail: None,
        blocker: None,
        inside: None,
        reason: "still carries the session's tags".into(),
        remedy: Some(
            "delete it, then run the command again; what is gone stays listed for some minutes"
                .into(),
        ),
    }
}
