//! The program inside stub images: the server alone, without the rest of cp9.

mod args;

use std::io::{self, Write};
use std::process::ExitCode;

use cp9_stub::{Log, Stub, StubError, serve};
use tokio::signal::unix::{SignalKind, signal};

/// A precondition that is not met, as in cp9.
const CONFIG: u8 = 3;
/// A command line that is not understood, as in cp9.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let config = match args::parse(&args) {
        Ok(args::Parsed::Serve(config)) => config,
        Ok(args::Parsed::Help) => {
            let _ = io::stdout().write_all(args::HELP.as_bytes());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}\n\n{}", args::HELP.trim_end());
            return ExitCode::from(USAGE);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = runtime
        .map_err(|source| StubError::Listen {
            address: config.listen.clone(),
            source,
        })
        .and_then(|runtime| runtime.block_on(run(&config)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = io::stderr().write_all(told(&error).as_bytes());
            ExitCode::from(CONFIG)
        }
    }
}

async fn run(config: &cp9_stub::Config) -> Result<(), StubError> {
    let unheard = |source| StubError::Listen {
        address: config.listen.clone(),
        source,
    };
    let mut interrupt = signal(SignalKind::interrupt()).map_err(unheard)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(unheard)?;
    let stub = Stub::open(config, Log::new(io::stdout(), &config.name)).await?;
    let _ = writeln!(io::stdout(), "listening on http://{}", stub.address());
    serve(stub, async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
    .await;
    Ok(())
}

/// The error with its causes, every refusal, and what to do.
fn told(error: &StubError) -> String {
    let mut lines = vec![format!("error: {error}")];
    let mut cause = std::error::Error::source(error);
    while let Some(found) = cause {
        lines.push(format!("caused by: {found}"));
        cause = found.source();
    }
    let details = error.details().into_iter();
    lines.extend(details.map(|detail| format!("caused by: {detail}")));
    lines.push(format!("\nhint: {}\n", error.remedy()));
    lines.join("\n")
}
