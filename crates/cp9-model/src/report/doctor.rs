//! What `doctor` answers: a finding or more for each check.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::exit::ExitCode;

/// The result of `doctor`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    /// The session's name, if there is a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The session folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The session file, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Everything found, what is well too, in the order of the checks.
    pub findings: Vec<Finding>,
    /// Checks that had nothing to look at.
    pub skipped: Vec<SkippedCheck>,
}

/// One thing that a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A stable word for this kind of finding, such as `tool-version`.
    pub id: String,
    /// The check, such as `tools`.
    pub check: String,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, a lower-case fragment.
    pub finding: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What it is about: a service, a path, a port, a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// True for what a person is shown although nothing is wrong, such as an override in force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown: bool,
}

/// How bad a finding is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing is wrong.
    Ok,
    /// It works, and may not do what is expected.
    Warning,
    /// It does not work.
    Error,
}

/// A check that had nothing to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedCheck {
    /// The check.
    pub check: String,
    /// Why.
    pub reason: String,
}

impl Finding {
    /// Nothing is wrong.
    pub fn ok(check: &str, id: &str, finding: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            check: check.to_owned(),
            severity: Severity::Ok,
            finding: finding.into(),
            remedy: None,
            subject: None,
            shown: false,
        }
    }

    /// Nothing is wrong, and a person should know all the same.
    pub fn shown(check: &str, id: &str, finding: impl Into<String>) -> Self {
        Self {
            shown: true,
            ..Self::ok(check, id, finding)
        }
    }

    /// It works, and may not do what is expected.
    pub fn warning(check: &str, id: &str, finding: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::ok(check, id, finding)
        }
    }

    /// It does not work.
    pub fn error(check: &str, id: &str, finding: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            ..Self::ok(check, id, finding)
        }
    }

    /// What it is about.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }
}

impl DoctorReport {
    /// The findings of a severity.
    pub fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        let matches = move |finding: &&Finding| finding.severity == severity;
        self.findings.iter().filter(matches)
    }

    /// How many checks found nothing wrong.
    pub fn checks_ok(&self) -> usize {
        let bad: BTreeSet<&str> = self
            .findings
            .iter()
            .filter(|finding| finding.severity != Severity::Ok)
            .map(|finding| finding.check.as_str())
            .collect();
        let all: BTreeSet<&str> = self
            .findings
            .iter()
            .map(|finding| finding.check.as_str())
            .collect();
        all.len() - bad.len()
    }

    /// How the command ends: an error is an unmet precondition, a warning is none.
    pub fn exit(&self) -> ExitCode {
        if self.of(Severity::Error).next().is_some() {
            ExitCode::Config
        } else {
            ExitCode::Success
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(findings: Vec<Finding>) -> DoctorReport {
        DoctorReport {
            findings,
            ..DoctorReport::default()
        }
    }

    #[test]
    fn only_an_error_fails() {
        let ok = Finding::ok("disk", "disk-ok", "enough");
        let warning = Finding::warning("disk", "disk-low", "little");
        let error = Finding::error("tools", "tool-missing", "no go");
        assert_eq!(report(vec![]).exit(), ExitCode::Success);
        let warned = report(vec![ok.clone(), warning.clone()]);
        assert_eq!(warned.exit(), ExitCode::Success);
        assert_eq!(report(vec![ok, warning, error]).exit(), ExitCode::Config);
    }

    #[test]
    fn a_check_is_ok_when_all_it_found_is() {
        let report = report(vec![
            Finding::ok("disk", "disk-ok", "enough"),
            Finding::warning("disk", "disk-low", "little"),
            Finding::ok("clock", "clock-ok", "right"),
            Finding::shown("overrides", "override", "in force").about("api"),
            Finding::shown("overrides", "override", "in force").about("worker"),
        ]);
        assert_eq!(report.checks_ok(), 2);
    }

    #[test]
    fn a_finding_is_flat_json_without_what_it_lacks() {
        let finding = Finding::warning("ttl", "ttl-expired", "expired").remedy("`cp9 up`");
        let json = serde_json::to_value(&finding).expect("plain data");
        assert_eq!(
            json,
            serde_json::json!({
                "id": "ttl-expired", "check": "ttl", "severity": "warning",
                "finding": "expired", "remedy": "`cp9 up`"
            })
        );
    }
}
