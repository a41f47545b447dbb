//! The HTTP server: one task per connection, limits on everything a client may send, and an end
//! that does not wait for idle clients.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ACCEPT, CONNECTION, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::answer::Answer;
use crate::clock;
use crate::config::Config;
use crate::contract::Contract;
use crate::dispatch::{self, Asked};
use crate::error::StubError;
use crate::log::{Log, Served};
use crate::record::{self, Hide, Recording, Repair};
use crate::trace;

/// The largest head of a request, in bytes.
const HEAD: usize = 64 * 1024;
/// The largest body of a request, in bytes.
const BODY: usize = 4 * 1024 * 1024;
/// The longest wait for the next request of a connection.
const IDLE: Duration = Duration::from_secs(75);
/// The longest wait for a body.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long requests that are under way may still take at the end.
const GRACE: Duration = Duration::from_secs(2);
/// The pause after the system refused a connection, such as for want of file handles.
const BREATH: Duration = Duration::from_millis(50);

/// A stub that listens and is not yet served.
#[derive(Debug)]
pub struct Stub {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    contract: Option<Contract>,
    recording: Option<Recording>,
    hide: Hide,
    trace_header: HeaderName,
    log: Log,
}

impl Stub {
    /// Loads the contract, opens the recording and listens; nothing is answered yet.
    pub async fn open(config: &Config, log: Log) -> Result<Self, StubError> {
        config.check()?;
        let trace_header = HeaderName::from_bytes(config.trace_header.as_bytes());
        let trace_header = trace_header.map_err(|_| StubError::TraceHeader {
            name: config.trace_header.clone(),
        })?;
        let contract = config.definition.as_deref().map(Contract::load);
        let contract = contract.transpose()?;
        let recording = match &config.output {
            Some(path) => Some(recording(path, &log)?),
            None => None,
        };
        let refused = |source| StubError::Listen {
            address: config.listen.clone(),
            source,
        };
        let listener = TcpListener::bind(&config.listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self {
            listener,
            address,
            state: Arc::new(State {
                contract,
                recording,
                hide: config.hide.clone(),
                trace_header,
                log,
            }),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many operations its contract has; none without a contract.
    pub fn operations(&self) -> usize {
        let contract = self.state.contract.as_ref();
        contract.map_or(0, |contract| contract.operations)
    }
}

fn recording(path: &camino::Utf8Path, log: &Log) -> Result<Recording, StubError> {
    let (recording, repair) = Recording::open(path)?;
    match repair {
        Repair::Nothing => {}
        Repair::Ended => log.remark("warn", "ended the last line of the recording"),
        Repair::Cut(bytes) => log.remark(
            "warn",
            &format!("cut a torn last line of {bytes} bytes off the recording"),
        ),
    }
    Ok(recording)
}

/// Serves until `end` is ready, then lets requests under way finish, for two seconds at most.
pub async fn serve(stub: Stub, end: impl Future<Output = ()>) {
    let Stub {
        listener, state, ..
    } = stub;
    let (ending_tx, ending_rx) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut end = pin!(end);
    loop {
        tokio::select! {
            () = &mut end => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, state.clone(), ending_rx.clone()));
                }
                Err(_) => tokio::time::sleep(BREATH).await,
            },
            // Finished connections are forgotten.
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    drop(listener);
    let _ = ending_tx.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(GRACE, all).await.is_err() {
        connections.shutdown().await;
    }
}

async fn connection(stream: TcpStream, state: Arc<State>, mut ending: watch::Receiver<bool>) {
    // Answers are one small write; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| handle(state.clone(), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .max_header_size(HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = pin!(served);
    tokio::select! {
        _ = served.as_mut() => return,
        _ = ending.wait_for(|ending| *ending) => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}

async fn handle(
    state: Arc<State>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    let trace_id = trace::of(&parts.headers, &state.trace_header);
    let accept = parts.headers.get_all(ACCEPT);
    let accept: Vec<&str> = accept.iter().filter_map(|v| v.to_str().ok()).collect();
    let accept = accept.join(",");
    let asked = Asked {
        method: parts.method.as_str(),
        path: parts.uri.path(),
        query: parts.uri.query().unwrap_or_default(),
        accept: (!accept.is_empty()).then_some(accept.as_str()),
    };
    let health = dispatch::health(state.contract.as_ref(), &asked);
    let is_probe = health.is_some();
    let (answer, whole) = match read(body).await {
        Ok(_) if is_probe => (health.unwrap_or_else(Answer::accepted), true),
        Ok(body) => (state.reply(&asked, &parts.headers, &trace_id, &body), true),
        Err((status, error)) => {
            let answer = Answer::refusal(status, error, asked.method, asked.path);
            (answer, false)
        }
    };
    let status = answer.status.as_u16();
    let mut response = answer.response(asked.method == "HEAD");
    if let Ok(value) = HeaderValue::from_str(&trace_id) {
        let headers = response.headers_mut();
        headers.insert(state.trace_header.clone(), value);
    }
    if !whole {
        // The rest of the body would be read as the next request.
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    if !is_probe {
        state.log.served(&Served {
            trace_id: &trace_id,
            method: asked.method,
            path: asked.path,
            status,
        });
    }
    Ok(response)
}

/// The whole body, or why it is not taken.
async fn read(body: Incoming) -> Result<Bytes, (StatusCode, &'static str)> {
    let too_large = (StatusCode::PAYLOAD_TOO_LARGE, "body larger than 4 MiB");
    if body.size_hint().lower() > BODY as u64 {
        return Err(too_large);
    }
    let collected = Limited::new(body, BODY).collect();
    match tokio::time::timeout(PATIENCE, collected).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "body broken off")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "body too slow")),
    }
}

impl State {
    /// Records if it is a recorder's task, then answers; what was not recorded is not accepted.
    fn reply(
        &self,
        asked: &Asked<'_>,
        headers: &hyper::HeaderMap,
        trace_id: &str,
        body: &[u8],
    ) -> Answer {
        if let Some(recording) = &self.recording {
            let request = record::Request {
                method: asked.method,
                path: asked.path,
                query: asked.query,
                headers,
                trace_id,
                body,
            };
            if let Err(error) = recording.append(record::line(&clock::now(), &request, &self.hide))
            {
                self.log
                    .remark("error", &format!("cannot write the recording: {error}"));
                let error = "the recording cannot be written";
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                return Answer::refusal(status, error, asked.method, asked.path);
            }
        }
        dispatch::answer(self.contract.as_ref(), asked)
    }
}
