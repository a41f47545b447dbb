//! Folders of destroyed sessions that an interrupted destroy did not remove to the end.

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;
use cp9_tools::lock;

use super::context::Context;
use super::sheet::Gathered;
use crate::folder::{Folder, dot_cp9};

/// The check's name.
pub(super) const CHECK: &str = "leftovers";

/// A folder that waits for its removal.
#[derive(Debug, Clone)]
pub(super) struct Leftover {
    path: Utf8PathBuf,
    /// True while a destroy works on it.
    busy: bool,
}

/// Looks for them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Vec<Leftover>> {
    let folder = context.folder.as_ref().map(Folder::dot_cp9);
    let dir = folder
        .map(camino::Utf8Path::to_owned)
        .or_else(|| context.file.as_deref().map(dot_cp9))
        .ok_or("no session")?;
    let entries = context.engine.doors.list(&dir.join(".destroyed"));
    let entries = entries.unwrap_or_default().into_iter();
    Ok(entries
        .filter(|path| session(path).is_some())
        .map(|path| Leftover {
            busy: lock::holder(&path.join("lock")).is_some(),
            path,
        })
        .collect())
}

/// The session whose folder it was.
fn session(path: &camino::Utf8Path) -> Option<&str> {
    path.file_name()?
        .strip_prefix('.')?
        .strip_suffix(".removing")
}

/// Judges them.
pub(super) fn judge(leftovers: &[Leftover]) -> Vec<Finding> {
    let old = leftovers.iter().filter(|leftover| !leftover.busy);
    let findings: Vec<Finding> = old
        .map(|leftover| {
            let path = &leftover.path;
            let name = session(path).unwrap_or_default();
            let text = format!("`{path}` is left of the destroyed session `{name}`");
            let left = Finding::warning(CHECK, "destroy-leftover", text).about(path.as_str());
            left.remedy(format!("`cp9 destroy --session {name}` removes it"))
        })
        .collect();
    if findings.is_empty() {
        return vec![Finding::ok(
            CHECK,
            "leftovers-none",
            "nothing is left of destroyed sessions",
        )];
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_destroy_works_on_is_left() {
        let leftover = |busy| Leftover {
            path: "/w/.cp9/.destroyed/.demo.removing".into(),
            busy,
        };
        assert_eq!(judge(&[leftover(true)])[0].id, "leftovers-none");
        let found = judge(&[leftover(false)]).remove(0);
        assert_eq!(found.id, "destroy-leftover");
        assert_eq!(
            found.remedy.as_deref(),
            Some("`cp9 destroy --session demo` removes it")
        );
    }

    #[test]
    fn records_are_no_leftovers() {
        for name in ["demo.json", ".demo.tmp", "demo.removing"] {
            assert_eq!(session(camino::Utf8Path::new(name)), None, "{name}");
        }
    }
}
