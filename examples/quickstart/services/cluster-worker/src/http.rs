//! A small HTTP/1.1 server, one thread and one request per connection, and a client for calls to
//! other services, on `std` alone. The same file stands in both services, as each is a checkout of
//! its own; its tests stand in cluster-api.

use crate::json::{self, object, Json};
use crate::log;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Take, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const MAX_HEAD: u64 = 16 * 1024;
const MAX_BODY: u64 = 1024 * 1024;
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

/// Why a message could not be read; status 0 if nobody waits for an answer any more.
struct Failure {
    status: u16,
    why: String,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => failure(408, "it took too long"),
            ErrorKind::InvalidData => failure(400, "it is not UTF-8"),
            _ => failure(0, &error.to_string()),
        }
    }
}

fn failure(status: u16, why: &str) -> Failure {
    Failure {
        status,
        why: why.to_owned(),
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

/// A request or a reply.
#[derive(Default)]
struct Message {
    first: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Message {
    /// The first header of a name; case does not matter.
    fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// How long the body is, if the head says it.
    fn length(&self) -> Result<Option<u64>, Failure> {
        if self.header("Transfer-Encoding").is_some() {
            return Err(failure(501, "send the body with Content-Length"));
        }
        match self.header("Content-Length") {
            None => Ok(None),
            Some(digits) if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) => {
                Err(failure(400, "Content-Length is no number"))
            }
            Some(digits) => match digits.parse() {
                Ok(length) if length <= MAX_BODY => Ok(Some(length)),
                _ => Err(failure(413, "the body is too large")),
            },
        }
    }
}

/// Reads a whole message. Without `Content-Length` a request has no body, and that of a reply ends
/// with the connection.
fn read_message(stream: &TcpStream, limit: Duration, is_reply: bool) -> Result<Message, Failure> {
    let mut reader = BufReader::new(Timed {
        stream,
        until: Instant::now() + limit,
    });
    let mut message = read_head(reader.by_ref().take(MAX_HEAD))?;
    let length = message.length()?;
    let most = length.unwrap_or(if is_reply { MAX_BODY } else { 0 });
    let read = reader.take(most).read_to_string(&mut message.body)?;
    match length {
        Some(length) if length > read as u64 => Err(failure(0, "it was cut off")),
        _ => Ok(message),
    }
}

/// The first line and the headers, up to the empty line.
fn read_head(mut reader: Take<impl BufRead>) -> Result<Message, Failure> {
    let mut message = Message::default();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if !line.ends_with('\n') {
            let too_large = reader.limit() == 0;
            return Err(if too_large {
                failure(431, "the head is too large")
            } else {
                failure(0, "it was cut off")
            });
        }
        let line = line.trim_end_matches(&['\r', '\n'][..]);
        match line.split_once(':') {
            _ if message.first.is_empty() => message.first = line.to_owned(),
            _ if line.is_empty() => return Ok(message),
            Some((key, value)) if !key.contains(char::is_whitespace) => {
                message
                    .headers
                    .push((key.to_owned(), value.trim().to_owned()));
            }
            _ => return Err(failure(400, "a header line is malformed")),
        }
    }
}

/// A stream that is read until a moment, so that a trickle does not go on forever.
struct Timed<'a> {
    stream: &'a TcpStream,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}
