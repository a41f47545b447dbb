//! The result of `pause`.

use cp9_model::report::PauseReport;

/// The report as text.
pub(crate) fn pause(report: &PauseReport) -> String {
    let PauseReport {
        session,
        stopped,
        released,
    } = report;
    if *stopped == 0 && released.is_empty() {
        return format!("session {session} was not running; `cp9 up` resumes it\n");
    }
    let ports: Vec<String> = released.iter().map(u16::to_string).collect();
    let ports = if ports.is_empty() {
        String::new()
    } else {
        format!(", released port {}", ports.join(", "))
    };
    format!(
        "session {session} paused: stopped {}{ports}\n`cp9 up` resumes it\n",
        count(*stopped, "process", "processes")
    )
}

/// A number with its noun.
pub(crate) fn count(number: u32, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
