//! A server that plays AWS on a loopback port, for the tests of this module's parts.

use std::sync::{Arc, Mutex};

use cp9_tools::{Clock, Doors, Environment};
use jiff::Timestamp;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::{Aws, AwsSettings};

/// What was asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    pub(super) connection: usize,
}

impl Asked {
    pub(super) fn header(&self, name: &str) -> &str {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    /// The operation of a query call.
    pub(super) fn action(&self) -> &str {
        let mut pairs = self.body.split('&');
        pairs
            .find_map(|pair| pair.strip_prefix("Action="))
            .unwrap_or_default()
    }
}

/// What to answer.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Reply(u16, Vec<(String, String)>, String),
    /// Hangs up without a word.
    HangUp,
    /// Says nothing.
    Silence,
}

/// An answer without headers.
pub(super) fn reply(status: u16, body: impl Into<String>) -> Answer {
    Answer::Reply(status, Vec::new(), body.into())
}

/// An answer with headers.
pub(super) fn reply_with(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Answer::Reply(status, headers.iter().map(owned).collect(), body.to_owned())
}

/// The error of a query service.
pub(super) fn query_error(status: u16, code: &str, message: &str) -> Answer {
    reply(
        status,
        format!(
            "<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code>\
             <Message>{message}</Message></Error><RequestId>r-1</RequestId></ErrorResponse>"
        ),
    )
}

/// The answer to `GetCallerIdentity`.
pub(super) fn identity() -> Answer {
    reply(
        200,
        "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
         <GetCallerIdentityResult><Arn>arn:aws:sts::123456789012:assumed-role/dev/ann</Arn>\
         <UserId>AROA:ann</UserId><Account>123456789012</Account></GetCallerIdentityResult>\
         <ResponseMetadata><RequestId>r-2</RequestId></ResponseMetadata></GetCallerIdentityResponse>",
    )
}

type Play = dyn Fn(&Asked, usize) -> Answer + Send + Sync;

/// The server; ends with the test's runtime.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each request as `play` says, which is also told how many came before.
    pub(super) async fn start(
        play: impl Fn(&Asked, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            asked: Arc::default(),
        };
        let (clone, play) = (server.clone(), Arc::new(play) as Arc<Play>);
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(clone.clone().serve(stream, connection, Arc::clone(&play)));
            }
        });
        server
    }

    async fn serve(self, stream: TcpStream, connection: usize, play: Arc<Play>) {
        let mut stream = BufReader::new(stream);
        while let Some(asked) = read(&mut stream, connection).await {
            let before = {
                let mut all = self.asked.lock().unwrap();
                all.push(asked.clone());
                all.len() - 1
            };
            match play(&asked, before) {
                Answer::Reply(status, headers, body) => {
                    let mut head =
                        format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
                    for (name, value) in headers {
                        head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
                    }
                    let body = if asked.method == "HEAD" { "" } else { &body };
                    let whole = format!("{head}\r\n{body}");
                    stream.write_all(whole.as_bytes()).await.unwrap();
                }
                Answer::HangUp => return,
                Answer::Silence => std::future::pending().await,
            }
        }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything that was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(stream: &mut BufReader<TcpStream>, connection: usize) -> Option<Asked> {
    let mut asked = Asked {
        connection,
        ..Asked::default()
    };
    let mut line = String::new();
    if stream.read_line(&mut line).await.ok()? == 0 {
        return None;
    }
    let mut words = line.split(' ');
    asked.method = words.next()?.to_owned();
    asked.path = words.next()?.to_owned();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        asked
            .headers
            .push((name.to_owned(), value.trim().to_owned()));
    }
    let length = asked.header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    asked.body = String::from_utf8(body).unwrap();
    Some(asked)
}

/// The key of all tests.
pub(super) const KEY: &str = "AKIDEXAMPLE7KEYS";
/// Its secret.
pub(super) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// Doors with these variables, a private home that is not there, and a fixed time.
pub(super) fn doors(variables: &[(&str, &str)]) -> Doors {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let home = [("HOME".to_owned(), "/nonexistent-home".to_owned())];
    let env = Environment::new(home.into_iter().chain(variables.iter().map(owned)));
    let now: Timestamp = "2026-12-01T10:00:00Z".parse().unwrap();
    Doors::new(env, Clock::fixed(now), false)
}

/// A client of a server, with keys from the environment.
pub(super) fn client(server: &Server) -> Aws {
    let url = server.url();
    let doors = doors(&[
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_ENDPOINT_URL", &url),
    ]);
    in_region(doors, "eu-west-1")
}

/// A client in a region.
pub(super) fn in_region(doors: Doors, region: &str) -> Aws {
    let settings = AwsSettings {
        region: region.to_owned(),
        ..AwsSettings::default()
    };
    Aws::new(doors, settings)
}
