//! Finds processes that belong to a folder or a session, by reading `/proc`: another way than
//! the product's own, so that the two check each other.

use std::fs;
use std::process;

use camino::Utf8Path;

/// A process that should be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its process id.
    pub pid: i32,
    /// Its arguments, separated by blanks.
    pub command: String,
    /// How it was recognised.
    pub why: String,
}

/// All living processes that have the variable, given as `NAME=value` (such as
/// `CP9_SESSION_ID=…`), or whose executable, working directory, environment or arguments name
/// something under the folder.
/// Give the folder's real path; the calling process is left out.
pub fn leftovers(folder: &Utf8Path, variable: Option<&str>) -> Vec<Leftover> {
    let entries = fs::read_dir("/proc").expect("/proc can be read");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let others = pids.filter(|pid| u32::try_from(*pid) != Ok(process::id()));
    others
        .filter_map(|pid| look_at(pid, folder, variable))
        .collect()
}

/// A process may end while it is looked at: then it is not left over.
fn look_at(pid: i32, folder: &Utf8Path, variable: Option<&str>) -> Option<Leftover> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1;
    if state.starts_with(['Z', 'X']) {
        return None;
    }
    let arguments = words(pid, "cmdline");
    let environment = words(pid, "environ");
    let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).ok();
    let under = |name: &str| link(name).is_some_and(|path| path.starts_with(folder));
    let why = if variable.is_some_and(|variable| environment.iter().any(|word| word == variable)) {
        "variable"
    } else if under("exe") {
        "executable"
    } else if under("cwd") {
        "working directory"
    } else if environment.iter().any(|word| names(word, folder)) {
        "environment"
    } else if arguments.iter().any(|word| names(word, folder)) {
        "arguments"
    } else {
        return None;
    };
    Some(Leftover {
        pid,
        command: arguments.join(" "),
        why: why.to_owned(),
    })
}

fn words(pid: i32, file: &str) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let words = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// The folder as a whole path: `/tmp/a` is not named by `/tmp/ab`.
fn names(word: &str, folder: &Utf8Path) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
    word.match_indices(folder.as_str())
        .any(|(at, found)| ends(&word[at + found.len()..]))
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use camino::Utf8PathBuf;

    use super::*;

    struct Held(Child);

    impl Drop for Held {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// `cat` lives for as long as its input is open.
    fn cat(change: impl FnOnce(&mut Command) -> &mut Command) -> Held {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        Held(change(&mut command).spawn().expect("cat starts"))
    }

    fn whys(folder: &Utf8Path, variable: Option<&str>) -> Vec<String> {
        leftovers(folder, variable)
            .into_iter()
            .map(|leftover| leftover.why)
            .collect()
    }

    #[test]
    fn finds_by_environment_and_folder_and_forgets_the_dead() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder =
            Utf8PathBuf::from_path_buf(dir.path().canonicalize().expect("real")).expect("UTF-8");
        assert!(leftovers(&folder, Some("CP9_SESSION_ID=test-id-1")).is_empty());
        let by_id = cat(|command| command.env("CP9_SESSION_ID", "test-id-1"));
        crate::wait_until(std::time::Duration::from_secs(10), "the exec", || {
            (whys(&folder, Some("CP9_SESSION_ID=test-id-1")).len() == 1).then_some(())
        });
        assert!(leftovers(&folder, Some("CP9_SESSION_ID=test-id-2")).is_empty());
        drop(by_id);
        assert!(leftovers(&folder, Some("CP9_SESSION_ID=test-id-1")).is_empty());
        let _by_folder = cat(|command| command.current_dir(&folder));
        assert_eq!(whys(&folder, None), ["working directory"]);
    }

    #[test]
    fn a_longer_name_is_another_folder() {
        assert!(names("--folder=/tmp/a/b", Utf8Path::new("/tmp/a")));
        assert!(names("HOME=/tmp/a", Utf8Path::new("/tmp/a")));
        assert!(!names("/tmp/ab:/tmp/a-b", Utf8Path::new("/tmp/a")));
    }
}
