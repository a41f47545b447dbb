//! What the checks have found so far.

use cp9_model::report::doctor::{Finding, SkippedCheck};

/// Facts to judge, or why there are none.
pub(super) type Gathered<T> = Result<T, String>;

/// Findings and skipped checks, in the order of the checks.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) findings: Vec<Finding>,
    pub(crate) skipped: Vec<SkippedCheck>,
}

impl Sheet {
    /// Takes what a check found; one that has nothing to say found nothing wrong.
    pub(super) fn add(&mut self, check: &str, judged: Gathered<Vec<Finding>>) {
        match judged {
            Ok(findings) if findings.is_empty() => {
                let id = format!("{check}-ok");
                self.findings
                    .push(Finding::ok(check, &id, "nothing to report"));
            }
            Ok(findings) => self.findings.extend(findings),
            Err(reason) => self.skip(check, &reason),
        }
    }

    /// Notes that a check had nothing to look at.
    pub(super) fn skip(&mut self, check: &str, reason: &str) {
        self.skipped.push(SkippedCheck {
            check: check.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_leaves_a_trace() {
        let mut sheet = Sheet::default();
        sheet.add("a", Ok(vec![]));
        sheet.add("b", Err("no session".into()));
        sheet.add("c", Ok(vec![Finding::error("c", "c-broken", "broken")]));
        let found: Vec<_> = sheet.findings.iter().map(|f| f.id.as_str()).collect();
        assert_eq!(found, ["a-ok", "c-broken"]);
        assert_eq!(sheet.skipped[0].check, "b");
    }
}
