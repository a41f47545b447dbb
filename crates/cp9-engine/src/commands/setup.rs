//! `cp9 setup`: proves that this process may act in every cloud that the session writes to. It creates
//! nothing, and needs neither a session nor a session file.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_cloud::Cloud as _;
use cp9_cloud::local::Local;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::output::Target;
use cp9_model::report::SetupReport;
use cp9_model::report::setup::CloudProof;
use cp9_model::{Owner, Scope, SessionName};

use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome, invalid};
use crate::{run, select};

/// The name that stands in the proof where no session file gives one.
const NAME: &str = "setup";

/// Proves what the session will need.
pub async fn setup(engine: &Engine, select: Select) -> Outcome<SetupReport> {
    let found = match session(engine, &select) {
        Ok(found) => found,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let owner = owner(engine);
    let target = found
        .as_ref()
        .map(|(_, config)| run::target(config, Some(&owner)))
        .unwrap_or_default();
    let (file, config) = found.unzip();
    match local(engine, config.as_ref(), owner).await {
        Ok(proof) => Outcome {
            report: Some(SetupReport {
                file: file.map(Utf8PathBuf::into_string),
                clouds: vec![proof],
                created: Vec::new(),
            }),
            error: None,
            target,
        },
        Err(error) => Outcome::failed(error, target),
    }
}

/// The session file, if there is one. One that is wrong, or names what this build has no adapter for, is
/// refused.
fn session(
    engine: &Engine,
    select: &Select,
) -> Result<Option<(Utf8PathBuf, ResolvedConfig)>, EngineError> {
    let file = match select::session_file(engine, select) {
        Ok(file) => file,
        Err(error) if select.config.is_none() && error.source.code() == "session-file-missing" => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let bytes = engine.doors.read(&file)?;
    let loaded =
        cp9_model::config::load(&file, &bytes).map_err(|problems| invalid(&file, problems))?;
    Ok(Some((file, loaded.resolved)))
}

fn owner(engine: &Engine) -> Owner {
    let asked = engine.doors.env.get("CP9_OWNER").map(Owner::new);
    asked
        .filter(|owner| !owner.as_str().is_empty())
        .unwrap_or_else(|| Owner::new(Owner::LOCAL))
}

/// The `local` cloud: a child carries a scope that nothing else has, and it is found by it, as `destroy`
/// would find it.
async fn local(
    engine: &Engine,
    config: Option<&ResolvedConfig>,
    owner: Owner,
) -> Result<CloudProof, EngineError> {
    let session = match config {
        Some(config) => config.name.clone(),
        None => NAME.parse::<SessionName>()?,
    };
    let scope = Scope {
        owner: owner.clone(),
        session,
        id: uuid::Uuid::new_v4().simple().to_string(),
    };
    // No process lies in there, so the environment alone can tell.
    let nowhere = Utf8Path::new("/dev/null").join(&scope.id);
    Local::new(engine.doors.clone(), nowhere)
        .prove(scope)
        .await?;
    Ok(CloudProof {
        cloud: "local".into(),
        owner: owner.to_string(),
        proofs: vec![
            "a scope was read back from a child process that carried it".into(),
            "that process was ended again".into(),
        ],
        credentials: "none are needed, as nothing outside this machine is written to".into(),
    })
}
