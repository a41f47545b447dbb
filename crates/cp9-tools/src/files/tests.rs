//! Files are whole, private and where they should be.
#![expect(
    clippy::disallowed_methods,
    reason = "tests prepare files, and one starts itself as the writer that is killed"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::{Category, Explain};

use super::read::read_capped;
use super::*;
use crate::{Clock, Doors, Environment};

fn is_not_found(error: &FileError) -> bool {
    error.code() == "file-not-found"
}

fn doors() -> Doors {
    Doors::new(Environment::default(), Clock::system(), false)
}

fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap();
    let path = path.canonicalize_utf8().unwrap();
    (folder, path)
}

fn mode(path: &Utf8Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn tree(files: &[(&str, &str)]) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let files = files
        .iter()
        .map(|(name, text)| (Utf8PathBuf::from(*name), text.as_bytes().to_vec()));
    files.collect()
}

fn names(folder: &Utf8Path) -> Vec<String> {
    let entries = folder.read_dir_utf8().unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect()
}

#[test]
fn a_fleeting_write_replaces_the_file_whole() {
    let (_guard, dir) = folder();
    let path = dir.join("child.json");
    doors().write_fleeting(&path, b"one", 0o600).unwrap();
    let before = std::fs::File::open(&path).unwrap();
    doors().write_fleeting(&path, b"two", 0o640).unwrap();
    assert_eq!(std::io::read_to_string(before).unwrap(), "one");
    assert_eq!(doors().read_text(&path).unwrap(), "two");
    assert_eq!(
        (mode(&path), names(&dir)),
        (0o640, vec!["child.json".to_owned()])
    );
    let error = doors().write_fleeting(&dir.join("no/x"), b"", 0o600);
    assert!(matches!(error, Err(FileError::ParentMissing { .. })));
}

#[test]
fn room_at_the_head_is_given_back_under_a_writer() {
    let (_guard, dir) = folder();
    let path = dir.join("raw.log");
    let mut writer = std::fs::File::options()
        .create(true)
        .append(true)
        .open(&path)
        .unwrap();
    let mebibyte = vec![b'x'; 1 << 20];
    writer.write_all(&mebibyte).unwrap();
    writer.write_all(b"tail").unwrap();
    let before = std::fs::metadata(&path).unwrap();
    let freed = doors().free_head(&path, 1 << 20).unwrap();
    writer.write_all(b" more").unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[1 << 20..], b"tail more");
    if freed {
        let after = std::fs::metadata(&path).unwrap();
        assert!(after.blocks() < before.blocks() / 2);
        assert!(bytes[..1 << 20].iter().all(|byte| *byte == 0));
    }

    let length = std::fs::metadata(&path).unwrap().len();
    assert!(!doors().empty_at(&path, length - 1).unwrap());
    assert!(doors().empty_at(&path, length).unwrap());
    writer.write_all(b"anew").unwrap();
    assert_eq!(doors().read_text(&path).unwrap(), "anew");
    assert!(doors().free_head(&dir.join("none"), 1).is_err());
}

#[test]
fn a_write_has_its_mode_and_leaves_nothing_else() {
    let (_guard, dir) = folder();
    let path = dir.join("state.json");
    for (text, wanted) in [
        ("one", 0o600),
        ("two", 0o644),
        ("three", 0o400),
        ("four", 0o755),
    ] {
        doors()
            .write_atomic(&path, text.as_bytes(), wanted)
            .unwrap();
        assert_eq!(doors().read_text(&path).unwrap(), text);
        assert_eq!(mode(&path), wanted);
    }
    assert_eq!(names(&dir), ["state.json"]);
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let (_guard, dir) = folder();
    let error = doors()
        .write_atomic(&dir.join("no/file"), b"x", 0o600)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot write `{dir}/no/file`: the folder `{dir}/no` does not exist")
    );
    assert_eq!(error.category(), Category::Config);
    std::fs::create_dir(dir.join("folder")).unwrap();
    let error = doors()
        .write_atomic(&dir.join("folder"), b"x", 0o600)
        .unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write `{dir}/folder`"));
    assert_eq!(names(&dir), ["folder"]);
    let error = doors()
        .copy_atomic(&dir.join("none"), &dir.join("to"), 0o600)
        .unwrap_err();
    assert!(
        is_not_found(&error) && error.path() == dir.join("none"),
        "{error:?}"
    );
}

#[test]
fn long_paths_and_long_names_work() {
    let (_guard, dir) = folder();
    let deep = dir
        .join("d".repeat(200))
        .join("e".repeat(250))
        .join("ü".repeat(120));
    doors().create_private_dir(&deep).unwrap();
    let path = deep.join("n".repeat(255));
    doors().write_atomic(&path, b"x", 0o600).unwrap();
    assert_eq!(doors().read(&path).unwrap(), b"x");
    let files = tree(&[("a/b", "1")]);
    assert!(
        doors()
            .sync_tree(&deep.join("tree"), &files, 0o600)
            .unwrap()
    );
    doors().remove_tree(&dir.join("d".repeat(200))).unwrap();
    assert!(names(&dir).is_empty());
}

#[test]
fn unchanged_files_are_not_touched() {
    let (_guard, dir) = folder();
    let path = dir.join("file");
    let doors = doors();
    assert!(doors.write_if_changed(&path, b"x", 0o600).unwrap());
    let inode = std::fs::metadata(&path).unwrap().ino();
    assert!(!doors.write_if_changed(&path, b"x", 0o600).unwrap());
    assert!(doors.write_if_changed(&path, b"x", 0o644).unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), inode);
    assert!(doors.write_if_changed(&path, b"y", 0o644).unwrap());
    std::fs::write(dir.join("target"), "y").unwrap();
    symlink(dir.join("target"), dir.join("link")).unwrap();
    assert!(
        doors
            .write_if_changed(&dir.join("link"), b"y", 0o600)
            .unwrap()
    );
    assert!(!dir.join("link").is_symlink());
}

#[test]
fn private_folders_are_private() {
    let (_guard, dir) = folder();
    let path = dir.join("a/b");
    doors().create_private_dir(&path).unwrap();
    assert_eq!((mode(&path), mode(&dir.join("a"))), (0o700, 0o700));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    doors().create_private_dir(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    std::fs::write(dir.join("file"), "").unwrap();
    let error = doors().create_private_dir(&dir.join("file")).unwrap_err();
    assert!(error.to_string().contains("/file`"), "{error}");
}

#[test]
fn reading_says_what_is_wrong() {
    let (_guard, dir) = folder();
    let path = dir.join("file");
    let error = doors().read_text(&path).unwrap_err();
    assert!(is_not_found(&error));
    assert_eq!(error.to_string(), format!("cannot read `{path}`"));
    std::fs::write(&path, b"ab\xff").unwrap();
    let error = doors().read_text(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{path}` is not valid UTF-8 (byte 2)")
    );
    assert!(read_capped(&path, 3).is_ok());
    assert!(matches!(
        read_capped(&path, 2),
        Err(FileError::TooLarge { .. })
    ));
    assert!(doors().read(&dir).is_err());
    std::fs::write(&path, "abc").unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(doors().digest(&path).unwrap(), abc);
}

#[test]
fn lines_are_appended_whole() {
    let (_guard, dir) = folder();
    let path = dir.join("log");
    doors().append_line(&path, "one").unwrap();
    std::fs::write(&path, "one\ntorn").unwrap();
    doors().append_line(&path, "two").unwrap();
    assert_eq!(doors().read_text(&path).unwrap(), "one\ntorn\ntwo\n");
    doors().append_line(&dir.join("new"), "").unwrap();
    assert_eq!(
        (
            mode(&dir.join("new")),
            doors().read(&dir.join("new")).unwrap().len()
        ),
        (0o600, 1)
    );
    let error = doors().append_line(&dir.join("no/log"), "x").unwrap_err();
    assert!(is_not_found(&error));
}

#[test]
fn removing_is_idempotent_and_stays_inside() {
    let (_guard, dir) = folder();
    let doors = doors();
    doors.remove_tree(&dir.join("none")).unwrap();
    doors.remove_file(&dir.join("none/none")).unwrap();
    let cache = dir.join("tree/mod/cache");
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::write(cache.join("f"), "x").unwrap();
    std::fs::write(dir.join("kept"), "x").unwrap();
    symlink(&dir, cache.join("out")).unwrap();
    for path in [&cache, &dir.join("tree/mod")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o500)).unwrap();
    }
    symlink(dir.join("tree"), dir.join("link")).unwrap();
    doors.remove_tree(&dir.join("link")).unwrap();
    assert!(doors.exists(&cache) && !doors.exists(&dir.join("link")));
    doors.remove_tree(&dir.join("tree")).unwrap();
    assert_eq!(names(&dir), ["kept"]);
}

#[test]
fn abandoned_temporaries_are_swept_and_others_kept() {
    let (_guard, dir) = folder();
    std::fs::create_dir(dir.join("sub")).unwrap();
    let ours = format!(".cp9-tmp-{}-abc", std::process::id());
    for name in [
        ".cp9-tmp-4194399-abc",
        "sub/.cp9-tmp-4194399-x",
        &ours,
        ".cp9-tmp-x",
        "file",
    ] {
        std::fs::write(dir.join(name), "").unwrap();
    }
    doors().sweep_temporaries(&dir).unwrap();
    let mut left = names(&dir);
    left.sort();
    assert_eq!(left, [ours.as_str(), ".cp9-tmp-x", "file", "sub"]);
    assert!(names(&dir.join("sub")).is_empty());
    doors().sweep_temporaries(&dir.join("none")).unwrap();
}

#[test]
fn a_tree_is_made_exact() {
    let (_guard, dir) = folder();
    let (doors, root) = (doors(), dir.join("above/tree"));
    let files = tree(&[("a/b/c.yaml", "1"), ("d.yaml", "2")]);
    assert!(!doors.tree_equals(&root, &files).unwrap());
    assert!(doors.sync_tree(&root, &files, 0o600).unwrap());
    assert!(!doors.sync_tree(&root, &files, 0o600).unwrap());
    assert!(doors.tree_equals(&root, &files).unwrap());
    assert_eq!(doors.read_checkout(&root).unwrap(), files);
    assert_eq!(
        (mode(&root.join("a/b")), mode(&root.join("d.yaml"))),
        (0o700, 0o600)
    );
    assert!(
        doors.sync_tree(&root, &files, 0o644).unwrap(),
        "another mode"
    );
    assert!(doors.sync_tree(&root, &tree(&[]), 0o600).unwrap());
    assert!(names(&root).is_empty() && doors.tree_equals(&root, &tree(&[])).unwrap());
}

#[test]
fn every_difference_of_a_tree_is_seen_and_mended() {
    let (_guard, dir) = folder();
    let (doors, root) = (doors(), dir.join("tree"));
    let files = tree(&[("a/b", "1"), ("c", "2")]);
    doors.sync_tree(&root, &files, 0o600).unwrap();
    let differences: [&dyn Fn(); 9] = [
        &|| std::fs::write(root.join("extra"), "").unwrap(),
        &|| std::fs::create_dir_all(root.join("a/empty/deep")).unwrap(),
        &|| std::fs::write(root.join("c"), "3").unwrap(),
        &|| std::fs::remove_file(root.join("c")).unwrap(),
        &|| std::fs::remove_dir_all(root.join("a")).unwrap(),
        &|| {
            std::fs::remove_file(root.join("c")).unwrap();
            std::fs::create_dir(root.join("c")).unwrap();
        },
        &|| {
            std::fs::remove_dir_all(root.join("a")).unwrap();
            std::fs::write(root.join("a"), "").unwrap();
        },
        &|| {
            std::fs::rename(root.join("a"), dir.join("moved")).unwrap();
            symlink(dir.join("moved"), root.join("a")).unwrap();
        },
        &|| {
            std::fs::rename(&root, dir.join("elsewhere")).unwrap();
            symlink(dir.join("elsewhere"), &root).unwrap();
        },
    ];
    for (number, make) in differences.iter().enumerate() {
        make();
        assert!(
            !doors.tree_equals(&root, &files).unwrap(),
            "difference {number}"
        );
        assert!(
            doors.sync_tree(&root, &files, 0o600).unwrap(),
            "difference {number}"
        );
        assert!(
            doors.tree_equals(&root, &files).unwrap(),
            "difference {number}"
        );
        assert!(!root.is_symlink() && !root.join("a").is_symlink());
    }
    let moved = std::fs::read_to_string(dir.join("moved/b")).unwrap();
    assert_eq!(moved, "1", "nothing is written or removed through a link");
}

#[test]
fn names_that_leave_the_tree_are_refused() {
    let (_guard, dir) = folder();
    for files in [
        tree(&[("../out", "x")]),
        tree(&[("/abs", "x")]),
        tree(&[("", "x")]),
        tree(&[("a/../../b", "x")]),
        tree(&[("a", "x"), ("a/b", "x")]),
    ] {
        let error = doors()
            .sync_tree(&dir.join("tree"), &files, 0o600)
            .unwrap_err();
        assert!(matches!(error, FileError::NotBelow { .. }), "{error:?}");
        assert!(doors().tree_equals(&dir, &files).is_err());
    }
    assert!(names(&dir).is_empty());
}

#[test]
fn links_are_read_inside_and_refused_outside() {
    let (_guard, dir) = folder();
    let root = dir.join("tree");
    std::fs::create_dir_all(root.join("real")).unwrap();
    std::fs::write(root.join("real/f"), "1").unwrap();
    std::fs::write(dir.join("secret"), "s").unwrap();
    symlink("real", root.join("link")).unwrap();
    symlink("real/f", root.join("file")).unwrap();
    let read = doors().read_checkout(&root).unwrap();
    assert_eq!(
        read,
        tree(&[("file", "1"), ("link/f", "1"), ("real/f", "1")])
    );
    for target in ["../secret", "/etc/passwd", "none", ".", "bad"] {
        symlink(target, root.join("bad")).unwrap();
        let error = doors().read_checkout(&root).unwrap_err();
        assert!(
            matches!(error, FileError::LinkOutside { .. }),
            "{target}: {error:?}"
        );
        std::fs::remove_file(root.join("bad")).unwrap();
    }
    symlink("../link2", root.join("real/back")).unwrap();
    symlink("real", root.join("link2")).unwrap();
    assert!(matches!(
        doors().read_checkout(&root),
        Err(FileError::LinkOutside { .. })
    ));
}

/// The other process: writes longer and longer files to the path that it reads.
#[test]
#[ignore = "started by another test"]
fn endless_writer() {
    let mut path = String::new();
    std::io::stdin().read_line(&mut path).unwrap();
    for round in 0_u64.. {
        if path.trim().is_empty() {
            return;
        }
        let numbers: Vec<u64> = (0..(round % 50) * 500).collect();
        let text = serde_json::to_vec(&(round, numbers)).unwrap();
        doors()
            .write_atomic(path.trim().into(), &text, 0o600)
            .unwrap();
        println!("round {round}");
    }
}

#[test]
fn a_killed_write_leaves_the_old_file_or_the_new_one() {
    let (_guard, dir) = folder();
    let path = dir.join("state.json");
    for rounds in [1, 2, 3, 5, 8, 13, 21] {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "files::tests::endless_writer",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(writer.stdin.as_mut().unwrap(), "{path}").unwrap();
        let said = BufReader::new(writer.stdout.as_mut().unwrap()).lines();
        let done = said
            .map(Result::unwrap)
            .filter(|line| line.contains("round "))
            .take(rounds);
        assert_eq!(done.count(), rounds);
        writer.kill().unwrap();
        writer.wait().unwrap();
        let text = doors().read(&path).unwrap();
        let (round, numbers): (u64, Vec<u64>) = serde_json::from_slice(&text).unwrap();
        assert_eq!(numbers.len() as u64, (round % 50) * 500);
        assert_eq!(mode(&path), 0o600);
    }
    doors().sweep_temporaries(&dir).unwrap();
    assert_eq!(names(&dir), ["state.json"]);
}

#[test]
fn folders_are_looked_at() {
    let (_guard, dir) = folder();
    let doors = doors();
    for name in ["b", "a"] {
        doors.touch(&dir.join(name)).unwrap();
    }
    assert_eq!(doors.list(&dir).unwrap(), [dir.join("a"), dir.join("b")]);
    assert!(doors.list(&dir.join("none")).unwrap().is_empty());
    assert_eq!(mode(&dir.join("a")), 0o600);
    doors.rename(&dir.join("a"), &dir.join("c")).unwrap();
    assert!(doors.modified(&dir.join("a")).is_none() && doors.modified(&dir.join("c")).is_some());
    let error = doors.rename(&dir.join("a"), &dir.join("c")).unwrap_err();
    assert!(is_not_found(&error));
    doors.create_private_dir(&dir).unwrap();
    assert!(doors.is_private_dir(&dir) && !doors.is_private_dir(&dir.join("b")));
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o750)).unwrap();
    assert!(!doors.is_private_dir(&dir));
}

#[test]
fn a_checkout_is_read_without_what_is_no_manifest() {
    let dir = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(dir.path()).expect("UTF-8");
    for (path, text) in [
        ("a.yaml", "a"),
        (".git/b", "b"),
        ("x/.cp9/s/c", "c"),
        ("x/d.yaml", "d"),
    ] {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket");
    let doors = doors();
    let files = doors.read_checkout(root).expect("readable");
    assert_eq!(
        files.keys().map(|path| path.as_str()).collect::<Vec<_>>(),
        ["a.yaml", "x/d.yaml"]
    );
    let error = doors.read_checkout(&root.join("none")).unwrap_err();
    assert!(is_not_found(&error));
}

#[test]
fn a_pipe_is_refused_and_never_waited_for() {
    let (_keep, folder) = folder();
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(pipe.as_str()).status();
    assert!(made.expect("mkfifo starts").success());
    let error = doors().read(&pipe).expect_err("refused");
    let cause = std::error::Error::source(&error).map(ToString::to_string);
    assert!(cause.is_some_and(|cause| cause.contains("pipe")), "{error}");
}
