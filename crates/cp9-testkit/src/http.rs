//! A small HTTP client for asking services of a session.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(10);

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// The headers, in their order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl HttpReply {
    /// The first header of a name; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text of its own.
    pub fn text(&self) -> String {
        self.body.clone()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|err| panic!("{err} in {:?}", self.body))
    }
}

/// GETs a URL such as `http://127.0.0.1:20001/healthz`.
pub fn http_get(url: &str) -> io::Result<HttpReply> {
    http("GET", url, &[], "")
}

/// POSTs a JSON body to a URL.
pub fn http_post(url: &str, body: &str) -> io::Result<HttpReply> {
    http("POST", url, &[("Content-Type", "application/json")], body)
}

/// Sends one request on a connection of its own.
pub fn http(
    method: &str,
    url: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<HttpReply> {
    let rest = url
        .strip_prefix("http://")
        .ok_or_else(|| invalid("not an http URL"))?;
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    let fixed = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}",
        body.len()
    );
    let given = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let lines: Vec<String> = std::iter::once(fixed).chain(given).collect();
    let request = format!("{}\r\n\r\n{body}", lines.join("\r\n"));
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    stream.write_all(request.as_bytes())?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply)?;
    parse(&reply)
}

fn parse(reply: &[u8]) -> io::Result<HttpReply> {
    let end = reply.windows(4).position(|window| window == b"\r\n\r\n");
    let end = end.ok_or_else(|| invalid("the reply has no head"))?;
    let head = String::from_utf8_lossy(&reply[..end]);
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let status = status.ok_or_else(|| invalid("the reply has no status"))?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut reply = HttpReply {
        status,
        headers,
        body: String::from_utf8_lossy(&reply[end + 4..]).into_owned(),
    };
    if reply
        .header("Transfer-Encoding")
        .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    {
        reply.body = unchunk(&reply.body)?;
    } else if let Some(length) = reply.header("Content-Length").map(str::to_owned)
        && length != reply.body.len().to_string()
    {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(reply)
}

fn unchunk(body: &str) -> io::Result<String> {
    let (mut rest, mut whole) = (body, String::new());
    loop {
        let (size, after) = rest
            .split_once("\r\n")
            .ok_or_else(|| invalid("a chunk has no size"))?;
        let size = size.split(';').next().unwrap_or(size).trim();
        let size = usize::from_str_radix(size, 16)
            .map_err(|_| invalid("a chunk's size is not a number"))?;
        if size == 0 {
            return Ok(whole);
        }
        whole += after
            .get(..size)
            .ok_or_else(|| invalid("a chunk was cut off"))?;
        rest = after
            .get(size + 2..)
            .ok_or_else(|| invalid("a chunk was cut off"))?;
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_plain_and_chunked_replies() {
        let reply = parse(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nX-A: b: c\r\n\r\n{}")
            .expect("whole");
        assert_eq!(
            (reply.status, reply.header("x-a"), reply.body.as_str()),
            (201, Some("b: c"), "{}")
        );
        let reply = parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n");
        assert_eq!(reply.expect("whole").body, "abcde");
    }

    #[test]
    fn refuses_halves() {
        for half in [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1\r\n\r\n",
        ] {
            assert!(parse(half.as_bytes()).is_err(), "{half:?}");
        }
        assert!(parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab").is_err());
        assert!(http_get("https://127.0.0.1/").is_err());
    }
}
