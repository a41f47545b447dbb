//! Git: what a checkout is at. It only asks: no lock is taken, no file written, nothing fetched, and no
//! program that a checkout names is started.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::Doors;
use crate::program::{Cmd, Output, ProgramError};

/// How long git may take to answer.
const LIMIT: Duration = Duration::from_secs(2);
/// Files larger than this are told apart by size and time, as reading them would take too long.
const LARGE: u64 = 16 * 1024 * 1024;
/// Variables by which git would look at another repository than that of its folder.
const ELSEWHERE: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// What a folder of a checkout is at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkout {
    /// The commit; none before the first one.
    pub commit: Option<String>,
    /// The branch; none when the head is detached.
    pub branch: Option<String>,
    /// Files below the folder that differ from the commit, relative to the top of the checkout.
    pub changed: Vec<Utf8PathBuf>,
}

fn git(folder: &Utf8Path) -> Cmd {
    let cmd = Cmd::new("git")
        // A monitor is a program that the checkout's own configuration names.
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false"])
        .cwd(folder)
        .env("LC_ALL", "C")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .timeout(LIMIT);
    ELSEWHERE
        .iter()
        .fold(cmd, |cmd, name| cmd.remove_env(*name))
}

/// Asks for commit, branch and changed files of a folder.
pub fn status(folder: &Utf8Path) -> Cmd {
    git(folder).args([
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
        "--",
        ".",
    ])
}

/// Asks for the commit of a ref.
pub fn resolve(folder: &Utf8Path, git_ref: &str) -> Cmd {
    let commit = format!("{git_ref}^{{commit}}");
    git(folder).args(["rev-parse", "--verify", "--quiet", &commit])
}

/// Reads the answer of `status`, see git-status(1), Porcelain Format Version 2.
pub fn parse_status(answer: &str) -> Checkout {
    let mut checkout = Checkout::default();
    let mut fields = answer.split('\0');
    while let Some(field) = fields.next() {
        let known = |value: &str| (!value.starts_with('(')).then(|| value.to_owned());
        match field.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.oid", value)) => checkout.commit = known(value),
                Some(("branch.head", value)) => checkout.branch = known(value),
                _ => {}
            },
            Some(("1", rest)) => checkout.changed.extend(path(rest, 8)),
            Some(("u", rest)) => checkout.changed.extend(path(rest, 10)),
            Some(("2", rest)) => {
                checkout.changed.extend(path(rest, 9));
                // The old name of a file that was renamed has a field of its own.
                checkout
                    .changed
                    .extend(fields.next().map(Utf8PathBuf::from));
            }
            Some(("?", name)) => checkout.changed.push(name.into()),
            _ => {}
        }
    }
    checkout.changed.sort();
    checkout
}

/// The last of so many fields, which may hold blanks.
fn path(rest: &str, fields: usize) -> Option<Utf8PathBuf> {
    rest.splitn(fields, ' ').nth(fields - 1).map(Into::into)
}

impl Doors {
    /// The top of the checkout that a folder lies in.
    pub fn checkout_root(&self, folder: &Utf8Path) -> Option<Utf8PathBuf> {
        let mut above = folder.ancestors();
        above
            .find(|dir| self.exists(&dir.join(".git")))
            .map(Utf8Path::to_owned)
    }

    /// What a folder of a checkout is at.
    pub async fn checkout(&self, folder: &Utf8Path) -> Result<Checkout, ProgramError> {
        let answer = self.run(&status(folder)).await?.checked()?;
        Ok(parse_status(&answer.stdout))
    }

    /// The commit of a ref; none if the checkout does not know it.
    pub async fn commit_of(
        &self,
        folder: &Utf8Path,
        git_ref: &str,
    ) -> Result<Option<String>, ProgramError> {
        // What looks like a flag is no name that git would take.
        if git_ref.starts_with('-') {
            return Ok(None);
        }
        let answer = self.run(&resolve(folder, git_ref)).await?;
        Ok(commit(&answer))
    }

    /// What tells the uncommitted state of a checkout from another one: the names and contents of its
    /// changed files.
    pub fn dirty_digest(&self, root: &Utf8Path, changed: &[Utf8PathBuf]) -> String {
        let lines = changed
            .iter()
            .map(|name| format!("{}\0{name}\n", self.content(&root.join(name))));
        cp9_model::digest::bytes(lines.collect::<String>().as_bytes())
    }

    /// What tells the content of a file or link from another one.
    fn content(&self, path: &Utf8Path) -> String {
        match path.symlink_metadata() {
            Ok(facts) if facts.is_symlink() => path
                .read_link_utf8()
                .map_or_else(|_| "->".to_owned(), |to| format!("-> {to}")),
            Ok(facts) if facts.is_file() && facts.len() > LARGE => {
                format!("{} bytes, {:?}", facts.len(), self.modified(path))
            }
            Ok(facts) if facts.is_file() => self.digest(path).unwrap_or_else(|_| "denied".into()),
            Ok(_) => "no file".into(),
            Err(_) => "gone".into(),
        }
    }
}

fn commit(answer: &Output) -> Option<String> {
    let commit = answer.stdout.trim();
    (answer.success() && !commit.is_empty()).then(|| commit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Exit;
    use crate::{Clock, Environment};

    #[test]
    fn a_status_is_read() {
        let answer = "# branch.oid 0123abc\0# branch.head main\0# branch.upstream origin/main\0\
             1 .M N... 100644 100644 100644 aaa bbb src/a file.rs\0\
             2 R. N... 100644 100644 100644 aaa bbb R100 new name.rs\0old name.rs\0\
             u UU N... 100644 100644 100644 100644 a b c both.rs\0\
             ? notes/x y.txt\0! target/\0";
        assert_eq!(
            parse_status(answer),
            Checkout {
                commit: Some("0123abc".into()),
                branch: Some("main".into()),
                changed: [
                    "both.rs",
                    "new name.rs",
                    "notes/x y.txt",
                    "old name.rs",
                    "src/a file.rs"
                ]
                .map(Into::into)
                .into(),
            }
        );
    }

    #[test]
    fn neither_commit_nor_branch_may_be_there() {
        let answer = "# branch.oid (initial)\0# branch.head (detached)\0";
        assert_eq!(parse_status(answer), Checkout::default());
        for junk in ["", "\0\0", "1", "1 x", "2 x\0", "u a b c", "# branch.oid"] {
            assert_eq!(parse_status(junk).commit, None, "{junk:?}");
        }
    }

    #[test]
    fn git_is_asked_without_locks_monitors_or_another_repository() {
        let cmd = status("/repo".into());
        assert_eq!(
            cmd.argv()[..4],
            ["git", "--no-optional-locks", "-c", "core.fsmonitor=false"]
        );
        assert_eq!(cmd.directory(), Some("/repo".into()));
        assert_eq!(cmd.variables()["GIT_NO_LAZY_FETCH"], "1");
        let argv = resolve("/repo".into(), "v1").argv();
        assert_eq!(argv.last().map(String::as_str), Some("v1^{commit}"));
    }

    #[test]
    fn a_ref_that_git_does_not_know_has_no_commit() {
        assert_eq!(commit(&Output::sample(Exit::Code(1), "", "")), None);
        assert_eq!(commit(&Output::sample(Exit::Code(0), "", "")), None);
        let found = commit(&Output::sample(Exit::Code(0), "abc\n", ""));
        assert_eq!(found.as_deref(), Some("abc"));
    }

    #[test]
    fn the_digest_follows_names_contents_and_links() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(dir.path()).expect("UTF-8");
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        let write = |text: &str| {
            let path = root.join("a");
            doors.write_atomic(&path, text.as_bytes(), 0o600)
        };
        let digest = || doors.dirty_digest(root, &["a".into(), "b".into()]);
        let gone = digest();
        write("1").expect("written");
        let one = digest();
        write("2").expect("written");
        let two = digest();
        std::os::unix::fs::symlink("nowhere", root.join("b")).expect("a link");
        let linked = digest();
        assert!(gone != one && one != two && two != linked);
        assert_eq!(linked, digest());
    }
}
