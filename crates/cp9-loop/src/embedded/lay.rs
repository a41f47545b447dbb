//! What a process finds when it starts: private folders, its files laid fresh, its environment.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::Resource;
use cp9_tools::{Cmd, Doors, FileError, Secret};
use thiserror::Error;

use super::session::Session;
use crate::secrets::{self, SecretsError};

/// Why a process cannot be prepared.
#[derive(Debug, Error)]
pub(super) enum LayError {
    /// A file cannot be read or written.
    #[error("cannot lay the files of `{service}`")]
    File {
        /// The service.
        service: String,
        /// Which and why.
        source: FileError,
    },
    /// A secret is not there.
    #[error("cannot give `{service}` its secrets")]
    Secret {
        /// The service.
        service: String,
        /// Which and why.
        source: SecretsError,
    },
}

/// Secret files read once for one start.
struct Secrets<'a> {
    doors: &'a Doors,
    service: &'a str,
    files: BTreeMap<String, BTreeMap<String, Secret>>,
}

impl Secrets<'_> {
    fn get(&mut self, file: &str, key: &str) -> Result<Secret, LayError> {
        let failed = |source| LayError::Secret {
            service: self.service.to_owned(),
            source,
        };
        if !self.files.contains_key(file) {
            let loaded = secrets::load(self.doors, Utf8Path::new(file)).map_err(failed)?;
            self.files.insert(file.to_owned(), loaded);
        }
        let missing = || SecretsError::Missing {
            path: file.into(),
            key: key.to_owned(),
        };
        self.files[file]
            .get(key)
            .cloned()
            .ok_or_else(|| failed(missing()))
    }
}

fn secrets_for<'a>(doors: &'a Doors, resource: &'a Resource) -> Secrets<'a> {
    Secrets {
        doors,
        service: &resource.service,
        files: BTreeMap::new(),
    }
}

/// Makes the folders and files of a process.
pub(super) fn lay(session: &Session, resource: &Resource) -> Result<(), LayError> {
    let doors = &session.doors;
    let failed = |source| LayError::File {
        service: resource.service.clone(),
        source,
    };
    let run = session.paths.run(&resource.service);
    doors.create_private_dir(&run).map_err(failed)?;
    for dir in &resource.dirs {
        doors
            .create_private_dir(Utf8Path::new(dir))
            .map_err(failed)?;
    }
    remove_stale(doors, &run, resource).map_err(failed)?;
    let mut secrets = secrets_for(doors, resource);
    for file in &resource.files {
        let content = match &file.key {
            Some(key) => secrets.get(&file.source, key)?.expose().as_bytes().to_vec(),
            None => doors.read(Utf8Path::new(&file.source)).map_err(failed)?,
        };
        let path = Utf8Path::new(&file.path);
        if let Some(parent) = path.parent() {
            doors.create_private_dir(parent).map_err(failed)?;
        }
        doors
            .write_if_changed(path, &content, 0o600)
            .map_err(failed)?;
    }
    Ok(())
}

/// Removes the files in which a process had its secrets; the next start lays them again.
pub(super) fn remove_secrets(doors: &Doors, resource: &Resource) {
    for file in resource.files.iter().filter(|file| file.key.is_some()) {
        let path = Utf8Path::new(&file.path);
        if doors.exists(path) {
            // What cannot be removed stays private, and goes with the session.
            let _ = doors.remove_file(path);
        }
    }
}

/// Removes what an earlier start laid and this one does not name.
fn remove_stale(doors: &Doors, run: &Utf8Path, resource: &Resource) -> Result<(), FileError> {
    let list = run.join("laid.json");
    let now: BTreeSet<&str> = resource
        .files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    let before: BTreeSet<Utf8PathBuf> = doors
        .read(&list)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    for path in before
        .iter()
        .filter(|path| !now.contains(path.as_str()) && path.starts_with(run))
    {
        if doors.exists(path) {
            doors.remove_file(path)?;
        }
    }
    let text = serde_json::to_vec(&now).expect("paths are plain data and always serialise");
    doors.write_if_changed(&list, &text, 0o600).map(drop)
}

/// The command with exactly the environment of a process: plan, secrets, scope.
pub(super) fn command(
    session: &Session,
    resource: &Resource,
    argv: &[String],
) -> Result<Cmd, LayError> {
    let (program, words) = argv
        .split_first()
        .map_or(("", argv), |(program, args)| (program.as_str(), args));
    let mut cmd = Cmd::new(program)
        .args(words)
        .cwd(resource.cwd.as_str())
        .clear_env();
    for (name, value) in &resource.env {
        cmd = cmd.env(name, value);
    }
    let mut secrets = secrets_for(&session.doors, resource);
    for secret in &resource.secrets {
        cmd = cmd.secret_env(&secret.env, &secrets.get(&secret.file, &secret.key)?);
    }
    for (name, value) in session.scope.env() {
        cmd = cmd.env(name, value);
    }
    Ok(cmd)
}
