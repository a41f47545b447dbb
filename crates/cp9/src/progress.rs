//! What a person sees while a command runs: live lines on a terminal, one plain line per change
//! elsewhere, nothing beside JSON but what must be read.

use std::collections::{BTreeMap, HashMap};
use std::io::{Stderr, Write as _};
use std::time::Duration;

use anstream::AutoStream;
use cp9_model::control::{Phase, ResourceStatus};
use cp9_model::report::{Progress, StateReport};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::render::style::clean;
use crate::render::{destroy, services, states};

/// Where progress goes.
pub(crate) struct Display {
    mode: Mode,
    seen: HashMap<String, Change>,
}

enum Mode {
    Live(Live),
    Plain(AutoStream<Stderr>),
    Silent(AutoStream<Stderr>),
}

/// What makes two reports of one resource differ for a reader.
type Change = (Phase, bool, Option<String>);

/// The lines that are being redrawn, by what they are about.
struct Live {
    err: AutoStream<Stderr>,
    lines: MultiProgress,
    bars: BTreeMap<String, ProgressBar>,
}

impl Display {
    /// Live lines on the terminal behind stderr.
    pub(crate) fn live(err: AutoStream<Stderr>) -> Self {
        Self::new(Mode::Live(Live {
            err,
            lines: MultiProgress::new(),
            bars: BTreeMap::new(),
        }))
    }

    /// One line per change.
    pub(crate) fn plain(err: AutoStream<Stderr>) -> Self {
        Self::new(Mode::Plain(err))
    }

    /// Only remarks.
    pub(crate) fn silent(err: AutoStream<Stderr>) -> Self {
        Self::new(Mode::Silent(err))
    }

    fn new(mode: Mode) -> Self {
        Self {
            mode,
            seen: HashMap::new(),
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &Progress) {
        match event {
            Progress::State(state) => self.state(state),
            Progress::Resource(resource) => self.resource(resource),
            Progress::Stage(stage) => self.stage(&stage.name, &destroy::stage(stage)),
            Progress::Note { text } => self.line(&clean(text)),
        }
    }

    /// Prints a line that stays, whatever the mode.
    pub(crate) fn line(&mut self, text: &str) {
        match &mut self.mode {
            Mode::Live(live) => live.print(text),
            Mode::Plain(err) | Mode::Silent(err) => print(err, text),
        }
    }

    /// Removes the live lines, so that the result stands alone.
    pub(crate) fn clear(&mut self) {
        if let Mode::Live(live) = &mut self.mode {
            live.bars.clear();
            // A terminal that went away has nothing left to clear.
            let _ = live.lines.clear();
        }
    }

    fn state(&mut self, state: &StateReport) {
        if state.status == "running" {
            self.busy(&state.name, &format!("{} running", state.name));
        } else if state.status != "pending" {
            self.ended(&state.name, &states::line(state));
        }
    }

    /// The result lists every stage, so only a terminal shows them on the way.
    fn stage(&mut self, name: &str, text: &str) {
        if let Mode::Live(live) = &mut self.mode {
            live.set(name, text);
        }
    }

    fn resource(&mut self, resource: &ResourceStatus) {
        let change = (resource.phase, resource.ready, resource.message.clone());
        if self.seen.insert(resource.name.clone(), change.clone()) == Some(change) {
            return;
        }
        let text = services::line(resource);
        match &mut self.mode {
            Mode::Live(live) if !resource.verdict => live.set(&resource.name, &text),
            _ => self.ended(&resource.name, &text),
        }
    }

    fn busy(&mut self, name: &str, text: &str) {
        if let Mode::Live(live) = &mut self.mode {
            live.set(name, text);
        }
    }

    /// Something has its end; JSON tells it later, in the report.
    fn ended(&mut self, name: &str, text: &str) {
        match &mut self.mode {
            Mode::Live(live) => live.end(name, text),
            Mode::Plain(err) => print(err, text),
            Mode::Silent(_) => {}
        }
    }
}

fn print(err: &mut AutoStream<Stderr>, text: &str) {
    // Progress that nobody can read must not end the work it tells of.
    let _ = writeln!(err, "{text}");
}

impl Live {
    fn set(&mut self, name: &str, line: &str) {
        let bar = self.bars.entry(name.to_owned()).or_insert_with(|| {
            let bar = self
                .lines
                .add(ProgressBar::new_spinner().with_style(spinner()));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(line.to_owned());
    }

    fn end(&mut self, name: &str, line: &str) {
        if let Some(bar) = self.bars.remove(name) {
            bar.finish_and_clear();
            self.lines.remove(&bar);
        }
        self.print(line);
    }

    /// indicatif does not count lines once all bars are gone, so it is suspended instead.
    fn print(&mut self, line: &str) {
        let Self { err, lines, .. } = self;
        lines.suspend(|| print(err, line));
    }
}

/// `wide_msg` cuts the line to the terminal's width.
fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}")
        .expect("the template is constant")
}
