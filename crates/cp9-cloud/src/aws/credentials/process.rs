//! Credentials from a program that a profile names, run through the program door.

use std::time::Duration;

use cp9_tools::{Cmd, Doors, Secret};
use jiff::Timestamp;
use serde::Deserialize;

use super::SessionCredentials;
use super::sdk::none;
use crate::aws::error::{AwsError, AwsErrorKind};

/// Some of these programs ask a server, but none may wait for a person.
const LIMIT: Duration = Duration::from_secs(30);

/// What such a program prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<Timestamp>,
}

/// Runs the program as the AWS tools do: its line in a shell, with the environment passed in.
pub(super) async fn run(
    doors: &Doors,
    profile: &str,
    command: &str,
) -> Result<SessionCredentials, AwsError> {
    // The line may hold passwords, so the record shows it as a secret.
    let line = Secret::new(command);
    let cmd = Cmd::new("sh").arg("-c").secret_arg(&line).timeout(LIMIT);
    let failed = format!("the `credential_process` of profile `{profile}` gave no credentials");
    let output = doors.run(&cmd).await.and_then(cp9_tools::Output::checked);
    let output = output.map_err(|error| {
        let interrupted = error.is_interrupted();
        let error = none(failed.as_str()).caused(error);
        error.edit(|facts| {
            if interrupted {
                facts.kind = AwsErrorKind::Interrupted;
            }
        })
    })?;
    // The parser's message may quote a value.
    let printed: Result<Printed, _> = serde_json::from_str(&output.stdout);
    let printed = printed.ok().filter(|printed| printed.version == 1);
    let printed = printed.ok_or_else(|| {
        none(format!(
            "{failed}: what it printed is not version 1 of the AWS format"
        ))
    })?;
    let empty = |token: &String| !token.is_empty();
    Ok(SessionCredentials {
        access_key: Secret::new(printed.access_key_id),
        secret_key: Secret::new(printed.secret_access_key),
        session_token: printed.session_token.filter(empty).map(Secret::new),
        expires: printed.expiration,
        source: format!("profile `{profile}` (program)"),
    })
}
