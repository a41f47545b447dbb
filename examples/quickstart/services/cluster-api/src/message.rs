//! HTTP messages as both sides read them, with their limits. The same file stands in both services.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Take};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const MAX_HEAD: u64 = 16 * 1024;
pub const MAX_BODY: u64 = 1024 * 1024;

/// Why a message could not be read; status 0 if nobody waits for an answer any more.
pub struct Failure {
    pub status: u16,
    pub why: String,
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

pub fn failure(status: u16, why: &str) -> Failure {
    Failure {
        status,
        why: why.to_owned(),
    }
}

/// A request or a reply.
#[derive(Default)]
pub struct Message {
    pub first: String,
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Message {
    /// The first header of a name; case does not matter.
    pub fn header(&self, name: &str) -> Option<&str> {
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
pub fn read_message(
    stream: &TcpStream,
    limit: Duration,
    is_reply: bool,
) -> Result<Message, Failure> {
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
pub struct Timed<'a> {
    pub stream: &'a TcpStream,
    pub until: Instant,
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
