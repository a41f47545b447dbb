//! The result of `destroy`: a line per stage, then what survived, or that nothing did.

use cp9_model::report::{DestroyReport, StageReport, Survivor};

use super::style::{BAD, DIM, GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn destroy(report: &DestroyReport) -> String {
    if report.already {
        return format!("session {} was already destroyed\n", report.session);
    }
    let mut lines: Vec<String> = report.stages.iter().map(stage).collect();
    if report.survivors.is_empty() {
        lines.extend(end(report));
    } else {
        lines.extend(survivors(report));
    }
    lines.join("\n") + "\n"
}

/// One stage with its counts.
pub(crate) fn stage(stage: &StageReport) -> String {
    let StageReport {
        name,
        deleted,
        survived,
        error,
        skipped,
    } = stage;
    if let Some(reason) = skipped {
        return format!("{name}: {} ({})", paint(DIM, "skipped"), clean(reason));
    }
    let style = if *survived == 0 && error.is_none() {
        GOOD
    } else {
        BAD
    };
    let counts = paint(style, &format!("deleted {deleted}, {survived} survived"));
    let error = error
        .as_deref()
        .map(|text| format!(" (error: {})", clean(text)))
        .unwrap_or_default();
    format!("{name}: {counts}{error}")
}

/// Success is claimed only when the last stage says so, never from an empty list alone.
fn end(report: &DestroyReport) -> Vec<String> {
    let proven = report
        .stages
        .iter()
        .any(|stage| stage.name == "post-scan" && stage.error.is_none());
    let clear = proven && report.stages.iter().all(|stage| stage.survived == 0);
    if !clear {
        return Vec::new();
    }
    let record = report
        .record
        .as_deref()
        .map(|path| format!("; record: {}", clean(path)))
        .unwrap_or_default();
    vec![format!(
        "session {} {}: nothing is left{record}",
        report.session,
        paint(GOOD, "destroyed")
    )]
}

fn survivors(report: &DestroyReport) -> Vec<String> {
    let mut lines = vec![paint(BAD, "POST-SCAN FAIL:")];
    for survivor in &report.survivors {
        let Survivor {
            cloud,
            region,
            kind,
            id,
            reason,
            ..
        } = survivor;
        lines.push(clean(&format!(
            "  {cloud} {region}: {kind} {id} ({reason})"
        )));
        lines.extend(
            survivor
                .remedy
                .as_deref()
                .map(|text| format!("    {}", clean(text))),
        );
    }
    lines.push(format!(
        "{} cp9 destroy --session {} to re-run",
        paint(HINT, "hint:"),
        report.session
    ));
    lines
}
