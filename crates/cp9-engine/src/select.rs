//! Which session a command is about.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain, SessionName};
use cp9_tools::Doors;
use thiserror::Error;

use crate::dirs::Dirs;
use crate::engine::{Engine, Select};
use crate::folder::{Folder, dot_cp9};
use crate::registry::Registry;
use crate::session;

/// The name of the session file that is looked for.
const FILE: &str = "cp9.yaml";

/// Why no session could be chosen.
#[derive(Debug, Error)]
pub(crate) enum SelectError {
    /// The named session file is not there.
    #[error("session file `{path}` does not exist")]
    NoFile {
        /// The path.
        path: Utf8PathBuf,
    },
    /// No session file was found.
    #[error("no `{FILE}` in `{from}` or a folder above it")]
    NoConfig {
        /// Where the search began.
        from: Utf8PathBuf,
    },
    /// There is no session at all.
    #[error("no session in `{from}` or a folder above it")]
    None {
        /// Where the search began.
        from: Utf8PathBuf,
        /// The session files of sessions in other places.
        elsewhere: Vec<String>,
    },
    /// There are several.
    #[error("several sessions in `{dir}`: {names}")]
    Several {
        /// The `.cp9`.
        dir: Utf8PathBuf,
        /// Their names.
        names: String,
    },
    /// The named session is not there.
    #[error("no session `{name}` in `{from}` or a folder above it{known}")]
    Unknown {
        /// The name.
        name: String,
        /// Where the search began.
        from: Utf8PathBuf,
        /// Those there are, as a clause.
        known: String,
    },
    /// The session file has no session.
    #[error("session file `{path}` has no session")]
    NotUp {
        /// The file.
        path: Utf8PathBuf,
    },
}

impl Explain for SelectError {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NoFile { .. } | Self::NoConfig { .. } => "session-file-missing",
            Self::Several { .. } => "session-ambiguous",
            Self::None { .. } | Self::Unknown { .. } | Self::NotUp { .. } => "session-unknown",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NoFile { .. } => "give the path of a session file with `--config PATH`".into(),
            Self::NoConfig { .. } => {
                format!("copy an example to `{FILE}`, or give `--config PATH`")
            }
            Self::None { elsewhere, .. } if !elsewhere.is_empty() => {
                let files = elsewhere
                    .iter()
                    .map(|file| format!("`--config {}`", crate::commands::quote(file)));
                format!(
                    "sessions run elsewhere: give {}",
                    files.collect::<Vec<_>>().join(" or ")
                )
            }
            Self::None { .. } => "begin one with `cp9 up`, or give `--config PATH`".into(),
            Self::Several { .. } => "choose one with `--session NAME`".into(),
            Self::Unknown { .. } => {
                "give `--config PATH`, or go to the folder that holds its `.cp9`".into()
            }
            Self::NotUp { path } => format!("begin one with `cp9 up --config {path}`"),
        })
    }
}

/// The session file that `up` reads.
pub(crate) fn session_file(
    engine: &Engine,
    select: &Select,
) -> Result<Utf8PathBuf, crate::EngineError> {
    if let Some(path) = &select.config {
        let path = session_path(engine, path);
        return if engine.doors.is_file(&path) {
            Ok(path)
        } else {
            Err(SelectError::NoFile { path }.into())
        };
    }
    if select.session.is_some() {
        let folder = folder(engine, select)?;
        if let Some(state) = session::load(&engine.doors, &folder)? {
            return Ok(state.file.into());
        }
    }
    let from = engine.cwd.clone();
    upwards(engine)
        .into_iter()
        .map(|dir| dir.join(FILE))
        .find(|path| engine.doors.exists(path))
        .ok_or_else(|| SelectError::NoConfig { from }.into())
}

/// The folder of the session that a command is about; it may be gone already, see `Folder::destroy_record`.
pub(crate) fn folder(engine: &Engine, select: &Select) -> Result<Folder, crate::EngineError> {
    if let Some(path) = &select.config {
        let file = session_path(engine, path);
        return match &select.session {
            Some(name) => Ok(Folder::beside(&file, &valid(name)?)),
            None => of_file(engine, &file),
        };
    }
    let above = upwards(engine);
    if let Some(name) = &select.session {
        return named(engine, &above, &valid(name)?);
    }
    for dir in &above {
        let file = dir.join(FILE);
        if engine.doors.exists(&file) {
            return of_file(engine, &file);
        }
        let names = names(&engine.doors, &dir.join(".cp9"));
        match names.as_slice() {
            [] => {}
            [name] => return Ok(Folder::below(&dir.join(".cp9"), name)),
            _ => {
                return Err(SelectError::Several {
                    dir: dir.join(".cp9"),
                    names: names.join(", "),
                }
                .into());
            }
        }
    }
    Err(SelectError::None {
        from: engine.cwd.clone(),
        elsewhere: elsewhere(engine),
    }
    .into())
}

fn valid(name: &str) -> Result<String, crate::EngineError> {
    Ok(name.parse::<SessionName>()?.to_string())
}

fn named(engine: &Engine, above: &[Utf8PathBuf], name: &str) -> Result<Folder, crate::EngineError> {
    let mut known = Vec::new();
    for dir in above {
        let folder = Folder::below(&dir.join(".cp9"), name);
        if is_known(engine, &folder) {
            return Ok(folder);
        }
        known.extend(names(&engine.doors, &dir.join(".cp9")));
    }
    let known = if known.is_empty() {
        String::new()
    } else {
        format!(", only {}", known.join(", "))
    };
    Err(SelectError::Unknown {
        name: name.to_owned(),
        from: engine.cwd.clone(),
        known,
    }
    .into())
}

/// The session that came from a file: by what the folders recorded, so that a file that no longer parses
/// can still be destroyed; else by the name it has now.
fn of_file(engine: &Engine, file: &Utf8Path) -> Result<Folder, crate::EngineError> {
    let doors = &engine.doors;
    let dir = dot_cp9(file);
    let recorded: Vec<String> = from_file(doors, file)
        .into_iter()
        .map(|folder| folder.name)
        .collect();
    match recorded.as_slice() {
        [name] => return Ok(Folder::below(&dir, name)),
        [] => {}
        _ => {
            return Err(SelectError::Several {
                dir,
                names: recorded.join(", "),
            }
            .into());
        }
    }
    if !doors.is_file(file) {
        return Err(SelectError::NoFile {
            path: file.to_owned(),
        }
        .into());
    }
    let bytes = doors.read(file)?;
    let loaded = cp9_model::config::load(file, &bytes)
        .map_err(|problems| crate::error::invalid(file, problems))?;
    let folder = Folder::below(&dir, loaded.resolved.name.as_str());
    if is_known(engine, &folder) {
        return Ok(folder);
    }
    Err(SelectError::NotUp {
        path: file.to_owned(),
    }
    .into())
}

/// The session files of this user's sessions, wherever they are.
fn elsewhere(engine: &Engine) -> Vec<String> {
    let Ok(dirs) = Dirs::of(&engine.doors.env) else {
        return Vec::new();
    };
    let folders = Registry::new(&engine.doors, &dirs).folders();
    let states = folders
        .iter()
        .filter_map(|folder| session::load(&engine.doors, folder).ok().flatten());
    states.map(|state| state.file).collect()
}

/// True for a session that is there, was destroyed, or whose folder somebody removed while it ran.
fn is_known(engine: &Engine, folder: &Folder) -> bool {
    let recorded = |dirs: Dirs| {
        Registry::new(&engine.doors, &dirs)
            .recorded(folder)
            .is_some()
    };
    engine.doors.exists(&folder.root)
        || engine.doors.exists(&folder.destroy_record())
        || Dirs::of(&engine.doors.env).is_ok_and(recorded)
}

/// The sessions beside a file that recorded it as theirs.
pub(crate) fn from_file(doors: &Doors, file: &Utf8Path) -> Vec<Folder> {
    let dir = dot_cp9(file);
    names(doors, &dir)
        .iter()
        .map(|name| Folder::below(&dir, name))
        .filter(|folder| matches!(session::load(doors, folder), Ok(Some(state)) if state.file == file.as_str()))
        .collect()
}

fn names(doors: &Doors, dot_cp9: &Utf8Path) -> Vec<String> {
    let mut names: Vec<String> = doors
        .list(dot_cp9)
        .unwrap_or_default()
        .iter()
        .filter_map(|path| path.file_name())
        .filter(|name| !name.starts_with('.') && name.parse::<SessionName>().is_ok())
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

/// This folder and those above it, up to the first that holds `.git`, the home or the root.
fn upwards(engine: &Engine) -> Vec<Utf8PathBuf> {
    let home = engine.doors.env.get("HOME");
    let mut dirs = Vec::new();
    for dir in engine.cwd.ancestors() {
        dirs.push(dir.to_owned());
        if engine.doors.exists(&dir.join(".git")) || home == Some(dir.as_str()) {
            break;
        }
    }
    dirs
}

/// Where a session file that somebody named really lies: a folder that is reached through a link is the
/// same folder, and holds the same session.
fn session_path(engine: &Engine, path: &Utf8Path) -> Utf8PathBuf {
    let named = engine.cwd.join(path);
    let real = named.parent().and_then(|dir| engine.doors.canonical(dir));
    match (real, named.file_name()) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => absolute(&engine.cwd, path),
    }
}

/// A path as seen from a folder, without `.` and `..` where they can be resolved by name alone.
pub(crate) fn absolute(cwd: &Utf8Path, path: &Utf8Path) -> Utf8PathBuf {
    let mut plain = Utf8PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            camino::Utf8Component::CurDir => {}
            camino::Utf8Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_absolute() {
        let cwd = Utf8Path::new("/a/b");
        assert_eq!(absolute(cwd, Utf8Path::new("./c/../d.yaml")), "/a/b/d.yaml");
        assert_eq!(absolute(cwd, Utf8Path::new("../../../x")), "/x");
        assert_eq!(absolute(cwd, Utf8Path::new("/x/y")), "/x/y");
    }
}
