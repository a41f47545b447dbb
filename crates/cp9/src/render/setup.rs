//! The result of `setup`: what was proved of each cloud, and that nothing was created.

use std::fmt::Write as _;

use cp9_model::report::SetupReport;

use super::style::{GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn setup(report: &SetupReport) -> String {
    let mut text = match &report.file {
        Some(file) => format!(
            "session file {}: this build can do all that it names\n",
            clean(file)
        ),
        None => "no session file here\n".to_owned(),
    };
    for cloud in &report.clouds {
        let _ = writeln!(
            text,
            "cloud {}: {} for owner {}",
            clean(&cloud.cloud),
            paint(GOOD, "proven"),
            clean(&cloud.owner)
        );
        for proof in &cloud.proofs {
            let _ = writeln!(text, "  {}", clean(proof));
        }
        let _ = writeln!(text, "  credentials: {}", clean(&cloud.credentials));
    }
    match report.created.as_slice() {
        [] => text.push_str("nothing was created\n"),
        created => {
            let _ = writeln!(text, "created: {}", clean(&created.join(", ")));
        }
    }
    let next = match report.file {
        Some(_) => "`cp9 doctor` checks the rest, `cp9 up` begins the session",
        None => "copy an example to `cp9.yaml`, then run `cp9 up`",
    };
    let _ = writeln!(text, "{} {next}", paint(HINT, "hint:"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::setup::CloudProof;
    use snapbox::{assert_data_eq, str};

    #[test]
    fn proofs_are_listed_by_cloud() {
        let report = SetupReport {
            file: Some("/w/cp9.yaml".into()),
            clouds: vec![CloudProof {
                cloud: "local".into(),
                owner: "local".into(),
                proofs: vec!["a scope was read back".into()],
                credentials: "none are needed".into(),
            }],
            created: Vec::new(),
        };
        assert_data_eq!(
            anstream::adapter::strip_str(&setup(&report)).to_string(),
            str![[r#"
session file /w/cp9.yaml: this build can do all that it names
cloud local: proven for owner local
  a scope was read back
  credentials: none are needed
nothing was created
hint: `cp9 doctor` checks the rest, `cp9 up` begins the session

"#]]
        );
    }
}
