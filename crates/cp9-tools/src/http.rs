//! HTTP: to a loopback port of this machine on a connection of its own, and to the outside over
//! pooled connections. Every request is bounded in time and size, cancellable and recorded.

mod outbound;
mod pool;
mod proxy;

#[cfg(test)]
mod outbound_tests;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;
use std::time::Duration;

use cp9_model::{Category, Explain};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Doors;
use crate::record::{Call, Kind};

pub use outbound::{HttpRequest, HttpResponse};
pub(crate) use pool::Outbound;

/// What is kept of a body.
const MOST_BODY: usize = 64 * 1024;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// The body's first 64 KiB.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The request cannot be written.
    #[error("cannot ask `{url}`: path or headers are not valid in HTTP")]
    Invalid {
        /// What was asked.
        url: String,
        /// The rule that is broken.
        source: hyper::http::Error,
    },
    /// No connection.
    #[error("cannot connect to `{url}`")]
    Connect {
        /// What was asked.
        url: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The other side does not speak HTTP/1.1, or hung up.
    #[error("no valid HTTP answer from `{url}`")]
    Answer {
        /// What was asked.
        url: String,
        /// What is wrong with it.
        source: hyper::Error,
    },
    /// No whole answer in time.
    #[error("no answer from `{url}` within {} ms", .limit.as_millis())]
    TimedOut {
        /// What was asked.
        url: String,
        /// The limit.
        limit: Duration,
    },
    /// The request cannot be sent as it is.
    #[error("cannot ask `{url}`: its {what} is not valid in HTTP")]
    Malformed {
        /// What was asked.
        url: String,
        /// Which part.
        what: &'static str,
    },
    /// No connection to another machine: nothing of the request was sent.
    #[error("cannot connect to `{url}`")]
    Unreachable {
        /// What was asked.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The other side's certificate is not trusted: nothing of the request was sent.
    #[error("the certificate of `{url}` is not trusted")]
    Untrusted {
        /// What was asked.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The connection broke after the request was sent, in part or whole.
    #[error("the connection to `{url}` broke")]
    Broken {
        /// What was asked.
        url: String,
        /// How.
        source: reqwest::Error,
    },
    /// The answer is larger than the caller takes.
    #[error("the answer of `{url}` is larger than {most} bytes")]
    TooLarge {
        /// What was asked.
        url: String,
        /// The most that the caller takes.
        most: usize,
    },
    /// The certificates to trust cannot be used.
    #[error("`{path}`, named by `{variable}`, holds no usable certificates")]
    Certificates {
        /// The variable that names the file.
        variable: &'static str,
        /// The file.
        path: String,
        /// Why not; none when it holds none.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The address of the proxy cannot be used.
    #[error("`{variable}` is not the address of an HTTP proxy")]
    Proxy {
        /// The variable.
        variable: String,
    },
    /// HTTPS cannot be set up on this machine.
    #[error("cannot set up HTTPS")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Cancelled.
    #[error("call of `{url}` was interrupted")]
    Interrupted {
        /// What was asked.
        url: String,
    },
}

impl Explain for HttpError {
    fn category(&self) -> Category {
        match self {
            Self::Invalid { .. }
            | Self::Malformed { .. }
            | Self::Untrusted { .. }
            | Self::Certificates { .. }
            | Self::Proxy { .. }
            | Self::Client(_) => Category::Config,
            Self::TooLarge { .. } => Category::Permanent,
            _ => Category::Transient,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } | Self::Malformed { .. } => "http-invalid",
            Self::Connect { .. } | Self::Unreachable { .. } => "http-connect",
            Self::Answer { .. } | Self::Broken { .. } => "http-answer",
            Self::TooLarge { .. } => "http-too-large",
            Self::Untrusted { .. } => "http-untrusted",
            Self::Certificates { .. } => "http-certificates",
            Self::Proxy { .. } => "http-proxy",
            Self::Client(_) => "http-client",
            Self::TimedOut { .. } => "http-timeout",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    fn remedy(&self) -> Option<String> {
        match self {
            Self::Untrusted { .. } => Some(
                "if a proxy of your company signs what passes it, point AWS_CA_BUNDLE to a file \
                 with its certificates and all others you need"
                    .into(),
            ),
            Self::Certificates { variable, .. } => Some(format!(
                "point `{variable}` to a file of PEM certificates, or unset it"
            )),
            Self::Proxy { variable } => Some(format!(
                "set `{variable}` to an address such as `http://proxy.example:3128`, or unset it"
            )),
            Self::Client(_) => Some("install the system's `ca-certificates`".into()),
            _ => None,
        }
    }
}

impl Doors {
    /// Gets a path of a loopback port. Redirects are not followed; the limit covers connection,
    /// head and body.
    pub async fn http_get(
        &self,
        port: u16,
        path: &str,
        headers: &[(String, String)],
        timeout: Duration,
    ) -> Result<HttpReply, HttpError> {
        let slash = if path.starts_with('/') { "" } else { "/" };
        let url = format!("http://127.0.0.1:{port}{slash}{path}");
        let answer = get(port, &url, headers);
        let word = |reply: &HttpReply| reply.status.to_string();
        self.bounded("GET", &url, timeout, answer, word).await
    }

    /// Connects to a loopback port and hangs up.
    pub async fn tcp_probe(&self, port: u16, timeout: Duration) -> Result<(), HttpError> {
        let url = format!("tcp://127.0.0.1:{port}");
        let connected = async { connect(port, &url).await.map(drop) };
        let word = |(): &()| "connected".to_owned();
        self.bounded("CONNECT", &url, timeout, connected, word)
            .await
    }

    async fn bounded<T>(
        &self,
        what: &str,
        url: &str,
        limit: Duration,
        call: impl Future<Output = Result<T, HttpError>>,
        word: impl FnOnce(&T) -> String,
    ) -> Result<T, HttpError> {
        self.bounded_as(what, url, url, limit, call, word).await
    }

    /// As `bounded`, with another address in messages than in the record.
    async fn bounded_as<T>(
        &self,
        what: &str,
        url: &str,
        address: &str,
        limit: Duration,
        call: impl Future<Output = Result<T, HttpError>>,
        word: impl FnOnce(&T) -> String,
    ) -> Result<T, HttpError> {
        let started = self.clock.instant();
        let asked = address.to_owned();
        let result = tokio::select! {
            result = call => result,
            () = tokio::time::sleep(limit) => Err(HttpError::TimedOut { url: asked, limit }),
            () = self.cancel.cancelled() => Err(HttpError::Interrupted { url: asked }),
        };
        let outcome = match &result {
            Ok(value) => word(value),
            Err(error) => error.code().to_owned(),
        };
        self.recorder.call(Call {
            url: Some(url.to_owned()),
            ..Call::new(Kind::Http, what, millis(started.elapsed()), outcome)
        });
        result
    }
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

async fn connect(port: u16, url: &str) -> Result<TcpStream, HttpError> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
    stream.map_err(|source| HttpError::Connect {
        url: url.to_owned(),
        source,
    })
}

async fn get(port: u16, url: &str, headers: &[(String, String)]) -> Result<HttpReply, HttpError> {
    let request = request(port, url, headers)?;
    let stream = connect(port, url).await?;
    exchange(stream, request)
        .await
        .map_err(|source| HttpError::Answer {
            url: url.to_owned(),
            source,
        })
}

fn request(
    port: u16,
    url: &str,
    headers: &[(String, String)],
) -> Result<Request<Empty<Bytes>>, HttpError> {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let mut builder = Request::get(format!("/{path}")).header("connection", "close");
    let given = |name: &str| {
        headers
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    };
    if !given("host") {
        builder = builder.header("host", format!("127.0.0.1:{port}"));
    }
    if !given("user-agent") {
        builder = builder.header("user-agent", "cp9");
    }
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    builder
        .body(Empty::new())
        .map_err(|source| HttpError::Invalid {
            url: url.to_owned(),
            source,
        })
}

async fn exchange(
    stream: TcpStream,
    request: Request<Empty<Bytes>>,
) -> Result<HttpReply, hyper::Error> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let answer = async {
        let response = sender.send_request(request).await?;
        read(response).await
    };
    let drive = async {
        // What went wrong with the connection reaches us through the answer.
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = answer => answer,
        () = drive => unreachable!("the connection's driver never returns"),
    }
}

async fn read(response: Response<Incoming>) -> Result<HttpReply, hyper::Error> {
    let status = response.status().as_u16();
    let mut incoming = response.into_body();
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        if let Ok(data) = frame?.into_data() {
            let room = MOST_BODY - body.len();
            body.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() >= room {
                break;
            }
        }
    }
    Ok(HttpReply { status, body })
}
