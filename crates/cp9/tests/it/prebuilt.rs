//! The quickstart with services that are built in no time: the real ones, compiled once for all tests of
//! this binary, and "built" by copying. What a test times or repeats is then cp9, not the compiler.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use cp9_testkit::Sandbox;

/// The program under test.
pub(crate) const CP9: &str = env!("CARGO_BIN_EXE_cp9");

static BUILT: LazyLock<Utf8PathBuf> = LazyLock::new(|| {
    let dir =
        Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("prebuilt-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    for service in ["cluster-api", "cluster-worker"] {
        let main = format!(
            "{}/../../examples/quickstart/services/{service}/src/main.rs",
            env!("CARGO_MANIFEST_DIR")
        );
        let out = dir.join(service);
        let built = Command::new("rustc")
            .args([
                "--edition=2021",
                "--crate-name",
                &service.replace('-', "_"),
                "-o",
                out.as_str(),
                &main,
            ])
            .status()
            .expect("rustc starts");
        assert!(built.success(), "{service} does not compile");
    }
    dir
});

/// Held while a session has the quickstart's own name: two of them that start at the same moment, each in
/// a home of its own, would choose the same ports.
pub(crate) fn own_name() -> MutexGuard<'static, ()> {
    static HELD: Mutex<()> = Mutex::new(());
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A quickstart under its own name whose builds are copies.
pub(crate) fn quickstart() -> Sandbox {
    let sandbox = Sandbox::quickstart(CP9);
    speed_up(&sandbox);
    sandbox
}

/// Turns a sandbox's builds into copies.
pub(crate) fn speed_up(sandbox: &Sandbox) {
    let mut text = String::new();
    let mut service = String::new();
    for line in sandbox.read("cp9.yaml").lines() {
        if line.starts_with("    cluster-") {
            line.trim().trim_end_matches(':').clone_into(&mut service);
        }
        if line.trim() == "main: src/main.rs" {
            let built = BUILT.join(&service);
            let _ = writeln!(text, "        command: [cp, \"{built}\", \"${{output}}\"]");
        } else {
            text.push_str(line);
            text.push('\n');
        }
    }
    sandbox.write("cp9.yaml", &text);
}

/// A service of the quickstart, compiled.
pub(crate) fn built(service: &str) -> Utf8PathBuf {
    BUILT.join(service)
}

/// A program of `tests/fixtures`, compiled.
pub(crate) fn fixture(name: &str) -> Utf8PathBuf {
    let out = BUILT.join(name);
    let main = format!("{}/tests/fixtures/{name}.rs", env!("CARGO_MANIFEST_DIR"));
    let built = Command::new("rustc")
        .args(["--edition=2021", "-o", out.as_str(), &main])
        .status()
        .expect("rustc starts");
    assert!(built.success(), "{name} does not compile");
    out
}
