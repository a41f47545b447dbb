//! The lines that Terraform prints with `-json`, see "Machine-Readable UI" in its documentation. Kinds of
//! lines that are not known are passed over, as that page asks for.

use cp9_model::substrate::{Step, StepKind};
use serde::Deserialize;

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A resource is begun, done, or failed.
    Step {
        /// Which and what.
        step: Step,
        /// The same for people.
        message: String,
    },
    /// Something that people may read.
    Message(String),
    /// An error or a warning.
    Problem(Problem),
}

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// True for an error.
    pub error: bool,
    /// In a few words.
    pub summary: String,
    /// In many.
    pub detail: String,
    /// The resource that it is about.
    pub address: Option<String>,
}

/// Who holds a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    /// What `force-unlock` wants.
    pub id: String,
    /// `user@host`.
    pub who: String,
    /// What for.
    pub operation: String,
    /// Since when.
    pub created: String,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "@message", default)]
    message: String,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    hook: Option<Hook>,
    #[serde(default)]
    diagnostic: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Hook {
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    action: String,
    #[serde(default)]
    id_value: Option<String>,
}

#[derive(Default, Deserialize)]
struct Resource {
    #[serde(default)]
    addr: String,
}

#[derive(Deserialize)]
struct Diagnostic {
    #[serde(default)]
    severity: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    address: Option<String>,
}

/// Reads a line; none for one that says nothing to us.
pub fn parse_line(line: &str) -> Option<Line> {
    let raw: Raw = serde_json::from_str(line).ok()?;
    if let Some(diagnostic) = raw.diagnostic {
        return Some(Line::Problem(Problem {
            error: diagnostic.severity == "error",
            summary: diagnostic.summary,
            detail: diagnostic.detail,
            address: diagnostic.address,
        }));
    }
    let kind = match raw.kind.as_str() {
        "apply_start" => StepKind::Started,
        "apply_complete" => StepKind::Completed,
        "apply_errored" => StepKind::Failed,
        "apply_progress" | "change_summary" | "refresh_start" | "planned_change"
        | "resource_drift" => {
            return Some(Line::Message(raw.message));
        }
        _ => return None,
    };
    let hook = raw.hook?;
    Some(Line::Step {
        step: Step {
            address: hook.resource.addr,
            action: hook.action,
            kind,
            id: hook.id_value.filter(|id| !id.is_empty()),
        },
        message: raw.message,
    })
}

impl Problem {
    /// Who holds the state, if this says that somebody does. The texts are those of
    /// `internal/command/clistate` ("Error acquiring the state lock") and `internal/states/statemgr`
    /// ("Lock Info:").
    pub fn lock(&self) -> Option<Lock> {
        if !self.summary.contains("acquiring the state lock") {
            return None;
        }
        let field = |name: &str| {
            let mut lines = self.detail.lines().map(str::trim);
            let found = lines.find_map(|line| line.strip_prefix(name));
            found
                .map(|value| value.trim().to_owned())
                .unwrap_or_default()
        };
        Some(Lock {
            id: field("ID:"),
            who: field("Who:"),
            operation: field("Operation:"),
            created: field("Created:"),
        })
    }

    /// Summary and first line of the detail, for people.
    pub fn told(&self) -> String {
        let place = self.address.as_ref().map(|at| format!("{at}: "));
        let detail = self
            .detail
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty());
        let place = place.unwrap_or_default();
        match detail {
            Some(detail) => format!("{place}{}: {detail}", self.summary),
            None => format!("{place}{}", self.summary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by Terraform 1.11.4.
    const STARTED: &str = r#"{"@level":"info","@message":"terraform_data.a: Creating...","@module":"terraform.ui","@timestamp":"2026-12-01T02:57:52.971334Z","hook":{"resource":{"addr":"terraform_data.a","module":"","resource":"terraform_data.a","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":null},"action":"create"},"type":"apply_start"}"#;
    const COMPLETED: &str = r#"{"@level":"info","@message":"terraform_data.a: Creation complete after 0s [id=5e93922d]","@module":"terraform.ui","@timestamp":"2026-12-01T02:57:52.971752Z","hook":{"resource":{"addr":"terraform_data.a","module":"","resource":"terraform_data.a","implied_provider":"terraform","resource_type":"terraform_data","resource_name":"a","resource_key":null},"action":"create","id_key":"id","id_value":"5e93922d","elapsed_seconds":0},"type":"apply_complete"}"#;
    const LOCKED: &str = r#"{"@level":"error","@message":"Error: Error acquiring the state lock","@module":"terraform.ui","@timestamp":"2026-12-01T02:57:54.474480Z","diagnostic":{"severity":"error","summary":"Error acquiring the state lock","detail":"Error message: resource temporarily unavailable\nLock Info:\n  ID:        560ddce7-2906-6e93-2091-5a96efb4db80\n  Path:      /s/terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       me@host\n  Version:   1.11.4\n  Created:   2026-12-01 02:57:52.966165845 +0000 UTC\n  Info:      \n\n\nTerraform acquires a state lock to protect the state from being written\nby multiple users at the same time."},"type":"diagnostic"}"#;

    #[test]
    fn steps_of_an_apply_are_read() {
        let step = |kind, id: Option<&str>| Step {
            address: "terraform_data.a".into(),
            action: "create".into(),
            kind,
            id: id.map(str::to_owned),
        };
        let read = |line| match parse_line(line) {
            Some(Line::Step { step, .. }) => step,
            other => panic!("{other:?}"),
        };
        assert_eq!(read(STARTED), step(StepKind::Started, None));
        assert_eq!(read(COMPLETED), step(StepKind::Completed, Some("5e93922d")));
        let failed = STARTED.replace("apply_start", "apply_errored");
        assert_eq!(read(&failed), step(StepKind::Failed, None));
    }

    #[test]
    fn a_held_state_says_who_holds_it() {
        let Some(Line::Problem(problem)) = parse_line(LOCKED) else {
            panic!("a problem");
        };
        assert!(problem.error);
        assert_eq!(
            problem.lock(),
            Some(Lock {
                id: "560ddce7-2906-6e93-2091-5a96efb4db80".into(),
                who: "me@host".into(),
                operation: "OperationTypeApply".into(),
                created: "2026-12-01 02:57:52.966165845 +0000 UTC".into(),
            })
        );
        assert_eq!(
            problem.told(),
            "Error acquiring the state lock: Error message: resource temporarily unavailable"
        );
        let other = Problem {
            summary: "Saved plan is stale".into(),
            ..problem
        };
        assert_eq!(other.lock(), None);
    }

    #[test]
    fn what_says_nothing_to_us_is_passed_over() {
        for line in [
            "",
            "Error: not JSON",
            "{}",
            "[]",
            "null",
            r#"{"type":"version","terraform":"1.11.4"}"#,
            r#"{"type":"apply_start"}"#,
            r#"{"type":"unheard_of","hook":{"resource":{"addr":"a"}}}"#,
        ] {
            assert_eq!(parse_line(line), None, "{line}");
        }
        let progress = STARTED.replace("apply_start", "apply_progress");
        assert!(matches!(parse_line(&progress), Some(Line::Message(_))));
    }
}
