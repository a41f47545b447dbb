//! A running moto. What tests can rely on, and what not:
//!
//! - It knows no signatures and no lives of credentials; whoever it does not know is the user `moto` of
//!   [`ACCOUNT`](super::ACCOUNT). A refusal comes from the [`Proxy`](super::Proxy).
//! - `AssumeRole` needs no role to exist and takes session tags without keeping them for later questions. The
//!   keys that it gives are then that role: `assumed-role/NAME/SESSION` in the account of its ARN, and what is
//!   made with them is seen by that account alone. That is how a test has an account of its own.
//! - The tagging service reports queues at once, with their tags, by region and account.
//! - `iam:SimulatePrincipalPolicy` is an error 500.
//! - It answers a second after its start where the machine is idle, and in some four milliseconds from then on;
//!   the first call of each service reads that service's code, which takes a few hundred more.

use std::env;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use super::REGION;
use crate::http::http;
use crate::skip::skip;
use crate::wait::wait_until;

/// Where moto is installed; `cargo xtask ci` sets it.
const VARIABLE: &str = "CP9_LAB_MOTO";
/// How long it may take to answer: Python has some hundred files to read.
const START: Duration = Duration::from_mins(1);
/// Serves until its standard input ends, which it does with whoever started it, however that ends.
const SERVE: &str = "
import os, sys, threading
def wait():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=wait, daemon=True).start()
from moto.server import main
main(['-H', '127.0.0.1', '-p', sys.argv[1]])
";

/// A running moto; it ends with this process.
#[derive(Debug)]
pub struct Moto {
    port: u16,
    _child: Child,
    _life: Option<ChildStdin>,
}

static SHARED: LazyLock<Option<Moto>> = LazyLock::new(Moto::start);

impl Moto {
    /// The moto that the tests of one binary share, which keep apart by the names of their sessions. None,
    /// with a line that counts as a skip, where it is not installed.
    pub fn shared() -> Option<&'static Self> {
        SHARED.as_ref()
    }

    fn start() -> Option<Self> {
        let Some(python) = python() else {
            let why = format!("not installed, see `cargo xtask tools moto` and {VARIABLE}");
            skip("moto", &why);
            return None;
        };
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let mut child = Command::new(python)
            .args(["-c", SERVE, &port.to_string()])
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("MOTO_ALLOW_NONEXISTENT_REGION", "false")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let life = child.stdin.take();
        wait_until(START, "moto to answer", || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()
        });
        Some(Self {
            port,
            _child: child,
            _life: life,
        })
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The answer to a call of the query protocol; `more` is appended to its body as it is. No signature is
    /// looked at, only for which service and region it would be.
    #[track_caller]
    pub fn query(&self, service: &str, version: &str, action: &str, more: &str) -> String {
        let scope =
            format!("AWS4-HMAC-SHA256 Credential=X/20261201/{REGION}/{service}/aws4_request");
        let headers = [
            ("Authorization", scope.as_str()),
            ("Content-Type", "application/x-www-form-urlencoded"),
        ];
        let body = format!("Action={action}&Version={version}{more}");
        let reply = http("POST", &self.url(), &headers, &body).expect("an answer");
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.body
    }

    /// Its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The Python that it runs in, which has the AWS SDK; only where there is a moto.
    pub fn python(&self) -> String {
        let python = python().expect("a moto that runs is installed");
        python.display().to_string()
    }
}

fn python() -> Option<PathBuf> {
    let folder = env::var_os(VARIABLE).filter(|folder| !folder.is_empty())?;
    Some(PathBuf::from(folder).join("bin/python"))
}
