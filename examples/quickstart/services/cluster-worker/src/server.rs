//! A small HTTP/1.1 server on `std` alone: one thread and one request per connection.
//! The same file stands in both services, as each is a checkout of its own.

use crate::json::{object, Json};
use crate::log;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const MAX_HEAD: usize = 16 * 1024;
const MAX_BODY: usize = 64 * 1024;
const MAX_CONNECTIONS: usize = 128;
/// How long a client may take to send its request, and to take the response.
const CLIENT_TIME: Duration = Duration::from_secs(10);

/// What a client asks.
#[derive(Debug, Default)]
pub struct Request {
    pub method: String,
    /// The path, without what follows a `?`.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The id from `X-Trace-Id`, or a new one.
    pub trace_id: String,
}

impl Request {
    /// The first header of a name; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The path in pieces: `/a/b` is `["a", "b"]`.
    pub fn segments(&self) -> Vec<&str> {
        self.path.split('/').skip(1).collect()
    }
}

/// What is answered: a status and a JSON body.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub body: Json,
    /// The methods that the path knows, for a 405.
    pub allow: Option<&'static str>,
}

impl Response {
    pub fn new(status: u16, body: Json) -> Response {
        Response { status, body, allow: None }
    }

    pub fn error(status: u16, message: &str) -> Response {
        Response::new(status, object([("error", Json::from(message))]))
    }

    pub fn not_found() -> Response {
        Response::error(404, "no such path")
    }

    pub fn not_allowed(allow: &'static str) -> Response {
        let response = Response::error(405, "this path does not know that method");
        Response { allow: Some(allow), ..response }
    }
}

/// Why a request could not be read.
enum Failure {
    /// The client has gone; nobody waits for an answer.
    Gone,
    Refused(Response),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                refused(408, "the request took too long")
            }
            _ => Failure::Gone,
        }
    }
}

fn refused(status: u16, message: &str) -> Failure {
    Failure::Refused(Response::error(status, message))
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
            let _ = send(&stream, &Response::error(503, "too many connections"), "", true);
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
    let mut request = match read_request(stream, started + CLIENT_TIME) {
        Ok(request) => request,
        Err(Failure::Refused(refusal)) => return refuse(stream, &refusal),
        Err(Failure::Gone) => return,
    };
    // HEAD is GET without the body.
    let with_body = request.method != "HEAD";
    if !with_body {
        request.method = "GET".to_owned();
    }
    let response = catch_unwind(AssertUnwindSafe(|| handler(&request)))
        .unwrap_or_else(|_| Response::error(500, "the handler panicked"));
    let _ = send(stream, &response, &request.trace_id, with_body);
    // Health checks come many times a minute and would drown the rest.
    if request.path != "/healthz" || response.status != 200 {
        let level = if response.status < 500 { "info" } else { "error" };
        let millis = started.elapsed().as_millis();
        let msg = format!("{} {} {} in {millis} ms", request.method, request.path, response.status);
        log::line(level, &request.trace_id, &msg);
    }
}

/// Closing while the client still sends would reset the connection, and the refusal might be
/// lost; so a little of the rest is read.
fn refuse(stream: &TcpStream, refusal: &Response) {
    let trace_id = log::new_trace_id();
    log::line("warn", &trace_id, &format!("refused a request: {}", refusal.body));
    let _ = send(stream, refusal, &trace_id, true);
    let until = Instant::now() + Duration::from_millis(500);
    let mut rest = Vec::new();
    while rest.len() < 4 * MAX_BODY && read_some(stream, &mut rest, until).is_ok() {}
}

fn read_request(stream: &TcpStream, until: Instant) -> Result<Request, Failure> {
    let mut buffer = Vec::new();
    let head_end = loop {
        match buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            Some(at) => break at,
            None if buffer.len() > MAX_HEAD => {
                return Err(refused(431, "the request head is too large"))
            }
            None => read_some(stream, &mut buffer, until)?,
        }
    };
    let mut body = buffer.split_off(head_end + 4);
    buffer.truncate(head_end);
    let head = String::from_utf8(buffer).map_err(|_| refused(400, "the head is not UTF-8"))?;
    let mut request = parse_head(&head)?;
    let length = body_length(&request)?;
    while body.len() < length {
        read_some(stream, &mut body, until)?;
    }
    body.truncate(length);
    request.body = String::from_utf8(body).map_err(|_| refused(400, "the body is not UTF-8"))?;
    Ok(request)
}

/// Reads what there is, but waits no longer than `until`. The end of the stream is an error.
fn read_some(mut stream: &TcpStream, buffer: &mut Vec<u8>, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    let mut chunk = [0; 4096];
    match stream.read(&mut chunk) {
        Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
        Ok(count) => {
            buffer.extend_from_slice(&chunk[..count]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) => Err(error),
    }
}

/// Request line and headers.
fn parse_head(head: &str) -> Result<Request, Failure> {
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let (method, target, version) = match words.as_slice() {
        [method, target, version] => (*method, *target, *version),
        _ => return Err(refused(400, "the request line is not METHOD PATH VERSION")),
    };
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(refused(400, "the method is malformed"));
    }
    if !target.starts_with('/') {
        return Err(refused(400, "the path does not start with a slash"));
    }
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(refused(505, "only HTTP/1.1 is spoken here"));
    }
    let path = target.split('?').next().unwrap_or(target);
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), ..Request::default() };
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or(("", ""));
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(refused(400, "a header line is malformed"));
        }
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    if version == "HTTP/1.1" && request.header("Host").is_none() {
        return Err(refused(400, "the Host header is missing"));
    }
    let given = request.header("X-Trace-Id").filter(|id| is_trace_id(id)).map(str::to_owned);
    request.trace_id = given.unwrap_or_else(log::new_trace_id);
    Ok(request)
}

fn is_trace_id(id: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    (1..=64).contains(&id.len()) && id.bytes().all(allowed)
}

fn body_length(request: &Request) -> Result<usize, Failure> {
    if request.header("Transfer-Encoding").is_some() {
        return Err(refused(501, "send the body with Content-Length"));
    }
    let is_length = |name: &str| name.eq_ignore_ascii_case("Content-Length");
    let mut lengths = request.headers.iter().filter(|(name, _)| is_length(name));
    let length = match (lengths.next(), lengths.next()) {
        (None, _) => return Ok(0),
        (Some((_, length)), None) => length,
        _ => return Err(refused(400, "Content-Length stands twice")),
    };
    if length.is_empty() || !length.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refused(400, "Content-Length is not a number"));
    }
    let length = length.parse().ok().filter(|length| *length <= MAX_BODY);
    length.ok_or_else(|| refused(413, "the body is too large"))
}

fn send(
    mut stream: &TcpStream,
    response: &Response,
    trace_id: &str,
    with_body: bool,
) -> io::Result<()> {
    let body = response.body.to_string();
    let mut text = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    text += "Content-Type: application/json\r\nConnection: close\r\n";
    text += &format!("Content-Length: {}\r\nX-Trace-Id: {trace_id}\r\n", body.len());
    if let Some(allow) = response.allow {
        text += &format!("Allow: {allow}\r\n");
    }
    text += "\r\n";
    if with_body {
        text += &body;
    }
    stream.set_write_timeout(Some(CLIENT_TIME))?;
    stream.write_all(text.as_bytes())?;
    stream.shutdown(Shutdown::Write)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server on a free port that says what it was asked.
    fn start() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address").to_string();
        thread::spawn(move || serve(listener, echo));
        address
    }

    fn echo(request: &Request) -> Response {
        assert_ne!(request.path, "/panic");
        let text = format!("{} {} {}", request.method, request.path, request.body);
        Response::new(200, Json::from(text))
    }

    /// Sends bytes as they are and reads to the end.
    fn raw(address: &str, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(address).expect("connect");
        stream.write_all(bytes).expect("write");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("read");
        reply
    }

    #[test]
    fn answers_and_carries_the_trace_id() {
        let address = start();
        let head = "POST /a?b=c HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\nx-trace-id: ";
        let reply = raw(&address, format!("{head}t1\r\n\r\nü and more").as_bytes());
        assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
        assert!(reply.contains("X-Trace-Id: t1\r\n"), "{reply}");
        assert!(reply.ends_with("\r\n\r\n\"POST /a ü\""), "{reply}");
        let reply = raw(&address, format!("{head}a b\r\n\r\nü").as_bytes());
        assert!(reply.contains("X-Trace-Id: ") && !reply.contains("a b"), "{reply}");
    }

    #[test]
    fn head_has_no_body() {
        let reply = raw(&start(), b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        assert!(reply.ends_with("\r\n\r\n"), "{reply}");
    }

    #[test]
    fn a_panic_is_a_500_and_not_the_end() {
        let address = start();
        let get = |path: &str| raw(&address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes());
        assert!(get("/panic").starts_with("HTTP/1.1 500 "));
        assert!(get("/a").starts_with("HTTP/1.1 200 "));
    }

    #[test]
    fn refuses_bad_requests() {
        let address = start();
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(MAX_HEAD));
        for (bytes, status) in [
            ("nonsense\r\n\r\n", 400),
            ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("get / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
            (long.as_str(), 431),
        ] {
            let reply = raw(&address, bytes.as_bytes());
            assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes:.60}: {reply}");
        }
        let reply = raw(&address, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n\xff");
        assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    }
}
