//! The success response of an operation, with a body for each media type it is offered in.

use hyper::StatusCode;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::document::Document;
use super::headers;
use super::media::Media;
use crate::reason::Reason;
use crate::zero::Search;

/// A ready answer.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// One per media type, the default first; none if there is no body.
    pub(crate) bodies: Vec<(Media, Bytes)>,
}

/// Builds the answer of an operation from its `responses`.
pub(crate) fn success<'d>(
    document: &'d Document,
    search: &mut Search<'d>,
    responses: Option<&'d Value>,
) -> Result<Response, Reason> {
    let Some(declared) = responses.and_then(Value::as_object) else {
        return Err(Reason::new("it declares no responses"));
    };
    let (status, response) = chosen(declared)?;
    let response = document.follow(response)?;
    let Some(response) = response.as_object() else {
        return Err(Reason::new(format!("its response `{status}` is no object")));
    };
    let headers = headers::required(document, search, response)?;
    let bodiless = matches!(status.as_u16(), 204 | 205 | 304);
    let bodies = match response.get("content") {
        Some(content) if !bodiless => bodies(document, search, content)?,
        _ => Vec::new(),
    };
    Ok(Response {
        status,
        headers,
        bodies,
    })
}

/// The lowest 2xx, else `2XX`, else the lowest 3xx, else `default`, else the lowest there is.
fn chosen(declared: &Map<String, Value>) -> Result<(StatusCode, &Value), Reason> {
    let mut best: Option<(u8, u16, &Value)> = None;
    for (key, response) in declared.iter().filter(|(key, _)| !key.starts_with("x-")) {
        let (rank, status) = rank(key)?;
        if best.is_none_or(|(other, lowest, _)| (rank, status) < (other, lowest)) {
            best = Some((rank, status, response));
        }
    }
    let best =
        best.and_then(|(_, status, response)| Some((StatusCode::from_u16(status).ok()?, response)));
    best.ok_or_else(|| Reason::new("it declares no responses"))
}

fn rank(key: &str) -> Result<(u8, u16), Reason> {
    let wrong = || Reason::new(format!("`{key}` is no status of a response"));
    if key == "default" {
        return Ok((3, 200));
    }
    let class = key
        .strip_suffix("XX")
        .or_else(|| key.strip_suffix("xx"))
        .and_then(|class| class.parse::<u16>().ok());
    match class {
        Some(2) => return Ok((1, 200)),
        Some(3) => return Ok((2, 300)),
        Some(class @ (1 | 4 | 5)) => return Ok((4, class.max(4) * 100)),
        Some(_) => return Err(wrong()),
        None => {}
    }
    match key.parse::<u16>() {
        Ok(status @ 200..300) => Ok((0, status)),
        Ok(status @ 300..400) => Ok((2, status)),
        Ok(status @ 400..600) => Ok((4, status)),
        // An interim status is no answer.
        Ok(100..200) => Ok((5, 200)),
        _ => Err(wrong()),
    }
}

fn bodies<'d>(
    document: &'d Document,
    search: &mut Search<'d>,
    content: &'d Value,
) -> Result<Vec<(Media, Bytes)>, Reason> {
    let Some(content) = content.as_object() else {
        return Err(Reason::new("`content` of its response is no object"));
    };
    let mut found: Vec<(Media, Bytes)> = Vec::new();
    let mut refusal = None;
    for (name, declared) in content {
        let Some(media) = Media::parse(name) else {
            return Err(Reason::new(format!("`{name}` is no media type")));
        };
        let declared = document.follow(declared)?;
        let body = body(search, &media, declared.get("schema"));
        match body.map_err(|reason| reason.within(name)) {
            Ok(body) => found.push((media, body)),
            Err(reason) if media.is_json() || reason.spent => return Err(reason),
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    found.sort_by_key(|(media, _)| !media.is_json());
    match refusal {
        // What cannot be told in one form is told in the other.
        Some(reason) if found.is_empty() => Err(reason),
        _ => Ok(found),
    }
}

fn body<'d>(
    search: &mut Search<'d>,
    media: &Media,
    schema: Option<&'d Value>,
) -> Result<Bytes, Reason> {
    if media.is_json() {
        let value = schema.map(|schema| search.zero(schema)).transpose()?;
        let value = value.unwrap_or_else(|| Value::Object(Map::new()));
        return Ok(Bytes::from(value.to_string()));
    }
    // Without a schema, or with one that an empty text meets, the body is empty.
    let Some(schema) = schema else {
        return Ok(Bytes::new());
    };
    let empty = Value::String(String::new());
    if search.meets(schema, &empty) {
        return Ok(Bytes::new());
    }
    match search.zero(schema)? {
        Value::String(text) => Ok(Bytes::from(text)),
        scalar @ (Value::Bool(_) | Value::Number(_)) if media.is_text() => {
            Ok(Bytes::from(scalar.to_string()))
        }
        _ => Err(Reason::new(format!(
            "its schema asks for structure, which is made up in JSON alone and not as `{}`",
            media.text
        ))),
    }
}
