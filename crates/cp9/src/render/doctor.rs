//! The result of `doctor`: errors, warnings, what is worth knowing, and how many checks are well.

use anstyle::Style;
use cp9_model::report::DoctorReport;
use cp9_model::report::doctor::{Finding, Severity};

use super::style::{BAD, BUSY, DIM, GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn doctor(report: &DoctorReport) -> String {
    let shown = report.of(Severity::Ok).filter(|finding| finding.shown);
    let mut lines = vec![head(report)];
    lines.extend(group("errors", BAD, report.of(Severity::Error)));
    lines.extend(group("warnings", BUSY, report.of(Severity::Warning)));
    lines.extend(group("to know", DIM, shown));
    lines.push(summary(report));
    lines.join("\n") + "\n"
}

fn head(report: &DoctorReport) -> String {
    match (&report.session, &report.folder, &report.file) {
        (Some(session), Some(folder), _) => {
            format!("session {} in {}", clean(session), clean(folder))
        }
        (_, _, Some(file)) => format!("session file {}, no session", clean(file)),
        _ => "no session here".into(),
    }
}

/// A heading and its findings; nothing where there are none.
fn group<'a>(
    heading: &str,
    style: Style,
    findings: impl Iterator<Item = &'a Finding>,
) -> Vec<String> {
    let mut lines: Vec<String> = findings.flat_map(finding).collect();
    if !lines.is_empty() {
        lines.insert(0, paint(style, heading));
    }
    lines
}

/// A finding without line ends of its own, and its remedy below it.
fn finding(finding: &Finding) -> Vec<String> {
    let flat = |text: &str| clean(text).replace(['\n', '\t'], " ");
    let text = &finding.finding;
    // A place in a file is not part of the text.
    let place = finding
        .subject
        .as_deref()
        .filter(|subject| subject.contains(':') && !text.contains(subject))
        .map(|subject| format!("{}: ", flat(subject)))
        .unwrap_or_default();
    let mut lines = vec![format!("  {}: {place}{}", flat(&finding.id), flat(text))];
    lines.extend(
        finding
            .remedy
            .as_deref()
            .map(|remedy| format!("    {} {}", paint(HINT, "hint:"), flat(remedy))),
    );
    lines
}

fn summary(report: &DoctorReport) -> String {
    let ok = match report.checks_ok() {
        1 => "1 check ok".to_owned(),
        count => format!("{count} checks ok"),
    };
    let names: Vec<String> = report
        .skipped
        .iter()
        .map(|skipped| clean(&skipped.check))
        .collect();
    if names.is_empty() {
        return paint(GOOD, &ok);
    }
    format!(
        "{}, {} skipped: {}",
        paint(GOOD, &ok),
        names.len(),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::SkippedCheck;
    use snapbox::{assert_data_eq, str};

    fn plain(report: &DoctorReport) -> String {
        anstream::adapter::strip_str(&doctor(report)).to_string()
    }

    #[test]
    fn errors_stand_first_and_what_is_well_is_counted() {
        let findings = vec![
            Finding::ok("disk", "disk", "9.0 GiB free"),
            Finding::shown(
                "overrides",
                "override",
                "override in force for service `api`: `a.yaml`",
            )
            .about("api"),
            Finding::warning(
                "secrets",
                "secret-file-missing",
                "env file `x` does not exist",
            )
            .remedy("write it"),
            Finding::error("config", "config-invalid", "unknown key `x`\n\u{1b}[2J")
                .about("/w/cp9.yaml:3:1"),
            Finding::error("controller", "controller-dead", "the controller is dead")
                .remedy("`cp9 up`"),
        ];
        let report = DoctorReport {
            session: Some("demo".into()),
            folder: Some("/w/.cp9/demo".into()),
            file: Some("/w/cp9.yaml".into()),
            findings,
            skipped: vec![SkippedCheck {
                check: "clock".into(),
                reason: "nothing to compare it with".into(),
            }],
        };
        assert_data_eq!(
            plain(&report),
            str![[r#"
session demo in /w/.cp9/demo
errors
  config-invalid: /w/cp9.yaml:3:1: unknown key `x` /u{1b}[2J
  controller-dead: the controller is dead
    hint: `cp9 up`
warnings
  secret-file-missing: env file `x` does not exist
    hint: write it
to know
  override: override in force for service `api`: `a.yaml`
2 checks ok, 1 skipped: clock

"#]]
        );
    }

    #[test]
    fn nothing_to_say_is_two_lines() {
        let report = DoctorReport {
            findings: vec![Finding::ok("disk", "disk", "9.0 GiB free")],
            ..DoctorReport::default()
        };
        assert_eq!(plain(&report), "no session here\n1 check ok\n");
        let file = DoctorReport {
            file: Some("/w/cp9.yaml".into()),
            ..report
        };
        assert!(plain(&file).starts_with("session file /w/cp9.yaml, no session\n"));
    }
}
