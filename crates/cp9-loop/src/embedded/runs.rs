//! Whether a process that gets the built binary through another program runs it: whether it, or one that it
//! started, executes the binary, interprets it, or has it open.

use camino::Utf8Path;
use cp9_tools::Doors;
use cp9_tools::procs::{self, ProcessFacts};

/// The option that the file to run follows, wherever it stands.
const BEFORE_FILE: &str = "-jar";

/// True when something of a process's family runs the binary whose content has this hash.
pub(super) fn family_runs(doors: &Doors, pid: u32, binary: &Utf8Path, hash: &str) -> bool {
    let family = procs::family(pid);
    family.iter().any(|one| interprets(&one.cmd, binary))
        || family.iter().any(|one| executes(doors, one, binary, hash))
        || family.iter().any(|one| procs::has_open(one.id.pid, binary))
}

/// True for the command line that an interpreter has whose script is the binary: no word but options before it.
fn interprets(cmd: &[String], binary: &Utf8Path) -> bool {
    let Some(at) = cmd.iter().position(|word| word == binary.as_str()) else {
        return false;
    };
    let before = cmd.get(1..at).unwrap_or_default();
    let by_option = before.last().is_some_and(|word| word == BEFORE_FILE);
    // After `-c` and `-e` comes a program, which makes all that follows arguments.
    let runs_text = before.iter().any(|word| word == "-c" || word == "-e");
    let options = before.iter().all(|word| word.starts_with('-'));
    at > 0 && !runs_text && (options || by_option)
}

fn executes(doors: &Doors, one: &ProcessFacts, binary: &Utf8Path, hash: &str) -> bool {
    let link = format!("/proc/{}/exe", one.id.pid);
    let exe = if std::fs::metadata(&link).is_ok() {
        link.as_str().into()
    } else if let Some(exe) = one.exe.as_deref() {
        exe
    } else {
        return false;
    };
    // Most programs have another size, and need not be read.
    let size = |path: &Utf8Path| std::fs::metadata(path).map(|facts| facts.len()).ok();
    size(exe) == size(binary) && doors.digest(exe).is_ok_and(|digest| digest == hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_is_interpreted_counts() {
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            interprets(&words, Utf8Path::new("/b/service"))
        };
        for yes in [
            "/bin/sh /b/service",
            "/bin/sh -eu /b/service --port 1",
            "python3 -u /b/service",
            "java -Xmx1g -jar /b/service",
            "java -cp lib -jar /b/service x",
        ] {
            assert!(of(yes), "{yes}");
        }
        for no in [
            "/b/service",
            "sh run.sh /b/service",
            "sh -c exec\u{a0}old /b/service",
            "python3 -c x /b/service",
            "node launcher.js /b/service",
            "/opt/old --config /etc/x",
        ] {
            assert!(!of(no), "{no}");
        }
    }
}
