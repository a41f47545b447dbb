//! One file per command: arguments to an engine call, its outcome to the `Ui`.

pub(crate) mod cmds_tree;
pub(crate) mod controller;
pub(crate) mod deploy;
pub(crate) mod destroy;
pub(crate) mod doctor;
pub(crate) mod logs;
pub(crate) mod pause;
pub(crate) mod schema;
pub(crate) mod setup;
pub(crate) mod status;
pub(crate) mod stub;
pub(crate) mod up;

mod outcome;

use cp9_engine::{Engine, Select};
use cp9_model::ExitCode;

use crate::cli::{Cli, Command, Session};
use crate::ui::Ui;

/// Runs one command.
pub(crate) async fn run(cli: &Cli, engine: &Engine, ui: &mut Ui) -> ExitCode {
    match &cli.command {
        Command::Up(args) => up::run(args, select(cli, None), engine, ui).await,
        Command::Status(args) => {
            status::run(args, select(cli, Some(&args.session)), engine, ui).await
        }
        Command::Deploy(args) => {
            deploy::run(args, select(cli, Some(&args.session)), engine, ui).await
        }
        Command::Logs(args) => logs::run(args, select(cli, Some(&args.session)), engine, ui).await,
        Command::Pause(args) => pause::run(select(cli, Some(&args.session)), engine, ui).await,
        Command::Destroy(args) => {
            destroy::run(args, select(cli, Some(&args.session)), engine, ui).await
        }
        Command::Doctor(args) => doctor::run(select(cli, Some(&args.session)), engine, ui).await,
        Command::Setup => setup::run(select(cli, None), engine, ui).await,
        Command::Stub(args) => stub::run(args, engine, ui).await,
        Command::Schema(args) => schema::run(args, ui),
        Command::CmdsTree => cmds_tree::run(ui),
        Command::Controller(args) => controller::run(args, engine, ui).await,
    }
}

fn select(cli: &Cli, session: Option<&Session>) -> Select {
    Select {
        config: cli.global.config.clone(),
        session: session.and_then(|session| session.session.clone()),
    }
}

impl Command {
    /// True for a command that may never end by itself, so that one envelope at the end is no use.
    pub(crate) fn is_endless(&self) -> bool {
        matches!(self, Self::Logs(args) if args.follow)
            || matches!(self, Self::Up(args) if args.attach)
            || matches!(self, Self::Stub(args) if args.is_endless())
    }
}
