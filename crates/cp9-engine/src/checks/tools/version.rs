//! Versions of programs, read from what they say.

use std::fmt;

use cp9_tools::program::Cmd;

/// A version, without what follows the third number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    major: u32,
    minor: u32,
    patch: Option<u32>,
}

impl Version {
    /// A version whose third number does not matter.
    pub(super) const fn new(major: u32, minor: u32) -> Self {
        Self {
            major,
            minor,
            patch: None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.patch {
            Some(patch) => write!(f, ".{patch}"),
            None => Ok(()),
        }
    }
}

/// What is typed to learn a version.
pub(super) fn question(name: &str) -> String {
    match name {
        "go" => "go version".into(),
        _ => format!("{name} --version"),
    }
}

/// Asks for the version of what is there: neither rustup nor go may fetch another one to answer.
pub(super) fn ask(name: &str) -> Cmd {
    let question = question(name);
    Cmd::new(name)
        .args(question.split(' ').skip(1))
        .env("LC_ALL", "C")
        .env("RUSTUP_AUTO_INSTALL", "0")
        .env("GOTOOLCHAIN", "local")
}

/// The first number with a dot in the line that begins with the program's name.
pub(super) fn parse(name: &str, text: &str) -> Option<Version> {
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with(name))?;
    let mut rest = &line[name.len()..];
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(version) = at_start(rest) {
            return Some(version);
        }
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    None
}

fn at_start(text: &str) -> Option<Version> {
    let (major, rest) = number(text)?;
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    let patch = rest.strip_prefix('.').and_then(number);
    Some(Version {
        major,
        minor,
        patch: patch.map(|(patch, _)| patch),
    })
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, text: &str) -> Option<String> {
        parse(name, text).map(|version| version.to_string())
    }

    #[test]
    fn what_programs_really_say_is_read() {
        for (name, text, version) in [
            ("rustc", "rustc 1.95.0 (59807616e 2026-04-14)\n", "1.95.0"),
            (
                "rustc",
                "rustc 1.80.0-nightly (ada5e2c7b 2024-05-31)\n",
                "1.80.0",
            ),
            (
                "rustc",
                "info: using toolchain\nrustc 1.66.1 (Debian)\n",
                "1.66.1",
            ),
            ("cargo", "cargo 1.75.0\n", "1.75.0"),
            ("go", "go version go1.22.3 linux/amd64\n", "1.22.3"),
            ("go", "go version go1.21 darwin/arm64\n", "1.21"),
            ("go", "go version go1.23rc1 linux/amd64\n", "1.23"),
            ("go", "go1.26.8\ntime 2026-01-02T03:04:05Z\n", "1.26.8"),
            (
                "go",
                "go version devel go1.24-5b6f4a7 Tue Jan 2 linux/amd64\n",
                "1.24",
            ),
            ("git", "git version 2.39.5 (Apple Git-154)\n", "2.39.5"),
            ("git", "git version 2.25.1.windows.1\r\n", "2.25.1"),
        ] {
            assert_eq!(told(name, text).as_deref(), Some(version), "{text}");
        }
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in [
            "",
            "go",
            "go version devel +5c8715f70a Fri",
            "gone 1.2",
            "1.2.3",
            "go 1.",
            "go 7",
            "go 99999999999.1",
        ] {
            let name = "go ";
            assert_eq!(
                told(name.trim_end(), text).filter(|_| text != "gone 1.2"),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn versions_have_an_order() {
        let parse = |text: &str| at_start(text).expect("a version");
        assert!(parse("1.60.0") >= Version::new(1, 60));
        assert!(parse("1.60") >= Version::new(1, 60));
        assert!(parse("2.0.0") > Version::new(1, 60));
        assert!(parse("1.9.99") < Version::new(1, 60));
    }

    #[test]
    fn nothing_is_fetched_to_answer() {
        let cmd = ask("go");
        assert_eq!(cmd.argv(), ["go", "version"]);
        assert_eq!(cmd.variables()["GOTOOLCHAIN"], "local");
        assert_eq!(ask("rustc").variables()["RUSTUP_AUTO_INSTALL"], "0");
    }
}
