//! The session file: there, right, and what the session was last brought up from.

use camino::Utf8PathBuf;
use cp9_model::Diagnostic;
use cp9_model::diagnostic::Severity;
use cp9_model::report::doctor::Finding;

use super::context::{Broken, Context};
use crate::commands::quote;

/// The check's name.
pub(super) const CHECK: &str = "config";

/// The session file and what it says.
#[derive(Debug)]
pub(super) struct Facts {
    file: Option<Utf8PathBuf>,
    content: Content,
    /// The session that lives, by name.
    lives: Option<String>,
}

#[derive(Debug)]
enum Content {
    /// There is no such file.
    Missing,
    /// It cannot be read, and why.
    Unread(String),
    /// It is wrong.
    Invalid(Vec<Diagnostic>),
    /// It is right.
    Right {
        name: String,
        warnings: Vec<Diagnostic>,
        /// True when it says the same as at the last `up`; none before the first.
        same: Option<bool>,
    },
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Facts {
    let at_last_up = context.disk().and_then(|disk| disk.config.as_ref());
    let found = match &context.loaded {
        None => Content::Missing,
        Some(Err(Broken::Unread(error))) => {
            let cause = std::error::Error::source(error);
            Content::Unread(cause.map_or_else(|| error.to_string(), ToString::to_string))
        }
        Some(Err(Broken::Invalid(problems))) => Content::Invalid(problems.clone()),
        Some(Ok(loaded)) => Content::Right {
            name: loaded.resolved.name.to_string(),
            warnings: loaded.warnings.clone(),
            same: at_last_up.map(|config| *config == loaded.resolved),
        },
    };
    Facts {
        file: context.file.clone(),
        content: found,
        lives: context.folder.as_ref().map(|folder| folder.name.clone()),
    }
}

/// Judges them.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    let Some(file) = &facts.file else {
        let none = Finding::shown(CHECK, "session-file-none", "no session file here");
        return vec![none.remedy("copy an example to `cp9.yaml`, or give `--config PATH`")];
    };
    match &facts.content {
        Content::Missing => {
            let text = format!("session file `{file}` does not exist");
            let missing = Finding::error(CHECK, "session-file-missing", text).about(file.as_str());
            vec![missing.remedy("restore it, or remove its session with `cp9 destroy`")]
        }
        Content::Unread(why) => {
            let text = format!("session file `{file}` cannot be read: {why}");
            let unread =
                Finding::error(CHECK, "session-file-unreadable", text).about(file.as_str());
            vec![unread.remedy(format!(
                "check owner and mode: `ls -l {}`",
                quote(file.as_str())
            ))]
        }
        Content::Invalid(problems) => problems.iter().map(problem).collect(),
        Content::Right {
            name,
            warnings,
            same,
        } => right(facts, name, warnings, *same),
    }
}

fn right(facts: &Facts, name: &str, warnings: &[Diagnostic], same: Option<bool>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = warnings.iter().map(problem).collect();
    match &facts.lives {
        Some(lives) if lives != name => {
            let text =
                format!("the session file says `{name}`, and its session `{lives}` still lives");
            let remedy =
                format!("set `name: {lives}` again, or run `cp9 destroy --session {lives}`");
            let renamed = Finding::error(CHECK, "session-renamed", text);
            findings.push(renamed.about(name).remedy(remedy));
        }
        Some(_) if same == Some(false) => {
            let text = "the session file has changed since the last `up`";
            let changed = Finding::shown(CHECK, "config-changed", text);
            findings.push(changed.remedy("`cp9 up` takes the changes over"));
        }
        _ => findings.push(Finding::ok(
            CHECK,
            "session-file",
            "the session file is right",
        )),
    }
    findings
}

fn problem(problem: &Diagnostic) -> Finding {
    let text = format!("{} [{}]", problem.message, problem.code);
    let finding = match problem.severity {
        Severity::Error => Finding::error(CHECK, "config-invalid", text),
        Severity::Warning => Finding::warning(CHECK, "config-warning", text),
    };
    let place = format!("{}:{}:{}", problem.file, problem.line, problem.column);
    let finding = finding.about(place);
    let help = problem.help.as_deref();
    finding.remedy(help.unwrap_or("mend the place; `cp9 schema` prints what is allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(file: bool, content: Content, lives: Option<&str>) -> Facts {
        Facts {
            file: file.then(|| "/w/cp9.yaml".into()),
            content,
            lives: lives.map(str::to_owned),
        }
    }

    fn right(same: Option<bool>) -> Content {
        Content::Right {
            name: "demo".into(),
            warnings: Vec::new(),
            same,
        }
    }

    fn only(facts: &Facts) -> (String, &'static str) {
        let findings = judge(facts);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let word = match findings[0].severity {
            cp9_model::report::doctor::Severity::Ok if findings[0].shown => "shown",
            cp9_model::report::doctor::Severity::Ok => "ok",
            cp9_model::report::doctor::Severity::Warning => "warning",
            cp9_model::report::doctor::Severity::Error => "error",
        };
        (findings[0].id.clone(), word)
    }

    #[test]
    fn no_file_is_no_fault_but_a_lost_one_is() {
        let none = facts(false, Content::Missing, None);
        assert_eq!(only(&none), ("session-file-none".into(), "shown"));
        let lost = facts(true, Content::Missing, Some("demo"));
        assert_eq!(only(&lost), ("session-file-missing".into(), "error"));
        let unread = facts(true, Content::Unread("denied".into()), None);
        assert_eq!(only(&unread), ("session-file-unreadable".into(), "error"));
    }

    #[test]
    fn a_right_file_is_compared_with_its_session() {
        let fresh = facts(true, right(None), None);
        assert_eq!(only(&fresh), ("session-file".into(), "ok"));
        let same = facts(true, right(Some(true)), Some("demo"));
        assert_eq!(only(&same), ("session-file".into(), "ok"));
        let changed = facts(true, right(Some(false)), Some("demo"));
        assert_eq!(only(&changed), ("config-changed".into(), "shown"));
        let renamed = facts(true, right(Some(false)), Some("old"));
        assert_eq!(only(&renamed), ("session-renamed".into(), "error"));
    }

    #[test]
    fn problems_keep_their_place_and_help() {
        let problem = Diagnostic {
            code: "CP9-C004".into(),
            severity: Severity::Error,
            message: "unknown key `servces`".into(),
            file: "/w/cp9.yaml".into(),
            line: 3,
            column: 1,
            pointer: "/servces".into(),
            help: Some("did you mean `services`?".into()),
            snippet: String::new(),
        };
        let broken = facts(true, Content::Invalid(vec![problem]), None);
        let findings = judge(&broken);
        assert_eq!(findings[0].id, "config-invalid");
        assert_eq!(findings[0].subject.as_deref(), Some("/w/cp9.yaml:3:1"));
        assert_eq!(findings[0].finding, "unknown key `servces` [CP9-C004]");
        let remedy = findings[0].remedy.as_deref();
        assert_eq!(remedy, Some("did you mean `services`?"));
    }
}
