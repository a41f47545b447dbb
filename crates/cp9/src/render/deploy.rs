//! The result of `deploy`: how it went, and which generation runs.

use std::fmt::Write as _;

use cp9_model::generation::{Generation, Pair};
use cp9_model::report::{DeployReport, DeployStep};

use super::style::{BAD, DIM, GOOD, HINT, clean, paint, seconds};

/// How much of a digest is shown; the whole of it is in the JSON form.
const SHOWN: usize = 12;

/// What a build that does not build looks like, and a change of a comment too.
const UNCHANGED: &str = "the sources changed, and the build made the very same binary from them";

/// The report as text.
pub(crate) fn deploy(report: &DeployReport) -> String {
    let mut text = head(report);
    if let Some(generation) = &report.generation {
        text.push_str(&generations(generation));
    }
    text
}

fn head(report: &DeployReport) -> String {
    let failed = report.steps.iter().any(|step| step.status == "failed");
    let word = if failed {
        paint(BAD, "not deployed")
    } else {
        paint(GOOD, "deployed")
    };
    let steps: Vec<String> = report.steps.iter().map(step).collect();
    let mut text = format!(
        "{} {word} after {} ({})\n",
        clean(&report.service),
        seconds(report.seconds),
        steps.join(", ")
    );
    if let Some(endpoint) = report.endpoint.as_ref().filter(|_| report.ready) {
        let pid = report
            .pid
            .map(|pid| format!(", pid {pid}"))
            .unwrap_or_default();
        let _ = writeln!(text, "ready at {}{pid}", clean(endpoint));
    }
    text
}

fn step(step: &DeployStep) -> String {
    match step.status.as_str() {
        "done" => format!("{} {}", step.name, seconds(step.seconds)),
        status => format!("{} {}", step.name, clean(status)),
    }
}

fn generations(generation: &Generation) -> String {
    let pair = generation.differs.map(|pair| paint(BAD, pair.word()));
    let verdict = pair.unwrap_or_else(|| paint(GOOD, "one generation"));
    let mut text = format!("{verdict}\n");
    let mut line = |name: &str, value: Option<&String>, note: String| {
        let value = value.map_or("none", |value| value.get(..SHOWN).unwrap_or(value));
        let _ = writeln!(text, "  {name:<8} {}{note}", clean(value));
    };
    line("source", generation.source.as_ref(), String::new());
    if generation.binary.is_some() || generation.built_from.is_some() {
        line("binary", generation.binary.as_ref(), made_from(generation));
    }
    line("running", generation.running.as_ref(), String::new());
    if generation.unchanged_since.is_some() {
        let _ = writeln!(text, "{} {UNCHANGED}", paint(HINT, "note:"));
    }
    text
}

/// Only a reader of a difference wants to know it.
fn made_from(generation: &Generation) -> String {
    let from = generation.built_from.as_ref();
    match (generation.differs, from) {
        (Some(Pair::SourceBinary), Some(from)) => {
            let from = from.get(..SHOWN).unwrap_or(from);
            paint(DIM, &format!(" made from source {}", clean(from)))
        }
        _ => String::new(),
    }
}
