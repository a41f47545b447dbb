//! The cp9 that was just built, asked what it knows about itself.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The command tree of the built binary. The environment is empty: a reference must not depend on it.
#[expect(
    clippy::disallowed_methods,
    reason = "the doors that the lint names belong to cp9, which this test describes"
)]
pub(crate) fn tree(root: &Path) -> Value {
    let binary = binary(root);
    assert!(
        binary.is_file(),
        "`{}` is not built; `cargo build` makes it",
        binary.display()
    );
    let output = std::process::Command::new(&binary)
        .args(["cmds.tree", "--json"])
        .env_clear()
        .output()
        .expect("the built cp9 runs");
    assert!(
        output.status.success(),
        "`cp9 cmds.tree` ended with {}",
        output.status
    );
    let envelope: Value = serde_json::from_slice(&output.stdout).expect("an envelope");
    envelope["data"].clone()
}

/// Tests lie in `deps/` beside the binary, whatever the target folder is called.
#[expect(
    clippy::disallowed_methods,
    reason = "the only way to find what was built along with this test"
)]
fn binary(root: &Path) -> PathBuf {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.parent()?.join("cp9")));
    beside.unwrap_or_else(|| root.join("target/debug/cp9"))
}
