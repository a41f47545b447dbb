//! Signatures of requests (version 4), by the SDK's own signer.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use jiff::Timestamp;

use super::credentials::SessionCredentials;

/// What a signature is made for.
pub(crate) struct Signing<'s> {
    pub(crate) credentials: &'s SessionCredentials,
    pub(crate) name: &'s str,
    pub(crate) region: &'s str,
    pub(crate) time: Timestamp,
}

/// A request as it goes out.
pub(crate) struct Unsigned<'r> {
    pub(crate) method: &'r str,
    pub(crate) url: &'r str,
    pub(crate) headers: &'r [(String, String)],
    pub(crate) body: &'r [u8],
}

/// The headers that a request gets by its signature.
pub(crate) fn signature(
    request: &Unsigned<'_>,
    signing: &Signing<'_>,
) -> Result<Vec<(String, String)>, Box<dyn std::error::Error + Send + Sync>> {
    let credentials = signing.credentials;
    let token = credentials.session_token.as_ref();
    let identity = Credentials::new(
        credentials.access_key.expose(),
        credentials.secret_key.expose(),
        token.map(|token| token.expose().to_owned()),
        None,
        "cp9",
    )
    .into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(signing.region)
        .name(signing.name)
        .time(SystemTime::from(signing.time))
        .settings(settings(signing.name))
        .build()?;
    let headers = request.headers.iter();
    let headers = headers.map(|(name, value)| (name.as_str(), value.as_str()));
    let body = SignableBody::Bytes(request.body);
    let signable = SignableRequest::new(request.method, request.url, headers, body)?;
    let (instructions, _) = sign(signable, &params.into())?.into_parts();
    let headers = instructions.headers();
    Ok(headers
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

/// S3 takes paths as they are and wants the digest of the body; all others normalise and encode
/// twice.
fn settings(name: &str) -> SigningSettings {
    let mut settings = SigningSettings::default();
    if name == "s3" {
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
    }
    settings
}

#[cfg(test)]
mod tests;
