//! The client: one call in, its whole answer out, whichever service it is for.

mod attempt;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cp9_tools::Doors;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::OnceCell;

use super::credentials::{Profiles, SessionCredentials, Source};
use super::endpoint::EndpointChoices;
use super::error::{AwsError, AwsErrorKind};
use super::partition::Partition;
use super::protocol::{ApiCall, ApiReply};
use super::retry::{CallLimits, Tries};
use super::sts::RoleRequest;

/// Who and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AwsSettings {
    /// The profile to use, over what the environment says.
    pub profile: Option<String>,
    /// The region; when empty, that of the environment or the profile.
    pub region: String,
}

/// A client of AWS. Clones are cheap and share credentials, connections and the correction of the
/// clock.
#[derive(Clone)]
pub struct Aws {
    pub(super) doors: Doors,
    pub(super) shared: Arc<Shared>,
    pub(super) source: Arc<Source>,
    region: String,
    limits: CallLimits,
}

/// What all clients of one environment have in common.
pub(super) struct Shared {
    pub(super) profile: Option<String>,
    pub(super) profiles: OnceCell<Profiles>,
    pub(super) choices: OnceCell<EndpointChoices>,
    /// Seconds to add to this machine's time for what AWS takes as now.
    pub(super) correction: AtomicI64,
    /// The last known difference to the time of AWS, in seconds, answers' way included.
    observed: AtomicI64,
    pub(super) buckets: Mutex<HashMap<String, String>>,
}

impl Aws {
    /// A client for these settings. Nothing is read or asked before the first call.
    pub fn new(doors: Doors, settings: AwsSettings) -> Self {
        let named = |name| doors.env.get(name).filter(|region| !region.is_empty());
        let region = if settings.region.is_empty() {
            let region = named("AWS_REGION").or_else(|| named("AWS_DEFAULT_REGION"));
            region.unwrap_or_default().to_owned()
        } else {
            settings.region
        };
        let shared = Shared {
            profile: settings.profile.filter(|name| !name.is_empty()),
            profiles: OnceCell::new(),
            choices: OnceCell::new(),
            correction: AtomicI64::new(0),
            observed: AtomicI64::new(0),
            buckets: Mutex::default(),
        };
        Self {
            doors,
            shared: Arc::new(shared),
            source: Arc::new(Source::chain()),
            region,
            limits: CallLimits::default(),
        }
    }

    /// The same client for another region.
    #[must_use]
    pub fn in_region(&self, region: &str) -> Self {
        Self {
            region: region.to_owned(),
            ..self.clone()
        }
    }

    /// The same client with other limits for calls that bring none of their own.
    #[must_use]
    pub fn with_limits(&self, limits: CallLimits) -> Self {
        Self {
            limits,
            ..self.clone()
        }
    }

    pub(super) fn limits(&self) -> CallLimits {
        self.limits
    }

    /// The same client over other doors, for a cancellation of its own or quiet recording.
    #[must_use]
    pub fn through(&self, doors: Doors) -> Self {
        Self {
            doors,
            ..self.clone()
        }
    }

    pub(super) fn with_source(&self, source: Source) -> Self {
        Self {
            source: Arc::new(source),
            ..self.clone()
        }
    }

    /// The region that is asked; empty while only a profile knows it.
    pub fn region(&self) -> &str {
        &self.region
    }

    /// The partition of the region.
    pub fn partition(&self) -> Partition {
        Partition::of_region(&self.region)
    }

    /// The profile that the settings name.
    pub fn profile(&self) -> Option<&str> {
        self.shared.profile.as_deref()
    }

    /// The credentials, renewed when they are about to expire.
    pub async fn credentials(&self) -> Result<SessionCredentials, AwsError> {
        self.source.get(self).await
    }

    /// Credentials that hold for longer than `margin`, if there are such: for whoever keeps them that long
    /// before asking again.
    pub async fn credentials_lasting(
        &self,
        margin: SignedDuration,
    ) -> Result<SessionCredentials, AwsError> {
        self.source.lasting(self, margin).await
    }

    /// The same identity with credentials that end by themselves: these, or in place of keys that do not end
    /// others for an hour.
    pub async fn passing(&self) -> Result<Self, AwsError> {
        let own = self.credentials().await?;
        Ok(if own.session_token.is_some() {
            self.clone()
        } else {
            self.with_source(Source::passing(self.clone()))
        })
    }

    /// A client that acts as a role. The role is assumed at once, and again before it expires.
    pub async fn with_role(&self, role: &RoleRequest) -> Result<Self, AwsError> {
        let aws = self.with_source(Source::role(self.clone(), role.clone()));
        aws.credentials().await?;
        Ok(aws)
    }

    /// Makes a call. It is tried again as its limits allow: always after throttling, after other
    /// failures only if it may be repeated.
    pub async fn call(&self, call: &ApiCall) -> Result<ApiReply, AwsError> {
        let limits = call.limits.unwrap_or(self.limits);
        // Before the first try, because what gives the credentials has retries of its own.
        self.credentials().await?;
        let mut tries = Tries::new(&self.doors, limits, call.idempotent);
        loop {
            // Boxed, so that what calls and awaits stays small however deep it is nested.
            let error = match Box::pin(self.attempt(call, tries.limit())).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let error = error.redacted(&self.doors.redactor);
            tries.after(error).await?;
        }
    }

    /// How far the time of AWS is ahead of this machine's, as of the last answer; negative when
    /// behind. Whole seconds, an answer's way included.
    pub fn clock_difference(&self) -> SignedDuration {
        SignedDuration::from_secs(self.shared.observed.load(Ordering::Relaxed))
    }

    /// The time that AWS takes as now, as far as it is known.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.doors.clock.now();
        let correction = self.shared.correction.load(Ordering::Relaxed);
        let corrected = now.checked_add(SignedDuration::from_secs(correction));
        corrected.unwrap_or(now)
    }

    pub(super) fn observe(&self, server: Option<Timestamp>) {
        if let Some(server) = server {
            let ahead = server.as_second() - self.doors.clock.now().as_second();
            self.shared.observed.store(ahead, Ordering::Relaxed);
        }
    }

    pub(super) async fn profiles(&self) -> Result<&Profiles, AwsError> {
        let profile = self.shared.profile.as_deref();
        let load = || Profiles::load(&self.doors, profile);
        self.shared.profiles.get_or_try_init(load).await
    }

    pub(super) async fn choices(&self) -> Result<&EndpointChoices, AwsError> {
        let load = || async {
            let mut choices = EndpointChoices::of(&self.doors.env);
            self.profiles().await?.add_endpoints(&mut choices);
            Ok(choices)
        };
        self.shared.choices.get_or_try_init(load).await
    }

    /// What tells another program to ask where this client asks, as variables of its environment.
    pub async fn endpoint_variables(&self) -> Result<Vec<(String, String)>, AwsError> {
        Ok(self.choices().await?.variables())
    }

    /// The region of a call: its own, the client's, the profile's.
    pub(super) async fn region_of(&self, call: &ApiCall) -> Result<String, AwsError> {
        if let Some(region) = &call.region {
            return Ok(region.clone());
        }
        if !self.region.is_empty() {
            return Ok(self.region.clone());
        }
        let profile = self.profiles().await?.region();
        profile.map(str::to_owned).ok_or_else(|| {
            AwsError::new(AwsErrorKind::Config, &call.service, &call.operation, "")
                .says("no region is named")
                .edit(|facts| {
                    facts.remedy =
                        Some("name a region in the session file or in AWS_REGION".into());
                })
        })
    }

    pub(super) fn bucket_region(&self, bucket: &str) -> Option<String> {
        let buckets = self.shared.buckets.lock();
        let buckets = buckets.unwrap_or_else(PoisonError::into_inner);
        buckets.get(bucket).cloned()
    }

    pub(super) fn learn_bucket(&self, bucket: &str, region: &str) {
        let buckets = self.shared.buckets.lock();
        let mut buckets = buckets.unwrap_or_else(PoisonError::into_inner);
        buckets.insert(bucket.to_owned(), region.to_owned());
    }
}

impl fmt::Debug for Aws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aws")
            .field("region", &self.region)
            .field("profile", &self.shared.profile)
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
