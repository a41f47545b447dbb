//! cluster-api: the front of the quickstart. It checks what people send, and lets cluster-worker
//! do the work. It keeps nothing itself, so a restart after an edit loses nothing.
//!
//! | variable | meaning |
//! |---|---|
//! | `LISTEN_ADDR` | the address to listen on, `127.0.0.1:8080` by default |
//! | `WORKER_ADDR` | where cluster-worker answers, `127.0.0.1:8081` by default |

mod client;
mod json;
mod log;
mod server;

use json::{object, Json};
use server::{Request, Response};
use std::env;
use std::net::TcpListener;

fn main() {
    let listen = env::var("LISTEN_ADDR").unwrap_or_else(|_| "127.0.0.1:8080".to_owned());
    let worker = env::var("WORKER_ADDR").unwrap_or_else(|_| "127.0.0.1:8081".to_owned());
    let listener = match TcpListener::bind(&listen) {
        Ok(listener) => listener,
        Err(error) => log::fatal(&format!("cannot listen on {listen}: {error}")),
    };
    log::line("info", "", &format!("cluster-api listens on {listen}, worker at {worker}"));
    server::serve(listener, move |request| route(&worker, request))
}

/// Path and method decide who answers. Try it: add a path here, save, and call it.
fn route(worker: &str, request: &Request) -> Response {
    match (request.segments().as_slice(), request.method.as_str()) {
        (["healthz"], "GET") => Response::new(200, object([("status", Json::from("ok"))])),
        (["healthz"], _) => Response::not_allowed("GET, HEAD"),
        (["v1beta1", "projects", project, "clusters"], method) => {
            if !is_label(project) {
                return Response::error(
                    400,
                    "a project id has 1 to 63 letters, digits and inner hyphens",
                );
            }
            match method {
                "GET" => list(worker, project, request),
                "POST" => create(worker, project, request),
                _ => Response::not_allowed("GET, HEAD, POST"),
            }
        }
        _ => Response::not_found(),
    }
}

fn create(worker: &str, project: &str, request: &Request) -> Response {
    let order = match read_order(project, &request.body) {
        Ok(order) => order,
        Err(message) => return Response::error(400, &message),
    };
    let cluster = match ask(worker, "POST", "/internal/clusters", request, &order.to_string()) {
        Ok(cluster) => cluster,
        Err(response) => return response,
    };
    let field = |key| cluster.get(key).cloned().unwrap_or(Json::Null);
    let reply = object([
        ("id", field("id")),
        ("name", field("name")),
        ("projectId", Json::from(project)),
        ("state", field("state")),
        ("worker", cluster.clone()),
    ]);
    Response::new(201, reply)
}

fn list(worker: &str, project: &str, request: &Request) -> Response {
    let target = format!("/internal/projects/{project}/clusters");
    match ask(worker, "GET", &target, request, "") {
        Ok(clusters) => Response::new(200, clusters),
        Err(response) => response,
    }
}

/// What is passed on to the worker: `name`, and `tier` and `region` if they were given.
fn read_order(project: &str, body: &str) -> Result<Json, String> {
    let body = json::parse(body).map_err(|error| format!("the body is not JSON: {error}"))?;
    let name = body.text("name").ok_or("`name` is missing or not a text")?;
    if !is_label(name) {
        return Err("`name` has 1 to 63 letters, digits and inner hyphens".to_owned());
    }
    let mut order =
        vec![("project".to_owned(), Json::from(project)), ("name".to_owned(), Json::from(name))];
    for key in ["tier", "region"] {
        match body.get(key) {
            None | Some(Json::Null) => {}
            Some(value @ Json::Text(_)) => order.push((key.to_owned(), value.clone())),
            Some(_) => return Err(format!("`{key}` is not a text")),
        }
    }
    Ok(Json::Object(order))
}

/// Asks the worker. What it refuses goes back to the client as it is; what it cannot do is a 502.
fn ask(
    worker: &str,
    method: &str,
    target: &str,
    request: &Request,
    body: &str,
) -> Result<Json, Response> {
    let trace_id = &request.trace_id;
    let failed = |why: String| {
        log::line("error", trace_id, &format!("cluster-worker at {worker}: {why}"));
        Response::error(502, "cluster-worker does not answer as it should")
    };
    let (status, text) = client::call(worker, method, target, trace_id, body)
        .map_err(|error| failed(error.to_string()))?;
    let reply = json::parse(&text).map_err(|error| failed(error))?;
    match status {
        200..=299 => Ok(reply),
        400..=499 => Err(Response::new(status, reply)),
        _ => Err(failed(format!("status {status}"))),
    }
}

fn is_label(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTERS: &str = "/v1beta1/projects/p1/clusters";

    fn request(method: &str, path: &str, body: &str) -> Request {
        let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
        Request { method, path, body, trace_id: "t1".to_owned(), ..Request::default() }
    }

    /// A worker that answers every request in the same way, after it was checked.
    fn worker(status: u16, check: fn(&Request)) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = listener.local_addr().expect("address").to_string();
        std::thread::spawn(move || {
            server::serve(listener, move |request| {
                check(request);
                Response::new(
                    status,
                    object([("id", Json::from("c-1")), ("state", Json::from("ACTIVE"))]),
                )
            })
        });
        address
    }

    /// An address where nothing listens.
    fn nobody() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        listener.local_addr().expect("address").to_string()
    }

    #[test]
    fn creates_through_the_worker() {
        let worker = worker(201, |request| {
            assert_eq!(
                (request.method.as_str(), request.path.as_str()),
                ("POST", "/internal/clusters")
            );
            assert_eq!(request.trace_id, "t1");
            assert_eq!(request.body, r#"{"project":"p1","name":"db1","tier":"starter"}"#);
        });
        let body = r#"{"name":"db\u0031","tier":"starter","region":null,"more":[1]}"#;
        let response = route(&worker, &request("POST", CLUSTERS, body));
        assert_eq!(response.status, 201);
        assert_eq!(response.body.text("state"), Some("ACTIVE"));
        assert_eq!(response.body.get("worker").and_then(|worker| worker.text("id")), Some("c-1"));
    }

    #[test]
    fn lists_the_clusters_of_one_project() {
        let worker =
            worker(200, |request| assert_eq!(request.path, "/internal/projects/p1/clusters"));
        assert_eq!(route(&worker, &request("GET", CLUSTERS, "")).status, 200);
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
            assert_eq!(route("no address", &request("POST", CLUSTERS, body)).status, 400, "{body}");
        }
        assert_eq!(
            route("no address", &request("GET", "/v1beta1/projects/a%20b/clusters", "")).status,
            400
        );
    }

    #[test]
    fn unknown_paths_and_methods() {
        assert_eq!(route("no address", &request("GET", "/healthz", "")).status, 200);
        assert_eq!(route("no address", &request("GET", "/", "")).status, 404);
        assert_eq!(route("no address", &request("GET", "/healthz/", "")).status, 404);
        assert_eq!(route("no address", &request("POST", "/healthz", "")).status, 405);
        let response = route("no address", &request("DELETE", CLUSTERS, ""));
        assert_eq!((response.status, response.allow), (405, Some("GET, HEAD, POST")));
    }

    #[test]
    fn a_missing_worker_is_a_502_and_a_refusal_passes_through() {
        let create = request("POST", CLUSTERS, r#"{"name":"db1"}"#);
        assert_eq!(route(&nobody(), &create).status, 502);
        assert_eq!(route(&worker(503, |_| {}), &create).status, 502);
        assert_eq!(route(&worker(409, |_| {}), &create).status, 409);
    }
}
