//! The context report, as far as the checks read it. What a newer report says besides is passed over.

use cp9_tools::Doors;
use serde::Deserialize;
use serde_json::Value;

use crate::folder::Folder;

/// The report of the last `up`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Report {
    pub(super) services: Vec<Service>,
}

/// One service of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Service {
    pub(super) name: String,
    /// User overrides in force; a text, or an object that says more.
    pub(super) overrides: Vec<Value>,
    /// Parts left out by `run.ignore`.
    pub(super) ignored: Vec<String>,
    /// Objects and fields without meaning on this host.
    pub(super) not_applied: Vec<String>,
    /// Remarks.
    pub(super) notes: Vec<String>,
    /// What stood in for something else; `none` or empty if nothing did.
    pub(super) fallback: String,
}

impl Report {
    /// Reads it from the session folder; none before it was written.
    pub(super) fn read(doors: &Doors, folder: &Folder) -> Option<Self> {
        let bytes = doors.read(&folder.context_report()).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_less_than_is_known_can_be_read() {
        let text = r#"{"apiVersion":"cp9.context/v1","services":[
            {"name":"api","kind":"source","overrides":["a.yaml",{"file":"b.yaml"}],"notApplied":["Role/api"]},
            {"name":"new","future":{"x":1}}]}"#;
        let report: Report = serde_json::from_str(text).expect("a report");
        assert_eq!(report.services[0].overrides.len(), 2);
        assert_eq!(report.services[0].not_applied, ["Role/api"]);
        assert_eq!(report.services[1].fallback, "");
    }
}
