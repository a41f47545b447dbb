//! The definition of the command line. It is the only table: help, the dialect and `cmds.tree` are
//! all read back from it.

use std::fmt::Write as _;
use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use cp9_model::ExitCode;

use crate::commands::{controller, deploy, destroy, doctor, logs, pause, schema, status, stub, up};
use crate::duration;

/// Development sessions: services built from source, live reload on save, and a destroy that
/// proves that nothing is left.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "cp9",
    version,
    max_term_width = 100,
    disable_help_subcommand = false
)]
pub(crate) struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub(crate) global: Global,
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// The session file [default: cp9.yaml here or in a parent directory]
    #[arg(long, global = true, value_name = "PATH", value_parser = path)]
    pub(crate) config: Option<Utf8PathBuf>,
    /// Print one JSON envelope; with `lines` first every event, one JSON line each
    #[arg(
        long,
        global = true,
        hide_possible_values = true,
        value_name = "lines",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "envelope",
    )]
    pub(crate) json: Option<JsonForm>,
    /// Show every program, HTTP call and file write on stderr (also `CP9_VERBOSE=1`)
    #[arg(long, global = true)]
    pub(crate) verbose: bool,
}

/// The two JSON forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonForm {
    /// One envelope at the end.
    Envelope,
    /// Events while the command runs, then the envelope.
    Lines,
}

/// Which session, where a command is about one that exists.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub(crate) struct Session {
    /// The session's name [default: the one of the session file, else the only one here]
    #[arg(long, value_name = "NAME", value_parser = text)]
    pub(crate) session: Option<String>,
}

/// The commands.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum Command {
    /// Bring the session up and return when every service has a verdict
    Up(up::UpArgs),
    /// Show the session's states, services and controller
    Status(status::StatusArgs),
    /// Build one service, bring it in, and prove that it is what runs
    Deploy(deploy::DeployArgs),
    /// Print what the services and their builds wrote
    Logs(logs::LogsArgs),
    /// Stop everything without deleting anything; `up` resumes
    Pause(pause::PauseArgs),
    /// Remove everything of the session and prove that nothing is left
    Destroy(destroy::DestroyArgs),
    /// Check the machine and the session, and say what to do about what is wrong
    Doctor(doctor::DoctorArgs),
    /// Prove that cp9 may act where the session writes; creates nothing
    Setup,
    /// Serve a stub of a service by itself
    #[command(subcommand)]
    Stub(stub::StubCommand),
    /// Print a JSON Schema of cp9's files and output
    Schema(schema::SchemaArgs),
    /// Print every command with its arguments, defaults and exit codes
    #[command(name = "cmds.tree")]
    CmdsTree,
    /// The embedded controller, started by `up`
    #[command(hide = true, subcommand)]
    Controller(controller::ControllerCommand),
}

/// The command tree with everything that help needs, built so that global flags are visible in
/// each command.
pub(crate) fn command() -> clap::Command {
    let ending = ending();
    let mut root = finish(Cli::command(), &ending).subcommand_required(true);
    root.build();
    root
}

/// The long help of every command ends with the exit codes and the dialect.
fn finish(command: clap::Command, ending: &str) -> clap::Command {
    command
        .after_long_help(ending.to_owned())
        .mut_subcommands(|sub| finish(sub, ending))
}

fn ending() -> String {
    let mut text = String::from("Exit codes:\n");
    for code in ExitCode::ALL {
        let _ = writeln!(text, "  {:>3}  {}", code.code(), code.meaning());
    }
    text.push_str(DIALECT);
    text
}

const DIALECT: &str = "
Also understood:
  key=value                 the same as --key value; switches take true or false
  cp9 up : status           one command after the other, up to the first failure
  {env.KEY=value}           sets a variable for the rest of the chain
  {cp9.verbose=true}        the same as CP9_VERBOSE=1
  {sys.output.format=json}  the same as --json (also lines, text)
  --                        ends all of this
";

/// Refuses an empty path, which would silently mean the current directory.
pub(crate) fn path(value: &str) -> Result<Utf8PathBuf, String> {
    text(value).map(Utf8PathBuf::from)
}

/// Refuses an empty value.
pub(crate) fn text(value: &str) -> Result<String, String> {
    if value.is_empty() {
        Err("it must not be empty".into())
    } else {
        Ok(value.to_owned())
    }
}

/// Reads a duration.
pub(crate) fn span(value: &str) -> Result<Duration, duration::DurationError> {
    duration::parse(value)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_is_consistent() {
        super::command().debug_assert();
    }
}
