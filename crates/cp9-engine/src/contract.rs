//! Contracts of stubs: whether they can be served is for the stub to say, which the use cases do not know.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_tools::Doors;

/// Most single reasons that are told of one contract.
const TOLD: usize = 5;

/// Tells whether a contract can be served; given by whoever serves it.
pub type JudgeContract = fn(&Utf8Path) -> Result<(), ContractFault>;

/// Why a contract cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractFault {
    /// What is wrong, with the path.
    pub message: String,
    /// Every single reason, where there are several.
    pub details: Vec<String>,
    /// What to do about it.
    pub remedy: String,
}

impl ContractFault {
    /// What is wrong, with the first reasons.
    pub(crate) fn text(&self) -> String {
        let mut text = self.message.clone();
        for detail in self.details.iter().take(TOLD) {
            text.push_str("; ");
            text.push_str(detail);
        }
        if let more @ 1.. = self.details.len().saturating_sub(TOLD) {
            text.push_str("; and ");
            text.push_str(&more.to_string());
            text.push_str(" more");
        }
        text
    }
}

/// The contracts that a session names and that exist, by their service.
pub(crate) fn named<'c>(
    doors: &Doors,
    config: &'c ResolvedConfig,
) -> impl Iterator<Item = (&'c str, Utf8PathBuf)> {
    let stubs = config.services.stub.iter();
    stubs
        .filter(|(_, stub)| stub.kind == "swagger")
        .filter_map(|(name, stub)| {
            Some((name.as_str(), Utf8PathBuf::from(stub.definition.as_ref()?)))
        })
        .filter(|(_, path)| doors.exists(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reasons_are_told_and_the_rest_counted() {
        let fault = |count: usize| ContractFault {
            message: "definition `a.yaml` is wrong".into(),
            details: (0..count).map(|n| format!("at {n}")).collect(),
            remedy: "mend it".into(),
        };
        assert_eq!(fault(0).text(), "definition `a.yaml` is wrong");
        assert_eq!(fault(1).text(), "definition `a.yaml` is wrong; at 0");
        assert!(fault(7).text().ends_with("; at 4; and 2 more"));
    }
}
