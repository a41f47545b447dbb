//! The services of the resolved session.

use std::collections::BTreeMap;

use super::super::raw::{self, Session};
use super::super::resolved::{App, Build, LiveService, Run, Services, SourceService, StubService};
use super::word;
use crate::name::{NameError, ServiceName};

/// The kind of a stub of which the file says nothing.
const UNDEFINED: &str = "undefined";

/// Resolves every service.
pub(super) fn resolve(session: &Session) -> Result<Services, NameError> {
    let raw = session.services.clone().unwrap_or_default();
    let env = session
        .app_delivery
        .as_ref()
        .map(|delivery| delivery.env.as_str())
        .unwrap_or_default();
    Ok(Services {
        source: each(raw.source, |name, service| source(name, service, env))?,
        live: each(raw.live, |name, service| live(name, service, env))?,
        stub: each(raw.stub, |_, service| Ok(stub(service.unwrap_or_default())))?,
    })
}

fn each<T, U>(
    services: Option<indexmap::IndexMap<String, T>>,
    resolve: impl Fn(&str, T) -> Result<U, NameError>,
) -> Result<BTreeMap<ServiceName, U>, NameError> {
    let services = services.into_iter().flatten();
    services
        .map(|(name, service)| Ok((name.parse()?, resolve(&name, service)?)))
        .collect()
}

fn source(name: &str, service: raw::Source, env: &str) -> Result<SourceService, NameError> {
    Ok(SourceService {
        repo: service.repo,
        git_ref: service.git_ref,
        build: Build {
            main: service.build.main,
            command: service.build.command,
            ignore: service.build.ignore.unwrap_or_default(),
        },
        app: app(name, service.app, env),
        overrides: service.overrides.unwrap_or_default(),
        run: run(service.run),
        needs: needs(service.needs)?,
    })
}

fn live(name: &str, service: raw::Live, env: &str) -> Result<LiveService, NameError> {
    Ok(LiveService {
        app: app(name, service.app, env),
        overrides: service.overrides.unwrap_or_default(),
        run: run(service.run),
        needs: needs(service.needs)?,
    })
}

fn stub(stub: raw::Stub) -> StubService {
    let (kind, definition) = match (stub.swagger, stub.proto) {
        (Some(file), _) => ("swagger".to_owned(), Some(file)),
        (None, Some(file)) => ("proto".to_owned(), Some(file)),
        (None, None) => (stub.kind.map_or_else(|| UNDEFINED.to_owned(), word), None),
    };
    StubService {
        kind,
        definition,
        output: stub.output,
    }
}

fn app(service: &str, app: raw::App, env: &str) -> App {
    App {
        name: app.name.unwrap_or_else(|| service.to_owned()),
        registry: app.registry,
        env: app.env.unwrap_or_else(|| env.to_owned()),
    }
}

fn run(run: Option<raw::Run>) -> Run {
    let run = run.unwrap_or_default();
    Run {
        command: run.command,
        workdir: run.workdir,
        env: run.env.into_iter().flatten().collect(),
        ports: run.ports.into_iter().flatten().collect(),
        container: run.container,
        ignore: run.ignore.unwrap_or_default(),
    }
}

fn needs(needs: Option<Vec<String>>) -> Result<Vec<ServiceName>, NameError> {
    needs
        .unwrap_or_default()
        .iter()
        .map(|name| name.parse())
        .collect()
}
