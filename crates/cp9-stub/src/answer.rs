//! What is sent back.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{ALLOW, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// An answer before it becomes a response.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
}

impl Answer {
    /// A body without content.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Bytes::new(),
        }
    }

    /// A JSON body.
    pub(crate) fn json(status: StatusCode, value: &Value) -> Self {
        Self {
            status,
            headers: vec![(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
            body: Bytes::from(value.to_string()),
        }
    }

    /// `200 {}`.
    pub(crate) fn accepted() -> Self {
        Self::json(StatusCode::OK, &json!({}))
    }

    /// An answer that says what is wrong.
    pub(crate) fn refusal(status: StatusCode, error: &str, method: &str, path: &str) -> Self {
        let body = json!({ "error": error, "method": method, "path": path });
        Self::json(status, &body)
    }

    /// The same with the methods that are allowed.
    pub(crate) fn with_allow(mut self, methods: &[&str]) -> Self {
        if let Ok(value) = HeaderValue::from_str(&methods.join(", ")) {
            self.headers.push((ALLOW, value));
        }
        self
    }

    /// The response; that of a HEAD request tells the length of a body that it does not carry.
    pub(crate) fn response(self, head: bool) -> Response<Full<Bytes>> {
        let length = self.body.len();
        let body = if head { Bytes::new() } else { self.body };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        let bodiless = matches!(self.status.as_u16(), 204 | 304);
        if head && !bodiless {
            response
                .headers_mut()
                .insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        response
    }
}
