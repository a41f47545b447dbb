//! The registry of sessions: entries whose session is gone, and whose the session's name is.

use camino::Utf8PathBuf;
use cp9_model::lifecycle::SessionState;
use cp9_model::report::doctor::Finding;

use super::context::Context;
use crate::commands::quote;
use crate::folder::Folder;
use crate::registry::Entry;

/// The check's name.
pub(super) const CHECK: &str = "registry";

/// What the registry holds.
#[derive(Debug)]
pub(super) struct Facts {
    /// True if the environment says where the user's folders are.
    home: bool,
    entries: Vec<Known>,
    /// The session or session file that the command is about.
    own: Option<Own>,
}

/// An entry and what became of it.
#[derive(Debug, Clone)]
struct Known {
    path: Utf8PathBuf,
    /// None for a file that is no entry.
    entry: Option<Entry>,
    place: Place,
}

/// What is in the folder of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// Its session.
    Session,
    /// The folder is gone, or holds no session.
    Gone,
    /// Another session.
    Other,
    /// A journal that cannot be read.
    Unreadable,
}

#[derive(Debug, Clone)]
struct Own {
    name: String,
    /// The session folder, there or not.
    folder: Utf8PathBuf,
    /// True once the session is there.
    lives: bool,
}

/// Reads the registry.
pub(super) fn gather(context: &Context<'_>) -> Facts {
    Facts {
        home: context.dirs.is_some(),
        entries: known(context),
        own: own(context),
    }
}

/// The entries whose session is there.
pub(super) fn living(context: &Context<'_>) -> Vec<Entry> {
    let known = known(context).into_iter();
    let living = known.filter(|known| known.place == Place::Session);
    living.filter_map(|known| known.entry).collect()
}

/// The entries whose session is gone.
pub(super) fn stale(context: &Context<'_>) -> Vec<Entry> {
    let known = known(context).into_iter();
    let stale = known.filter(|known| matches!(known.place, Place::Gone | Place::Other));
    stale.filter_map(|known| known.entry).collect()
}

fn known(context: &Context<'_>) -> Vec<Known> {
    let Some(dirs) = &context.dirs else {
        return Vec::new();
    };
    let doors = &context.engine.doors;
    let files = doors.list(&dirs.registry()).unwrap_or_default();
    files
        .into_iter()
        .filter(|path| path.extension() == Some("json"))
        .map(|path| {
            let bytes = doors.read(&path).unwrap_or_default();
            let entry: Option<Entry> = serde_json::from_slice(&bytes).ok();
            let place = entry
                .as_ref()
                .map_or(Place::Gone, |entry| place(context, entry));
            Known { path, entry, place }
        })
        .collect()
}

fn place(context: &Context<'_>, entry: &Entry) -> Place {
    let folder = Folder {
        root: entry.folder.clone(),
        name: entry.name.clone(),
    };
    if !context.engine.doors.exists(&folder.state()) {
        return Place::Gone;
    }
    let bytes = context.engine.doors.read(&folder.state()).ok();
    let state = bytes.and_then(|bytes| SessionState::parse("", &bytes).ok());
    match state {
        None => Place::Unreadable,
        Some(state) if state.id == entry.id => Place::Session,
        Some(_) => Place::Other,
    }
}

fn own(context: &Context<'_>) -> Option<Own> {
    if let Some(folder) = &context.folder {
        return Some(Own {
            name: folder.name.clone(),
            folder: folder.root.clone(),
            lives: context.disk().is_some(),
        });
    }
    let name = context.config()?.name.to_string();
    let folder = Folder::beside(context.file.as_ref()?, &name);
    Some(Own {
        name,
        folder: folder.root,
        lives: false,
    })
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    if !facts.home {
        let text =
            "the environment variable `HOME` is not set, so there is no place for the registry";
        let none = Finding::error(CHECK, "no-home", text).about("HOME");
        return vec![none.remedy("set HOME to a folder that you may write to")];
    }
    let mut findings: Vec<Finding> = facts.entries.iter().filter_map(stale_entry).collect();
    findings.extend(facts.own.as_ref().and_then(|own| name(facts, own)));
    if findings.is_empty() {
        let text = match facts.entries.len() {
            0 => "no session on this machine".to_owned(),
            count => format!("{count} registered, all there"),
        };
        return vec![Finding::ok(CHECK, "registry", text)];
    }
    findings
}

fn stale_entry(known: &Known) -> Option<Finding> {
    let path = &known.path;
    let Some(entry) = &known.entry else {
        let text = format!("`{path}` is no registry entry");
        return Some(
            Finding::warning(CHECK, "registry-unreadable", text)
                .about(path.as_str())
                .remedy(format!("`rm {}`", quote(path.as_str()))),
        );
    };
    let (name, folder) = (&entry.name, &entry.folder);
    let why = match known.place {
        Place::Session => return None,
        Place::Gone => format!("folder `{folder}` is gone"),
        Place::Other => format!("folder `{folder}` holds another session"),
        Place::Unreadable => {
            let text = format!(
                "session `{name}` is registered, but the journal in `{folder}` cannot be read"
            );
            return Some(
                Finding::warning(CHECK, "registry-unreadable", text)
                    .about(name)
                    .remedy(format!(
                        "`cp9 destroy --session {name} --force` in the folder that holds its `.cp9`"
                    )),
            );
        }
    };
    let text = format!("session `{name}` is registered, but its {why}");
    Some(
        Finding::warning(CHECK, "registry-stale", text)
            .about(name)
            .remedy(format!(
                "end its processes, if there are any, then `rm {}`; it blocks nothing",
                quote(path.as_str())
            )),
    )
}

fn name(facts: &Facts, own: &Own) -> Option<Finding> {
    let Own {
        name,
        folder,
        lives,
    } = own;
    let mut entries = facts.entries.iter();
    let entry = entries.find_map(|known| {
        let entry = known.entry.as_ref().filter(|entry| entry.name == *name)?;
        matches!(known.place, Place::Session | Place::Unreadable).then_some(entry)
    });
    match entry {
        Some(entry) if entry.folder == *folder => {
            let text = format!("the name `{name}` is this folder's");
            Some(Finding::ok(CHECK, "name-registered", text).about(name))
        }
        Some(entry) => {
            let other = &entry.folder;
            let place = other.parent().and_then(camino::Utf8Path::parent);
            let place = place.unwrap_or(other);
            let text = format!("session `{name}` already runs from `{other}`");
            Some(
                Finding::error(CHECK, "name-taken", text)
                    .about(name)
                    .remedy(format!(
                        "choose another `name`, or run `cp9 destroy --session {name}` in `{place}`"
                    )),
            )
        }
        None if *lives => {
            let text = format!(
                "session `{name}` is not registered, so another folder may take its name and ports"
            );
            let unregistered = Finding::warning(CHECK, "name-unregistered", text).about(name);
            Some(unregistered.remedy("`cp9 up` registers it again"))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn known(name: &str, folder: &str, place: Place) -> Known {
        Known {
            path: format!("/h/sessions/{name}.json").into(),
            entry: Some(Entry {
                name: name.into(),
                folder: folder.into(),
                id: "id".into(),
                owner: None,
                ports: [].into(),
            }),
            place,
        }
    }

    fn own(lives: bool) -> Own {
        Own {
            name: "demo".into(),
            folder: "/w/.cp9/demo".into(),
            lives,
        }
    }

    fn ids(entries: Vec<Known>, own: Option<Own>) -> Vec<(String, Severity)> {
        let home = true;
        let found = judge(&Facts { home, entries, own }).into_iter();
        found.map(|f| (f.id, f.severity)).collect()
    }

    #[test]
    fn entries_without_their_session_are_stale() {
        for place in [Place::Gone, Place::Other] {
            let found = ids(vec![known("old", "/x/.cp9/old", place)], None);
            assert_eq!(found, [("registry-stale".to_owned(), Severity::Warning)]);
        }
        let unreadable = ids(vec![known("old", "/x/.cp9/old", Place::Unreadable)], None);
        assert_eq!(unreadable[0].0, "registry-unreadable");
        let mut junk = known("junk", "/x", Place::Gone);
        junk.entry = None;
        assert_eq!(ids(vec![junk], None)[0].0, "registry-unreadable");
    }

    #[test]
    fn the_name_is_this_folders_anothers_or_nobodys() {
        let ours = known("demo", "/w/.cp9/demo", Place::Session);
        assert_eq!(
            ids(vec![ours], Some(own(true))),
            [("name-registered".to_owned(), Severity::Ok)]
        );
        let theirs = || known("demo", "/other/.cp9/demo", Place::Session);
        let unreadable = known("demo", "/other/.cp9/demo", Place::Unreadable);
        let taken = ids(vec![unreadable], Some(own(false)));
        assert_eq!(taken[1], ("name-taken".to_owned(), Severity::Error));
        for lives in [true, false] {
            let taken = ids(vec![theirs()], Some(own(lives)));
            assert_eq!(taken, [("name-taken".to_owned(), Severity::Error)]);
        }
        let found = judge(&Facts {
            home: true,
            entries: vec![theirs()],
            own: Some(own(false)),
        })
        .remove(0);
        assert!(found.remedy.expect("a remedy").ends_with("in `/other`"));
        assert_eq!(
            ids(vec![], Some(own(true))),
            [("name-unregistered".to_owned(), Severity::Warning)]
        );
        assert_eq!(
            ids(vec![], Some(own(false))),
            [("registry".to_owned(), Severity::Ok)]
        );
    }

    #[test]
    fn without_a_home_there_is_no_registry() {
        let found = judge(&Facts {
            home: false,
            entries: Vec::new(),
            own: None,
        });
        assert_eq!(
            (found[0].id.as_str(), found[0].severity),
            ("no-home", Severity::Error)
        );
    }
}
