//! Whose credentials are used: found as the AWS tools find them, kept until they are about to
//! expire, known to the redactor before anything is done with them.

mod door;
mod process;
mod profiles;
mod sdk;

#[cfg(test)]
mod tests;

use std::fmt;

use cp9_tools::{Redactor, Secret};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use super::client::Aws;
use super::error::AwsError;
use super::sts::{self, RoleRequest};

pub(super) use profiles::Profiles;

/// Credentials are renewed this long before they expire, so that nothing begun with them fails.
const MARGIN: SignedDuration = SignedDuration::from_mins(5);

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
    kept: Mutex<Option<SessionCredentials>>,
}

enum Origin {
    /// The environment, a profile, or the machine.
    Chain,
    /// Given once and for all.
    Fixed,
    /// A role, assumed by another client.
    Role(Box<(Aws, RoleRequest)>),
}

impl Source {
    pub(super) fn chain() -> Self {
        Self::of(Origin::Chain)
    }

    pub(super) fn fixed(credentials: SessionCredentials) -> Self {
        Self {
            origin: Origin::Fixed,
            kept: Mutex::new(Some(credentials)),
        }
    }

    pub(super) fn role(base: Aws, request: RoleRequest) -> Self {
        Self::of(Origin::Role(Box::new((base, request))))
    }

    fn of(origin: Origin) -> Self {
        Self {
            origin,
            kept: Mutex::new(None),
        }
    }

    /// The credentials, new ones when those kept are about to expire. When there are no new ones to
    /// be had, those kept serve as long as they hold. Several tasks that ask at once wait for one
    /// renewal.
    pub(super) async fn get(&self, aws: &Aws) -> Result<SessionCredentials, AwsError> {
        let mut kept = self.kept.lock().await;
        let now = aws.now();
        if let Some(credentials) = kept.as_ref().filter(|kept| kept.hold(now, MARGIN)) {
            return Ok(credentials.clone());
        }
        match self.load(aws).await {
            Ok(credentials) => {
                *kept = Some(credentials.clone());
                Ok(credentials)
            }
            Err(error) => {
                let still = kept
                    .as_ref()
                    .filter(|kept| kept.hold(now, SignedDuration::ZERO));
                still.cloned().ok_or(error)
            }
        }
    }

    /// Gets new credentials although those kept seemed to hold; true when they differ.
    pub(super) async fn renew(&self, aws: &Aws) -> bool {
        let mut kept = self.kept.lock().await;
        match self.load(aws).await {
            Ok(credentials) => {
                let old = kept.replace(credentials);
                old.map(|old| old.access_key) != kept.as_ref().map(|new| new.access_key.clone())
            }
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
    let Some(program) = profiles.program()? else {
        return sdk::load(aws, profiles).await;
    };
    let mut credentials = process::run(&aws.doors, &program).await?;
    credentials.teach(&aws.doors.redactor);
    for role in &program.roles {
        let base = aws.with_source(Source::fixed(credentials));
        credentials = assume(&base, role).await?;
        credentials.teach(&aws.doors.redactor);
    }
    Ok(credentials)
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Chain => write!(f, "chain"),
            Origin::Fixed => write!(f, "fixed"),
            Origin::Role(role) => write!(f, "role `{}`", role.1.role_arn),
        }
    }
}
