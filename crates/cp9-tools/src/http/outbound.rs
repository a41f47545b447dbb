//! HTTP to the outside: one request over pooled connections, bounded in time and size.

use std::error::Error;
use std::time::Duration;

use reqwest::Response;

use super::HttpError;
use crate::Doors;

/// The default for what is taken of a body.
const MOST_BODY: usize = 16 * 1024 * 1024;
/// The default limit of one request.
const LIMIT: Duration = Duration::from_secs(10);

/// One request to any address. `Debug` shows neither headers nor body, which may hold secrets.
#[derive(Clone)]
pub struct HttpRequest {
    /// `GET`, `POST` and so on.
    pub method: String,
    /// Where to, with scheme, path and query, escaped already.
    pub url: String,
    /// The headers, in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// For connection, head and body together.
    pub limit: Duration,
    /// The largest body of an answer; a larger one is an error, never cut.
    pub most: usize,
    /// What the record calls the request instead of its method, such as `sts GetCallerIdentity`.
    pub what: Option<String>,
}

impl HttpRequest {
    /// A request without headers and body, limited to 10 s and 16 MiB.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            limit: LIMIT,
            most: MOST_BODY,
            what: None,
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the limit for connection, head and body together.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Names the request for the record.
    #[must_use]
    pub fn what(mut self, what: impl Into<String>) -> Self {
        self.what = Some(what.into());
        self
    }

    /// The URL without its query, for messages.
    fn address(&self) -> String {
        let end = self.url.find(['?', '#']).unwrap_or(self.url.len());
        self.url[..end].to_owned()
    }
}

impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.address())
    }
}

/// A whole answer. `Debug` does not show its body, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The first header of a name; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }
}

impl std::fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {} bytes", self.status, self.body.len())
    }
}

impl Doors {
    /// Sends a request and takes its whole answer, whatever its status. Redirects are not
    /// followed, nothing is tried twice. Proxies and trusted certificates are those of the
    /// environment that the doors were opened with; connections are kept and shared by all clones.
    pub async fn http_send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let what = request.what.clone();
        let what = what.unwrap_or_else(|| request.method.clone());
        let (record, address) = (request.url.clone(), request.address());
        let limit = request.limit;
        let word = |response: &HttpResponse| response.status.to_string();
        let call = self.send(request, &address);
        self.bounded_as(&what, &record, &address, limit, call, word)
            .await
    }

    async fn send(&self, request: HttpRequest, address: &str) -> Result<HttpResponse, HttpError> {
        let client = self.outbound.client(self, &request.url).await?;
        let most = request.most;
        let response = client.execute(plain(request, address)?).await;
        let response = response.map_err(|error| failed(address, error))?;
        read(response, most, address).await
    }
}

/// The request as the client wants it.
fn plain(request: HttpRequest, address: &str) -> Result<reqwest::Request, HttpError> {
    let invalid = |what| HttpError::Malformed {
        url: address.to_owned(),
        what,
    };
    let method = request.method.parse().map_err(|_| invalid("method"))?;
    let url = request.url.parse().map_err(|_| invalid("address"))?;
    let mut sent = reqwest::Request::new(method, url);
    for (name, value) in request.headers {
        let name: reqwest::header::HeaderName = name.parse().map_err(|_| invalid("header name"))?;
        let mut value: reqwest::header::HeaderValue =
            value.parse().map_err(|_| invalid("header value"))?;
        value.set_sensitive(true);
        sent.headers_mut().append(name, value);
    }
    if !request.body.is_empty() {
        *sent.body_mut() = Some(request.body.into());
    }
    Ok(sent)
}

fn failed(address: &str, error: reqwest::Error) -> HttpError {
    let (url, source) = (address.to_owned(), error.without_url());
    if is_untrusted(&source) {
        HttpError::Untrusted { url, source }
    } else if source.is_connect() {
        HttpError::Unreachable { url, source }
    } else {
        HttpError::Broken { url, source }
    }
}

/// True when the chain of causes ends in a certificate that was refused. An error of input and
/// output does not name what it wraps as its source.
fn is_untrusted(error: &reqwest::Error) -> bool {
    let refused = |error: &(dyn Error + 'static)| {
        let tls = error.downcast_ref::<rustls::Error>();
        matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
    };
    let mut cause = error.source();
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        let wrapped = io.and_then(|error| error.get_ref());
        if refused(error) || wrapped.is_some_and(|wrapped| refused(wrapped)) {
            return true;
        }
        cause = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

async fn read(
    mut response: Response,
    most: usize,
    address: &str,
) -> Result<HttpResponse, HttpError> {
    let text = |value: &reqwest::header::HeaderValue| {
        String::from_utf8_lossy(value.as_bytes()).into_owned()
    };
    let headers = response.headers().iter();
    let headers = headers
        .map(|(name, value)| (name.to_string(), text(value)))
        .collect();
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let chunk = |error| failed(address, error);
    while let Some(chunk) = response.chunk().await.map_err(chunk)? {
        if body.len() + chunk.len() > most {
            return Err(HttpError::TooLarge {
                url: address.to_owned(),
                most,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpResponse {
        status,
        headers,
        body,
    })
}
