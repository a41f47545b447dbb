//! An answer that is an error, in every shape in which services put it.

use std::time::Duration;

use cp9_tools::HttpResponse;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::Value;

use super::call::{ApiCall, Protocol};
use super::reply::text;
use super::xml;
use crate::aws::error::{AwsError, classify};

/// Longer messages are cut.
const MOST_MESSAGE: usize = 2000;

/// Code and message of an error.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    code: String,
    message: String,
    request_id: Option<String>,
    region: Option<String>,
}

/// The error in an answer.
pub(crate) fn failure(call: &ApiCall, region: &str, response: &HttpResponse) -> AwsError {
    let said = said(response);
    let code = if said.code.is_empty() {
        code_of_status(response.status).to_owned()
    } else {
        said.code
    };
    let kind = classify(&code, &said.message, response.status);
    let other_region = response.header("x-amz-bucket-region").map(str::to_owned);
    let header_id = response.header("x-amzn-requestid");
    let header_id = header_id.or_else(|| response.header("x-amz-request-id"));
    let request_id = said.request_id.or_else(|| header_id.map(str::to_owned));
    AwsError::new(kind, &call.service, &call.operation, region).edit(|facts| {
        facts.code = code;
        facts.status = Some(response.status);
        facts.message = cut(&said.message);
        facts.request_id = request_id;
        facts.other_region = other_region.or(said.region);
        facts.server_time = server_time(response).map(Timestamp::as_second);
        facts.retry_after = retry_after(response);
    })
}

/// True for an answer that began well and failed on the way: S3 then sends an error with status 200.
pub(crate) fn is_late_failure(call: &ApiCall, response: &HttpResponse) -> bool {
    if call.protocol != Protocol::RestXml {
        return false;
    }
    let body = std::str::from_utf8(&response.body).unwrap_or_default();
    xml::parse(body).is_some_and(|(root, _)| root == "Error")
}

fn said(response: &HttpResponse) -> Said {
    let body = String::from_utf8_lossy(&response.body);
    let start = body.trim_start();
    let mut said = if start.starts_with('<') {
        xml::parse(start).map(|(root, value)| in_xml(&root, &value))
    } else {
        serde_json::from_str(start)
            .ok()
            .map(|value| in_json(&value))
    }
    .unwrap_or_default();
    // A query-compatible JSON API keeps the old code in a header, as `Code;Sender`.
    let old = response.header("x-amzn-query-error");
    let typed = response.header("x-amzn-errortype");
    let header = old.or(typed).map(bare).filter(|code| !code.is_empty());
    if let Some(code) = header.filter(|_| old.is_some() || said.code.is_empty()) {
        said.code = code.to_owned();
    }
    said
}

/// `ErrorResponse/Error`, `Response/Errors/Error`, or `Error` itself.
fn in_xml(root: &str, value: &Value) -> Said {
    let inner = value
        .get("Error")
        .or_else(|| value.get("Errors")?.get("Error"));
    let inner = match inner {
        Some(Value::Array(errors)) => errors.first(),
        other => other,
    };
    let error = match inner {
        Some(inner) => inner,
        None if root == "Error" || value.get("Code").is_some() => value,
        None => return Said::default(),
    };
    let owned = |value: &Value, name| text(value, name).map(str::to_owned);
    let ids = ["RequestId", "RequestID"].iter();
    let id = ids
        .flat_map(|name| [owned(value, name), owned(error, name)])
        .flatten()
        .next();
    Said {
        code: owned(error, "Code").unwrap_or_default(),
        message: owned(error, "Message").unwrap_or_default(),
        request_id: id,
        region: owned(error, "Region"),
    }
}

/// `__type`, `code` or `Code`, beside `message` in one of its spellings.
fn in_json(value: &Value) -> Said {
    let first = |names: &[&str]| {
        let found = names.iter().find_map(|name| text(value, name));
        found.map(str::to_owned).unwrap_or_default()
    };
    Said {
        code: bare(&first(&["__type", "code", "Code", "error"])).to_owned(),
        message: first(&["message", "Message", "errorMessage", "error_description"]),
        ..Said::default()
    }
}

/// `Code` of `namespace#Code`, `Code:http://…` and `Code;Sender`.
fn bare(code: &str) -> &str {
    let code = code.split([':', ';']).next().unwrap_or(code);
    code.rsplit('#').next().unwrap_or(code).trim()
}

/// What an answer without words means: HEAD of S3, load balancers, gateways.
fn code_of_status(status: u16) -> &'static str {
    match status {
        301 => "PermanentRedirect",
        307 => "TemporaryRedirect",
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        412 => "PreconditionFailed",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        _ if status >= 500 => "InternalServerError",
        _ => "Unknown",
    }
}

/// The time in the `Date` header.
pub(crate) fn server_time(response: &HttpResponse) -> Option<Timestamp> {
    http_date(response.header("date")?)
}

fn http_date(text: &str) -> Option<Timestamp> {
    let text = text.replace("GMT", "+0000");
    rfc2822::parse(&text).ok().map(|zoned| zoned.timestamp())
}

/// `Retry-After` in seconds, or the millisecond form of some services.
fn retry_after(response: &HttpResponse) -> Option<Duration> {
    if let Some(millis) = response.header("x-amz-retry-after") {
        return Some(Duration::from_millis(millis.trim().parse().ok()?));
    }
    let value = response.header("retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let (now, then) = (server_time(response)?, http_date(value)?);
    Duration::try_from(then.duration_since(now)).ok()
}

fn cut(message: &str) -> String {
    let end = message.floor_char_boundary(MOST_MESSAGE);
    message[..end]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
