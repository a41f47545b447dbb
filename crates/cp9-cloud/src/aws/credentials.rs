//! Whose credentials are used: found as the AWS tools find them, kept until they are about to
//! expire, known to the redactor before anything is done with them.

mod door;
mod plan;
mod process;
mod profiles;
mod sdk;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use cp9_tools::{Redactor, Secret};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::client::Aws;
use super::error::AwsError;
use super::sts::{self, RoleRequest};

use plan::Giver;

pub(super) use profiles::Profiles;

/// Credentials are renewed this long before they expire, so that nothing begun with them fails.
const MARGIN: SignedDuration = SignedDuration::from_mins(5);
/// Within the margin a source is asked again only after this time, because some give the same
/// credentials until the very end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Credentials of a principal, perhaps for a while only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCredentials {
    /// The id of the key.
    pub access_key: Secret,
    /// The key.
    pub secret_key: Secret,
    /// What temporary credentials carry besides.
    pub session_token: Option<Secret>,
    /// When they end.
    pub expires: Option<Timestamp>,
    /// Where they come from, such as ``profile `dev` (SSO)``.
    pub source: String,
}

impl SessionCredentials {
    pub(super) fn teach(&self, redactor: &Redactor) {
        redactor.add(&self.access_key);
        redactor.add(&self.secret_key);
        if let Some(token) = &self.session_token {
            redactor.add(token);
        }
    }

    /// True while they hold for longer than `margin` from `now`.
    fn hold(&self, now: Timestamp, margin: SignedDuration) -> bool {
        self.expires
            .is_none_or(|expires| expires.duration_since(now) > margin)
    }
}

/// Where a client gets its credentials, and the last ones it got.
pub(super) struct Source {
    origin: Origin,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    credentials: SessionCredentials,
    /// When the source was last asked.
    asked: Instant,
}

impl Kept {
    fn now(credentials: SessionCredentials) -> Self {
        Self {
            credentials,
            asked: Instant::now(),
        }
    }
}

enum Origin {
    /// The environment, a profile, or the machine.
    Chain,
    /// Given once and for all.
    Fixed,
    /// A role, assumed by another client.
    Role(Box<(Aws, RoleRequest)>),
    /// Another client's identity, for a while only.
    Passing(Box<Aws>),
}

impl Source {
    pub(super) fn chain() -> Self {
        Self::of(Origin::Chain)
    }

    pub(super) fn fixed(credentials: SessionCredentials) -> Self {
        Self {
            origin: Origin::Fixed,
            kept: Mutex::new(Some(Kept::now(credentials))),
        }
    }

    pub(super) fn role(base: Aws, request: RoleRequest) -> Self {
        Self::of(Origin::Role(Box::new((base, request))))
    }

    pub(super) fn passing(base: Aws) -> Self {
        Self::of(Origin::Passing(Box::new(base)))
    }

    fn of(origin: Origin) -> Self {
        Self {
            origin,
            kept: Mutex::new(None),
        }
    }

    /// The credentials, new ones when those kept are about to expire.
    pub(super) async fn get(&self, aws: &Aws) -> Result<SessionCredentials, AwsError> {
        self.lasting(aws, MARGIN).await
    }

    /// The credentials, new ones when those kept end within `margin`. When there are no new ones to
    /// be had, those kept serve as long as they hold. Several tasks that ask at once wait for one
    /// renewal.
    pub(super) async fn lasting(
        &self,
        aws: &Aws,
        margin: SignedDuration,
    ) -> Result<SessionCredentials, AwsError> {
        let mut kept = self.kept.lock().await;
        let now = aws.now();
        if let Some(kept) = kept.as_ref() {
            let patient = kept.asked.elapsed() < PATIENCE;
            let margin = if patient {
                SignedDuration::ZERO
            } else {
                margin
            };
            if kept.credentials.hold(now, margin) {
                return Ok(kept.credentials.clone());
            }
        }
        let error = match Box::pin(self.load(aws)).await {
            Ok(credentials) => {
                *kept = Some(Kept::now(credentials.clone()));
                return Ok(credentials);
            }
            Err(error) => error,
        };
        let still = kept
            .as_mut()
            .filter(|kept| kept.credentials.hold(now, SignedDuration::ZERO));
        let Some(still) = still else {
            return Err(error);
        };
        still.asked = Instant::now();
        Ok(still.credentials.clone())
    }

    /// Gets other credentials than those that AWS refused although they seemed to hold; true when
    /// there are. Of several tasks that were refused at once only the first asks.
    pub(super) async fn renew(&self, aws: &Aws, refused: &SessionCredentials) -> bool {
        let mut kept = self.kept.lock().await;
        let differs = |kept: &Kept| kept.credentials.access_key != refused.access_key;
        if kept.as_ref().is_some_and(differs) {
            return true;
        }
        match Box::pin(self.load(aws)).await {
            Ok(credentials) => differs(kept.insert(Kept::now(credentials))),
            Err(_) => false,
        }
    }

    async fn load(&self, aws: &Aws) -> Result<SessionCredentials, AwsError> {
        let credentials = match &self.origin {
            Origin::Chain => chain(aws).await?,
            Origin::Fixed => return Err(sdk::none("the credentials cannot be renewed")),
            Origin::Role(role) => {
                let (base, request) = &**role;
                assume(base, request).await?
            }
            Origin::Passing(base) => {
                let call = sts::session_token();
                let reply = Box::pin(base.call(&call)).await?;
                sts::passing(base, &reply)?
            }
        };
        credentials.teach(&aws.doors.redactor);
        Ok(credentials)
    }
}

async fn assume(base: &Aws, request: &RoleRequest) -> Result<SessionCredentials, AwsError> {
    let call = request.call();
    // The call asks the base for its own credentials, which may come from a role again.
    let reply = Box::pin(base.call(&call)).await?;
    sts::assumed(base, &request.role_arn, &reply)
}

async fn chain(aws: &Aws) -> Result<SessionCredentials, AwsError> {
    let profiles = aws.profiles().await?;
    let Some(plan) = profiles.plan()? else {
        return sdk::load(aws, profiles, None).await;
    };
    let mut credentials = match plan.giver {
        Giver::Files(keys) => keys,
        Giver::Program(command) => process::run(&aws.doors, &plan.profile, &command).await?,
        Giver::Sdk => sdk::load(aws, profiles, Some(&plan.profile)).await?,
    };
    credentials.teach(&aws.doors.redactor);
    for role in &plan.roles {
        let base = aws.with_source(Source::fixed(credentials));
        credentials = assume(&base, role).await?;
        credentials.teach(&aws.doors.redactor);
    }
    credentials.source = profiles.describe();
    Ok(credentials)
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Chain => write!(f, "chain"),
            Origin::Fixed => write!(f, "fixed"),
            Origin::Role(role) => write!(f, "role `{}`", role.1.role_arn),
            Origin::Passing(base) => write!(f, "{:?} for a while", base.source),
        }
    }
}
