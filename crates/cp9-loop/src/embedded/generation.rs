//! What a finished build leaves: the binary at its place, a copy named by its hash to run from,
//! and the record of which files it was made from.

use std::os::unix::fs::MetadataExt;

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
    /// Digest of the watched files that the same bytes were made from first.
    #[serde(default)]
    pub(super) first: Option<String>,
    /// SHA-256 of the binary.
    pub(super) binary: String,
    /// Digest of the build's plan entry.
    pub(super) plan: String,
    /// By what the two files of the binary are known again without reading them.
    #[serde(flatten)]
    pub(super) stamps: Stamps,
}

/// By what a file is known again without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanos: i64,
}

impl Stamp {
    /// Of the file that a path leads to.
    pub(super) fn of(path: &Utf8Path) -> Option<Self> {
        let facts = std::fs::metadata(path).ok()?;
        Some(Self {
            inode: facts.ino(),
            size: facts.size(),
            seconds: facts.mtime(),
            nanos: facts.mtime_nsec(),
        })
    }
}

/// The stamps of a product and of the copy that processes run from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamps {
    /// Of the product at its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) product: Option<Stamp>,
    /// Of the copy named by its hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) copy: Option<Stamp>,
}

impl Stamps {
    /// As the files are now.
    pub(super) fn of(binary: &str, hash: &str) -> Self {
        Self {
            product: Stamp::of(binary.into()),
            copy: Stamp::of(&copy_path(binary, hash)),
        }
    }
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
    stamps: Stamps,
) -> Result<(), FileError> {
    let (Some(path), Some(binary)) = (&resource.binary, &product.binary) else {
        return Ok(());
    };
    let before = read(doors, path).filter(|before| before.binary == *binary);
    let generation = Generation {
        source: product.source.clone(),
        first: before.map(|before| before.first.unwrap_or(before.source)),
        binary: binary.clone(),
        plan: build_digest(resource),
        stamps,
    };
    save(doors, path, &generation)?;
    prune(doors, &live_dir(path), &copy_path(path, binary));
    Ok(())
}

fn save(doors: &Doors, binary: &str, generation: &Generation) -> Result<(), FileError> {
    let text = serde_json::to_vec_pretty(generation)
        .expect("a record is plain data and always serialises");
    doors.write_atomic(&record(binary), &text, 0o600)
}

impl Generation {
    /// The digest of the watched files that a binary was made from first, if this is its record.
    pub(super) fn first_from(&self, binary: Option<&String>) -> Option<String> {
        let first = self.first.as_ref().unwrap_or(&self.source);
        (binary == Some(&self.binary)).then(|| first.clone())
    }
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
    if !intact || keep_copy(doors, place, path, &generation.binary, true).is_err() {
        return None;
    }
    let stamps = Stamps::of(path, &generation.binary);
    if stamps != generation.stamps {
        // Without it readers read the whole files, which is only slower.
        let _ = save(
            doors,
            path,
            &Generation {
                stamps,
                ..generation.clone()
            },
        );
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
    binary: &str,
    hash: &str,
    fixed: bool,
) -> Result<(), FileError> {
    let to = &copy_path(binary, hash);
    // What has the name need not have the content.
    if doors.exists(to) && doors.digest(to).is_ok_and(|digest| digest == hash) {
        return Ok(());
    }
    let alone =
        std::fs::metadata(from).is_ok_and(|facts| facts.nlink() == 1 && facts.mode() & 0o111 != 0);
    if !fixed && alone && !doors.exists(to) && link(from, to).is_ok() {
        return Ok(());
    }
    doors.copy_atomic(from, to, 0o700)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a second name takes no time, and nobody writes under either"
)]
fn link(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    std::fs::hard_link(from, to)
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
        write(&doors, &resource, &product, Stamps::default()).expect("record");
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
    fn the_first_sources_of_the_same_bytes_are_remembered() {
        let (_dir, doors, live) = place();
        let binary = live.join("service");
        let resource = resource(&binary);
        let first = |hash: &str, source: &str| {
            let product = Product {
                binary: Some(hash.into()),
                source: source.into(),
            };
            write(&doors, &resource, &product, Stamps::default()).expect("record");
            let record = read(&doors, binary.as_str()).expect("record");
            record.first_from(product.binary.as_ref()).expect("its own")
        };
        assert_eq!(first("b1", "s1"), "s1");
        assert_eq!(first("b1", "s2"), "s1");
        assert_eq!(first("b1", "s3"), "s1");
        assert_eq!(first("b2", "s3"), "s3");
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
        let (from, binary) = (live.join("build-1"), live.join("service"));
        doors.write_atomic(&from, b"x", 0o755).expect("write");
        keep_copy(&doors, &from, binary.as_str(), "2", true).expect("copy");
        keep_copy(&doors, &from, binary.as_str(), "1", false).expect("copy");
        let (fresh, fixed) = (live.join("run-1"), live.join("run-2"));
        let inode = |path: &Utf8Path| mark(path).map(|(inode, ..)| inode);
        assert_ne!(inode(&from), inode(&fixed));
        assert_eq!(inode(&from), inode(&fresh));
    }

    #[test]
    fn a_copy_with_other_content_under_its_name_is_replaced() {
        let (_dir, doors, live) = place();
        let (from, binary) = (live.join("build-1"), live.join("service"));
        doors.write_atomic(&from, b"new", 0o755).expect("write");
        let hash = doors.digest(&from).expect("digest");
        let copy = copy_path(binary.as_str(), &hash);
        doors.write_atomic(&copy, b"old", 0o700).expect("write");
        keep_copy(&doors, &from, binary.as_str(), &hash, false).expect("copy");
        assert_eq!(doors.read(&copy).expect("copy"), b"new");
    }

    #[test]
    fn stamps_are_kept_up_to_date() {
        let (_dir, doors, live) = place();
        let binary = live.join("service");
        doors.write_atomic(&binary, b"v1", 0o700).expect("write");
        let hash = doors.digest(&binary).expect("digest");
        let product = Product {
            binary: Some(hash.clone()),
            source: "s1".into(),
        };
        let resource = resource(&binary);
        write(&doors, &resource, &product, Stamps::default()).expect("record");
        resume(&doors, &resource).expect("intact");
        let stamps = read(&doors, binary.as_str()).expect("record").stamps;
        assert_eq!(stamps, Stamps::of(binary.as_str(), &hash));
        assert!(stamps.product.is_some() && stamps.copy.is_some());
    }
}
