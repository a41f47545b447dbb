//! Asking the controller of a session over its socket.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::control::{ControllerStatus, Credentials, Hello, PROTOCOL, Reply, Request};
use cp9_tools::procs;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::controller::{Controller, ControllerError};

/// For what the controller knows without looking.
const QUICK: Duration = Duration::from_secs(5);
/// For what reads files first or asks a cloud: trigger, reload, credentials.
const READING: Duration = Duration::from_mins(1);
/// For stopping every child; their own grace is bounded by the plan.
const STOPPING: Duration = Duration::from_mins(2);
/// The longest reply.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A connection to the controller of one session.
#[derive(Debug)]
pub struct Client {
    socket: Utf8PathBuf,
    stream: BufReader<UnixStream>,
    /// What has arrived of the next reply.
    line: Vec<u8>,
    hello: Hello,
}

impl Client {
    /// Connects and makes sure that it is this session's controller and speaks our protocol. One that is
    /// halted is told at once, since it answers nothing; else all of it has one time limit.
    pub async fn connect(socket: &Utf8Path, id: &str) -> Result<Self, ControllerError> {
        let timeout = |_| ControllerError::Timeout {
            socket: socket.to_owned(),
            limit: QUICK,
        };
        let greeted = tokio::time::timeout(QUICK, Self::greet(socket, id)).await;
        greeted.map_err(timeout)?
    }

    async fn greet(socket: &Utf8Path, id: &str) -> Result<Self, ControllerError> {
        let stream = UnixStream::connect(socket).await;
        let stream = stream.map_err(|source| ControllerError::Connect {
            socket: socket.to_owned(),
            source,
        })?;
        let peer = stream.peer_cred().ok().and_then(|peer| peer.pid());
        let peer = peer.and_then(|pid| u32::try_from(pid).ok());
        if let Some(pid) = peer.filter(|pid| procs::is_halted(*pid)) {
            return Err(ControllerError::Halted { pid });
        }
        let nobody = Hello {
            id: String::new(),
            protocol: 0,
            plan_digest: String::new(),
            pid: 0,
            version: String::new(),
            stopping: false,
        };
        let mut client = Self {
            socket: socket.to_owned(),
            stream: BufReader::new(stream),
            line: Vec::new(),
            hello: nobody,
        };
        client.hello = client.hello().await?;
        let foreign = |found: String, expected: String| ControllerError::Foreign {
            socket: socket.to_owned(),
            found,
            expected,
        };
        if client.hello.protocol != PROTOCOL {
            return Err(foreign(
                format!("protocol {}", client.hello.protocol),
                format!("protocol {PROTOCOL}"),
            ));
        }
        if client.hello.id != id {
            return Err(foreign(
                format!("session folder `{}`", client.hello.id),
                format!("`{id}`"),
            ));
        }
        Ok(client)
    }

    /// Who answers.
    pub async fn hello(&mut self) -> Result<Hello, ControllerError> {
        match self.ask(&Request::Hello, QUICK).await? {
            Reply::Hello(hello) => Ok(hello),
            other => Err(self.odd(&other)),
        }
    }

    /// Credentials of the session's cloud identity. Whatever else is answered is not shown, as it may hold
    /// some.
    pub async fn credentials(&mut self) -> Result<Credentials, ControllerError> {
        let odd = |socket: &Utf8PathBuf| ControllerError::Protocol {
            socket: socket.clone(),
            answer: "neither credentials nor why not".into(),
        };
        match self.ask(&Request::Credentials, READING).await {
            Ok(Reply::Credentials(credentials)) => Ok(credentials),
            Ok(Reply::Withheld(why)) => Err(ControllerError::Withheld(why)),
            Ok(_) | Err(ControllerError::Protocol { .. }) => Err(odd(&self.socket)),
            Err(error) => Err(error),
        }
    }

    /// The state now and after every change.
    pub async fn watch(mut self) -> Result<StatusStream, ControllerError> {
        self.send(&Request::Watch).await?;
        Ok(StatusStream { client: self })
    }

    async fn ask(&mut self, request: &Request, limit: Duration) -> Result<Reply, ControllerError> {
        let exchange = async {
            self.send(request).await?;
            self.receive().await
        };
        match tokio::time::timeout(limit, exchange).await {
            Ok(Ok(Reply::Error { message })) => Err(ControllerError::Refused { message }),
            Ok(answer) => answer,
            Err(_) => Err(ControllerError::Timeout {
                socket: self.socket.clone(),
                limit,
            }),
        }
    }

    async fn send(&mut self, request: &Request) -> Result<(), ControllerError> {
        let mut line =
            serde_json::to_vec(request).expect("a request is plain data and always serialises");
        line.push(b'\n');
        let sent = self.stream.get_mut().write_all(&line).await;
        sent.map_err(|source| ControllerError::Connect {
            socket: self.socket.clone(),
            source,
        })
    }

    async fn receive(&mut self) -> Result<Reply, ControllerError> {
        let socket = &self.socket;
        let lost = |source| ControllerError::Connect {
            socket: socket.clone(),
            source,
        };
        // Appends to what a dropped call has read, so that nothing is lost.
        let room = LONGEST.saturating_sub(self.line.len() as u64);
        (&mut self.stream)
            .take(room)
            .read_until(b'\n', &mut self.line)
            .await
            .map_err(lost)?;
        if self.line.is_empty() {
            return Err(lost(std::io::ErrorKind::UnexpectedEof.into()));
        }
        let line = std::mem::take(&mut self.line);
        serde_json::from_slice(&line).map_err(|_| ControllerError::Protocol {
            socket: socket.clone(),
            answer: String::from_utf8_lossy(&line)
                .trim_end()
                .chars()
                .take(200)
                .collect(),
        })
    }

    fn odd(&self, reply: &Reply) -> ControllerError {
        let answer = match reply {
            Reply::Credentials(_) => "credentials that nobody asked for".into(),
            other => serde_json::to_string(other).unwrap_or_default(),
        };
        ControllerError::Protocol {
            socket: self.socket.clone(),
            answer: answer.chars().take(200).collect(),
        }
    }
}

impl Controller for Client {
    async fn status(&mut self) -> Result<ControllerStatus, ControllerError> {
        match self.ask(&Request::Status, QUICK).await? {
            Reply::Status(status) => Ok(status),
            other => Err(self.odd(&other)),
        }
    }

    async fn trigger(&mut self, resource: &str) -> Result<u64, ControllerError> {
        let request = Request::Trigger {
            resource: resource.to_owned(),
        };
        match self.ask(&request, READING).await? {
            Reply::Begun { number } => Ok(number),
            other => Err(self.odd(&other)),
        }
    }

    async fn reload(&mut self) -> Result<Hello, ControllerError> {
        match self.ask(&Request::Reload, READING).await? {
            Reply::Hello(hello) => {
                self.hello = hello.clone();
                Ok(hello)
            }
            other => Err(self.odd(&other)),
        }
    }

    async fn stop(&mut self) -> Result<(), ControllerError> {
        match self.ask(&Request::Stop, STOPPING).await? {
            Reply::Done => Ok(()),
            other => Err(self.odd(&other)),
        }
    }
}

/// The status of a controller as it changes.
#[derive(Debug)]
pub struct StatusStream {
    client: Client,
}

impl StatusStream {
    /// The next status; `None` when the controller has ended. Its future may be dropped.
    pub async fn next(&mut self) -> Result<Option<ControllerStatus>, ControllerError> {
        match self.client.receive().await {
            Ok(Reply::Status(status)) => Ok(Some(status)),
            Ok(Reply::Error { message }) => Err(ControllerError::Refused { message }),
            Ok(other) => Err(self.client.odd(&other)),
            Err(ControllerError::Connect { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
