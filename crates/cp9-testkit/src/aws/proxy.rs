//! A proxy before an AWS endpoint: it records each call and answers those that it is told to answer.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A call that reached the proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The service that the request was signed for.
    pub service: String,
    /// The region that it was signed for.
    pub region: String,
    /// The operation; for services without one the method and path.
    pub operation: String,
    /// When its signature says that it was made, as in `20261201T040000Z`.
    pub time: String,
    /// What was sent.
    pub body: String,
}

impl Asked {
    /// True for what changes nothing: questions, and becoming somebody.
    pub fn is_harmless(&self) -> bool {
        const WORDS: [&str; 6] = ["Get", "List", "Describe", "AssumeRole", "Head", "GET "];
        WORDS.iter().any(|word| self.operation.starts_with(word))
    }
}

/// What to do instead of passing a call on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The error of the service, by its code.
    Error(u16, &'static str, &'static str),
    /// The refusal of a request whose clock is off, dated with another time, as in `Tue, 01 Dec 2026 04:00:00 GMT`.
    Skew(&'static str),
    /// The answer, in which credentials end at another time, as in `2026-12-01T04:00:00Z`.
    Ends(String),
    /// The answer, but late.
    Slow(Duration),
    /// Nothing, ever.
    Hang,
    /// The connection breaks.
    Reset,
}

type Judge = dyn Fn(&Asked, usize) -> Option<Fault> + Send + Sync;

/// The proxy; it ends with the test's process.
#[derive(Clone)]
pub struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    given: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// A proxy before a port of this machine. `judge` sees each call and how many came before it.
    pub fn before(
        port: u16,
        judge: impl Fn(&Asked, usize) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let proxy = Self {
            port: listener.local_addr().expect("an address").port(),
            asked: Arc::default(),
            given: Arc::default(),
        };
        let (clone, judge) = (proxy.clone(), Arc::new(judge) as Arc<Judge>);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (proxy, judge) = (clone.clone(), Arc::clone(&judge));
                // A caller that hangs up ends its own connection only.
                thread::spawn(move || proxy.serve(&stream, port, &*judge));
            }
        });
        proxy
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every call so far.
    pub fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Every secret value of the keys that the answers so far gave to somebody.
    pub fn given(&self) -> Vec<String> {
        let given = self.given.lock();
        given.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The answer of the port, whose secrets are remembered before anybody has them.
    fn learn(&self, request: &Request, port: u16) -> Option<Vec<u8>> {
        let reply = request.pass_on(port)?;
        let secrets = secrets(&String::from_utf8_lossy(&reply));
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.extend(secrets);
        Some(reply)
    }

    fn serve(&self, stream: &TcpStream, port: u16, judge: &Judge) -> Option<()> {
        let mut reader = BufReader::new(stream);
        while let Some(request) = Request::read(&mut reader) {
            let asked = request.asked();
            let before = {
                let mut all = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(asked.clone());
                all.len() - 1
            };
            let mut to = stream;
            match judge(&asked, before) {
                None => to.write_all(&self.learn(&request, port)?).ok()?,
                Some(Fault::Slow(by)) => {
                    thread::sleep(by);
                    to.write_all(&self.learn(&request, port)?).ok()?;
                }
                Some(Fault::Ends(at)) => {
                    to.write_all(&ending(&self.learn(&request, port)?, &at)?)
                        .ok()?;
                }
                Some(Fault::Error(status, code, message)) => {
                    to.write_all(refusal(&request, status, code, message, None).as_bytes())
                        .ok()?;
                }
                Some(Fault::Skew(now)) => {
                    let (code, message) = SKEWED;
                    to.write_all(refusal(&request, 403, code, message, Some(now)).as_bytes())
                        .ok()?;
                }
                Some(Fault::Hang) => loop {
                    thread::park();
                },
                Some(Fault::Reset) => return stream.shutdown(Shutdown::Both).ok(),
            }
        }
        None
    }
}

/// The secret values of the credentials that an answer gives.
fn secrets(reply: &str) -> Vec<String> {
    let of = |element: &str| {
        let (open, close) = (format!("<{element}>"), format!("</{element}>"));
        let parts: Vec<String> = reply
            .split(&open)
            .skip(1)
            .filter_map(|rest| rest.split_once(&close))
            .map(|(value, _)| value.trim().to_owned())
            .collect();
        parts
    };
    let all = ["AccessKeyId", "SecretAccessKey", "SessionToken"].map(of);
    let all = all.into_iter().flatten();
    all.filter(|value| !value.is_empty()).collect()
}

/// An answer in which credentials end at another time.
fn ending(reply: &[u8], at: &str) -> Option<Vec<u8>> {
    let reply = String::from_utf8(reply.to_vec()).ok()?;
    let (head, body) = reply.split_once("\r\n\r\n")?;
    let (before, rest) = body.split_once("<Expiration>")?;
    let (_, after) = rest.split_once("</Expiration>")?;
    let body = format!("{before}<Expiration>{at}</Expiration>{after}");
    let lines = head
        .split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("content-length:"));
    let head = lines.collect::<Vec<_>>().join("\r\n");
    let length = body.len();
    Some(format!("{head}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes())
}

/// What a service says to a request from another time.
const SKEWED: (&str, &str) = (
    "RequestTimeTooSkewed",
    "The difference between the request time and the current time is too large.",
);

/// An error in the words of the protocol that the request speaks.
fn refusal(request: &Request, status: u16, code: &str, message: &str, now: Option<&str>) -> String {
    let json = request.header("content-type");
    let body = if json.is_some_and(|kind| kind.contains("json")) {
        format!("{{\"__type\":\"{code}\",\"message\":\"{message}\"}}")
    } else {
        format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>\
             <RequestId>injected</RequestId></ErrorResponse>"
        )
    };
    // The REST protocol tells the code in a header alone.
    let date = now.map_or_else(String::new, |now| format!("Date: {now}\r\n"));
    format!(
        "HTTP/1.1 {status} Refused\r\n{date}X-Amzn-ErrorType: {code}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A request as it came.
struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(reader: &mut BufReader<&TcpStream>) -> Option<Self> {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then_some(())?;
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let Some((name, value)) = header.trim_end().split_once(':') else {
                break;
            };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        let mut request = Self {
            line: line.trim_end().to_owned(),
            headers,
            body: Vec::new(),
        };
        let length = request
            .header("content-length")
            .and_then(|text| text.parse().ok());
        request.body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    fn asked(&self) -> Asked {
        // Credential=KEY/DATE/REGION/SERVICE/aws4_request
        let credential = self.header("authorization").unwrap_or_default();
        let scope: Vec<&str> = credential
            .split_once("Credential=")
            .map(|(_, rest)| rest.split([',', ' ']).next().unwrap_or_default())
            .unwrap_or_default()
            .split('/')
            .collect();
        let part = |at: usize| {
            scope
                .get(at)
                .map(|&part| part.to_owned())
                .unwrap_or_default()
        };
        let body = String::from_utf8_lossy(&self.body).into_owned();
        let action = body
            .split('&')
            .find_map(|pair| pair.strip_prefix("Action="));
        let target = self.header("x-amz-target");
        let target = target.and_then(|target| target.rsplit('.').next());
        let plain = self.line.trim_end_matches(" HTTP/1.1");
        Asked {
            service: part(3),
            region: part(2),
            operation: target.or(action).unwrap_or(plain).to_owned(),
            time: self.header("x-amz-date").unwrap_or_default().to_owned(),
            body,
        }
    }

    /// Sends it on, on a connection of its own, and brings the whole answer back.
    fn pass_on(&self, port: u16) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
        let mut head = format!("{}\r\nConnection: close\r\n", self.line);
        for (name, value) in &self.headers {
            if !name.eq_ignore_ascii_case("connection") {
                head.extend([name, ": ", value, "\r\n"]);
            }
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&self.body).ok()?;
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).ok()?;
        Some(kept_alive(&reply))
    }
}

/// The answer without the word that ends the connection: what it is the end of is ours.
fn kept_alive(reply: &[u8]) -> Vec<u8> {
    let end = reply.windows(4).position(|window| window == b"\r\n\r\n");
    let Some(end) = end else {
        return reply.to_vec();
    };
    let head = String::from_utf8_lossy(&reply[..end]);
    let lines = head
        .split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
    let head = lines.collect::<Vec<_>>().join("\r\n");
    [head.as_bytes(), &reply[end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_an_answer_are_known() {
        let reply = "HTTP/1.1 200 OK\r\n\r\n<Credentials><AccessKeyId>ASIA1</AccessKeyId>\n\
             <SecretAccessKey>a/b+c</SecretAccessKey><SessionToken> t== </SessionToken></Credentials>";
        assert_eq!(secrets(reply), ["ASIA1", "a/b+c", "t=="]);
        assert_eq!(
            secrets("<Arn>arn:aws:iam::1:role/x</Arn>"),
            Vec::<String>::new()
        );
        assert_eq!(
            secrets("<SessionToken></SessionToken>"),
            Vec::<String>::new()
        );
    }
}
