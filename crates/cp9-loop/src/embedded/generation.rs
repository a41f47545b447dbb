//! What a finished build leaves: the binary at its place, a copy named by its hash to run from,
//! and the record of which files it was made from.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::devplan::Resource;
use cp9_tools::{Doors, FileError};
use serde::{Deserialize, Serialize};

use super::builder::Product;
use super::plan::{build_digest, live_dir};

/// Older copies that are kept beside the newest: a process may be about to start from one.
const OLD_COPIES: usize = 1;

/// `generation.json`: which files the binary was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Generation {
    /// Digest of the watched files.
    pub(super) source: String,
    /// SHA-256 of the binary.
    pub(super) binary: String,
    /// Digest of the build's plan entry.
    pub(super) plan: String,
}

fn record(binary: &str) -> Utf8PathBuf {
    live_dir(binary).join("generation.json")
}

/// The copy that a process is run from.
pub(super) fn copy_path(binary: &str, hash: &str) -> Utf8PathBuf {
    live_dir(binary).join(format!("run-{}", hash.get(..16).unwrap_or(hash)))
}

/// Reads the record.
pub(super) fn read(doors: &Doors, binary: &str) -> Option<Generation> {
    serde_json::from_slice(&doors.read(&record(binary)).ok()?).ok()
}

/// Writes the record and removes copies that nothing is started from any more.
pub(super) fn write(
    doors: &Doors,
    resource: &Resource,
    product: &Product,
) -> Result<(), FileError> {
    let (Some(path), Some(binary)) = (&resource.binary, &product.binary) else {
        return Ok(());
    };
    let generation = Generation {
        source: product.source.clone(),
        binary: binary.clone(),
        plan: build_digest(resource),
    };
    let text = serde_json::to_vec_pretty(&generation)
        .expect("a record is plain data and always serialises");
    doors.write_atomic(&record(path), &text, 0o600)?;
    prune(doors, &live_dir(path), &copy_path(path, binary));
    Ok(())
}

/// The product that an earlier controller built, if binary and plan entry are still the same.
pub(super) fn resume(doors: &Doors, resource: &Resource) -> Option<Product> {
    let path = resource.binary.as_ref()?;
    let generation = read(doors, path)?;
    let place = Utf8Path::new(path);
    let intact = generation.plan == build_digest(resource)
        && doors
            .digest(place)
            .is_ok_and(|digest| digest == generation.binary);
    if !intact || keep_copy(doors, place, &copy_path(path, &generation.binary), true).is_err() {
        return None;
    }
    Some(Product {
        binary: Some(generation.binary),
        source: generation.source,
    })
}

/// Makes the copy that processes run from. Linked where nobody can write to the same inode.
pub(super) fn keep_copy(
    doors: &Doors,
    from: &Utf8Path,
    to: &Utf8Path,
    fixed: bool,
) -> Result<(), FileError> {
    let known = doors.exists(to) && same_size(from.as_std_path(), to.as_std_path());
    if known {
        return Ok(());
    }
    let alone =
        std::fs::metadata(from).is_ok_and(|facts| facts.nlink() == 1 && facts.mode() & 0o111 != 0);
    if !fixed && alone && !doors.exists(to) && std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    doors.copy_atomic(from, to, 0o700)
}

fn same_size(a: &Path, b: &Path) -> bool {
    let size = |path: &Path| std::fs::metadata(path).map(|facts| facts.size()).ok();
    size(a).is_some() && size(a) == size(b)
}

fn prune(doors: &Doors, live: &Utf8Path, newest: &Utf8Path) {
    let Ok(entries) = live.read_dir_utf8() else {
        return;
    };
    let mut old: Vec<_> = entries
        .flatten()
        .filter(|entry| entry.file_name().starts_with("run-") && entry.path() != newest)
        .filter_map(|entry| {
            Some((
                entry.metadata().ok()?.modified().ok()?,
                entry.path().to_owned(),
            ))
        })
        .collect();
    old.sort();
    let excess = old.len().saturating_sub(OLD_COPIES);
    for (_, path) in old.drain(..excess) {
        // What cannot be removed now is tried again after the next build.
        let _ = doors.remove_file(&path);
    }
}

/// Inode and time of change, which a build that wrote its product moves.
pub(super) fn mark(path: &Utf8Path) -> Option<(u64, i64, i64)> {
    let facts = std::fs::metadata(path).ok()?;
    Some((facts.ino(), facts.mtime(), facts.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use cp9_tools::{Clock, Environment};

    use super::*;

    fn resource(binary: &Utf8Path) -> Resource {
        let text = format!(
            r#"{{"name":"api-live-binary","service":"api","kind":"build","cwd":"/","trigger":"auto",
                "argv":["cc"],"binary":"{binary}"}}"#
        );
        serde_json::from_str(&text).expect("a resource")
    }

    fn place() -> (tempfile::TempDir, Doors, Utf8PathBuf) {
        let dir = tempfile::tempdir().expect("tempdir");
        let live = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("utf-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        (dir, doors, live)
    }

    #[test]
    fn an_intact_product_resumes_and_any_change_does_not() {
        let (_dir, doors, live) = place();
        let binary = live.join("service");
        doors.write_atomic(&binary, b"v1", 0o700).expect("write");
        let hash = doors.digest(&binary).expect("digest");
        let product = Product {
            binary: Some(hash.clone()),
            source: "s1".into(),
        };
        let resource = resource(&binary);
        assert_eq!(resume(&doors, &resource), None);
        write(&doors, &resource, &product).expect("record");
        assert_eq!(resume(&doors, &resource), Some(product));
        assert_eq!(
            doors
                .read(&copy_path(binary.as_str(), &hash))
                .expect("copy"),
            b"v1"
        );

        let other = Resource {
            argv: vec!["cc".into(), "-O2".into()],
            ..resource.clone()
        };
        assert_eq!(resume(&doors, &other), None, "another command");
        doors.write_atomic(&binary, b"v2", 0o700).expect("write");
        assert_eq!(resume(&doors, &resource), None, "another binary");
    }

    #[test]
    fn old_copies_go_and_the_newest_stay() {
        let (_dir, doors, live) = place();
        for name in ["run-a", "run-b", "run-c", "service"] {
            doors
                .write_atomic(&live.join(name), b"x", 0o700)
                .expect("write");
        }
        prune(&doors, &live, &live.join("run-a"));
        assert!(doors.exists(&live.join("run-a")) && doors.exists(&live.join("service")));
        let kept = ["run-b", "run-c"]
            .iter()
            .filter(|name| doors.exists(&live.join(name)))
            .count();
        assert_eq!(kept, OLD_COPIES);
    }

    #[test]
    fn a_copy_never_shares_the_inode_of_a_file_that_its_build_rewrites() {
        let (_dir, doors, live) = place();
        let (from, fresh, fixed) = (live.join("build-1"), live.join("run-1"), live.join("run-2"));
        doors.write_atomic(&from, b"x", 0o755).expect("write");
        keep_copy(&doors, &from, &fixed, true).expect("copy");
        keep_copy(&doors, &from, &fresh, false).expect("copy");
        let inode = |path: &Utf8Path| mark(path).map(|(inode, ..)| inode);
        assert_ne!(inode(&from), inode(&fixed));
        assert_eq!(inode(&from), inode(&fresh));
    }
}
