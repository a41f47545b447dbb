//! A stub served in the background, and a client of it.

use std::sync::{Arc, Mutex};

use cp9_stub::{Config, Log, Stub, StubError, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{HeaderMap, Request};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What a stub logged, kept in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logged(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one writer").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Logged {
    /// Every line.
    pub(crate) fn lines(&self) -> Vec<serde_json::Value> {
        let bytes = self.0.lock().expect("one reader").clone();
        let text = String::from_utf8(bytes).expect("UTF-8");
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).expect("a JSON line"))
            .collect()
    }
}

/// A stub that is being served.
pub(crate) struct Served {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) logged: Logged,
    end: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    /// Opens and serves.
    pub(crate) async fn start(config: &Config) -> Result<Self, StubError> {
        let logged = Logged::default();
        let log = Log::new(logged.clone(), &config.name);
        let stub = Stub::open(config, log).await?;
        let address = stub.address();
        let (end, ended) = oneshot::channel();
        let task = tokio::spawn(serve(stub, async {
            let _ = ended.await;
        }));
        Ok(Self {
            address,
            logged,
            end,
            task,
        })
    }

    /// Opens a connection.
    pub(crate) async fn client(&self) -> Client {
        let stream = TcpStream::connect(self.address).await.expect("it listens");
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("HTTP");
        tokio::spawn(connection);
        Client { sender }
    }

    /// Ends it.
    pub(crate) async fn stop(self) {
        let _ = self.end.send(());
        self.task.await.expect("it ends in order");
    }
}

/// One connection that is kept alive.
pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// A header as text, empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().expect("a text"))
    }
}

impl Client {
    /// Sends a request without headers of its own.
    pub(crate) async fn send(&mut self, method: &str, path: &str) -> Reply {
        self.request(method, path, &[], b"").await
    }

    /// Sends a request.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "stub");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::copy_from_slice(body));
        let request = request.body(body).expect("a request");
        self.sender.ready().await.expect("the connection is open");
        let sent = self.sender.send_request(request).await;
        let (parts, body) = sent.expect("an answer").into_parts();
        let body = body.collect().await.expect("a whole body").to_bytes();
        Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.to_vec(),
        }
    }
}
