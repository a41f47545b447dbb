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

#[cfg(test)]
mod tests {
    use cp9_model::generation::Measured;
    use cp9_model::graph::ServiceKind;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn report(last: &str, first_from: &str, source: &str) -> DeployReport {
        let text = |text: &str| Some(text.to_owned());
        let step = |name: &str, status: &str, seconds| DeployStep {
            name: name.into(),
            status: status.into(),
            seconds,
            message: None,
        };
        DeployReport {
            session: "demo".into(),
            service: "api".into(),
            kind: ServiceKind::Source,
            steps: vec![step("controller", "kept", 0.1), step("build", last, 1.26)],
            ready: true,
            endpoint: text("http://127.0.0.1:20001"),
            pid: Some(4711),
            generation: Some(Generation::built(Measured {
                source: text(source),
                built_from: text("0123456789abcdef"),
                built: text("fedcba9876543210"),
                unreplaced: false,
                first_from: text(first_from),
                binary: text("fedcba9876543210"),
                running: text("fedcba9876543210"),
            })),
            seconds: 1.4,
        }
    }

    fn plain(report: &DeployReport) -> String {
        anstream::adapter::strip_str(&deploy(report)).to_string()
    }

    #[test]
    fn a_success_shows_one_generation() {
        let same = "0123456789abcdef";
        assert_data_eq!(
            plain(&report("done", same, same)),
            str![[r#"
api deployed after 1.4 s (controller kept, build 1.3 s)
ready at http://127.0.0.1:20001, pid 4711
one generation
  source   0123456789ab
  binary   fedcba987654
  running  fedcba987654

"#]]
        );
        let told = plain(&report("done", "older", same));
        assert!(told.ends_with(&format!("note: {UNCHANGED}\n")), "{told}");
    }

    #[test]
    fn a_failure_names_the_pair() {
        assert_data_eq!(
            plain(&report("failed", "0123456789abcdef", "0f")),
            str![[r#"
api not deployed after 1.4 s (controller kept, build failed)
ready at http://127.0.0.1:20001, pid 4711
source≠binary
  source   0f
  binary   fedcba987654 made from source 0123456789ab
  running  fedcba987654

"#]]
        );
    }

    #[test]
    fn a_service_that_is_not_built_has_no_binary() {
        let report = DeployReport {
            generation: Some(Generation::unbuilt(Some("a".into()), None)),
            endpoint: None,
            ..report("done", "", "")
        };
        let told = plain(&report);
        assert!(
            told.ends_with("source≠running\n  source   a\n  running  none\n"),
            "{told}"
        );
    }
}
