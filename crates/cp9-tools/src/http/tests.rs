//! Answers, silence and nonsense.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::{Clock, Environment};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(100);

fn doors() -> Doors {
    Doors::new(Environment::default(), Clock::system(), false)
}

/// Answers one request with these bytes, then hangs up or not; gives back what was asked.
async fn serve(answer: Vec<u8>, hang_up: bool) -> (u16, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if stream.read(&mut byte).await.unwrap_or(0) == 0 {
                break;
            }
            asked.push(byte[0]);
        }
        // The client may have gone.
        let _ = stream.write_all(&answer).await;
        if !hang_up {
            let _ = stream.read(&mut [0]).await;
        }
        String::from_utf8(asked).unwrap()
    });
    (port, served)
}

async fn get(answer: &[u8]) -> Result<HttpReply, HttpError> {
    let (port, _served) = serve(answer.to_vec(), true).await;
    doors().http_get(port, "/", &[], LONG).await
}

#[tokio::test]
async fn an_answer_comes_with_status_and_body() {
    let answer = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy".to_vec();
    let (port, served) = serve(answer, false).await;
    let headers = [
        ("Host".to_owned(), "shop".to_owned()),
        ("X-A".to_owned(), "1".to_owned()),
    ];
    let reply = doors()
        .http_get(port, "health?a=b%20c", &headers, LONG)
        .await
        .unwrap();
    assert_eq!(
        (reply.status, reply.body.as_slice()),
        (503, b"busy".as_slice())
    );
    let asked = served.await.unwrap();
    assert!(
        asked.starts_with("GET /health?a=b%20c HTTP/1.1\r\n"),
        "{asked}"
    );
    assert_eq!(
        asked.to_lowercase().matches("host: shop\r\n").count(),
        1,
        "{asked}"
    );
    assert!(
        asked.to_lowercase().contains("x-a: 1\r\n") && !asked.contains("127.0.0.1"),
        "{asked}"
    );
}

#[tokio::test]
async fn bodies_end_in_every_way() {
    let chunked =
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
    assert_eq!(get(chunked).await.unwrap().body, b"abc");
    assert_eq!(
        get(b"HTTP/1.0 200 OK\r\n\r\nabc").await.unwrap().body,
        b"abc"
    );
    assert_eq!(get(b"HTTP/1.1 204 No\r\n\r\n").await.unwrap().status, 204);
    let redirect =
        get(b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(redirect.unwrap().status, 302);
}

#[tokio::test]
async fn a_body_without_end_is_cut() {
    let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    answer.resize(answer.len() + 3 * MOST_BODY, b'x');
    let (port, _served) = serve(answer, false).await;
    let reply = doors().http_get(port, "/", &[], LONG).await.unwrap();
    assert_eq!(reply.body.len(), MOST_BODY);
}

#[tokio::test]
async fn silence_ends_at_the_limit() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
    ] {
        let (port, _served) = serve(answer.into(), false).await;
        let error = doors().http_get(port, "/", &[], SHORT).await.unwrap_err();
        assert!(matches!(error, HttpError::TimedOut { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("no answer from `http://127.0.0.1:{port}/` within 100 ms")
        );
    }
}

#[tokio::test]
async fn nonsense_is_an_error() {
    for answer in [
        "SSH-2.0-OpenSSH\r\n",
        "",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab",
    ] {
        let error = get(answer.as_bytes()).await.unwrap_err();
        assert!(matches!(error, HttpError::Answer { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn nobody_there_and_nothing_to_ask() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    doors().tcp_probe(port, LONG).await.unwrap();
    drop(listener);
    let doors = doors();
    let error = doors.http_get(port, "/", &[], LONG).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { .. }), "{error:?}");
    assert_eq!(error.category(), Category::Transient);
    assert!(doors.tcp_probe(port, LONG).await.is_err());
    for (path, header) in [("/a b", "x"), ("/", "x y"), ("/", "")] {
        let headers = [(header.to_owned(), "1".to_owned())];
        let error = doors
            .http_get(port, path, &headers, LONG)
            .await
            .unwrap_err();
        assert!(matches!(error, HttpError::Invalid { .. }), "{error:?}");
    }
    doors.cancel.cancel();
    let (port, _served) = serve(Vec::new(), false).await;
    let error = doors.http_get(port, "/", &[], LONG).await.unwrap_err();
    assert!(matches!(error, HttpError::Interrupted { .. }), "{error:?}");
}
