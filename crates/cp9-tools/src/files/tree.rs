//! Whole trees: read, compared, made exact. Links are never followed out of a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Write};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use crate::Doors;

use super::FileError;
use super::atomic::{private_dir, replace, set_mode, sync_dir};
use super::error::failed;
use super::read::read_capped;
use super::remove::remove;

/// The largest file of a tree.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Entries of a tree; links that lead to links multiply.
const MOST_ENTRIES: usize = 100_000;

impl Doors {
    /// Every file below a folder that a person works in, by its relative path. Links are read where they
    /// lead inside the folder and refused otherwise; what no manifest can be is passed over, which is
    /// `.git`, `.cp9`, sockets, pipes, devices and files over 64 MiB.
    pub fn read_checkout(
        &self,
        dir: &Utf8Path,
    ) -> Result<BTreeMap<Utf8PathBuf, Vec<u8>>, FileError> {
        let root = dir.canonicalize_utf8().map_err(failed("read", dir))?;
        let mut reader = Reader {
            shown: dir,
            root: &root,
            files: BTreeMap::new(),
            open: Vec::new(),
            entries: 0,
        };
        reader.folder(dir, Utf8Path::new(""))?;
        Ok(reader.files)
    }

    /// Makes a folder hold exactly these files, of this mode, in folders of mode 0700; true if
    /// anything changed. What is as it should be is not touched.
    pub fn sync_tree(
        &self,
        dir: &Utf8Path,
        files: &BTreeMap<Utf8PathBuf, Vec<u8>>,
        mode: u32,
    ) -> Result<bool, FileError> {
        let started = self.clock.instant();
        let result = sync(dir, files, mode);
        if !matches!(result, Ok(false)) {
            self.record_file("write tree", dir, started, &result);
        }
        result
    }

    /// True when a folder holds exactly these files: no other file, empty folder or link.
    pub fn tree_equals(
        &self,
        dir: &Utf8Path,
        files: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    ) -> Result<bool, FileError> {
        let folders = folders_of(files)?;
        if !is_real_dir(dir) {
            return Ok(false);
        }
        if !extras(dir, files, &folders)?.is_empty()
            || !folders.iter().all(|folder| is_real_dir(&dir.join(folder)))
        {
            return Ok(false);
        }
        for (name, bytes) in files {
            if !file_equals(&dir.join(name), bytes)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Folders that a checkout keeps for programs.
const NOT_SOURCES: [&str; 2] = [".git", ".cp9"];

struct Reader<'r> {
    shown: &'r Utf8Path,
    root: &'r Utf8Path,
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    open: Vec<Utf8PathBuf>,
    entries: usize,
}

impl Reader<'_> {
    fn folder(&mut self, path: &Utf8Path, name: &Utf8Path) -> Result<(), FileError> {
        let real = path.canonicalize_utf8().map_err(failed("read", path))?;
        // A link to a folder that it lies in would go round for ever.
        if self.open.contains(&real) {
            return Err(self.outside(path));
        }
        self.open.push(real);
        for entry in names(path)? {
            self.entry(&path.join(&entry), &name.join(&entry))?;
        }
        self.open.pop();
        Ok(())
    }

    fn entry(&mut self, path: &Utf8Path, name: &Utf8Path) -> Result<(), FileError> {
        if name
            .file_name()
            .is_some_and(|name| NOT_SOURCES.contains(&name))
        {
            return Ok(());
        }
        self.entries += 1;
        if self.entries > MOST_ENTRIES {
            return Err(FileError::TooMany {
                path: self.shown.to_owned(),
                limit: MOST_ENTRIES,
            });
        }
        let mut kind = path
            .symlink_metadata()
            .map_err(failed("read", path))?
            .file_type();
        if kind.is_symlink() {
            let real = path.canonicalize_utf8().map_err(|_| self.outside(path))?;
            if !real.starts_with(self.root) {
                return Err(self.outside(path));
            }
            kind = real.metadata().map_err(failed("read", path))?.file_type();
        }
        if kind.is_dir() {
            return self.folder(path, name);
        }
        let large = || path.metadata().is_ok_and(|meta| meta.len() > LARGEST);
        if !kind.is_file() || large() {
            return Ok(());
        }
        let bytes = read_capped(path, LARGEST)?;
        self.files.insert(name.to_owned(), bytes);
        Ok(())
    }

    fn outside(&self, path: &Utf8Path) -> FileError {
        FileError::LinkOutside {
            path: path.to_owned(),
            root: self.shown.to_owned(),
        }
    }
}

fn names(folder: &Utf8Path) -> Result<Vec<String>, FileError> {
    let entries = std::fs::read_dir(folder).map_err(failed("read", folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed("read", folder))?.file_name();
        names.push(name.into_string().map_err(|_| FileError::NameNotUtf8 {
            path: folder.to_owned(),
        })?);
    }
    names.sort();
    Ok(names)
}

/// Every folder that the files need, by relative path, parents first.
fn folders_of(files: &BTreeMap<Utf8PathBuf, Vec<u8>>) -> Result<BTreeSet<Utf8PathBuf>, FileError> {
    let mut folders = BTreeSet::new();
    for name in files.keys() {
        let below = !name.as_str().is_empty()
            && name
                .components()
                .all(|part| matches!(part, Utf8Component::Normal(_)));
        if !below {
            return Err(FileError::NotBelow { path: name.clone() });
        }
        let above = name
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_str().is_empty());
        folders.extend(above.map(Utf8Path::to_owned));
    }
    match folders.iter().find(|folder| files.contains_key(*folder)) {
        Some(both) => Err(FileError::NotBelow { path: both.clone() }),
        None => Ok(folders),
    }
}

/// What is in the folder and should not be: the topmost path of each.
fn extras(
    dir: &Utf8Path,
    files: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    folders: &BTreeSet<Utf8PathBuf>,
) -> Result<Vec<Utf8PathBuf>, FileError> {
    let mut extras = Vec::new();
    let mut open = vec![Utf8PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in names(&dir.join(&folder))? {
            let name = folder.join(entry);
            let path = dir.join(&name);
            let kind = path
                .symlink_metadata()
                .map_err(failed("read", &path))?
                .file_type();
            if kind.is_dir() && folders.contains(&name) {
                open.push(name);
            } else if !(kind.is_file() && files.contains_key(&name)) {
                extras.push(path);
            }
        }
    }
    Ok(extras)
}

fn is_real_dir(path: &Utf8Path) -> bool {
    path.symlink_metadata()
        .is_ok_and(|metadata| metadata.is_dir())
}

/// True when a plain file with these bytes is at the path.
pub(super) fn file_equals(path: &Utf8Path, bytes: &[u8]) -> Result<bool, FileError> {
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(failed("read", path)(error)),
        Ok(there) if !there.is_file() || there.len() != bytes.len() as u64 => Ok(false),
        Ok(_) => Ok(std::fs::read(path).map_err(failed("read", path))? == bytes),
    }
}

fn sync(
    dir: &Utf8Path,
    files: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    mode: u32,
) -> Result<bool, FileError> {
    let folders = folders_of(files)?;
    let mut changed = !is_real_dir(dir);
    if changed {
        remove(dir).map_err(failed("remove", dir))?;
        private_dir(dir)?;
    }
    for extra in extras(dir, files, &folders)? {
        remove(&extra).map_err(failed("remove", &extra))?;
        changed = true;
    }
    for folder in &folders {
        changed |= ensure_dir(&dir.join(folder))?;
    }
    for (name, bytes) in files {
        changed |= sync_file(&dir.join(name), bytes, mode)?;
    }
    if changed {
        sync_dir(dir)?;
        folders
            .iter()
            .try_for_each(|folder| sync_dir(&dir.join(folder)))?;
    }
    Ok(changed)
}

fn ensure_dir(path: &Utf8Path) -> Result<bool, FileError> {
    if is_real_dir(path) {
        return Ok(false);
    }
    remove(path).map_err(failed("remove", path))?;
    private_dir(path).map(|()| true)
}

fn sync_file(path: &Utf8Path, bytes: &[u8], mode: u32) -> Result<bool, FileError> {
    if file_equals(path, bytes)? {
        return set_mode(path, mode);
    }
    replace(path, mode, |file| file.write_all(bytes)).map(|()| true)
}
