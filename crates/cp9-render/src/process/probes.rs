//! Probes of the container as checks of a process.

use cp9_model::Diagnostic;
use cp9_model::devplan::{Check, Probe};
use cp9_model::graph::ServiceKind;
use indexmap::IndexMap;
use serde_json::Value;

use super::context::{Context, Notes};
use super::rewrite::Rewriter;
use super::workload::{as_port, named};
use crate::problem;

/// How long a process without ports and probes must live to count as ready.
const ALIVE_MILLIS: u32 = 1000;
/// Seconds between the stop signal and the kill, and the most that a manifest can ask for.
const GRACE: u32 = 5;
const MOST_GRACE: u32 = 30;

/// When the process is ready, and when it must be restarted.
pub(crate) fn build(
    context: &Context<'_>,
    rewriter: &Rewriter<'_>,
    notes: &mut Notes,
) -> (Probe, Option<Probe>) {
    let mut probe = |kind: &str| {
        if context.workload.container[format!("{kind}Probe")].is_null() {
            return None;
        }
        if context.workload.ignore.covers(&format!("probes/{kind}")) {
            return None;
        }
        match one(context, rewriter, kind, notes) {
            Ok(probe) => Some(probe),
            Err(found) => {
                notes.problems.push(*found);
                None
            }
        }
    };
    let (startup, ready, live) = (probe("startup"), probe("readiness"), probe("liveness"));
    (ready.or(startup).unwrap_or_else(|| default(context)), live)
}

/// The pod's grace period, within what a developer would wait for.
pub(crate) fn grace(context: &Context<'_>) -> u32 {
    let asked = &context.workload.manifest.value["spec"]["template"]["spec"]["terminationGracePeriodSeconds"];
    asked.as_u64().map_or(GRACE, |seconds| {
        u32::try_from(seconds).unwrap_or(MOST_GRACE).min(MOST_GRACE)
    })
}

fn default(context: &Context<'_>) -> Probe {
    let allocated = context.allocated();
    let ports = context.ports.iter().filter(|port| port.tcp);
    let ports: Vec<u16> = ports
        .filter_map(|port| allocated.get(&port.number).copied())
        .collect();
    let check = match ports.as_slice() {
        [] => Check::Alive {
            millis: ALIVE_MILLIS,
        },
        [port] => Check::Tcp { port: *port },
        _ => Check::Ports { ports },
    };
    Probe {
        check,
        period_seconds: 10,
        timeout_seconds: 1,
        failure_threshold: 3,
        success_threshold: 1,
    }
}

fn one(
    context: &Context<'_>,
    rewriter: &Rewriter<'_>,
    kind: &str,
    notes: &mut Notes,
) -> Result<Probe, Box<Diagnostic>> {
    let at = format!("{}/{kind}Probe", context.workload.at);
    let value = &context.workload.container[format!("{kind}Probe")];
    let seconds = |field: &str, default: u32| {
        value[field]
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| *number > 0)
            .unwrap_or(default)
    };
    let check = if !value["httpGet"].is_null() {
        http(context, value, kind, &at)?
    } else if !value["tcpSocket"].is_null() {
        Check::Tcp {
            port: port(
                context,
                &value["tcpSocket"]["port"],
                &format!("{at}/tcpSocket/port"),
            )?,
        }
    } else if !value["exec"].is_null() {
        exec(context, rewriter, kind, value, notes)
    } else {
        let what = if value["grpc"].is_null() {
            "an unknown"
        } else {
            "a gRPC"
        };
        return Err(Box::new(refuse(context, kind, &format!("{at}/grpc"), what)));
    };
    Ok(Probe {
        check,
        period_seconds: seconds("periodSeconds", 10),
        timeout_seconds: seconds("timeoutSeconds", 1),
        failure_threshold: seconds("failureThreshold", 3),
        success_threshold: seconds("successThreshold", 1),
    })
}

fn refuse(context: &Context<'_>, kind: &str, at: &str, what: &str) -> Diagnostic {
    context.problem(
        problem::PROBE,
        at,
        format!(
            "the {kind} probe of service `{}` is {what} check, which a process host does not do",
            context.name()
        ),
        format!(
            "use `httpGet` over HTTP, `tcpSocket` or `exec`, or add `probes/{kind}` to `run.ignore`"
        ),
    )
}

fn http(
    context: &Context<'_>,
    value: &Value,
    kind: &str,
    at: &str,
) -> Result<Check, Box<Diagnostic>> {
    let get = &value["httpGet"];
    if get["scheme"]
        .as_str()
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
    {
        return Err(Box::new(refuse(
            context,
            kind,
            &format!("{at}/httpGet/scheme"),
            "an HTTPS",
        )));
    }
    let host = get["host"].as_str().unwrap_or("localhost");
    if !matches!(host, "localhost" | "127.0.0.1" | "") {
        return Err(Box::new(refuse(
            context,
            kind,
            &format!("{at}/httpGet/host"),
            "another host's",
        )));
    }
    let path = get["path"].as_str().unwrap_or("/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut headers = IndexMap::new();
    for header in get["httpHeaders"].as_array().into_iter().flatten() {
        if let (Some(name), Some(value)) = (header["name"].as_str(), header["value"].as_str()) {
            headers.insert(name.to_owned(), value.to_owned());
        }
    }
    let port = port(context, &get["port"], &format!("{at}/httpGet/port"))?;
    Ok(Check::Http {
        port,
        path: format!("{slash}{path}"),
        headers,
    })
}

fn port(context: &Context<'_>, value: &Value, at: &str) -> Result<u16, Box<Diagnostic>> {
    let number = value
        .as_str()
        .map_or_else(|| as_port(value), |name| named(&context.ports, name));
    let host = number.and_then(|number| context.allocated().get(&number).copied());
    host.ok_or_else(|| {
        let known: Vec<String> = context
            .ports
            .iter()
            .filter_map(|port| port.name.clone())
            .collect();
        Box::new(context.problem(
            problem::PROBE,
            at,
            format!(
                    "the probe asks port `{}`, which the container does not have",
                    value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned)
                ),
            format!(
                "name one of its ports: {}",
                crate::nearest::quoted(known.iter().map(String::as_str))
            ),
        ))
    })
}

fn exec(
    context: &Context<'_>,
    rewriter: &Rewriter<'_>,
    kind: &str,
    value: &Value,
    notes: &mut Notes,
) -> Check {
    let words = value["exec"]["command"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let mut words: Vec<String> = words.map(str::to_owned).collect();
    let root = context.plan_root();
    let own = context.workload.container["command"][0].as_str();
    let mine = context.node.kind == ServiceKind::Source
        && own.is_some()
        && own == words.first().map(String::as_str);
    if let Some(program) = words.first_mut().filter(|_| mine) {
        *program = crate::devplan::binary_path(&context.node.name);
    }
    let argv = rewriter
        .argv(&words, &root)
        .into_iter()
        .map(|arg| notes.take(&format!("probe/{kind}"), arg, &root, &root));
    Check::Exec {
        argv: argv.collect(),
    }
}
