//! From a request's method and path to its answer.

use hyper::StatusCode;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use serde_json::json;

use crate::answer::Answer;
use crate::contract::{Contract, Operation, choose};
use crate::route::Found;

/// Where cp9 asks whether the stub lives.
const HEALTH: &str = "/__cp9/healthz";
/// Where everybody else asks.
const USUAL_HEALTH: &str = "/healthz";

/// A request, as far as its answer depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) accept: Option<&'a str>,
}

/// The answer to a question for health, unless the contract answers it by itself.
pub(crate) fn health(contract: Option<&Contract>, asked: &Asked<'_>) -> Option<Answer> {
    if !matches!(asked.method, "GET" | "HEAD") {
        return None;
    }
    let own = asked.path == HEALTH;
    let usual = asked.path.strip_suffix('/').unwrap_or(asked.path) == USUAL_HEALTH;
    if own || (usual && !contract.is_some_and(|contract| names(contract, asked))) {
        return Some(Answer::json(StatusCode::OK, &json!({ "status": "ok" })));
    }
    None
}

/// True if the contract has this very path, not only a parameter that takes it in.
fn names(contract: &Contract, asked: &Asked<'_>) -> bool {
    let find = |method| contract.routes.find(asked.path, asked.query, method);
    let literal =
        |found: &Found<'_, Operation>| matches!(found, Found::Operation { literal: true, .. });
    literal(&find(asked.method)) || (asked.method == "HEAD" && literal(&find("GET")))
}

/// The answer of a stub without a contract, or as its contract says.
pub(crate) fn answer(contract: Option<&Contract>, asked: &Asked<'_>) -> Answer {
    let Some(contract) = contract else {
        return Answer::accepted();
    };
    match look_up(contract, asked) {
        Found::Operation { operation, .. } => of_operation(operation, asked.accept),
        Found::OtherMethods(methods) => other_method(asked, &allowed(methods)),
        Found::Nothing => {
            let error = "no path of the contract";
            Answer::refusal(StatusCode::NOT_FOUND, error, asked.method, asked.path)
        }
    }
}

/// The path below the server's, else the path as it came; HEAD asks for what GET does.
fn look_up<'c>(contract: &'c Contract, asked: &Asked<'_>) -> Found<'c, Operation> {
    let below = asked
        .path
        .strip_prefix(contract.base.as_str())
        .filter(|rest| !contract.base.is_empty() && (rest.is_empty() || rest.starts_with('/')));
    let paths = [below, Some(asked.path)];
    let methods: &[&str] = if asked.method == "HEAD" {
        &["HEAD", "GET"]
    } else {
        &[asked.method]
    };
    let mut best = Found::Nothing;
    for method in methods {
        for path in paths.iter().flatten() {
            match contract.routes.find(path, asked.query, method) {
                found @ Found::Operation { .. } => return found,
                found @ Found::OtherMethods(_) if matches!(best, Found::Nothing) => best = found,
                _ => {}
            }
        }
    }
    best
}

fn of_operation(operation: &Operation, accept: Option<&str>) -> Answer {
    let response = &operation.response;
    let mut answer = Answer::empty(response.status);
    answer.headers.clone_from(&response.headers);
    let offers = response.bodies.iter().map(|(media, _)| media);
    if let Some((media, body)) = response.bodies.get(choose(accept, offers)) {
        if let Ok(value) = HeaderValue::from_str(&media.text) {
            answer.headers.push((CONTENT_TYPE, value));
        }
        answer.body = body.clone();
    }
    answer
}

fn allowed(mut methods: Vec<&str>) -> Vec<&str> {
    if methods.contains(&"GET") && !methods.contains(&"HEAD") {
        methods.push("HEAD");
    }
    if !methods.contains(&"OPTIONS") {
        methods.push("OPTIONS");
    }
    methods.sort_unstable();
    methods
}

fn other_method(asked: &Asked<'_>, allowed: &[&str]) -> Answer {
    if asked.method == "OPTIONS" {
        return Answer::empty(StatusCode::NO_CONTENT).with_allow(allowed);
    }
    let error = "no method of this path";
    Answer::refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        error,
        asked.method,
        asked.path,
    )
    .with_allow(allowed)
}
