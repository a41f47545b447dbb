//! From saving a source file to the new version answering, beyond what the compiler itself took.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::http;
use super::sandbox::Sandbox;

const SERVICE: &str = "cluster-api";
const SOURCE: &str = "services/cluster-api/src/main.rs";
/// What `GET /healthz` of the service answers, as its source spells it.
const ANSWER: &str = "Json::from(\"ok\")";
const PATIENCE: Duration = Duration::from_mins(1);

/// Saves the file `rounds` times, each time with another answer, and waits until it is served.
pub(crate) fn overheads(sandbox: &Sandbox, rounds: usize) -> Result<Vec<Duration>> {
    let source = std::fs::read_to_string(sandbox.folder().join(SOURCE))?;
    if source.matches(ANSWER).count() != 1 {
        bail!("`{SOURCE}` must hold `{ANSWER}` once");
    }
    let status = sandbox.cp9(&["status"])?.1;
    let endpoint = service(&status)?["endpoint"]
        .as_str()
        .context("the service has no endpoint")?;
    let address = http::address(endpoint)?;
    let round = |number| {
        let word = format!("ok-{number}");
        let changed = source.replace(ANSWER, &format!("Json::from(\"{word}\")"));
        let start = Instant::now();
        sandbox.write(SOURCE, &changed)?;
        wait_for(address, &word)?;
        let took = start.elapsed();
        Ok(took.saturating_sub(build_time(&sandbox.cp9(&["status"])?.1)?))
    };
    (1..=rounds).map(round).collect()
}

fn wait_for(address: SocketAddr, word: &str) -> Result<()> {
    let start = Instant::now();
    let wanted = format!("\"{word}\"");
    while start.elapsed() < PATIENCE {
        if http::get(address, "/healthz").is_ok_and(|reply| reply.contains(&wanted)) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    bail!(
        "the new version did not answer `{word}` within {} s",
        PATIENCE.as_secs()
    )
}

fn service(status: &Value) -> Result<&Value> {
    let mut services = status["services"].as_array().into_iter().flatten();
    services
        .find(|service| service["name"] == SERVICE)
        .with_context(|| format!("`status` does not list `{SERVICE}`"))
}

/// How long the compiler of the last build ran.
fn build_time(status: &Value) -> Result<Duration> {
    let mut resources = service(status)?["resources"]
        .as_array()
        .into_iter()
        .flatten();
    let millis = resources.find_map(|resource| resource["build_millis"].as_u64());
    millis
        .map(Duration::from_millis)
        .context("`status` names no `build_millis`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_build_time_is_that_of_the_service() {
        let status = json!({"services": [
            {"name": "other", "resources": [{"build_millis": 1}]},
            {"name": SERVICE, "resources": [{"name": "a"}, {"name": "b", "build_millis": 250}]},
        ]});
        assert_eq!(
            build_time(&status).expect("a time"),
            Duration::from_millis(250)
        );
        assert!(build_time(&json!({"services": [{"name": SERVICE, "resources": []}]})).is_err());
        assert!(build_time(&json!({})).is_err());
    }

    #[test]
    fn the_quickstart_has_the_answer_that_is_edited() {
        let root = crate::outside::root().expect("a root");
        let source = std::fs::read_to_string(root.join("examples/quickstart").join(SOURCE))
            .expect("a source");
        assert_eq!(source.matches(ANSWER).count(), 1);
    }
}
