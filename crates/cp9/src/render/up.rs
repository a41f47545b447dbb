//! The result of `up`: which session, its services, and what to type next.

use std::fmt::Write as _;

use cp9_model::report::UpReport;

use super::services::services;
use super::style::{BAD, GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn up(report: &UpReport) -> String {
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
