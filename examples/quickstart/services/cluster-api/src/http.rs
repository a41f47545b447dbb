//! A small HTTP/1.1 server, one thread and one request per connection, and a client for calls to
//! other services, on `std` alone. The same file stands in both services, as each is a checkout of
//! its own; its tests stand in cluster-api.

use crate::json::{self, object, Json};
use crate::log;
use crate::message::{failure, read_message, Failure, Message, Timed, MAX_BODY};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const MAX_CONNECTIONS: usize = 128;
/// How long a client may take to send its request, and to take the response.
const CLIENT_TIME: Duration = Duration::from_secs(10);
/// How long another service may take to answer.
const CALL_TIME: Duration = Duration::from_secs(5);

/// What a client asks.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    /// The path, without what follows a `?`.
    pub path: String,
    pub body: String,
    /// The id from `X-Trace-Id`, or a new one.
    pub trace_id: String,
}

impl Request {
    /// The path in pieces: `/a/b` is `["a", "b"]`.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').skip(1).collect()
    }
}

/// What is answered: a status and a JSON body.
#[derive(Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    pub body: Json,
    /// The methods that the path knows, for a 405.
    pub allow: &'static str,
}

impl Response {
    pub fn new(status: u16, body: Json) -> Response {
        Response {
            status,
            body,
            allow: "",
        }
    }

    pub fn error(status: u16, message: &str) -> Response {
        Response::new(status, object([("error", Json::from(message))]))
    }

    pub fn not_allowed(allow: &'static str) -> Response {
        Response {
            allow,
            ..Response::error(405, "this path does not know that method")
        }
    }
}

/// Answers every connection of the listener, forever.
pub fn serve<H>(listener: TcpListener, handler: H) -> !
where
    H: Fn(&Request) -> Response + Send + Sync + 'static,
{
    // Each connection holds a clone, so their count is the number of connections.
    let handler = Arc::new(handler);
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: let some connections end first.
                log::line("error", "", &format!("cannot accept: {error}"));
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        if Arc::strong_count(&handler) > MAX_CONNECTIONS {
            let _ = send(
                &stream,
                &Response::error(503, "too many connections"),
                "",
                true,
            );
            continue;
        }
        let handler = Arc::clone(&handler);
        // Without a thread the connection is closed, and that is all one can do.
        let _ = thread::Builder::new().spawn(move || connection(&stream, handler.as_ref()));
    }
}

/// One connection: read, answer, log.
fn connection(stream: &TcpStream, handler: &dyn Fn(&Request) -> Response) {
    let started = Instant::now();
    let read = read_message(stream, CLIENT_TIME, false).and_then(request);
    let (request, with_body) = match read {
        Ok(read) => read,
        Err(failure) if failure.status == 0 => return,
        Err(failure) => return refuse(stream, &failure),
    };
    let response = catch_unwind(AssertUnwindSafe(|| handler(&request)))
        .unwrap_or_else(|_| Response::error(500, "the handler panicked"));
    let _ = send(stream, &response, &request.trace_id, with_body);
    // Health checks come many times a minute and would drown the rest.
    if request.path != "/healthz" || response.status != 200 {
        let level = if response.status < 500 {
            "info"
        } else {
            "error"
        };
        let millis = started.elapsed().as_millis();
        let msg = format!(
            "{} {} {} in {millis} ms",
            request.method, request.path, response.status
        );
        log::line(level, &request.trace_id, &msg);
    }
}

/// Closing while the client still sends would reset the connection, and the refusal might be
/// lost; so a little of the rest is read.
fn refuse(stream: &TcpStream, failure: &Failure) {
    let trace_id = log::new_trace_id();
    log::line(
        "warn",
        &trace_id,
        &format!("refused a request: {}", failure.why),
    );
    let _ = send(
        stream,
        &Response::error(failure.status, &failure.why),
        &trace_id,
        true,
    );
    let until = Instant::now() + Duration::from_millis(500);
    let _ = Timed { stream, until }
        .take(MAX_BODY)
        .read_to_end(&mut Vec::new());
}

/// A request, and whether its answer has a body: HEAD is GET without one.
fn request(message: Message) -> Result<(Request, bool), Failure> {
    let words: Vec<&str> = message.first.split(' ').collect();
    let (method, target) = match words[..] {
        [method, target, version] if version.starts_with("HTTP/1.") => (method, target),
        _ => return Err(failure(400, "the request line is not METHOD PATH HTTP/1.1")),
    };
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(failure(400, "the method is malformed"));
    }
    if !target.starts_with('/') {
        return Err(failure(400, "the path does not start with a slash"));
    }
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_trace_id = |id: &&str| (1..=64).contains(&id.len()) && id.bytes().all(allowed);
    let trace_id = message
        .header("X-Trace-Id")
        .filter(is_trace_id)
        .map(str::to_owned);
    let request = Request {
        method: if method == "HEAD" { "GET" } else { method }.to_owned(),
        path: target.split('?').next().unwrap_or(target).to_owned(),
        trace_id: trace_id.unwrap_or_else(log::new_trace_id),
        body: message.body.clone(),
    };
    Ok((request, method != "HEAD"))
}

fn send(mut stream: &TcpStream, response: &Response, trace: &str, body: bool) -> io::Result<()> {
    // The line end is for people who call this from a terminal.
    let text = format!("{}\n", response.body);
    let mut head = format!(
        "HTTP/1.1 {} {}\r\n",
        response.status,
        reason(response.status)
    );
    head += "Content-Type: application/json\r\nConnection: close\r\n";
    head += &format!("Content-Length: {}\r\nX-Trace-Id: {trace}\r\n", text.len());
    if !response.allow.is_empty() {
        head += &format!("Allow: {}\r\n", response.allow);
    }
    let message = format!("{head}\r\n{}", if body { &text } else { "" });
    stream.set_write_timeout(Some(CLIENT_TIME))?;
    stream.write_all(message.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        _ => "Other",
    }
}

/// A service that this one calls.
pub struct Peer {
    pub name: &'static str,
    /// Where it answers: `host:port`, or `http://host:port/base`; port 80 if there is none.
    pub url: String,
}

impl Peer {
    /// Asks it for `METHOD PATH`, and passes the trace id on. No answer, and one that says that the
    /// service itself failed, is a 502 that names the service.
    pub fn call(&self, what: &str, trace_id: &str, body: &str) -> Result<(u16, Json), Response> {
        let (status, text) = self
            .ask(what, trace_id, body)
            .map_err(|e| self.failed(trace_id, &e.why))?;
        if status >= 500 {
            return Err(self.failed(trace_id, &format!("status {status}")));
        }
        // Some answers are nothing but their status.
        let reply = if text.is_empty() {
            Ok(Json::Null)
        } else {
            json::parse(&text)
        };
        reply
            .map(|reply| (status, reply))
            .map_err(|why| self.failed(trace_id, &why))
    }

    /// Logs what is wrong with the service, and makes the answer to our own client of it.
    pub fn failed(&self, trace_id: &str, why: &str) -> Response {
        log::line(
            "error",
            trace_id,
            &format!("{} at {}: {why}", self.name, self.url),
        );
        Response::error(502, &format!("{} does not answer as it should", self.name))
    }

    /// HTTP/1.0, so that the other side closes the connection and sends no chunks.
    fn ask(&self, what: &str, trace_id: &str, body: &str) -> Result<(u16, String), Failure> {
        let (method, path) = what.split_once(' ').unwrap_or((what, "/"));
        let url = self.url.strip_prefix("http://").unwrap_or(&self.url);
        let (host, base) = url.split_at(url.find('/').unwrap_or(url.len()));
        let base = base.trim_end_matches('/');
        let address = if host.contains(':') {
            host.to_owned()
        } else {
            format!("{host}:80")
        };
        let mut stream = connect(&address)?;
        stream.set_write_timeout(Some(CALL_TIME))?;
        let mut text = format!("{method} {base}{path} HTTP/1.0\r\nHost: {host}\r\n");
        text += &format!("X-Trace-Id: {trace_id}\r\nContent-Type: application/json\r\n");
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes())?;
        let reply = read_message(&stream, CALL_TIME, true)?;
        let status = reply
            .first
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok((
            status.ok_or_else(|| failure(0, "the reply has no status"))?,
            reply.body,
        ))
    }
}

/// Tries every address of the name.
fn connect(address: &str) -> io::Result<TcpStream> {
    let mut result = Err(ErrorKind::AddrNotAvailable.into());
    for address in address.to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, CALL_TIME);
        if result.is_ok() {
            break;
        }
    }
    result
}
