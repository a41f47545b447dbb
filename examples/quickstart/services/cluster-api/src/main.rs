//! cluster-api: the front of the quickstart. It checks what people send, and lets cluster-worker
//! do the work. It keeps nothing itself, so a restart after an edit loses nothing.
//!
//! | variable | meaning |
//! |---|---|
//! | `LISTEN_ADDR` | the address to listen on, `127.0.0.1:8080` by default |
//! | `WORKER_ADDR` | where cluster-worker answers, `127.0.0.1:8081` by default |

mod http;
mod json;
mod log;
mod message;

use http::{Peer, Request, Response};
use json::{object, Json};
use std::env;
use std::net::TcpListener;

fn main() {
    let listen = env::var("LISTEN_ADDR").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let url = env::var("WORKER_ADDR").unwrap_or_else(|_| "127.0.0.1:8081".to_owned());
    let listener = match TcpListener::bind(&listen) {
        Ok(listener) => listener,
        Err(error) => log::fatal(&format!("cannot listen on {listen}: {error}")),
    };
    log::line(
        "info",
        "",
        &format!("cluster-api listens on {listen}, worker at {url}"),
    );
    let worker = Peer {
        name: "cluster-worker",
        url,
    };
    http::serve(listener, move |request| route(&worker, request))
}

/// Path and method decide who answers. Try it: add a path here, save, and call it.
fn route(worker: &Peer, request: &Request) -> Response {
    match (request.segments().as_slice(), request.method.as_str()) {
        (["healthz"], "GET") => Response::new(200, object([("status", Json::from("ok"))])),
        (["healthz"], _) => Response::not_allowed("GET, HEAD"),
        (["v1beta1", "projects", project, "clusters"], _) if !is_label(project) => Response::error(
            400,
            "a project id has 1 to 63 letters, digits and inner hyphens",
        ),
        (["v1beta1", "projects", project, "clusters"], "GET") => list(worker, project, request),
        (["v1beta1", "projects", project, "clusters"], "POST") => create(worker, project, request),
        (["v1beta1", "projects", _, "clusters"], _) => Response::not_allowed("GET, HEAD, POST"),
        _ => Response::error(404, "no such path"),
    }
}

fn create(worker: &Peer, project: &str, request: &Request) -> Response {
    let order = match read_order(project, &request.body) {
        Ok(order) => order.to_string(),
        Err(message) => return Response::error(400, &message),
    };
    match worker.call("POST /internal/clusters", &request.trace_id, &order) {
        Ok((201, cluster)) => {
            let reply = object([
                ("id", cluster.get("id").clone()),
                ("name", cluster.get("name").clone()),
                ("projectId", Json::from(project)),
                ("state", cluster.get("state").clone()),
                ("worker", cluster.clone()),
            ]);
            Response::new(201, reply)
        }
        // What the worker refuses goes back to the client as it is.
        Ok((status, refusal)) => Response::new(status, refusal),
        Err(failed) => failed,
    }
}

fn list(worker: &Peer, project: &str, request: &Request) -> Response {
    let what = format!("GET /internal/projects/{project}/clusters");
    match worker.call(&what, &request.trace_id, "") {
        Ok((status, clusters)) => Response::new(status, clusters),
        Err(failed) => failed,
    }
}

/// What is passed on to the worker: `name`, and `tier` and `region` if they were given.
fn read_order(project: &str, body: &str) -> Result<Json, String> {
    let body = json::parse(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let name = body.text("name").ok_or("`name` is missing or not a text")?;
    if !is_label(name) {
        return Err("`name` has 1 to 63 letters, digits and inner hyphens".to_owned());
    }
    let mut order = vec![
        ("project".to_owned(), Json::from(project)),
        ("name".to_owned(), Json::from(name)),
    ];
    for key in ["tier", "region"] {
        match body.get(key) {
            Json::Null => {}
            Json::Text(text) => order.push((key.to_owned(), Json::from(text.as_str()))),
            _ => return Err(format!("`{key}` is not a text")),
        }
    }
    Ok(Json::Object(order))
}

fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTERS: &str = "/v1beta1/projects/p1/clusters";

    fn request(method: &str, path: &str, body: &str) -> Request {
        let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
        Request {
            method,
            path,
            body,
            trace_id: "t1".to_owned(),
        }
    }

    /// A worker that answers every request in the same way, after it was checked.
    fn worker(status: u16, check: fn(&Request)) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let url = listener.local_addr().expect("address").to_string();
        let answer = move |request: &Request| {
            check(request);
            Response::new(
                status,
                object([("id", Json::from("c-1")), ("state", Json::from("ACTIVE"))]),
            )
        };
        std::thread::spawn(move || http::serve(listener, answer));
        Peer {
            name: "cluster-worker",
            url,
        }
    }

    fn nobody() -> Peer {
        Peer {
            name: "cluster-worker",
            url: "no address".to_owned(),
        }
    }

    #[test]
    fn creates_and_lists_through_the_worker() {
        let creates = worker(201, |request| {
            assert_eq!(
                (request.method.as_str(), request.path.as_str()),
                ("POST", "/internal/clusters")
            );
            assert_eq!(request.trace_id, "t1");
            assert_eq!(
                request.body,
                r#"{"project":"p1","name":"db1","tier":"starter"}"#
            );
        });
        let body = r#"{"name":"db\u0031","tier":"starter","region":null,"more":[1]}"#;
        let response = route(&creates, &request("POST", CLUSTERS, body));
        assert_eq!(
            (response.status, response.body.text("state")),
            (201, Some("ACTIVE"))
        );
        assert_eq!(response.body.get("worker").text("id"), Some("c-1"));
        let lists = worker(200, |request| {
            assert_eq!(request.path, "/internal/projects/p1/clusters")
        });
        assert_eq!(route(&lists, &request("GET", CLUSTERS, "")).status, 200);
    }

    #[test]
    fn bad_input_never_reaches_the_worker() {
        for body in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"name":1}"#,
            r#"{"name":""}"#,
            r#"{"name":"a b"}"#,
            r#"{"name":"a","tier":1}"#,
        ] {
            assert_eq!(
                route(&nobody(), &request("POST", CLUSTERS, body)).status,
                400,
                "{body}"
            );
        }
        let path = "/v1beta1/projects/a%20b/clusters";
        assert_eq!(route(&nobody(), &request("GET", path, "")).status, 400);
    }

    #[test]
    fn unknown_paths_and_methods() {
        assert_eq!(
            route(&nobody(), &request("GET", "/healthz", "")).status,
            200
        );
        assert_eq!(route(&nobody(), &request("GET", "/", "")).status, 404);
        assert_eq!(
            route(&nobody(), &request("GET", "/healthz/", "")).status,
            404
        );
        assert_eq!(
            route(&nobody(), &request("POST", "/healthz", "")).status,
            405
        );
        let response = route(&nobody(), &request("DELETE", CLUSTERS, ""));
        assert_eq!((response.status, response.allow), (405, "GET, HEAD, POST"));
    }

    #[test]
    fn a_missing_worker_is_a_502_and_a_refusal_passes_through() {
        let create = request("POST", CLUSTERS, r#"{"name":"db1"}"#);
        assert_eq!(route(&nobody(), &create).status, 502);
        assert_eq!(route(&worker(503, |_| {}), &create).status, 502);
        assert_eq!(route(&worker(409, |_| {}), &create).status, 409);
    }
}
