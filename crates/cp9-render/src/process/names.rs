//! The names that services of the session answer to, and the loopback ports behind them.

use std::collections::{BTreeMap, BTreeSet};

use cp9_model::ServiceName;
use cp9_model::graph::ServiceKind;

use super::Session;
use super::workload::{self, ServicePort};
use crate::argo::ServiceInput;

/// One Kubernetes Service, or one stub, of the session.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The service of the session behind it.
    pub service: ServiceName,
    /// Where it lives, if that is known.
    pub namespace: Option<String>,
    /// Its ports with their loopback ports.
    pub ports: Vec<(ServicePort, Option<u16>)>,
    /// The one port that a stub answers every port with.
    pub any: Option<u16>,
}

impl Endpoint {
    /// The loopback port behind a port of the Service.
    pub(crate) fn at(&self, port: u16) -> Option<u16> {
        self.any
            .or_else(|| self.ports.iter().find(|(known, _)| known.port == port)?.1)
    }

    /// The loopback port that a URL without a port means.
    pub(crate) fn of_scheme(&self, scheme: &str) -> Option<u16> {
        if self.any.is_some() {
            return self.any;
        }
        if let Some(port) = default_port(scheme) {
            return self.at(port);
        }
        match self.ports.as_slice() {
            [(_, host)] => *host,
            _ => None,
        }
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    Some(match scheme {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        "mysql" => 3306,
        "postgres" | "postgresql" => 5432,
        "redis" => 6379,
        "amqp" => 5672,
        "nats" => 4222,
        _ => return None,
    })
}

/// Every name of the session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    known: BTreeMap<String, Vec<Endpoint>>,
}

impl Names {
    /// Collects the Services that lead to a workload of the session, and the stubs.
    pub(crate) fn of(session: &Session<'_>) -> Self {
        let mut names = Self::default();
        for input in session.inputs {
            let run = workload::run(session.config, &input.service);
            let Ok(workload) = workload::choose(input, run) else {
                continue;
            };
            for service in workload::services(input, &workload) {
                let ports = service
                    .ports
                    .into_iter()
                    .map(|port| {
                        let host = port
                            .target
                            .and_then(|target| session.host.port(input.service.as_str(), target));
                        (port, host)
                    })
                    .collect();
                let namespace = service.namespace.or_else(|| input.namespace.clone());
                names.add(
                    service.name,
                    Endpoint {
                        service: input.service.clone(),
                        namespace,
                        ports,
                        any: None,
                    },
                );
            }
        }
        for node in session
            .graph
            .services
            .iter()
            .filter(|node| node.kind == ServiceKind::Stub)
        {
            let any = session
                .host
                .ports
                .get(node.name.as_str())
                .and_then(|ports| ports.values().next().copied());
            // Services of the session say in which namespaces its dependencies are looked for.
            for namespace in std::iter::once(None).chain(namespaces(session.inputs)) {
                let stub = Endpoint {
                    service: node.name.clone(),
                    namespace: namespace.map(str::to_owned),
                    ports: Vec::new(),
                    any,
                };
                names.add(node.name.to_string(), stub);
            }
        }
        names
    }

    /// Adds one endpoint.
    pub(crate) fn add(&mut self, name: String, endpoint: Endpoint) {
        self.known.entry(name).or_default().push(endpoint);
    }

    /// Every endpoint by name; of several with one name the first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Endpoint)> {
        self.known
            .iter()
            .filter_map(|(name, endpoints)| Some((name.as_str(), endpoints.first()?)))
    }

    /// The endpoint that a host name means inside the service `own`: `NAME`, `NAME.NS`,
    /// `NAME.NS.svc` or `NAME.NS.svc.cluster.local`.
    pub(crate) fn resolve(&self, host: &str, own: &ServiceName) -> Option<&Endpoint> {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let mut parts = host.splitn(3, '.');
        let endpoints = self.known.get(parts.next()?)?;
        let namespace = parts.next();
        let qualified = match parts.next() {
            None => false,
            Some("svc" | "svc.cluster.local") => true,
            Some(_) => return None,
        };
        let fits = |endpoint: &&Endpoint| match (namespace, &endpoint.namespace) {
            (None, _) => true,
            (Some(wanted), Some(known)) => wanted == known,
            // Without a known namespace `docker.io` must not be taken for a Service `docker`.
            (Some(_), None) => qualified,
        };
        endpoints
            .iter()
            .filter(fits)
            .find(|endpoint| endpoint.service == *own)
            .or_else(|| endpoints.iter().find(fits))
    }
}

/// The namespaces that the applications are for.
fn namespaces(inputs: &[ServiceInput]) -> impl Iterator<Item = Option<&str>> {
    let known: BTreeSet<&str> = inputs
        .iter()
        .filter_map(|input| input.namespace.as_deref())
        .collect();
    known.into_iter().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(namespace: Option<&str>) -> Names {
        let mut names = Names::default();
        let port = ServicePort {
            port: 80,
            name: None,
            target: Some(8080),
        };
        let endpoint = Endpoint {
            service: "worker".parse().expect("a name"),
            namespace: namespace.map(str::to_owned),
            ports: vec![(port, Some(20_001))],
            any: None,
        };
        names.add("worker".to_owned(), endpoint);
        names
    }

    #[test]
    fn names_resolve_as_cluster_dns_does() {
        let own = "api".parse().expect("a name");
        for host in [
            "worker",
            "Worker",
            "worker.prod",
            "worker.prod.svc",
            "worker.prod.svc.cluster.local",
            "worker.prod.svc.cluster.local.",
        ] {
            assert!(names(Some("prod")).resolve(host, &own).is_some(), "{host}");
        }
        for host in [
            "workers",
            "worker.other",
            "worker.prod.svc.example.com",
            "x.worker",
            "",
        ] {
            assert!(names(Some("prod")).resolve(host, &own).is_none(), "{host}");
        }
        assert!(names(None).resolve("worker.io", &own).is_none());
        assert!(names(None).resolve("worker.any.svc", &own).is_some());
    }

    #[test]
    fn urls_without_a_port_take_that_of_their_scheme() {
        let names = names(None);
        let worker = names
            .resolve("worker", &"api".parse().expect("a name"))
            .expect("known");
        assert_eq!(worker.of_scheme("http"), Some(20_001));
        assert_eq!(worker.of_scheme("https"), None);
        assert_eq!(worker.of_scheme("grpc"), Some(20_001));
        assert_eq!(worker.at(8080), None);
    }
}
