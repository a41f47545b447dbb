//! The result of `status`: session, states, services, controller.

use std::fmt::Write as _;

use cp9_model::report::{ControllerReport, IdentityReport, StatusReport};

use super::services::services;
use super::states::states;
use super::style::{BAD, DIM, GOOD, HINT, clean, paint};

/// The report as text.
pub(crate) fn status(report: &StatusReport) -> String {
    let mut parts = vec![
        head(report),
        states(&report.states),
        services(&report.services),
    ];
    parts.push(controller(&report.controller));
    parts.join("\n")
}

fn head(report: &StatusReport) -> String {
    let mut text = format!(
        "session {} of {} in {}\n",
        report.session,
        report.owner,
        clean(&report.folder)
    );
    let expiry = match report.expires_in {
        Some(left) if left < 0 => format!(
            ", {}",
            paint(BAD, &format!("expired {} ago", rough(left.unsigned_abs())))
        ),
        Some(left) => format!(", expires in {}", rough(left.unsigned_abs())),
        None => String::new(),
    };
    if let Some(last) = &report.last_active {
        let _ = writeln!(text, "last used {}{expiry}", clean(last));
    }
    if let Some(identity) = &report.identity {
        text.push_str(&self::identity(identity));
    }
    text
}

/// Where the session writes, as whom, and for how long.
fn identity(identity: &IdentityReport) -> String {
    let left = match identity.expires_in {
        Some(left) if left < 0 => paint(BAD, "credentials have expired"),
        Some(left) => format!("credentials last {}", rough(left.unsigned_abs())),
        None => "credentials do not expire".into(),
    };
    let mut text = format!(
        "account {} in {} as {}, {left}\n",
        clean(&identity.account),
        clean(&identity.region),
        clean(&identity.principal)
    );
    if let Some(profile) = &identity.profile {
        let _ = writeln!(text, "services act so by profile cp9 of {}", clean(profile));
    }
    text
}

/// A span in its two largest units.
fn rough(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

fn controller(controller: &ControllerReport) -> String {
    let style = match controller.state.as_str() {
        "running" => GOOD,
        "stopped" => DIM,
        _ => BAD,
    };
    let pid = controller
        .pid
        .map(|pid| format!(" (pid {pid})"))
        .unwrap_or_default();
    let mut text = format!(
        "controller {}: {}{pid}\n",
        clean(&controller.kind),
        paint(style, &clean(&controller.state))
    );
    if let Some(hint) = &controller.hint {
        let _ = writeln!(text, "{} {}", paint(HINT, "hint:"), clean(hint));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn spans_are_told_roughly() {
        let told = [0, 59, 60, 3599, 3600, 90_061].map(super::rough);
        assert_eq!(
            told,
            ["0 s", "59 s", "1 min", "59 min", "1 h 0 min", "1 d 1 h"]
        );
    }
}
