//! The contents of a folder as one comparable value, with everything accidental taken out.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::sync::LazyLock;

use camino::Utf8Path;
use regex::Regex;

use crate::normalise::Normaliser;

/// How often something was tried is a matter of the run, not of its result.
static ATTEMPTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"("attempts"\s*:\s*)\d+"#).expect("a good pattern"));

/// Every entry under a folder by its normalised path: `<mode> dir`, `<mode> link <target>`, or
/// `<mode> file` and the normalised text. Left out: `logs` folders, `*.log`, sockets. What
/// lies under `.cp9-build` is binary and counts by name alone; names that differ only by a hash
/// count once, as it does not matter how many builds were made on the way.
pub fn artefacts(dir: &Utf8Path, normaliser: &Normaliser) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(dir, dir, normaliser, &mut found);
    found
}

fn collect(
    root: &Utf8Path,
    dir: &Utf8Path,
    normaliser: &Normaliser,
    found: &mut BTreeMap<String, String>,
) {
    for entry in dir
        .read_dir_utf8()
        .unwrap_or_else(|err| panic!("cannot list {dir}: {err}"))
    {
        let entry = entry.expect("an entry with a UTF-8 name");
        let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
        let name = entry.file_name();
        if kind.is_socket() || (kind.is_dir() && name == "logs") || path.extension() == Some("log")
        {
            continue;
        }
        let relative = path
            .strip_prefix(root)
            .expect("an entry lies under the root");
        found.insert(
            normaliser.apply(relative.as_str()),
            describe(path, relative, normaliser),
        );
        if kind.is_dir() {
            collect(root, path, normaliser, found);
        }
    }
}

fn describe(path: &Utf8Path, relative: &Utf8Path, normaliser: &Normaliser) -> String {
    let facts =
        fs::symlink_metadata(path).unwrap_or_else(|err| panic!("cannot look at {path}: {err}"));
    let mode = facts.permissions().mode() & 0o7777;
    if facts.is_dir() {
        return format!("{mode:04o} dir");
    }
    if facts.is_symlink() {
        let target = path
            .read_link_utf8()
            .unwrap_or_else(|err| panic!("cannot read {path}: {err}"));
        return format!("link {}", normaliser.apply(target.as_str()));
    }
    if !facts.is_file() {
        return format!("{mode:04o} special");
    }
    if relative
        .components()
        .any(|part| part.as_str() == ".cp9-build")
    {
        return format!("{mode:04o} file");
    }
    let bytes = fs::read(path).unwrap_or_else(|err| panic!("cannot read {path}: {err}"));
    match String::from_utf8(bytes) {
        Ok(text) => {
            let text = ATTEMPTS.replace_all(&text, "$1[N]").into_owned();
            format!("{mode:04o} file\n{}", normaliser.apply(&text))
        }
        Err(err) => format!("{mode:04o} file of {} bytes", err.as_bytes().len()),
    }
}

/// Panics with the paths and lines that differ.
#[track_caller]
pub fn assert_same(expected: &BTreeMap<String, String>, actual: &BTreeMap<String, String>) {
    let mut differences = Vec::new();
    for (path, wanted) in expected {
        match actual.get(path) {
            None => differences.push(format!("missing: {path}")),
            Some(got) if got != wanted => {
                differences.push(format!("differs: {path}"));
                differences.extend(differing_lines(wanted, got));
            }
            Some(_) => {}
        }
    }
    let extra = actual.keys().filter(|path| !expected.contains_key(*path));
    differences.extend(extra.map(|path| format!("extra: {path}")));
    assert!(
        differences.is_empty(),
        "the artefacts differ\n{}",
        differences.join("\n")
    );
}

/// The lines between the common start and the common end.
fn differing_lines(wanted: &str, got: &str) -> Vec<String> {
    let (wanted, got): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), got.lines().collect());
    let same = |(one, other): &(&&str, &&str)| one == other;
    let start = wanted.iter().zip(&got).take_while(same).count();
    let end = wanted[start..]
        .iter()
        .rev()
        .zip(got[start..].iter().rev())
        .take_while(same)
        .count();
    let gone = wanted[start..wanted.len() - end]
        .iter()
        .map(|line| format!("  - {line}"));
    gone.chain(
        got[start..got.len() - end]
            .iter()
            .map(|line| format!("  + {line}")),
    )
    .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use camino::Utf8PathBuf;

    use super::*;

    fn write(path: &Utf8Path, bytes: &[u8], mode: u32) {
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn keeps_what_matters_and_drops_the_rest() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(dir.path().to_owned()).expect("UTF-8");
        write(
            &root.join("state.json"),
            br#"{"attempts": 3, "pid": 12}"#,
            0o600,
        );
        write(&root.join("logs/a.txt"), b"x", 0o600);
        write(&root.join("run/a.log"), b"x", 0o600);
        write(&root.join("run/raw"), b"\xff\xfe", 0o644);
        write(
            &root.join(".cp9-build/api/live/service-0123456789abcdef"),
            b"x",
            0o700,
        );
        write(
            &root.join(".cp9-build/api/live/service-fedcba9876543210"),
            b"y",
            0o700,
        );
        symlink(root.join("state.json"), root.join("link")).expect("a link");
        let _socket = UnixListener::bind(root.join("socket")).expect("a socket");
        let found = artefacts(&root, &Normaliser::new().literal(root.as_str(), "[ROOT]"));
        let files: Vec<(&str, &str)> = found
            .iter()
            .filter(|(_, text)| !text.ends_with(" dir"))
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        assert_eq!(
            files,
            [
                (".cp9-build/api/live/service-[HASH]", "0700 file"),
                ("link", "link [ROOT]/state.json"),
                ("run/raw", "0644 file of 2 bytes"),
                (
                    "state.json",
                    "0600 file\n{\"attempts\": [N], \"pid\": [PID]}"
                ),
            ]
        );
    }

    #[test]
    fn says_what_differs() {
        let one = BTreeMap::from([
            ("a".to_owned(), "x\n1\ny".to_owned()),
            ("b".to_owned(), String::new()),
        ]);
        let other = BTreeMap::from([
            ("a".to_owned(), "x\n2\n3\ny".to_owned()),
            ("c".to_owned(), String::new()),
        ]);
        assert_same(&one, &one);
        let text = std::panic::catch_unwind(|| assert_same(&one, &other)).expect_err("they differ");
        let text = text.downcast_ref::<String>().expect("a message");
        assert_eq!(
            text,
            "the artefacts differ\ndiffers: a\n  - 1\n  + 2\n  + 3\nmissing: b\nextra: c"
        );
    }
}
