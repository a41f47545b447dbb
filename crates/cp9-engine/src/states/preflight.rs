//! `preflight`: the name is free, the programs and paths that the session needs are there. The lock is
//! taken before, since the journal needs it.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{Build, SourceService};
use cp9_model::{Category, Explain};
use thiserror::Error;

use cp9_model::report::Progress;

use crate::destroy::orphans;
use crate::error::EngineError;
use crate::registry::Registry;
use crate::run::{Ran, Run};

/// What a session needs and this machine lacks.
#[derive(Debug, Error)]
enum Missing {
    /// A program.
    #[error("program `{program}`, which builds service `{service}`, is not on PATH")]
    Program { program: String, service: String },
    /// A folder.
    #[error("folder `{path}` of {what} does not exist")]
    Folder { path: Utf8PathBuf, what: String },
    /// A source file.
    #[error("file `{path}`, the `build.main` of service `{service}`, does not exist")]
    Main { path: Utf8PathBuf, service: String },
}

impl Explain for Missing {
    fn category(&self) -> Category {
        Category::Config
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Program { .. } => "program-missing",
            Self::Folder { .. } | Self::Main { .. } => "path-missing",
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::Program { program, .. } => format!("install `{program}`, or put it on PATH"),
            Self::Folder { .. } => {
                "mend the path in the session file; it is relative to that file".into()
            }
            Self::Main { .. } => "mend `build.main`; it is relative to the service's `repo`".into(),
        })
    }
}

/// The program that a build starts; a Cargo package is built by cargo.
fn program(build: &Build, is_package: bool) -> Option<String> {
    if let Some(command) = &build.command {
        return command.first().cloned();
    }
    match Utf8Path::new(build.main.as_deref()?).extension()? {
        "go" => Some("go".into()),
        "rs" if is_package => Some("cargo".into()),
        "rs" => Some("rustc".into()),
        _ => None,
    }
}

fn check_source(run: &Run<'_>, name: &str, service: &SourceService) -> Result<(), Missing> {
    let doors = &run.engine.doors;
    let repo = Utf8PathBuf::from(&service.repo);
    if !doors.exists(&repo) {
        return Err(Missing::Folder {
            path: repo,
            what: format!("service `{name}`"),
        });
    }
    if let Some(main) = &service.build.main {
        let path = repo.join(main);
        if !doors.exists(&path) {
            return Err(Missing::Main {
                path,
                service: name.into(),
            });
        }
    }
    match program(
        &service.build,
        super::tiltfile_generate::cargo(run, service).is_some(),
    ) {
        Some(program) if !program.contains('/') && doors.which(&program).is_none() => {
            Err(Missing::Program {
                program,
                service: name.into(),
            })
        }
        _ => Ok(()),
    }
}

fn check(run: &Run<'_>) -> Result<(), Missing> {
    if let Some(delivery) = &run.config.app_delivery {
        let path = Utf8PathBuf::from(&delivery.repo);
        if !run.engine.doors.exists(&path) {
            return Err(Missing::Folder {
                path,
                what: "`appDelivery`".into(),
            });
        }
    }
    run.config
        .services
        .source
        .iter()
        .try_for_each(|(name, service)| check_source(run, name.as_str(), service))
}

/// A folder that was removed by hand while its session ran left processes: they hold the ports and are
/// nobody's any more.
async fn end_orphans(run: &mut Run<'_>) -> Result<(), EngineError> {
    let folder = run.session.folder.clone();
    let Some(scope) =
        orphans::recorded(run.engine, &run.dirs, &folder, Some(&run.session.state.id))
    else {
        return Ok(());
    };
    let (ended, _) = orphans::end(run.engine, &folder, scope).await?;
    if ended > 0 {
        let text = format!("Ended {ended} processes that an earlier session of this folder left.");
        (run.progress)(Progress::Note { text });
    }
    Ok(())
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        &run.config.services.source,
        &run.config.app_delivery,
        &run.session.state.id,
    ))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    check(run)?;
    end_orphans(run).await?;
    let registry = Registry::new(&run.engine.doors, &run.dirs);
    registry
        .claim(run.engine, &run.session.folder, &run.session.state.id)
        .await?;
    Ok(Ran::with(
        "the name is this folder's, and what the session needs is there",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_names_its_program() {
        let build = |main: Option<&str>, command: Option<&[&str]>| Build {
            main: main.map(str::to_owned),
            command: command.map(|words| words.iter().map(|w| (*w).to_owned()).collect()),
            ignore: Vec::new(),
        };
        assert_eq!(
            program(&build(Some("cmd/x/main.go"), None), false).as_deref(),
            Some("go")
        );
        assert_eq!(
            program(&build(Some("src/main.rs"), None), false).as_deref(),
            Some("rustc")
        );
        assert_eq!(
            program(&build(Some("a.rs"), Some(&["make", "x"])), true).as_deref(),
            Some("make")
        );
        assert_eq!(
            program(&build(Some("src/main.rs"), None), true).as_deref(),
            Some("cargo")
        );
        assert_eq!(program(&build(Some("a.c"), None), false), None);
    }
}
