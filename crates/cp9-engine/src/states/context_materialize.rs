//! `context_materialize`: the rendered inputs of every service, its secret file, and the AWS profile of all.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use cp9_model::ServiceName;
use cp9_model::config::envfile;
use cp9_model::report::Progress;
use cp9_render::Rendered;
use cp9_render::process::{Session, translate};

use crate::error::{EngineError, invalid};
use crate::profile;
use crate::run::{Ran, Run};

/// Secret values by service: the env file's, overlaid by the inline ones.
fn secrets(run: &Run<'_>) -> Result<BTreeMap<ServiceName, Vec<(String, String)>>, EngineError> {
    let mut all = BTreeMap::new();
    for (service, inputs) in &run.config.secrets {
        let mut values: Vec<(String, String)> = Vec::new();
        if let Some(file) = inputs.env_file.as_ref().map(Utf8PathBuf::from)
            && run.engine.doors.exists(&file)
        {
            let bytes = run.engine.doors.read(&file)?;
            values = envfile::parse(file.as_str(), &bytes)
                .map_err(|problems| invalid(&file, problems))?;
        }
        for (key, value) in run.secret_values.get(service).into_iter().flatten() {
            values.retain(|(other, _)| other != key);
            values.push((key.clone(), value.clone()));
        }
        for (_, value) in &values {
            run.engine
                .doors
                .redactor
                .add(&cp9_tools::Secret::new(value.clone()));
        }
        all.insert(service.clone(), values);
    }
    Ok(all)
}

/// The definition files of stubs. One that does not exist leaves its stub without, as the report says.
fn definitions(run: &Run<'_>) -> Result<BTreeMap<ServiceName, Vec<u8>>, EngineError> {
    let doors = &run.engine.doors;
    let mut all = BTreeMap::new();
    for (service, stub) in &run.config.services.stub {
        let path = stub.definition.as_ref().map(Utf8PathBuf::from);
        if let Some(path) = path.filter(|path| doors.exists(path)) {
            all.insert(service.clone(), doors.read(&path)?);
        }
    }
    Ok(all)
}

fn render(run: &Run<'_>) -> Result<Rendered, EngineError> {
    let made = &run.made;
    let secrets = secrets(run)?;
    let definitions = definitions(run)?;
    let session = Session {
        config: &run.config,
        graph: made.graph()?,
        inputs: made.inputs()?,
        host: made.host()?,
        scope: made.scope()?.scope(),
        secrets: &secrets,
        definitions: &definitions,
        folder: &run.session.folder.root,
        aws: made.aws_scope.as_ref(),
    };
    translate(&session).map_err(|problems| super::invalid(run, problems))
}

fn secret_tree(rendered: &Rendered) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let files = rendered.secret_files.iter();
    files
        .map(|(service, text)| (format!("{service}.env").into(), text.clone().into_bytes()))
        .collect()
}

/// The files of the AWS profile; none where nothing is written to AWS.
fn profile(run: &Run<'_>) -> Result<Option<BTreeMap<Utf8PathBuf, Vec<u8>>>, EngineError> {
    let scope = run.made.scope()?;
    let Some(proof) = scope.aws() else {
        return Ok(None);
    };
    let folder = &run.session.folder;
    let files = profile::files(run.engine, folder, scope.scope(), proof)?;
    Ok(Some(files))
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        &run.config.services,
        &run.config.secrets,
        &run.made.host,
        &run.made.owner,
        run.made
            .aws_scope
            .as_ref()
            .map(|aws| (&aws.region, &aws.variables)),
    ))
}

pub(crate) fn observe(run: &mut Run<'_>) -> Result<bool, EngineError> {
    let rendered = render(run)?;
    let folder = &run.session.folder;
    let doors = &run.engine.doors;
    let profile = match profile(run)? {
        Some(files) => doors.tree_equals(&folder.aws(), &files)?,
        None => true,
    };
    let holds = profile
        && doors.tree_equals(&folder.inputs(), &rendered.inputs)?
        && doors.tree_equals(&folder.secrets(), &secret_tree(&rendered))?;
    run.made.rendered = Some(rendered);
    Ok(holds)
}

/// A stub without its definition answers everything, which nobody wants by mistake.
fn tell_missing_definitions(run: &mut Run<'_>) {
    let stubs = run.config.services.stub.iter();
    let missing: Vec<String> = stubs
        .filter_map(|(name, stub)| Some((name, stub.definition.as_ref()?)))
        .filter(|(_, file)| !run.engine.doors.exists(file.as_str().into()))
        .map(|(name, file)| format!("Stub `{name}` answers `200 {{}}` to everything: its definition `{file}` does not exist."))
        .collect();
    for text in missing {
        (run.progress)(Progress::Note { text });
    }
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    tell_missing_definitions(run);
    let rendered = render(run)?;
    let folder = run.session.folder.clone();
    let doors = run.engine.doors.clone();
    let secrets = secret_tree(&rendered);
    let next = secrets.values().map(Vec::as_slice);
    cp9_loop::secrets::keep_former(&doors, &folder.root, &run.session.state.id, next)?;
    doors.sync_tree(&folder.secrets(), &secrets, 0o600)?;
    doors.sync_tree(&folder.inputs(), &rendered.inputs, 0o600)?;
    let mut evidence = vec!["tilt/inputs".to_owned(), "secrets".to_owned()];
    if let Some(files) = profile(run)? {
        profile::write(run.engine, &folder, &files)?;
        evidence.push("aws".to_owned());
    }
    run.made.rendered = Some(rendered);
    crate::facts::write(run, false)?;
    Ok(Ran::Done(evidence))
}
