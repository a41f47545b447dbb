//! Asking a probe once.

use std::time::Duration;

use cp9_model::devplan::{Check, Probe, Resource};

use super::child::in_words;
use super::lay;
use super::session::Session;

/// The end of a failing command's output that explains it.
const EXCERPT: usize = 200;

/// Asks a probe of a process that has been running for `age`.
pub(super) async fn ask(
    session: &Session,
    resource: &Resource,
    probe: &Probe,
    age: Duration,
) -> Result<(), String> {
    let limit = Duration::from_secs(u64::from(probe.timeout_seconds.max(1)));
    let doors = session.doors.quiet();
    match &probe.check {
        Check::Alive { millis } => {
            let wanted = Duration::from_millis(u64::from(*millis));
            tokio::time::sleep(wanted.saturating_sub(age)).await;
            Ok(())
        }
        Check::Tcp { port } => doors
            .tcp_probe(*port, limit)
            .await
            .map_err(|error| in_words(&error)),
        Check::Http {
            port,
            path,
            headers,
        } => {
            let headers: Vec<(String, String)> = headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            let reply = doors
                .http_get(*port, path, &headers, limit)
                .await
                .map_err(|error| in_words(&error))?;
            match reply.status {
                200..=399 => Ok(()),
                status => Err(format!("GET {path} answered {status}")),
            }
        }
        Check::Exec { argv } => {
            let cmd = lay::command(session, resource, argv).map_err(|error| in_words(&error))?;
            let output = doors
                .run(&cmd.timeout(limit).quiet())
                .await
                .map_err(|error| in_words(&error))?;
            if output.success() {
                return Ok(());
            }
            let said = if output.stderr.trim().is_empty() {
                &output.stdout
            } else {
                &output.stderr
            };
            let tail: String = said.trim().chars().rev().take(EXCERPT).collect();
            let tail: String = tail.chars().rev().collect();
            Err(format!(
                "`{}` failed ({:?}) {tail}",
                argv.first().map_or("", String::as_str),
                output.status
            ))
        }
    }
}
