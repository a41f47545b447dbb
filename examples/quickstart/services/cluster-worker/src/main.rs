//! cluster-worker: makes the clusters of the quickstart, and keeps them in memory. What it may
//! make stands in a configuration file, which the manifests mount from a ConfigMap.
//!
//! | setting | meaning |
//! |---|---|
//! | `LISTEN_ADDR` | the address to listen on, `127.0.0.1:8081` by default |
//! | `PROVIDER_TOKEN` | what it would show to a cloud provider; comes from a Secret |
//! | `--config=FILE` | the configuration file, `/etc/cluster-worker/worker.conf` by default |

mod config;
mod json;
mod log;
mod server;

use config::Config;
use json::{object, Json};
use server::{Request, Response};
use std::env;
use std::net::TcpListener;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory is not endless.
const MAX_CLUSTERS: usize = 1000;

struct Cluster {
    id: String,
    project: String,
    name: String,
    tier: String,
    region: String,
}

struct Worker {
    config: Config,
    clusters: Mutex<Vec<Cluster>>,
}

fn main() {
    let listen = env::var("LISTEN_ADDR").unwrap_or_else(|_| "127.0.0.1:8081".to_owned());
    let config = match config_path(env::args().skip(1)).and_then(|path| config::load(&path)) {
        Ok(config) => config,
        Err(message) => log::fatal(&message),
    };
    if env::var("PROVIDER_TOKEN").unwrap_or_default().is_empty() {
        log::fatal("PROVIDER_TOKEN is not set");
    }
    let listener = match TcpListener::bind(&listen) {
        Ok(listener) => listener,
        Err(error) => log::fatal(&format!("cannot listen on {listen}: {error}")),
    };
    let offer = format!("tiers {}, regions {}", config.tiers.join(" "), config.regions.join(" "));
    log::line("info", "", &format!("cluster-worker listens on {listen}: {offer}"));
    let worker = Worker { config, clusters: Mutex::new(Vec::new()) };
    server::serve(listener, move |request| worker.route(request))
}

fn config_path(args: impl Iterator<Item = String>) -> Result<String, String> {
    let mut path = "/etc/cluster-worker/worker.conf".to_owned();
    for arg in args {
        match arg.strip_prefix("--config=") {
            Some(given) => path = given.to_owned(),
            None => return Err(format!("unknown argument `{arg}`, only --config=FILE is known")),
        }
    }
    Ok(path)
}

impl Worker {
    fn route(&self, request: &Request) -> Response {
        match (request.segments().as_slice(), request.method.as_str()) {
            (["healthz"], "GET") => Response::new(200, object([("status", Json::from("ok"))])),
            (["healthz"], _) => Response::not_allowed("GET, HEAD"),
            (["internal", "clusters"], "POST") => self.create(&request.body),
            (["internal", "clusters"], _) => Response::not_allowed("POST"),
            (["internal", "projects", project, "clusters"], "GET") => self.list(project),
            (["internal", "projects", _, "clusters"], _) => Response::not_allowed("GET, HEAD"),
            _ => Response::not_found(),
        }
    }

    /// The clusters. A handler that panicked while it held them has left them whole.
    fn clusters(&self) -> MutexGuard<'_, Vec<Cluster>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(&self, project: &str) -> Response {
        let clusters = self.clusters();
        let of_project = clusters.iter().filter(|cluster| cluster.project == project);
        let list = Json::List(of_project.map(Cluster::to_json).collect());
        Response::new(200, object([("clusters", list)]))
    }

    fn create(&self, body: &str) -> Response {
        let cluster = match self.read_order(body) {
            Ok(cluster) => cluster,
            Err(message) => return Response::error(400, &message),
        };
        let mut clusters = self.clusters();
        let same = |other: &Cluster| other.project == cluster.project && other.name == cluster.name;
        if clusters.iter().any(same) {
            return Response::error(409, "the project has a cluster of that name already");
        }
        if clusters.len() >= MAX_CLUSTERS {
            return Response::error(429, "there are too many clusters");
        }
        let reply = cluster.to_json();
        clusters.push(cluster);
        Response::new(201, reply)
    }

    fn read_order(&self, body: &str) -> Result<Cluster, String> {
        let body = json::parse(body).map_err(|error| format!("the body is not JSON: {error}"))?;
        let text = |key: &str| match body.text(key) {
            Some(text) if (1..=63).contains(&text.len()) => Ok(text.to_owned()),
            _ => Err(format!("`{key}` needs a text of 1 to 63 bytes")),
        };
        Ok(Cluster {
            id: format!("c-{:08x}", log::random() >> 32),
            project: text("project")?,
            name: text("name")?,
            tier: pick("tier", &body, &self.config.tiers)?,
            region: pick("region", &body, &self.config.regions)?,
        })
    }
}

/// What the order asks for, if it is on offer; the first one if it does not say.
fn pick(key: &str, order: &Json, offered: &[String]) -> Result<String, String> {
    let wanted = match order.get(key) {
        None => return Ok(offered[0].clone()),
        Some(wanted) => wanted,
    };
    let found = offered.iter().find(|offer| *wanted == Json::from(offer.as_str()));
    let offered = offered.join(", ");
    found.cloned().ok_or_else(|| format!("{key} {wanted} is not on offer, only {offered}"))
}

impl Cluster {
    fn to_json(&self) -> Json {
        object([
            ("id", Json::from(self.id.as_str())),
            ("project", Json::from(self.project.as_str())),
            ("name", Json::from(self.name.as_str())),
            ("tier", Json::from(self.tier.as_str())),
            ("region", Json::from(self.region.as_str())),
            ("state", Json::from("ACTIVE")),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker() -> Worker {
        let config = config::parse("tiers = starter, premium\nregions = local-1").expect("config");
        Worker { config, clusters: Mutex::new(Vec::new()) }
    }

    fn ask(worker: &Worker, method: &str, path: &str, body: &str) -> Response {
        let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
        worker.route(&Request { method, path, body, ..Request::default() })
    }

    fn create(worker: &Worker, body: &str) -> Response {
        ask(worker, "POST", "/internal/clusters", body)
    }

    #[test]
    fn creates_and_lists() {
        let worker = worker();
        let response = create(&worker, r#"{"project":"p1","name":"db1","tier":"premium"}"#);
        assert_eq!((response.status, response.body.text("tier")), (201, Some("premium")));
        assert_eq!(response.body.text("region"), Some("local-1"));
        let listed = ask(&worker, "GET", "/internal/projects/p1/clusters", "").body;
        assert_eq!(listed, object([("clusters", Json::List(vec![response.body]))]));
        let empty = ask(&worker, "GET", "/internal/projects/p2/clusters", "").body;
        assert_eq!(empty.to_string(), r#"{"clusters":[]}"#);
    }

    #[test]
    fn refuses_what_it_cannot_make() {
        let worker = worker();
        for body in [
            "",
            "[]",
            r#"{"name":"db1"}"#,
            r#"{"project":"p1"}"#,
            r#"{"project":"p1","name":"db1","tier":"huge"}"#,
            r#"{"project":"p1","name":"db1","region":1}"#,
        ] {
            assert_eq!(create(&worker, body).status, 400, "{body}");
        }
        assert_eq!(create(&worker, r#"{"project":"p1","name":"db1"}"#).status, 201);
        assert_eq!(create(&worker, r#"{"project":"p1","name":"db1"}"#).status, 409);
        assert_eq!(create(&worker, r#"{"project":"p2","name":"db1"}"#).status, 201);
    }

    #[test]
    fn does_not_grow_forever() {
        let worker = worker();
        for at in 0..MAX_CLUSTERS {
            assert_eq!(
                create(&worker, &format!(r#"{{"project":"p","name":"c{at}"}}"#)).status,
                201
            );
        }
        assert_eq!(create(&worker, r#"{"project":"p","name":"one-more"}"#).status, 429);
    }

    #[test]
    fn unknown_paths_and_methods() {
        assert_eq!(ask(&worker(), "GET", "/healthz", "").status, 200);
        assert_eq!(ask(&worker(), "POST", "/healthz", "").status, 405);
        assert_eq!(ask(&worker(), "DELETE", "/internal/clusters", "").status, 405);
        assert_eq!(ask(&worker(), "GET", "/internal", "").status, 404);
    }

    #[test]
    fn arguments() {
        let path = |args: &[&str]| config_path(args.iter().map(|arg| arg.to_string()));
        assert_eq!(path(&[]).expect("default"), "/etc/cluster-worker/worker.conf");
        assert_eq!(path(&["--config=a"]).expect("given"), "a");
        assert!(path(&["--confg=a"]).expect_err("typo").contains("--confg=a"));
    }
}
