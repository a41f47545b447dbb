//! One try of a call: signed, sent and read, with the corrections that an answer may ask for.

use std::sync::atomic::Ordering;
use std::time::Duration;

use cp9_tools::{HttpRequest, HttpResponse};
use tokio::time::Instant;

use super::Aws;
use crate::aws::credentials::SessionCredentials;
use crate::aws::endpoint::{self, Endpoint};
use crate::aws::error::{AwsError, AwsErrorKind};
use crate::aws::protocol::{ApiCall, ApiReply, Wire, encode, failure};
use crate::aws::sign::{Signing, Unsigned, signature};

/// AWS takes requests that are at most this old or this early, in seconds.
const TOLERATED: i64 = 4 * 60;

/// Which corrections were made already; each helps once or never.
#[derive(Default)]
struct Corrected {
    clock: bool,
    credentials: bool,
    region: bool,
}

impl Aws {
    /// One try within a limit. A wrong clock, credentials that have just expired and the wrong
    /// region of a bucket are put right and asked again at once.
    pub(super) async fn attempt(
        &self,
        call: &ApiCall,
        limit: Duration,
    ) -> Result<ApiReply, AwsError> {
        let deadline = Instant::now() + limit;
        let mut region = self.region_of(call).await?;
        if let Some(known) = call.bucket.as_deref().and_then(|b| self.bucket_region(b)) {
            region = known;
        }
        let mut corrected = Corrected::default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let credentials = self.credentials().await?;
            let error = match self.exchange(call, &region, &credentials, left).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if let Some(other) = self.other_region(call, &region, &error, &mut corrected) {
                region = other;
            } else if !self.correct_clock(&error, &mut corrected)
                && !self.renew(&credentials, &error, &mut corrected).await
            {
                return Err(error);
            }
        }
    }

    fn other_region(
        &self,
        call: &ApiCall,
        asked: &str,
        error: &AwsError,
        corrected: &mut Corrected,
    ) -> Option<String> {
        let bucket = call.bucket.as_deref()?;
        let other = error.facts().other_region.as_deref()?;
        let misplaced = matches!(error.http_status(), Some(301 | 307 | 400 | 403));
        if other == asked || !misplaced || std::mem::replace(&mut corrected.region, true) {
            return None;
        }
        self.learn_bucket(bucket, other);
        Some(other.to_owned())
    }

    /// Takes over the time of the answer when the request was refused for its own. A signature that
    /// does not match is that as well when the clocks differ too much.
    fn correct_clock(&self, error: &AwsError, corrected: &mut Corrected) -> bool {
        let Some(server) = error.facts().server_time else {
            return false;
        };
        let ahead = server - self.doors.clock.now().as_second();
        let known = self.shared.correction.load(Ordering::Relaxed);
        let off = (ahead - known).abs() > TOLERATED;
        let suspect = match error.kind() {
            AwsErrorKind::Skew => ahead != known,
            AwsErrorKind::InvalidCredentials => off,
            _ => false,
        };
        if !suspect || std::mem::replace(&mut corrected.clock, true) {
            return false;
        }
        self.shared.correction.store(ahead, Ordering::Relaxed);
        true
    }

    async fn renew(
        &self,
        refused: &SessionCredentials,
        error: &AwsError,
        corrected: &mut Corrected,
    ) -> bool {
        let expired = error.kind() == AwsErrorKind::Expired;
        if !expired || std::mem::replace(&mut corrected.credentials, true) {
            return false;
        }
        self.source.renew(self, refused).await
    }

    async fn exchange(
        &self,
        call: &ApiCall,
        region: &str,
        credentials: &SessionCredentials,
        limit: Duration,
    ) -> Result<ApiReply, AwsError> {
        let endpoint = endpoint::resolve(call, region, self.choices().await?)?;
        let request = self.signed(call, region, &endpoint, credentials)?;
        let what = format!("{} {}:{}", request.method, call.service, call.operation);
        let sent = self.doors.http_send(request.what(what).limit(limit)).await;
        let response =
            sent.map_err(|error| AwsError::http(error, &call.service, &call.operation, region))?;
        self.observe(crate::aws::protocol::server_time(&response));
        self.read(call, region, response).await
    }

    fn signed(
        &self,
        call: &ApiCall,
        region: &str,
        endpoint: &Endpoint,
        credentials: &SessionCredentials,
    ) -> Result<HttpRequest, AwsError> {
        let wire = encode(call);
        let Wire {
            method,
            path,
            query,
            mut headers,
            body,
        } = wire;
        let url = endpoint::url(endpoint, call.bucket.as_deref(), &path, &query);
        let unsigned = Unsigned {
            method: &method,
            url: &url,
            headers: &headers,
            body: &body,
        };
        let signing = Signing {
            credentials,
            name: &endpoint.signing_name,
            region: &endpoint.signing_region,
            time: self.now(),
        };
        let signature = signature(&unsigned, &signing).map_err(|error| {
            AwsError::new(AwsErrorKind::Config, &call.service, &call.operation, region)
                .says("the request cannot be signed")
                .caused(error)
        })?;
        headers.extend(signature);
        let mut request = HttpRequest::new(method, url).body(body);
        request.headers = headers;
        Ok(request)
    }

    async fn read(
        &self,
        call: &ApiCall,
        region: &str,
        response: HttpResponse,
    ) -> Result<ApiReply, AwsError> {
        if !(200..300).contains(&response.status) {
            let error = failure(call, region, &response);
            return Err(self.explained(error).await);
        }
        if crate::aws::protocol::is_late_failure(call, &response) {
            return Err(failure(call, region, &response));
        }
        ApiReply::of(call, response).ok_or_else(|| {
            AwsError::new(AwsErrorKind::Server, &call.service, &call.operation, region)
                .says("the answer is not what the protocol promises")
        })
    }

    /// Names the command that renews the credentials, where there is one.
    async fn explained(&self, error: AwsError) -> AwsError {
        let about = matches!(
            error.kind(),
            AwsErrorKind::Expired | AwsErrorKind::InvalidCredentials
        );
        if !about {
            return error;
        }
        let login = match self.profiles().await {
            Ok(profiles) => profiles.login(),
            Err(_) => None,
        };
        error.edit(|facts| facts.remedy = login)
    }
}
