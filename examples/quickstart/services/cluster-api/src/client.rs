//! A small HTTP/1.1 client on `std` alone, for calls to other services.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

const MAX_REPLY: u64 = 1024 * 1024;
/// How long the other service may take, for each step and for all.
const CALL_TIME: Duration = Duration::from_secs(5);

/// Asks `address` (`host:port`); gives the status and the body.
pub fn call(
    address: &str,
    method: &str,
    path: &str,
    trace_id: &str,
    body: &str,
) -> io::Result<(u16, String)> {
    let mut stream = connect(address)?;
    stream.set_write_timeout(Some(CALL_TIME))?;
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    text += &format!("X-Trace-Id: {trace_id}\r\nContent-Type: application/json\r\n");
    text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(text.as_bytes())?;
    parse_reply(&read_reply(&stream)?)
}

/// Tries every address of the name.
fn connect(address: &str) -> io::Result<TcpStream> {
    let mut result = Err(invalid("the address names no host"));
    for address in address.to_socket_addrs()? {
        result = TcpStream::connect_timeout(&address, CALL_TIME);
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Reads to the end, as we asked the other side to close. A trickle does not go on forever.
fn read_reply(stream: &TcpStream) -> io::Result<String> {
    let until = Instant::now() + CALL_TIME;
    let mut stream = stream.take(MAX_REPLY);
    let (mut reply, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.get_ref().set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => reply.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    String::from_utf8(reply).map_err(|_| invalid("the reply is not UTF-8"))
}

/// Status and body of a whole reply; one that was cut off is an error.
fn parse_reply(reply: &str) -> io::Result<(u16, String)> {
    let (head, body) =
        reply.split_once("\r\n\r\n").ok_or_else(|| invalid("the reply has no head"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| invalid("the reply has no status"))?;
    let headers = head.split("\r\n").filter_map(|line| line.split_once(':'));
    for (name, value) in headers {
        let whole = value.trim() == body.len().to_string();
        if name.eq_ignore_ascii_case("Content-Length") && !whole {
            return Err(invalid("the reply was cut off"));
        }
    }
    Ok((status, body.to_owned()))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_whole_replies_only() {
        let reply = "HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\n";
        assert_eq!(parse_reply(&format!("{reply}{{}}")).expect("whole"), (201, "{}".to_owned()));
        for bad in ["", reply, "HTTP/1.1\r\n\r\n", "HTTP/1.1 x y\r\n\r\n", "HTTP/1.1 200 OK\r\n"] {
            assert!(parse_reply(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_address_without_a_port_is_an_error() {
        assert!(call("nowhere", "GET", "/", "t", "").is_err());
    }
}
