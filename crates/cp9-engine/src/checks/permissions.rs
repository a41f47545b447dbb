//! Who may read the session folder: its owner alone, as it holds secrets and logs.

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;
use crate::commands::quote;

/// The check's name.
pub(super) const CHECK: &str = "permissions";
/// The folders that are looked at besides the session folder.
const DIRS: [&str; 5] = ["aws", "run", "logs", "secrets", "tilt"];
/// The files that are looked at besides the secrets.
const FILES: [&str; 5] = [
    "aws/config",
    "state.json",
    "host.json",
    "cp9.resolved.yaml",
    "session-facts.json",
];
/// What the group and all others may do.
const OTHERS: u32 = 0o077;

/// A file or folder and its permissions.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    path: Utf8PathBuf,
    mode: u32,
    folder: bool,
    secret: bool,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Vec<Entry>> {
    let folder = context.folder.as_ref().ok_or("no session")?;
    let doors = &context.engine.doors;
    let entry = |path: Utf8PathBuf, folder: bool, secret: bool| {
        let mode = doors.mode(&path)?;
        Some(Entry {
            path,
            mode,
            folder,
            secret,
        })
    };
    let mut entries: Vec<Entry> = entry(folder.root.clone(), true, false)
        .into_iter()
        .collect();
    entries.extend(
        DIRS.iter()
            .filter_map(|dir| entry(folder.join(dir), true, false)),
    );
    entries.extend(
        FILES
            .iter()
            .filter_map(|file| entry(folder.join(file), false, false)),
    );
    let secrets = doors.list(&folder.secrets()).unwrap_or_default();
    entries.extend(
        secrets
            .into_iter()
            .filter_map(|path| entry(path, false, true)),
    );
    Ok(entries)
}

/// Judges them.
pub(super) fn judge(entries: &[Entry]) -> Vec<Finding> {
    let open = entries.iter().filter(|entry| entry.mode & OTHERS != 0);
    let findings: Vec<Finding> = open.map(one).collect();
    if findings.is_empty() {
        let text = "the session folder is its owner's alone";
        return vec![Finding::ok(CHECK, "permissions-private", text)];
    }
    findings
}

fn one(entry: &Entry) -> Finding {
    let path = &entry.path;
    let (what, wanted) = if entry.folder {
        ("folder", "700")
    } else {
        ("file", "600")
    };
    let text = format!(
        "{what} `{path}` has mode {:04o}, so others may get at it",
        entry.mode
    );
    let finding = if entry.secret {
        Finding::error(CHECK, "secret-exposed", text)
    } else {
        Finding::warning(CHECK, "folder-exposed", text)
    };
    finding
        .about(path.as_str())
        .remedy(format!("`chmod {wanted} {}`", quote(path.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn entry(mode: u32, folder: bool, secret: bool) -> Entry {
        Entry {
            path: "/w/.cp9/demo/x".into(),
            mode,
            folder,
            secret,
        }
    }

    #[test]
    fn only_the_owner_may_do_anything() {
        let private = vec![
            entry(0o700, true, false),
            entry(0o600, false, true),
            entry(0o400, false, true),
        ];
        assert_eq!(judge(&private)[0].id, "permissions-private");
        for mode in [0o701, 0o710, 0o750, 0o777] {
            let found = judge(&[entry(mode, true, false)]).remove(0);
            assert_eq!(
                (found.id.as_str(), found.severity),
                ("folder-exposed", Severity::Warning)
            );
            assert_eq!(found.remedy.as_deref(), Some("`chmod 700 /w/.cp9/demo/x`"));
        }
        let secret = judge(&[entry(0o644, false, true)]).remove(0);
        assert_eq!(
            (secret.id.as_str(), secret.severity),
            ("secret-exposed", Severity::Error)
        );
        assert!(secret.finding.contains("mode 0644"));
    }
}
