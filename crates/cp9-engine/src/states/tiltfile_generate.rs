//! `tiltfile_generate`: the dev plan and the context report.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::ServiceName;
use cp9_model::config::resolved::SourceService;
use cp9_model::devplan::DevPlan;
use cp9_render::devplan::{CargoTarget, Roots, cargo_target};

use crate::document;
use crate::error::EngineError;
use crate::run::{Ran, Run};

/// The Cargo package that governs a service's entry file, if any: cargo would find it, so its dependencies
/// are needed and bare rustc will not do.
pub(super) fn cargo(run: &Run<'_>, service: &SourceService) -> Option<CargoTarget> {
    let (repo, main) = (
        Utf8Path::new(&service.repo),
        Utf8Path::new(service.build.main.as_deref()?),
    );
    let manifest = main
        .ancestors()
        .skip(1)
        .map(|dir| dir.join("Cargo.toml"))
        .find(|manifest| run.engine.doors.exists(&repo.join(manifest)))?;
    let text = run.engine.doors.read_text(&repo.join(&manifest)).ok()?;
    cargo_target(&manifest, &text, main)
}

fn cargo_targets(run: &Run<'_>) -> BTreeMap<ServiceName, Option<CargoTarget>> {
    let source = run.config.services.source.iter();
    source
        .map(|(name, service)| (name.clone(), cargo(run, service)))
        .collect()
}

fn plan(run: &Run<'_>) -> Result<DevPlan, EngineError> {
    let source = run.config.services.source.iter();
    let roots = Roots {
        session: run.session.folder.root.clone(),
        cache: run.dirs.cache.clone(),
        exe: run.engine.exe.clone(),
        sources: source
            .map(|(name, service)| (name.clone(), service.repo.as_str().into()))
            .collect(),
    };
    let made = &run.made;
    let targets = cargo_targets(run);
    cp9_render::devplan::build(
        &run.config,
        made.graph()?,
        made.rendered()?,
        &roots,
        &targets,
    )
    .map_err(|problems| super::invalid(run, problems))
}

fn files(run: &Run<'_>, plan: &DevPlan) -> Result<[(Utf8PathBuf, Vec<u8>); 2], EngineError> {
    let folder = &run.session.folder;
    let report = document::bytes(&run.made.rendered()?.report);
    Ok([
        (folder.dev_plan(), document::bytes(plan)),
        (folder.context_report(), report),
    ])
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(&run.config.services, &run.config.tilt, &run.made.host))
}

pub(crate) fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let plan = plan(run)?;
    let doors = &run.engine.doors;
    let mut holds = true;
    for (path, bytes) in files(run, &plan)? {
        holds &= doors.exists(&path) && doors.read(&path)? == bytes;
    }
    run.made.plan = Some(plan);
    Ok(holds)
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let plan = plan(run)?;
    run.engine
        .doors
        .create_private_dir(&run.session.folder.join("tilt/reports"))?;
    for (path, bytes) in files(run, &plan)? {
        run.engine.doors.write_if_changed(&path, &bytes, 0o600)?;
    }
    run.made.plan = Some(plan);
    Ok(Ran::Done(vec![
        "tilt/dev-plan.json".into(),
        "tilt/reports/context-report.json".into(),
    ]))
}
