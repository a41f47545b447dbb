//! The environment of builds: the user's, without what cargo and rustup put there when cp9 itself
//! was started by them, and without what gives its holder rights on AWS: a build that needs some names a
//! profile in its command.
//!
//! It is the one that the controller was started with, and stays so for the controller's life: a
//! `PATH`, `RUSTFLAGS` or toolchain that a person changes later reaches builds only through a new
//! controller (`cp9 pause`, then `cp9 up`).

use cp9_model::identity::leads_to_credentials;
use cp9_tools::Environment;

/// Variables that cargo sets for what it runs; what people set for cargo stays.
const INJECTED: [&str; 15] = [
    "CARGO",
    "CARGO_BIN_NAME",
    "CARGO_CRATE_NAME",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MAKEFLAGS",
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
    "CARGO_RUSTC_CURRENT_DIR",
    "RUSTC",
    "RUSTDOC",
    "RUST_RECURSION_COUNT",
    "RUSTUP_TOOLCHAIN",
];
const INJECTED_PREFIXES: [&str; 4] = [
    "CARGO_PKG_",
    "CARGO_BIN_EXE_",
    "CARGO_CFG_",
    "CARGO_FEATURE_",
];

/// What a build inherits. Outside of cargo nothing was injected, so nothing of it is removed.
pub(super) fn for_builds(user: &Environment) -> Environment {
    let by_cargo = user.get("CARGO").is_some() || user.get("CARGO_MANIFEST_DIR").is_some();
    let injected = |name: &str| {
        INJECTED.contains(&name)
            || INJECTED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    let kept = user
        .iter()
        .filter(|(name, _)| !(leads_to_credentials(name) || by_cargo && injected(name)));
    Environment::new(kept.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(pairs: &[&str]) -> Vec<String> {
        let env = Environment::new(
            pairs
                .iter()
                .map(|name| ((*name).to_owned(), "x".to_owned())),
        );
        for_builds(&env)
            .iter()
            .map(|(name, _)| name.to_owned())
            .collect()
    }

    #[test]
    fn only_what_cargo_injected_is_removed() {
        let kept = names(&[
            "CARGO",
            "CARGO_PKG_NAME",
            "CARGO_MANIFEST_DIR",
            "RUSTUP_TOOLCHAIN",
            "RUST_RECURSION_COUNT",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTFLAGS",
            "CARGO_NET_OFFLINE",
            "PATH",
        ]);
        assert_eq!(
            kept,
            [
                "CARGO_HOME",
                "CARGO_NET_OFFLINE",
                "PATH",
                "RUSTFLAGS",
                "RUSTUP_HOME"
            ]
        );
    }

    #[test]
    fn nothing_that_gives_rights_on_aws_stays() {
        let kept = names(&[
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "AWS_PROFILE",
            "AWS_REGION",
            "PATH",
        ]);
        assert_eq!(kept, ["AWS_REGION", "PATH"]);
    }

    #[test]
    fn a_toolchain_that_a_person_chose_stays() {
        assert_eq!(
            names(&["PATH", "RUSTUP_TOOLCHAIN"]),
            ["PATH", "RUSTUP_TOOLCHAIN"]
        );
    }
}
