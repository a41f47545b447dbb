//! Asking a probe once.

use std::time::Duration;

use cp9_model::devplan::{Check, Probe, Resource};
use cp9_tools::{Doors, Exit};

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
        Check::Tcp { port } => accepts(&doors, *port, limit).await,
        Check::Ports { ports } => {
            for port in ports {
                accepts(&doors, *port, limit).await?;
            }
            Ok(())
        }
        Check::Http {
            port,
            path,
            headers,
        } => {
            let headers: Vec<_> = headers.clone().into_iter().collect();
            answers(&doors, *port, path, &headers, limit).await
        }
        Check::Exec { argv } => succeeds(session, resource, argv, limit).await,
    }
}

async fn accepts(doors: &Doors, port: u16, limit: Duration) -> Result<(), String> {
    let connected = doors.tcp_probe(port, limit).await;
    connected.map_err(|error| in_words(&error))
}

async fn answers(
    doors: &Doors,
    port: u16,
    path: &str,
    headers: &[(String, String)],
    limit: Duration,
) -> Result<(), String> {
    let reply = doors.http_get(port, path, headers, limit).await;
    match reply.map_err(|error| in_words(&error))?.status {
        200..=399 => Ok(()),
        status => Err(format!("GET {path} answered {status}")),
    }
}

async fn succeeds(
    session: &Session,
    resource: &Resource,
    argv: &[String],
    limit: Duration,
) -> Result<(), String> {
    let cmd = lay::command(session, resource, argv).map_err(|error| in_words(&error))?;
    // By lines, because those come clean and without secrets.
    let cmd = cmd.timeout(limit).quiet();
    let output = session.doors.run_lines(&cmd, &mut |_, _: &str| ()).await;
    let output = output.map_err(|error| in_words(&error))?;
    if output.success() {
        return Ok(());
    }
    let said = if output.stderr.trim().is_empty() {
        &output.stdout
    } else {
        &output.stderr
    };
    let program = argv.first().map_or("", String::as_str);
    let how = match output.status {
        Exit::Code(code) => format!("code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    };
    Err(format!("`{program}` ended with {how} {}", tail(said))
        .trim_end()
        .to_owned())
}

fn tail(text: &str) -> &str {
    let text = text.trim();
    &text[text.ceil_char_boundary(text.len().saturating_sub(EXCERPT))..]
}
