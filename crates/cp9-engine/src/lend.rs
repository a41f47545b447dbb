//! Who gives the processes of a session its identity on AWS: one task of the controller, which proves it when
//! it is first asked and keeps it in memory. Whoever asks meanwhile gets the same answer.

use std::time::Duration;

use cp9_cloud::aws::{Aws, AwsProof, SessionCredentials};
use cp9_loop::embedded::{LoanQuestion, LoanQuestions};
use cp9_model::config::resolved::{CloudName, ResolvedConfig};
use cp9_model::control::{Credentials, Withheld};
use cp9_model::identity::Arn;
use cp9_model::{Category, Explain, Scope};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;
use tokio::sync::mpsc;

use crate::commands::status;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::{identity, run};

/// Credentials are given with at least this much life left: some SDKs ask before each call once a quarter of
/// an hour is left.
const MARGIN: SignedDuration = SignedDuration::from_mins(20);
/// When those that do not tell their end are asked for again.
const AGAIN: SignedDuration = SignedDuration::from_hours(1);
/// How long an answer may take; a client waits a little longer.
const LIMIT: Duration = Duration::from_secs(50);

/// Why nobody is given credentials.
#[derive(Debug, Error)]
enum LendError {
    /// There is no identity to give.
    #[error("session `{session}` writes to no cloud")]
    Nowhere { session: String },
    /// No `up` has proven anything yet.
    #[error("no identity of session `{session}` has been proven yet")]
    Unproven { session: String },
    /// Somebody else was proven than `up` proved.
    #[error("session `{session}` acts as `{was}`, and the controller would now act as `{now}`")]
    Changed { session: String, was: Arn, now: Arn },
    /// The keys do not end, and others could not be had.
    #[error("the keys of `{principal}` do not end, and none that end could be had in their place")]
    Lasting {
        principal: Arn,
        #[source]
        source: cp9_cloud::aws::AwsError,
    },
    /// AWS takes too long.
    #[error("AWS did not answer within {} s", LIMIT.as_secs())]
    Late,
}

impl Explain for LendError {
    fn category(&self) -> Category {
        match self {
            Self::Late => Category::Transient,
            Self::Lasting { source, .. } => source.category(),
            _ => Category::Config,
        }
    }
    fn code(&self) -> &'static str {
        match self {
            Self::Nowhere { .. } => "no-cloud",
            Self::Unproven { .. } => "identity-unproven",
            Self::Changed { .. } => "principal-changed",
            Self::Lasting { source, .. } => source.code(),
            Self::Late => "aws-timeout",
        }
    }
    fn remedy(&self) -> Option<String> {
        match self {
            Self::Unproven { .. } => Some("run `cp9 up`".into()),
            Self::Changed { .. } => Some("run `cp9 pause`, then `cp9 up`".into()),
            Self::Lasting { .. } => Some(
                "name a role in `target.aws.iam.role_arn`, allow `sts:GetSessionToken`, or sign in with SSO"
                    .into(),
            ),
            Self::Nowhere { .. } | Self::Late => None,
        }
    }
}

/// Begins to answer for a session.
pub(crate) fn lender(engine: &Engine, folder: &Folder) -> LoanQuestions {
    let (questions_tx, questions_rx) = mpsc::unbounded_channel();
    let lender = Lender {
        engine: engine.clone(),
        folder: folder.clone(),
        kept: None,
    };
    tokio::spawn(lender.answer(questions_rx));
    questions_tx
}

struct Lender {
    engine: Engine,
    folder: Folder,
    kept: Option<Kept>,
}

/// What was proven, and the client of it.
struct Kept {
    proof: AwsProof,
    aws: Aws,
}

impl Lender {
    async fn answer(mut self, mut questions: mpsc::UnboundedReceiver<LoanQuestion>) {
        while let Some(first) = questions.recv().await {
            let answer = self.give().await;
            let _ = first.send(answer.clone());
            // What was asked meanwhile is answered by it as well.
            while let Ok(question) = questions.try_recv() {
                let _ = question.send(answer.clone());
            }
        }
    }

    async fn give(&mut self) -> Result<Credentials, Withheld> {
        let lent = tokio::time::timeout(LIMIT, Box::pin(self.lend())).await;
        let error = match lent {
            Ok(Ok(credentials)) => return Ok(told(&credentials, self.engine.doors.clock.now())),
            Ok(Err(error)) => error,
            Err(_) => LendError::Late.into(),
        };
        self.kept = None;
        Err(Withheld {
            message: self.engine.doors.redactor.redact(&error.told()),
            remedy: error.source.remedy(),
            transient: error.source.category() == Category::Transient,
        })
    }

    async fn lend(&mut self) -> Result<SessionCredentials, EngineError> {
        let disk = status::on_disk(&self.engine, &self.folder)?;
        let session = self.folder.name.clone();
        let config = disk
            .config
            .filter(|config| config.target.cloud == CloudName::Aws);
        let Some(config) = config else {
            return Err(LendError::Nowhere { session }.into());
        };
        let recorded = disk.identity.ok_or(LendError::Unproven { session })?;
        let kept = self.kept.take();
        // Another `up` may have proven somebody else since.
        if let Some(kept) = kept.filter(|kept| same(&kept.proof, &recorded.aws))
            && let Ok(credentials) = kept.aws.credentials_lasting(MARGIN).await
        {
            self.kept = Some(kept);
            return Ok(credentials);
        }
        // Files and tokens that the credentials came from are read anew.
        let scope = disk.state.scope();
        let kept = self.prove(&scope, &config, &recorded.aws).await?;
        let credentials = kept.aws.credentials_lasting(MARGIN).await?;
        self.kept = Some(kept);
        Ok(credentials)
    }

    async fn prove(
        &self,
        scope: &Scope,
        config: &ResolvedConfig,
        recorded: &AwsProof,
    ) -> Result<Kept, EngineError> {
        let (engine, folder) = (&self.engine, &self.folder);
        let proven = identity::prove(engine, folder, scope, config).await?;
        let proven = proven.ok_or(run::NotMade::PROOF)?;
        let proof = proven.scope.aws().ok_or(run::NotMade::PROOF)?.clone();
        if !same(&proof, recorded) {
            return Err(LendError::Changed {
                session: folder.name.clone(),
                was: recorded.principal.clone(),
                now: proof.principal,
            }
            .into());
        }
        let aws = proven.aws.passing().await;
        let aws = aws.map_err(|source| LendError::Lasting {
            principal: proof.principal.clone(),
            source,
        })?;
        Ok(Kept { proof, aws })
    }
}

fn same(one: &AwsProof, other: &AwsProof) -> bool {
    one.region == other.region && one.principal.is_same_principal(&other.principal)
}

/// The credentials as they go to a process.
fn told(credentials: &SessionCredentials, now: Timestamp) -> Credentials {
    let again = || now.checked_add(AGAIN).unwrap_or(now);
    let expires = credentials.expires.unwrap_or_else(again);
    // Not every SDK reads fractions of a second.
    let expires = Timestamp::from_second(expires.as_second()).unwrap_or(expires);
    let token = credentials.session_token.as_ref();
    Credentials {
        access_key: credentials.access_key.expose().to_owned(),
        secret_key: credentials.secret_key.expose().to_owned(),
        session_token: token.map_or_else(String::new, |token| token.expose().to_owned()),
        expiration: expires.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cp9_tools::Secret;

    use super::*;

    #[test]
    fn credentials_are_told_with_whole_seconds_and_always_with_an_end() {
        let now: Timestamp = "2026-12-01T10:00:00.5Z".parse().expect("a time");
        let given = |expires: Option<&str>| {
            let credentials = SessionCredentials {
                access_key: Secret::new("ASIAX"),
                secret_key: Secret::new("secret"),
                session_token: Some(Secret::new("token")),
                expires: expires.map(|at| at.parse().expect("a time")),
                source: String::new(),
            };
            told(&credentials, now).expiration
        };
        assert_eq!(
            given(Some("2026-12-01T10:30:00.25Z")),
            "2026-12-01T10:30:00Z"
        );
        assert_eq!(given(None), "2026-12-01T11:00:00Z");
    }
}
