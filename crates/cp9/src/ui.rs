//! The one place that prints. stdout carries the result, stderr progress, warnings and errors;
//! text or JSON is chosen once per command.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use cp9_model::output::{API_VERSION, Envelope, ErrorBody, Target};
use cp9_model::report::Progress;
use cp9_tools::Environment;
use serde::Serialize;
use serde_json::Value;

use crate::error;
use crate::progress::Display;

/// How a command's result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON envelope.
    Envelope,
    /// Events as JSON lines, then the envelope.
    Lines,
}

/// Where one command prints.
pub(crate) struct Ui {
    format: Format,
    command: String,
    out: AutoStream<io::Stdout>,
    display: Display,
    failure: Option<io::Error>,
}

impl Ui {
    /// Chooses form and colour for one command.
    pub(crate) fn new(format: Format, command: &str, env: &Environment, verbose: bool) -> Self {
        let out = AutoStream::new(io::stdout(), colour(env, io::stdout().is_terminal()));
        let terminal = io::stderr().is_terminal() && env.get("TERM") != Some("dumb");
        // The record of a verbose run goes to stderr as well and would tear live lines apart.
        let display = match format {
            Format::Text if terminal && !verbose => Display::live(stderr(env)),
            Format::Text => Display::plain(stderr(env)),
            Format::Envelope | Format::Lines => Display::silent(stderr(env)),
        };
        Self {
            format,
            command: command.to_owned(),
            out,
            display,
            failure: None,
        }
    }

    /// The chosen form.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Prints a part of the result as text, ending with a line end.
    pub(crate) fn text(&mut self, text: &str) {
        self.display.clear();
        let newline = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let written = write!(self.out, "{text}{newline}").and_then(|()| self.out.flush());
        self.note_failure(written);
    }

    /// Prints one JSON line.
    pub(crate) fn json(&mut self, value: &impl Serialize) {
        let line = serde_json::to_string(value).expect("reports are plain data");
        let written = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
        self.note_failure(written);
    }

    /// Shows what happens while the command runs.
    pub(crate) fn progress(&mut self, event: &Progress) {
        if self.format == Format::Lines {
            self.json(event);
        } else {
            self.display.show(event);
        }
    }

    /// Prints an error in the chosen form, as the whole result.
    pub(crate) fn fail(&mut self, body: ErrorBody) {
        self.finish(None, Some(body), None);
    }

    /// Ends the command: in JSON the envelope, in text the error, if there is one.
    pub(crate) fn finish(
        &mut self,
        data: Option<Value>,
        error: Option<ErrorBody>,
        target: Option<Target>,
    ) {
        self.display.clear();
        if self.format != Format::Text {
            let api_version = API_VERSION.to_owned();
            let ok = error.as_ref().is_none_or(|error| error.exit == 0);
            let command = self.command.clone();
            self.json(&Envelope {
                api_version,
                command,
                ok,
                data,
                error,
                target,
            });
        } else if let Some(error) = error {
            self.display.line(&error::render(&error));
        }
    }

    /// Prints a remark on stderr.
    pub(crate) fn remark(&mut self, text: &str) {
        self.display.line(text);
    }

    /// True when nobody reads stdout any more.
    pub(crate) fn closed(&self) -> bool {
        self.failure
            .as_ref()
            .is_some_and(|failure| failure.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Why the result could not be printed; a reader that went away is no failure.
    pub(crate) fn lost(&mut self) -> Option<io::Error> {
        self.failure
            .take()
            .filter(|failure| failure.kind() != io::ErrorKind::BrokenPipe)
    }

    fn note_failure(&mut self, written: io::Result<()>) {
        if let Err(failure) = written {
            self.failure.get_or_insert(failure);
        }
    }
}

/// stderr with its colours kept or stripped.
fn stderr(env: &Environment) -> AutoStream<io::Stderr> {
    AutoStream::new(io::stderr(), colour(env, io::stderr().is_terminal()))
}

/// Prints a line on stderr when no `Ui` is at hand, such as while a panic unwinds.
pub(crate) fn last_words(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Prints one JSON line on stdout when no `Ui` is at hand.
pub(crate) fn last_result(value: &impl Serialize) {
    if let Ok(line) = serde_json::to_string(value) {
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

/// `NO_COLOR` wins, then `CLICOLOR_FORCE`, then whether a person looks.
fn colour(env: &Environment, terminal: bool) -> ColorChoice {
    let set = |key: &str| env.get(key).is_some_and(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE") && env.get("CLICOLOR_FORCE") != Some("0");
    let fits = terminal && env.get("TERM") != Some("dumb");
    if !set("NO_COLOR") && (forced || fits) {
        ColorChoice::AlwaysAnsi
    } else {
        ColorChoice::Never
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        Environment::new(
            pairs
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned())),
        )
    }

    #[test]
    fn colour_needs_a_terminal_and_no_refusal() {
        assert_eq!(colour(&env(&[]), true), ColorChoice::AlwaysAnsi);
        assert_eq!(colour(&env(&[]), false), ColorChoice::Never);
        assert_eq!(
            colour(&env(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]), true),
            ColorChoice::Never
        );
        assert_eq!(
            colour(&env(&[("NO_COLOR", "")]), true),
            ColorChoice::AlwaysAnsi
        );
        assert_eq!(
            colour(&env(&[("CLICOLOR_FORCE", "1")]), false),
            ColorChoice::AlwaysAnsi
        );
        assert_eq!(
            colour(&env(&[("CLICOLOR_FORCE", "0")]), false),
            ColorChoice::Never
        );
        assert_eq!(colour(&env(&[("TERM", "dumb")]), true), ColorChoice::Never);
    }
}
