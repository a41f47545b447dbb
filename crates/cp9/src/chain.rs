//! From arguments to an exit code: the whole chain is understood before its first command runs,
//! and it stops at the first that fails.

use clap::FromArgMatches as _;
use cp9_engine::Engine;
use cp9_model::output::ErrorBody;
use cp9_model::{ExitCode, Explain as _};
use cp9_tools::{Clock, Doors, Environment};
use tokio_util::sync::CancellationToken;

use crate::bug;
use crate::cli::{self, Cli, JsonForm};
use crate::commands;
use crate::dialect::{self, Invocation, Overlay};
use crate::env::{self, Surroundings};
use crate::error;
use crate::signals;
use crate::ui::{Format, Ui};
use crate::usage::{self, Refusal};

/// One understood command.
struct Step {
    name: String,
    cli: Cli,
    overlay: Overlay,
}

/// Runs the arguments of this process.
pub(crate) fn run() -> ExitCode {
    match env::surroundings() {
        Ok(surroundings) => in_surroundings(&surroundings),
        Err(refused) => {
            let format = dialect::wanted(&env::arguments());
            let environment = Environment::default();
            let mut ui = Ui::new(format, "cp9", &environment, false);
            ui.fail(error::explained(&refused));
            refused.exit()
        }
    }
}

fn in_surroundings(surroundings: &Surroundings) -> ExitCode {
    let root = cli::command();
    let understood = dialect::parse(&surroundings.args, &root)
        .map_err(|error| {
            (
                String::new(),
                Refusal::Wrong(Box::new(usage::dialect(&error))),
            )
        })
        .and_then(|links| {
            links
                .into_iter()
                .map(|link| understand(link, &root))
                .collect::<Result<Vec<_>, _>>()
        });
    match understood {
        Ok(steps) => perform(&steps, surroundings),
        Err((name, refusal)) => refuse(&name, refusal, surroundings),
    }
}

fn understand(link: Invocation, root: &clap::Command) -> Result<Step, (String, Refusal)> {
    let Invocation {
        overlay,
        args,
        name,
    } = link;
    let words = std::iter::once("cp9".to_owned()).chain(args);
    let parsed = root
        .clone()
        .try_get_matches_from(words)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        Ok(cli) => Ok(Step { name, cli, overlay }),
        Err(error) => {
            let refusal = usage::refusal(&error, &name);
            Err((name, refusal))
        }
    }
}

/// Prints what clap had to say: help and version are results, all else is exit 64.
fn refuse(name: &str, refusal: Refusal, surroundings: &Surroundings) -> ExitCode {
    let name = if name.is_empty() { "cp9" } else { name };
    let format = dialect::wanted(&surroundings.args);
    let mut ui = Ui::new(format, name, &surroundings.environment, false);
    match refusal {
        Refusal::Answer(text) if format == Format::Text => ui.text(&text),
        Refusal::Answer(text) => {
            let text = anstream::adapter::strip_str(&text).to_string();
            ui.finish(Some(serde_json::json!({ "text": text })), None, None);
        }
        Refusal::Wrong(body) => {
            ui.fail(*body);
            return ExitCode::Usage;
        }
    }
    written(&mut ui)
}

fn perform(steps: &[Step], surroundings: &Surroundings) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("the system gives a process its event queue");
    let cancel = CancellationToken::new();
    runtime.block_on(async {
        signals::watch(&cancel).expect("the system lets a process handle its signals");
        let mut code = ExitCode::Success;
        for step in steps {
            // What ended the last command by a signal ends the chain as well.
            code = if cancel.is_cancelled() {
                ExitCode::Interrupted
            } else {
                one(step, surroundings, &cancel).await
            };
            if code != ExitCode::Success {
                break;
            }
        }
        code
    })
}

async fn one(step: &Step, surroundings: &Surroundings, cancel: &CancellationToken) -> ExitCode {
    bug::running(&step.name);
    let overlay = &step.overlay;
    let environment = overlay.env.iter().fold(
        surroundings.environment.clone(),
        |environment, (key, value)| environment.with(key, value),
    );
    let asked = matches!(environment.get("CP9_VERBOSE"), Some("1" | "true"));
    let verbose = step.cli.global.verbose || overlay.verbose.unwrap_or(asked);
    let mut ui = Ui::new(format(step), &step.name, &environment, verbose);
    injected_panic(&environment);
    let mut doors = Doors::new(environment, Clock::system(), verbose);
    doors.cancel = cancel.clone();
    let Surroundings { cwd, exe, .. } = surroundings.clone();
    let engine = Engine {
        doors,
        cwd,
        exe,
        version: env!("CARGO_PKG_VERSION"),
        judge_contract: commands::stub::judge,
    };
    let code = commands::run(&step.cli, &engine, &mut ui).await;
    if code == ExitCode::Success {
        written(&mut ui)
    } else {
        code
    }
}

/// The flag of the command wins over the settings of the chain.
fn format(step: &Step) -> Format {
    match step.cli.global.json {
        Some(JsonForm::Envelope) if step.cli.command.is_endless() => Format::Lines,
        Some(JsonForm::Envelope) => Format::Envelope,
        Some(JsonForm::Lines) => Format::Lines,
        None => match step.overlay.format {
            Some(Format::Envelope) if step.cli.command.is_endless() => Format::Lines,
            other => other.unwrap_or(Format::Text),
        },
    }
}

/// A result that did not reach its reader is no success.
fn written(ui: &mut Ui) -> ExitCode {
    let Some(lost) = ui.lost() else {
        return ExitCode::Success;
    };
    ui.remark(&error::render(&ErrorBody {
        category: "permanent".into(),
        code: "stdout-failed".into(),
        message: "cannot write the result to stdout".into(),
        causes: vec![lost.to_string()],
        hints: vec!["free space where stdout goes, or redirect it elsewhere".into()],
        diagnostics: Vec::new(),
        exit: ExitCode::Permanent.code(),
    }));
    ExitCode::Permanent
}

/// Lets cp9's own tests see what a bug looks like.
#[cfg(feature = "fault-injection")]
fn injected_panic(environment: &Environment) {
    assert!(
        environment.get("CP9_FAULT") != Some("command:before:panic"),
        "injected by CP9_FAULT"
    );
}

#[cfg(not(feature = "fault-injection"))]
fn injected_panic(_environment: &Environment) {}
