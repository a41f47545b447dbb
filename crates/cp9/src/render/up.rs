//! The result of `up`: which session, its services, and what to type next.

use std::fmt::Write as _;

use cp9_model::report::UpReport;

use super::services::services;
use super::style::{BAD, GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn up(report: &UpReport) -> String {
    if let Some(stopped) = stopped(report) {
        return format!(
            "session {} stopped at {stopped}; what ran before goes on as it was\n",
            report.session
        );
    }
    let mut text = format!(
        "session {} of {} in {}: {}\n",
        report.session,
        report.owner,
        clean(&report.folder),
        verdict(report)
    );
    text.push_str(&services(&report.services));
    if let Some(handoff) = &report.handoff {
        let _ = writeln!(
            text,
            "the controller was not started; start it with\n    {}",
            clean(handoff)
        );
    } else if let Some(red) = report.services.iter().find(|service| !service.ready) {
        let _ = writeln!(
            text,
            "{} `cp9 logs {}` shows what it wrote",
            paint(HINT, "hint:"),
            red.name
        );
    }
    text
}

/// The state at which the run ended, if it did before the controller took its plan over. The services are
/// those of an earlier run then, of which this one knows nothing.
fn stopped(report: &UpReport) -> Option<&str> {
    let unsettled = |status: &str| matches!(status, "failed" | "partial" | "interrupted");
    let state = report
        .states
        .iter()
        .find(|state| unsettled(&state.status))?;
    (!matches!(state.name.as_str(), "tilt_ready" | "session_ready")).then_some(state.name.as_str())
}

fn verdict(report: &UpReport) -> String {
    let reached = |name: &str, words: &[&str]| {
        report
            .states
            .iter()
            .any(|state| state.name == name && words.contains(&state.status.as_str()))
    };
    if report.handoff.is_some() {
        return "prepared".into();
    }
    if !reached("session_ready", &["done", "kept"]) {
        return paint(BAD, "not ready");
    }
    let red = report
        .services
        .iter()
        .filter(|service| !service.ready)
        .count();
    if red == 0 {
        paint(GOOD, "ready")
    } else {
        paint(
            BAD,
            &format!("{red} of {} services not ready", report.services.len()),
        )
    }
}
