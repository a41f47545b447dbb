//! The programs that the session's builds start: there, and new enough.

mod gather;
mod needed;
mod version;

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;

pub(super) use gather::gather;
use version::Version;

/// The check's name.
pub(super) const CHECK: &str = "tools";

/// The least version of each program whose version matters.
const MINIMA: [(&str, Version); 4] = [
    ("rustc", Version::new(1, 60)),
    ("cargo", Version::new(1, 60)),
    ("go", Version::new(1, 21)),
    ("git", Version::new(2, 25)),
];

/// What a program is needed for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// It builds these services.
    Build(Vec<String>),
    /// It tells what checkouts are at.
    Ask,
    /// Nothing, as there is no session file.
    Nothing,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tool {
    name: String,
    need: Need,
    path: Option<Utf8PathBuf>,
    /// What it said of its version, or why it said nothing; none where no version matters.
    said: Option<Result<String, String>>,
}

fn minimum(name: &str) -> Option<Version> {
    let found = MINIMA.iter().find(|(known, _)| *known == name);
    found.map(|(_, version)| *version)
}

/// Judges the programs.
pub(super) fn judge(tools: &[Tool]) -> Vec<Finding> {
    if tools.is_empty() {
        return vec![Finding::ok(CHECK, "tools-none", "no program is needed")];
    }
    tools.iter().map(one).collect()
}

fn one(tool: &Tool) -> Finding {
    let Some(path) = &tool.path else {
        return missing(tool).about(&tool.name);
    };
    let name = &tool.name;
    let finding = match (&tool.said, minimum(name)) {
        (Some(Ok(text)), Some(least)) => match version::parse(name, text) {
            Some(found) if found >= least => Finding::ok(
                CHECK,
                "tool-version",
                format!("`{name}` {found} in `{path}`"),
            ),
            Some(found) => too_old(tool, found, least, path),
            None => {
                let text = format!("`{path}` does not tell its version");
                Finding::warning(CHECK, "tool-version-unknown", text)
                    .remedy(format!("see what `{}` says", version::question(name)))
            }
        },
        (Some(Err(why)), _) => broken(tool, why, path),
        _ => Finding::ok(CHECK, "tool-found", format!("`{name}` is `{path}`")),
    };
    finding.about(name)
}

/// An error where a build cannot do without the program, else a warning.
fn unmet(tool: &Tool, id: &str, text: String) -> Finding {
    match tool.need {
        Need::Build(_) => Finding::error(CHECK, id, text),
        Need::Ask | Need::Nothing => Finding::warning(CHECK, id, text),
    }
}

fn too_old(tool: &Tool, found: Version, least: Version, path: &Utf8PathBuf) -> Finding {
    let name = &tool.name;
    let text = format!("`{name}` {found} in `{path}` is older than {least}");
    unmet(tool, "tool-version", text).remedy(format!("install `{name}` {least} or newer"))
}

fn broken(tool: &Tool, why: &str, path: &Utf8PathBuf) -> Finding {
    let text = format!("`{path}` does not run: {why}");
    let remedy = format!("make `{}` work", version::question(&tool.name));
    unmet(tool, "tool-broken", text).remedy(remedy)
}

fn missing(tool: &Tool) -> Finding {
    let name = &tool.name;
    let newer = minimum(name).map(|least| format!(" {least} or newer"));
    let newer = newer.unwrap_or_default();
    let remedy = format!("install `{name}`{newer}, or put it on PATH");
    let finding = match &tool.need {
        Need::Build(services) => {
            let services: Vec<String> = services.iter().map(|name| format!("`{name}`")).collect();
            let text = format!(
                "program `{name}`, which builds {}, is not on PATH",
                services.join(", ")
            );
            Finding::error(CHECK, "tool-missing", text)
        }
        Need::Ask => {
            let text = format!(
                "program `{name}` is not on PATH, so nobody can tell what the checkouts are at"
            );
            Finding::warning(CHECK, "tool-missing", text)
        }
        Need::Nothing => {
            let text = format!("program `{name}` is not on PATH; some services need it");
            Finding::shown(CHECK, "tool-absent", text)
        }
    };
    finding.remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn tool(name: &str, need: Need, said: Option<Result<&str, &str>>) -> Tool {
        Tool {
            name: name.into(),
            need,
            path: Some(format!("/bin/{name}").into()),
            said: said.map(|said| said.map(str::to_owned).map_err(str::to_owned)),
        }
    }

    fn judged(tool: Tool) -> (String, Severity) {
        let found = judge(&[tool]).remove(0);
        (found.id, found.severity)
    }

    fn api() -> Need {
        Need::Build(vec!["api".into()])
    }

    #[test]
    fn versions_are_compared_with_the_least() {
        let rustc = |text| tool("rustc", api(), Some(Ok(text)));
        let new = judged(rustc("rustc 1.95.0 (59807616e 2026-04-14)\n"));
        assert_eq!(new, ("tool-version".into(), Severity::Ok));
        let least = judged(rustc("rustc 1.60.0\n"));
        assert_eq!(least, ("tool-version".into(), Severity::Ok));
        let old = judged(rustc("rustc 1.59.9 (x)\n"));
        assert_eq!(old, ("tool-version".into(), Severity::Error));
        let git = tool("git", Need::Ask, Some(Ok("git version 2.17.1\n")));
        assert_eq!(judged(git), ("tool-version".into(), Severity::Warning));
    }

    #[test]
    fn a_program_that_is_not_there_fails_only_what_needs_it() {
        let gone = |need| Tool {
            path: None,
            ..tool("go", need, None)
        };
        assert_eq!(
            judged(gone(api())),
            ("tool-missing".into(), Severity::Error)
        );
        assert_eq!(
            judged(gone(Need::Ask)),
            ("tool-missing".into(), Severity::Warning)
        );
        assert_eq!(
            judged(gone(Need::Nothing)),
            ("tool-absent".into(), Severity::Ok)
        );
        let told = judge(&[gone(api())]).remove(0);
        assert_eq!(
            told.finding,
            "program `go`, which builds `api`, is not on PATH"
        );
        let remedy = told.remedy.as_deref();
        assert_eq!(
            remedy,
            Some("install `go` 1.21 or newer, or put it on PATH")
        );
    }

    #[test]
    fn a_program_that_says_nothing_sensible_is_told_apart() {
        let odd = tool("go", api(), Some(Ok("hello\n")));
        assert_eq!(
            judged(odd),
            ("tool-version-unknown".into(), Severity::Warning)
        );
        let broken = tool("rustc", api(), Some(Err("no default toolchain")));
        assert_eq!(judged(broken), ("tool-broken".into(), Severity::Error));
        let other = tool("make", api(), None);
        assert_eq!(judged(other), ("tool-found".into(), Severity::Ok));
    }
}
