//! cluster-worker: makes the clusters of the quickstart, and keeps them in memory. Each one is
//! asked for at account-svc, metered, and put on the bill.
//!
//! | setting | meaning |
//! |---|---|
//! | `LISTEN_ADDR` | the address to listen on, `127.0.0.1:8081` by default |
//! | `ACCOUNT_ADDR`, `METERING_URL`, `BILLING_URL` | where the three other services answer |
//! | `PROVIDER_TOKEN` | what a real worker would show to its cloud provider; a secret |
//! | `--config=FILE` | what may be made, `/etc/cluster-worker/worker.conf` by default |

mod http;
mod json;
mod log;
mod message;

use http::{Peer, Request, Response};
use json::{object, Json};
use std::env;
use std::net::TcpListener;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Memory is not endless.
const MAX_CLUSTERS: usize = 1000;

#[derive(Clone)]
struct Cluster {
    id: String,
    project: String,
    name: String,
    tier: String,
    region: String,
    state: &'static str,
}

struct Worker {
    /// What may be made. No list is empty; the first of each is the default.
    tiers: Vec<String>,
    regions: Vec<String>,
    accounts: Peer,
    metering: Peer,
    billing: Peer,
    clusters: Mutex<Vec<Cluster>>,
}

fn main() {
    let listen = env::var("LISTEN_ADDR").unwrap_or_else(|_| "127.0.0.1:8081".to_owned());
    let (tiers, regions) = match read_config(env::args().skip(1)) {
        Ok(config) => config,
        Err(message) => log::fatal(&message),
    };
    required("PROVIDER_TOKEN");
    log::line("info", "", "PROVIDER_TOKEN is set");
    let worker = Worker {
        tiers,
        regions,
        accounts: Peer {
            name: "account-svc",
            url: required("ACCOUNT_ADDR"),
        },
        metering: Peer {
            name: "metering",
            url: required("METERING_URL"),
        },
        billing: Peer {
            name: "billing-svc",
            url: required("BILLING_URL"),
        },
        clusters: Mutex::new(Vec::new()),
    };
    let listener = match TcpListener::bind(&listen) {
        Ok(listener) => listener,
        Err(error) => log::fatal(&format!("cannot listen on {listen}: {error}")),
    };
    let offer = format!(
        "tiers {}, regions {}",
        worker.tiers.join(" "),
        worker.regions.join(" ")
    );
    log::line(
        "info",
        "",
        &format!("cluster-worker listens on {listen}: {offer}"),
    );
    http::serve(listener, move |request| worker.route(request))
}

/// The value of a variable that must be there.
fn required(name: &str) -> String {
    match env::var(name) {
        Ok(value) if !value.is_empty() => value,
        _ => log::fatal(&format!("{name} is not set")),
    }
}

/// Tiers and regions, from the file that the arguments name; errors name it.
fn read_config(args: impl Iterator<Item = String>) -> Result<(Vec<String>, Vec<String>), String> {
    let mut path = "/etc/cluster-worker/worker.conf".to_owned();
    for arg in args {
        match arg.strip_prefix("--config=") {
            Some(given) => path = given.to_owned(),
            None => {
                return Err(format!(
                    "unknown argument `{arg}`, only --config=FILE is known"
                ))
            }
        }
    }
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
    parse_config(&text).map_err(|error| format!("{path}: {error}"))
}

/// `key = value, value` lines, and `#` for comments; errors name the line.
fn parse_config(text: &str) -> Result<(Vec<String>, Vec<String>), String> {
    let (mut tiers, mut regions) = (Vec::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let (key, values) = match line.split_once('=') {
            Some(pair) => pair,
            None if line.is_empty() => continue,
            None => return Err(format!("line {}: `=` is missing", at + 1)),
        };
        let values = values.split(',').map(|value| value.trim().to_owned());
        let values = values.filter(|value| !value.is_empty()).collect();
        match key.trim() {
            "tiers" => tiers = values,
            "regions" => regions = values,
            other => return Err(format!("line {}: unknown key `{other}`", at + 1)),
        }
    }
    if tiers.is_empty() || regions.is_empty() {
        return Err("`tiers` and `regions` need at least one value each".to_owned());
    }
    Ok((tiers, regions))
}

impl Worker {
    fn route(&self, request: &Request) -> Response {
        match (request.segments().as_slice(), request.method.as_str()) {
            (["healthz"], "GET") => Response::new(200, object([("status", Json::from("ok"))])),
            (["healthz"], _) => Response::not_allowed("GET, HEAD"),
            (["internal", "clusters"], "POST") => {
                self.create(request).unwrap_or_else(|refusal| refusal)
            }
            (["internal", "clusters"], _) => Response::not_allowed("POST"),
            (["internal", "projects", project, "clusters"], "GET") => self.list(project),
            (["internal", "projects", _, "clusters"], _) => Response::not_allowed("GET, HEAD"),
            _ => Response::error(404, "no such path"),
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

    fn create(&self, request: &Request) -> Result<Response, Response> {
        let cluster = self
            .read_order(&request.body)
            .map_err(|why| Response::error(400, &why))?;
        self.reserve(&cluster)?;
        let booked = self.book(&cluster, &request.trace_id);
        let mut clusters = self.clusters();
        if let Err(refusal) = booked {
            clusters.retain(|other| other.id != cluster.id);
            return Err(refusal);
        }
        let cluster = Cluster {
            state: "ACTIVE",
            ..cluster
        };
        clusters
            .iter_mut()
            .filter(|other| other.id == cluster.id)
            .for_each(|other| *other = cluster.clone());
        Ok(Response::new(201, cluster.to_json()))
    }

    /// Takes the name, so that no other request gets it while this one asks around.
    fn reserve(&self, cluster: &Cluster) -> Result<(), Response> {
        let mut clusters = self.clusters();
        let same = |other: &Cluster| other.project == cluster.project && other.name == cluster.name;
        if clusters.iter().any(same) {
            return Err(Response::error(
                409,
                "the project has a cluster of that name already",
            ));
        }
        if clusters.len() >= MAX_CLUSTERS {
            return Err(Response::error(429, "there are too many clusters"));
        }
        clusters.push(cluster.clone());
        Ok(())
    }

    /// Asks account-svc, then tells metering and billing-svc. Any of them can stop it.
    fn book(&self, cluster: &Cluster, trace_id: &str) -> Result<(), Response> {
        let what = format!("GET /v1/accounts/{}/quota", cluster.project);
        let quota = accepted(&self.accounts, &what, trace_id, "")?;
        let (limit, used) = (count(&quota, "limit"), count(&quota, "used"));
        log::line(
            "info",
            trace_id,
            &format!("account-svc: {used} clusters of {limit} (0: no limit)"),
        );
        if limit != 0 && used >= limit {
            return Err(Response::error(
                403,
                "the account has no cluster left in its quota",
            ));
        }
        let event = object([
            ("event", Json::from("cluster.created")),
            ("account", Json::from(cluster.project.as_str())),
            ("resource", Json::from(cluster.id.as_str())),
            ("time", Json::from(log::timestamp(SystemTime::now()))),
        ]);
        accepted(
            &self.metering,
            "POST /v1/events",
            trace_id,
            &event.to_string(),
        )?;
        let invoice = object([
            ("account", Json::from(cluster.project.as_str())),
            (
                "item",
                Json::from(format!("cluster {} ({})", cluster.name, cluster.tier)),
            ),
            ("quantity", Json::Number("1".to_owned())),
        ]);
        accepted(
            &self.billing,
            "POST /invoices",
            trace_id,
            &invoice.to_string(),
        )?;
        log::line(
            "info",
            trace_id,
            &format!("cluster {} is metered and on the bill", cluster.id),
        );
        Ok(())
    }

    fn read_order(&self, body: &str) -> Result<Cluster, String> {
        let body = json::parse(body).map_err(|error| format!("the body is not JSON: {error}"))?;
        Ok(Cluster {
            id: format!("c-{:08x}", log::random() >> 32),
            project: label("project", &body)?,
            name: label("name", &body)?,
            tier: pick("tier", &body, &self.tiers)?,
            region: pick("region", &body, &self.regions)?,
            state: "CREATING",
        })
    }
}

/// The reply of a service that must not refuse.
fn accepted(peer: &Peer, what: &str, trace_id: &str, body: &str) -> Result<Json, Response> {
    match peer.call(what, trace_id, body)? {
        (200..=299, reply) => Ok(reply),
        (status, _) => Err(peer.failed(trace_id, &format!("status {status} to {what}"))),
    }
}

/// A count in a reply; 0 if it is not there.
fn count(reply: &Json, key: &str) -> u64 {
    match reply.get(key) {
        Json::Number(digits) => digits.parse().unwrap_or(0),
        _ => 0,
    }
}

fn label(key: &str, order: &Json) -> Result<String, String> {
    let fits = |text: &&str| {
        (1..=63).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let text = order.text(key).filter(fits).map(str::to_owned);
    text.ok_or_else(|| format!("`{key}` needs 1 to 63 letters, digits and hyphens"))
}

/// What the order asks for, if it is on offer; the first one if it does not say.
fn pick(key: &str, order: &Json, offered: &[String]) -> Result<String, String> {
    let wanted = match order.get(key) {
        Json::Null => return Ok(offered[0].clone()),
        wanted => wanted,
    };
    let found = offered
        .iter()
        .find(|offer| *wanted == Json::from(offer.as_str()));
    let offered = offered.join(", ");
    found
        .cloned()
        .ok_or_else(|| format!("{key} {wanted} is not on offer, only {offered}"))
}

impl Cluster {
    fn to_json(&self) -> Json {
        object([
            ("id", Json::from(self.id.as_str())),
            ("project", Json::from(self.project.as_str())),
            ("name", Json::from(self.name.as_str())),
            ("tier", Json::from(self.tier.as_str())),
            ("region", Json::from(self.region.as_str())),
            ("state", Json::from(self.state)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Another service: a status, and what it answers or, for a path that must not be asked, `!`.
    fn peer(name: &'static str, status: u16, answer: &'static str) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let url = listener.local_addr().expect("address").to_string();
        let reply = move |request: &Request| {
            assert_eq!(request.trace_id, "t1");
            Response::new(status, json::parse(answer).expect("JSON"))
        };
        std::thread::spawn(move || http::serve(listener, reply));
        Peer { name, url }
    }

    fn worker(quota: &'static str, metering: u16, billing: u16) -> Worker {
        Worker {
            tiers: vec!["starter".to_owned(), "premium".to_owned()],
            regions: vec!["local-1".to_owned()],
            accounts: peer("account-svc", 200, quota),
            metering: peer("metering", metering, "{}"),
            billing: peer("billing-svc", billing, "{}"),
            clusters: Mutex::new(Vec::new()),
        }
    }

    fn ask(worker: &Worker, method: &str, path: &str, body: &str) -> Response {
        let (method, path, body) = (method.to_owned(), path.to_owned(), body.to_owned());
        worker.route(&Request {
            method,
            path,
            body,
            trace_id: "t1".to_owned(),
        })
    }

    fn create(worker: &Worker, body: &str) -> Response {
        ask(worker, "POST", "/internal/clusters", body)
    }

    #[test]
    fn creates_and_lists() {
        // The answer of a stub that knows nothing: no limit.
        let worker = worker(r#"{"limit":0,"used":0}"#, 200, 200);
        let response = create(&worker, r#"{"project":"p1","name":"db1","tier":"premium"}"#);
        assert_eq!(
            (response.status, response.body.text("tier")),
            (201, Some("premium"))
        );
        assert_eq!(
            (response.body.text("region"), response.body.text("state")),
            (Some("local-1"), Some("ACTIVE"))
        );
        assert_eq!(
            create(&worker, r#"{"project":"p1","name":"db1"}"#).status,
            409
        );
        let listed = ask(&worker, "GET", "/internal/projects/p1/clusters", "").body;
        assert_eq!(
            listed,
            object([("clusters", Json::List(vec![response.body]))])
        );
        let empty = ask(&worker, "GET", "/internal/projects/p2/clusters", "").body;
        assert_eq!(empty.to_string(), r#"{"clusters":[]}"#);
    }

    #[test]
    fn the_other_services_can_stop_it() {
        for (worker, status, named) in [
            (worker(r#"{"limit":2,"used":2}"#, 200, 200), 403, "account"),
            (
                Worker {
                    accounts: peer("account-svc", 404, "{}"),
                    ..worker("{}", 200, 200)
                },
                502,
                "account-svc",
            ),
            (worker(r#"{"limit":2,"used":1}"#, 503, 200), 502, "metering"),
            (worker("{}", 200, 400), 502, "billing-svc"),
        ] {
            let refusal = create(&worker, r#"{"project":"p1","name":"db1"}"#);
            assert_eq!(refusal.status, status, "{}", refusal.body);
            assert!(
                refusal.body.text("error").expect("why").contains(named),
                "{}",
                refusal.body
            );
            assert!(worker.clusters().is_empty(), "nothing stays behind");
        }
    }

    #[test]
    fn refuses_what_it_cannot_make() {
        let worker = worker("!", 500, 500);
        for body in [
            "",
            "[]",
            r#"{"name":"db1"}"#,
            r#"{"project":"p1"}"#,
            r#"{"project":"p1/../p2","name":"db1"}"#,
            r#"{"project":"p1","name":"db1","tier":"huge"}"#,
            r#"{"project":"p1","name":"db1","region":1}"#,
        ] {
            assert_eq!(create(&worker, body).status, 400, "{body}");
        }
        let order = worker
            .read_order(r#"{"project":"p1","name":"db1"}"#)
            .expect("good");
        worker.clusters().resize(MAX_CLUSTERS, order);
        assert_eq!(
            create(&worker, r#"{"project":"p1","name":"one-more"}"#).status,
            429
        );
    }

    #[test]
    fn unknown_paths_and_methods() {
        let worker = worker("!", 500, 500);
        for (method, path, status) in [
            ("GET", "/healthz", 200),
            ("POST", "/healthz", 405),
            ("DELETE", "/internal/clusters", 405),
            ("GET", "/internal", 404),
        ] {
            assert_eq!(
                ask(&worker, method, path, "").status,
                status,
                "{method} {path}"
            );
        }
    }

    #[test]
    fn reads_its_configuration() {
        let good = parse_config("# offer\n\ntiers = starter, premium # two\nregions=local-1,\n");
        assert_eq!(
            good,
            Ok((
                vec!["starter".into(), "premium".into()],
                vec!["local-1".into()]
            ))
        );
        for (text, error) in [
            ("tiers = a\nregion = b", "line 2: unknown key `region`"),
            ("tiers", "line 1: `=` is missing"),
            (
                "tiers = a\nregions = ,",
                "`tiers` and `regions` need at least one value each",
            ),
        ] {
            assert_eq!(parse_config(text), Err(error.to_owned()));
        }
        let refused = |arg: &str| read_config([arg.to_owned()].into_iter()).expect_err(arg);
        assert!(refused("--confg=a").contains("--confg=a"));
        assert!(refused("--config=/nowhere/worker.conf").contains("/nowhere/worker.conf"));
    }
}
