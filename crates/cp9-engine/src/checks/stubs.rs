//! Stubs without a contract answer 200 with `{}` to everything, so callers learn nothing from them; those
//! with a contract that cannot be served do not start.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use cp9_model::report::doctor::Finding;

use super::context::Context;
use super::sheet::Gathered;
use crate::contract::{self, ContractFault};

/// The check's name.
pub(super) const CHECK: &str = "stubs";
/// The kinds of a stub without a contract: on request, and for want of one.
const PERMISSIVE: [&str; 2] = ["permissive", "undefined"];

/// A stub of the session file.
#[derive(Debug)]
pub(super) struct Stub {
    service: String,
    kind: String,
    /// The definition, if it is declared and missing.
    missing: Option<Utf8PathBuf>,
    /// What is wrong with its contract.
    fault: Option<ContractFault>,
}

/// Reads them.
pub(super) fn gather(context: &Context<'_>) -> Gathered<Vec<Stub>> {
    let config = context.needs_config()?;
    let doors = &context.engine.doors;
    let mut faults: BTreeMap<&str, ContractFault> = contract::named(doors, config)
        .filter_map(|(service, path)| {
            let judged = (context.engine.judge_contract)(&path);
            Some((service, judged.err()?))
        })
        .collect();
    let stubs = config.services.stub.iter().map(|(service, stub)| Stub {
        service: service.to_string(),
        kind: stub.kind.clone(),
        missing: stub
            .definition
            .as_ref()
            .map(Utf8PathBuf::from)
            .filter(|path| !doors.exists(path)),
        fault: faults.remove(service.as_str()),
    });
    Ok(stubs.collect())
}

/// Judges them.
pub(super) fn judge(stubs: &[Stub]) -> Vec<Finding> {
    if stubs.is_empty() {
        return vec![Finding::ok(CHECK, "stubs-none", "no service is a stub")];
    }
    stubs.iter().map(one).collect()
}

fn one(stub: &Stub) -> Finding {
    let Stub {
        service,
        kind,
        missing,
        fault,
    } = stub;
    let finding = if let Some(fault) = fault {
        let text = format!("stub `{service}` cannot be served: {}", fault.text());
        Finding::error(CHECK, "stub-contract", text).remedy(&fault.remedy)
    } else if let Some(path) = missing {
        let text = format!(
            "definition `{path}` of stub `{service}` does not exist, so it answers 200 `{{}}` to everything"
        );
        Finding::warning(CHECK, "stub-definition-missing", text)
            .remedy(format!("mend the path in `services.stub.{service}`"))
    } else if PERMISSIVE.contains(&kind.as_str()) {
        let text = format!("stub `{service}` has no contract and answers 200 `{{}}` to everything");
        Finding::warning(CHECK, "stub-permissive", text).remedy(format!(
            "name a contract in `services.stub.{service}`, such as `swagger: FILE`"
        ))
    } else {
        Finding::ok(
            CHECK,
            "stub",
            format!("stub `{service}` is of kind `{kind}`"),
        )
    };
    finding.about(service)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    #[test]
    fn stubs_without_a_contract_are_warned_about() {
        let stub = |kind: &str, missing: Option<&str>| Stub {
            service: "account".into(),
            kind: kind.into(),
            missing: missing.map(Utf8PathBuf::from),
            fault: None,
        };
        let broken = Stub {
            fault: Some(ContractFault {
                message: "definition `/w/a.yaml` is wrong".into(),
                details: Vec::new(),
                remedy: "mend it".into(),
            }),
            ..stub("swagger", None)
        };
        let stubs = vec![
            stub("permissive", None),
            stub("swagger", None),
            stub("swagger", Some("/w/gone.yaml")),
            stub("undefined", None),
            broken,
        ];
        let found: Vec<_> = judge(&stubs)
            .into_iter()
            .map(|f| (f.id, f.severity))
            .collect();
        assert_eq!(
            found,
            [
                ("stub-permissive".to_owned(), Severity::Warning),
                ("stub".to_owned(), Severity::Ok),
                ("stub-definition-missing".to_owned(), Severity::Warning),
                ("stub-permissive".to_owned(), Severity::Warning),
                ("stub-contract".to_owned(), Severity::Error),
            ]
        );
        assert_eq!(judge(&[])[0].severity, Severity::Ok);
    }
}
