//! `cp9 stub serve`.

use std::io;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Args, Subcommand, ValueEnum};
use cp9_engine::{ContractFault, Engine, SessionSecrets};
use cp9_model::output::ErrorBody;
use cp9_model::report::Progress;
use cp9_model::report::stub::{StubOperation, StubRefusal, StubReport};
use cp9_model::{Category, ExitCode, Explain};
use cp9_stub::{Config, Hide, Kind, Log, Stub, StubError, Survey, serve, survey};
use thiserror::Error;

use crate::cli::{path, text};
use crate::error;
use crate::render;
use crate::ui::{Format, Ui};

/// Commands of `stub`.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub(crate) enum StubCommand {
    /// Serve a stub until SIGINT or SIGTERM
    Serve(ServeArgs),
}

impl StubCommand {
    /// True unless it only checks.
    pub(crate) fn is_endless(&self) -> bool {
        let Self::Serve(args) = self;
        !args.check
    }
}

/// Arguments of `stub serve`.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct ServeArgs {
    /// What the stub does
    #[arg(long, value_name = "KIND", value_enum, default_value_t = KindWord::Openapi)]
    kind: KindWord,
    /// The contract, an OpenAPI 3.0 document in JSON or YAML
    #[arg(long, value_name = "PATH", value_parser = path)]
    definition: Option<Utf8PathBuf>,
    /// Where a recorder appends, one JSON line per request
    #[arg(long, value_name = "PATH", value_parser = path)]
    output: Option<Utf8PathBuf>,
    /// The address to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDR", value_parser = text, default_value = "127.0.0.1:0")]
    listen: String,
    /// The service that the stub stands for, told in its log
    #[arg(long, value_name = "SVC", value_parser = text, default_value = "stub")]
    name: String,
    /// The header that carries the trace id
    #[arg(long, value_name = "NAME", value_parser = text, default_value = "X-Trace-Id")]
    trace_header: String,
    /// The session folder whose secrets are left out of the recording
    #[arg(long, value_name = "PATH", value_parser = path)]
    hide_secrets_of: Option<Utf8PathBuf>,
    /// Only list what would be served and what would be refused
    #[arg(long)]
    check: bool,
}

/// The kinds of stubs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindWord {
    /// Answers as an OpenAPI document says
    #[value(alias = "swagger")]
    Openapi,
    /// Appends every request to a file: metering payloads
    MeteringRecorder,
    /// Appends every request to a file: invoices
    BillingRecorder,
    /// Answers everything with `200 {}`
    Permissive,
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Openapi => Self::OpenApi,
            KindWord::MeteringRecorder => Self::MeteringRecorder,
            KindWord::BillingRecorder => Self::BillingRecorder,
            KindWord::Permissive => Self::Permissive,
        }
    }
}

/// A stub that cannot be served, as cp9 tells it.
#[derive(Debug, Error)]
#[error(transparent)]
struct Unserved(#[from] StubError);

impl Explain for Unserved {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        self.0.code()
    }

    fn remedy(&self) -> Option<String> {
        Some(self.0.remedy())
    }
}

/// Serves until a signal, or checks.
pub(crate) async fn run(command: &StubCommand, engine: &Engine, ui: &mut Ui) -> ExitCode {
    let StubCommand::Serve(args) = command;
    let config = args.config(engine);
    let ended = if args.check {
        check(&config, ui)
    } else {
        serving(&config, engine, ui).await
    };
    match ended {
        Ok(code) => code,
        Err(error) => {
            let details = error.details();
            let mut body = body(error);
            body.causes.extend(details);
            ui.fail(body);
            ExitCode::Config
        }
    }
}

impl ServeArgs {
    fn config(&self, engine: &Engine) -> Config {
        let hide = self.hide_secrets_of.clone().map(|folder| {
            let secrets = Arc::new(SessionSecrets::new(engine, folder));
            let renewed = secrets.clone();
            Hide::new(move |text| secrets.redact(text)).renewed_by(move || renewed.learn())
        });
        Config {
            hide: hide.unwrap_or_default(),
            name: self.name.clone(),
            kind: self.kind.into(),
            definition: self.definition.clone(),
            output: self.output.clone(),
            listen: self.listen.clone(),
            trace_header: self.trace_header.clone(),
        }
    }
}

/// Whether a contract can be served, as `up` and `doctor` ask.
pub(crate) fn judge(path: &Utf8Path) -> Result<(), ContractFault> {
    let found = match survey(path) {
        Ok(found) => found.refused(path),
        Err(error) => Some(error),
    };
    let Some(error) = found else {
        return Ok(());
    };
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    Err(ContractFault {
        message: format!("{error}{}", cause.unwrap_or_default()),
        details: error.details(),
        remedy: error.remedy(),
    })
}

fn body(error: StubError) -> ErrorBody {
    error::explained(&Unserved(error))
}

async fn serving(config: &Config, engine: &Engine, ui: &mut Ui) -> Result<ExitCode, StubError> {
    let stub = Stub::open(config, Log::new(io::stdout(), &config.name)).await?;
    let told = format!("listening on http://{}", stub.address());
    if ui.format() == Format::Text {
        ui.text(&told);
    } else {
        ui.progress(&Progress::Note { text: told });
    }
    serve(stub, engine.doors.cancel.cancelled()).await;
    ui.finish(None, None, None);
    Ok(ExitCode::Success)
}

fn check(config: &Config, ui: &mut Ui) -> Result<ExitCode, StubError> {
    config.check()?;
    let found = config.definition.as_deref().map(survey).transpose()?;
    let refused = config
        .definition
        .as_deref()
        .zip(found.as_ref())
        .and_then(|(path, found)| found.refused(path));
    let report = report(config, found);
    if ui.format() == Format::Text {
        ui.text(&render::stub::stub(&report));
    }
    let data = serde_json::to_value(&report).expect("reports are plain data");
    let code = match refused {
        Some(_) => ExitCode::Config,
        None => ExitCode::Success,
    };
    // The report lists the refusals, so that the error need not.
    ui.finish(Some(data), refused.map(body), None);
    Ok(code)
}

fn report(config: &Config, found: Option<Survey>) -> StubReport {
    let title = found.as_ref().map(|found| found.title.clone());
    let (operations, refusals) = found
        .map(|found| (found.operations, found.refusals))
        .unwrap_or_default();
    StubReport {
        kind: config.kind.word().to_owned(),
        definition: config.definition.as_ref().map(ToString::to_string),
        title,
        operations: operations
            .into_iter()
            .map(|found| StubOperation {
                id: found.id,
                method: found.method,
                path: found.path,
                status: found.status,
                content_types: found.content_types,
            })
            .collect(),
        refusals: refusals
            .into_iter()
            .map(|found| StubRefusal {
                id: found.id,
                method: found.method,
                path: found.path,
                reason: found.reason,
            })
            .collect(),
    }
}
