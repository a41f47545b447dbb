//! Requests to the outside, against servers and proxies of loopback ports.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use cp9_model::{Category, Explain};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{HttpError, HttpRequest};
use crate::{Clock, Doors, Environment};

const SHORT: Duration = Duration::from_millis(150);

fn doors(variables: &[(&str, &str)]) -> Doors {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let env = Environment::new(variables.iter().map(owned));
    Doors::new(env, Clock::system(), false)
}

/// A server that answers every request with the same bytes; what it was asked, by connection.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<(usize, String)>>>,
}

impl Server {
    async fn start(answer: impl Into<Vec<u8>>) -> Self {
        let (listener, answer) = (
            TcpListener::bind(("127.0.0.1", 0)).await.unwrap(),
            answer.into(),
        );
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&server.asked);
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(
                    stream,
                    connection,
                    answer.clone(),
                    Arc::clone(&asked),
                ));
            }
        });
        server
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<(usize, String)> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    answer: Vec<u8>,
    asked: Arc<Mutex<Vec<(usize, String)>>>,
) {
    loop {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).await.unwrap_or(0) == 0 {
                return;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length
            .and_then(|rest| rest.lines().next()?.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let whole = head + &String::from_utf8(body).unwrap();
        asked.lock().unwrap().push((connection, whole));
        // The client may have gone.
        let _ = stream.write_all(&answer).await;
    }
}

#[tokio::test]
async fn connections_are_kept_and_shared_by_clones() {
    let server = Server::start("HTTP/1.1 404 No\r\nContent-Length: 2\r\nX-Kind: b\r\n\r\nno").await;
    let doors = doors(&[]);
    for doors in [doors.clone(), doors.quiet(), doors.with_child_cancel()] {
        let request = HttpRequest::new("POST", server.url("/a?b=%2F"))
            .header("X-Amz-Target", "Shop.List")
            .body("question");
        let answer = doors.http_send(request).await.unwrap();
        assert_eq!(
            (answer.status, answer.body.as_slice()),
            (404, b"no".as_slice())
        );
        assert_eq!(answer.header("x-KIND"), Some("b"));
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    for (connection, request) in asked {
        assert_eq!(connection, 0, "{request}");
        assert!(
            request.starts_with("post /a?b=%2f http/1.1\r\n"),
            "{request}"
        );
        assert!(request.contains("x-amz-target: shop.list\r\n"), "{request}");
        assert!(
            request.contains("user-agent: cp9\r\n") && request.ends_with("question"),
            "{request}"
        );
    }
}

#[tokio::test]
async fn redirects_are_answers() {
    let moved = "HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    let server = Server::start(moved).await;
    let answer = doors(&[])
        .http_send(HttpRequest::new("GET", server.url("/")))
        .await
        .unwrap();
    assert_eq!(
        (answer.status, answer.header("location")),
        (301, Some("http://127.0.0.1:1/"))
    );
}

#[tokio::test]
async fn a_body_past_the_limit_is_an_error_and_never_cut() {
    for head in [
        "Content-Length: 9000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2328\r\n",
    ] {
        let server = Server::start(format!("HTTP/1.1 200 OK\r\n{head}{}", "x".repeat(9000))).await;
        let mut request = HttpRequest::new("GET", server.url("/?key=hidden"));
        request.most = 8999;
        let error = doors(&[]).http_send(request).await.unwrap_err();
        assert!(
            matches!(error, HttpError::TooLarge { most: 8999, .. }),
            "{error:?}"
        );
        assert_eq!(error.category(), Category::Permanent);
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
}

#[tokio::test]
async fn silence_broken_answers_and_nobody_are_told_apart() {
    let of = async |answer: &str| {
        let server = Server::start(answer).await;
        let request = HttpRequest::new("GET", server.url("/p?q=1")).limit(SHORT);
        (
            doors(&[]).http_send(request).await.unwrap_err(),
            server.port,
        )
    };
    for silent in ["", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"] {
        let (error, port) = of(silent).await;
        let words = format!("no answer from `http://127.0.0.1:{port}/p` within 150 ms");
        assert_eq!(error.to_string(), words);
    }
    let (error, _) = of("SSH-2.0-OpenSSH_9.9\r\n\r\n").await;
    assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
    let nobody = HttpRequest::new("GET", "http://127.0.0.1:1/");
    let error = doors(&[]).http_send(nobody).await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable { .. }), "{error:?}");
    assert_eq!(
        (error.code(), error.category()),
        ("http-connect", Category::Transient)
    );
}

#[tokio::test]
async fn a_server_without_tls_is_no_https_server() {
    let server = Server::start("HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n").await;
    let url = server.url("/").replace("http:", "https:");
    let error = doors(&[])
        .http_send(HttpRequest::new("GET", url).limit(SHORT))
        .await
        .unwrap_err();
    let told = matches!(
        error,
        HttpError::Unreachable { .. } | HttpError::TimedOut { .. } | HttpError::Client(_)
    );
    assert!(told, "{error:?}");
}

#[tokio::test]
async fn cancelling_ends_a_request() {
    let server = Server::start("").await;
    let doors = doors(&[]);
    let (sent, ()) = tokio::join!(
        doors.http_send(HttpRequest::new("GET", server.url("/"))),
        async {
            while server.asked().is_empty() {
                tokio::task::yield_now().await;
            }
            doors.cancel.cancel();
        }
    );
    assert!(matches!(sent.unwrap_err(), HttpError::Interrupted { .. }));
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused() {
    for (method, url, header) in [
        ("G T", "http://127.0.0.1:1/", ("a", "b")),
        ("GET", "nonsense", ("a", "b")),
        ("GET", "http://127.0.0.1:1/", ("a b", "c")),
        ("GET", "http://127.0.0.1:1/", ("a", "b\r\nc: d")),
    ] {
        let request = HttpRequest::new(method, url).header(header.0, header.1);
        let error = doors(&[]).http_send(request).await.unwrap_err();
        assert!(matches!(error, HttpError::Malformed { .. }), "{error:?}");
        assert_eq!(error.category(), Category::Config);
    }
}

#[tokio::test]
async fn proxies_come_from_the_environment_passed_in() {
    let proxy = Server::start("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nvi").await;
    let address = format!("http://me:hunter22@127.0.0.1:{}", proxy.port);
    let through = doors(&[("http_proxy", &address), ("NO_PROXY", "direct.invalid")]);
    let request = HttpRequest::new("GET", "http://aws.invalid/path");
    assert_eq!(through.http_send(request).await.unwrap().body, b"vi");
    let asked = proxy.asked();
    assert!(
        asked[0]
            .1
            .starts_with("get http://aws.invalid/path http/1.1\r\n"),
        "{asked:?}"
    );
    assert!(
        asked[0]
            .1
            .contains("proxy-authorization: basic bwu6ahvudgvymji="),
        "{asked:?}"
    );
    assert_eq!(through.redactor.redact("hunter22"), "***");
    let direct = HttpRequest::new("GET", "http://direct.invalid/");
    assert!(through.http_send(direct).await.is_err());
    let near = Server::start("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnear").await;
    let answer = through
        .http_send(HttpRequest::new("GET", near.url("/")))
        .await
        .unwrap();
    assert_eq!(answer.body, b"near");
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn a_tunnel_is_asked_for_https() {
    let proxy = Server::start("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n").await;
    let address = format!("127.0.0.1:{}", proxy.port);
    let through = doors(&[("HTTPS_PROXY", &address)]);
    let request = HttpRequest::new("GET", "https://sts.invalid/");
    let error = through.http_send(request).await.unwrap_err();
    assert!(matches!(error, HttpError::Unreachable { .. }), "{error:?}");
    let asked = proxy.asked();
    assert!(
        asked[0]
            .1
            .starts_with("connect sts.invalid:443 http/1.1\r\n"),
        "{asked:?}"
    );
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the files of the test itself")]
async fn certificates_that_cannot_be_used_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "no certificates\n").unwrap();
    for path in ["/nonexistent/ca.pem", empty.to_str().unwrap()] {
        let doors = doors(&[("AWS_CA_BUNDLE", path), ("SSL_CERT_FILE", "/also/not")]);
        let request = HttpRequest::new("GET", "https://127.0.0.1:1/");
        let error = doors.http_send(request).await.unwrap_err();
        let words = format!("`{path}`, named by `AWS_CA_BUNDLE`, holds no usable certificates");
        assert_eq!(error.to_string(), words);
        assert!(error.remedy().unwrap().contains("unset it"));
        let plain = HttpRequest::new("GET", "http://127.0.0.1:1/");
        let error = doors.http_send(plain).await.unwrap_err();
        assert!(matches!(error, HttpError::Unreachable { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn the_record_names_the_call_and_hides_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("calls.jsonl")).unwrap();
    let server = Server::start("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let doors = doors(&[]);
    doors.recorder.to_file(path.clone());
    doors.redactor.add(&crate::Secret::new("hunter22"));
    let request =
        HttpRequest::new("GET", server.url("/?token=hunter22")).what("GET s3:ListBuckets");
    let shown = format!("{:?}", request.clone().header("Authorization", "hunter22"));
    doors.http_send(request).await.unwrap();
    let record = std::fs::read_to_string(path).unwrap();
    for word in [
        "\"GET s3:ListBuckets\"",
        "?token=***\"",
        "\"outcome\":\"200\"",
    ] {
        assert!(record.contains(word), "{record}");
    }
    assert!(
        !record.contains("hunter22") && !shown.contains("hunter22"),
        "{record}{shown}"
    );
}
