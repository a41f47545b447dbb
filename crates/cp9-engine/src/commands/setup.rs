//! `cp9 setup`: proves that this process may act in every cloud that the session writes to. It creates
//! nothing, and needs neither a session nor a session file.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_cloud::aws::{self, AwsProof};
use cp9_cloud::local::Local;
use cp9_cloud::{Cloud as _, ProvenScope};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::output::Target;
use cp9_model::report::SetupReport;
use cp9_model::report::setup::CloudProof;
use cp9_model::{Owner, Scope, SessionName};
use jiff::{SignedDuration, Timestamp};

use crate::engine::{Engine, Select};
use crate::error::{EngineError, Outcome, invalid};
use crate::{identity, run, select};

/// The name that stands in the proof where no session file gives one.
const NAME: &str = "setup";

/// Proves what the session will need.
pub async fn setup(engine: &Engine, select: Select) -> Outcome<SetupReport> {
    let found = match session(engine, &select) {
        Ok(found) => found,
        Err(error) => return Outcome::failed(error, Target::default()),
    };
    let (file, config) = found.unzip();
    let mut target = config
        .as_ref()
        .map(|config| run::target(config, None))
        .unwrap_or_default();
    match Box::pin(prove(engine, config.as_ref())).await {
        Ok(proven) => {
            target.owner = Some(proven.owner);
            target.account = proven.aws.map(|proof| proof.account);
            Outcome {
                report: Some(SetupReport {
                    file: file.map(Utf8PathBuf::into_string),
                    clouds: proven.clouds,
                    created: Vec::new(),
                }),
                error: None,
                target,
            }
        }
        Err(error) => Outcome::failed(error, target),
    }
}

/// What was proven, and for whom.
pub(crate) struct Proofs {
    owner: String,
    clouds: Vec<CloudProof>,
    /// What AWS proved.
    pub(crate) aws: Option<AwsProof>,
    /// How far this machine's clock is from that of AWS.
    pub(crate) clock: SignedDuration,
}

/// Proves what a session needs; nothing is made.
pub(crate) async fn prove(
    engine: &Engine,
    config: Option<&ResolvedConfig>,
) -> Result<Proofs, EngineError> {
    let remote = config.and_then(|config| identity::question(engine, config));
    let Some((client, wishes)) = remote else {
        let owner = owner(engine);
        let (_, proof) = local(engine, config, owner).await?;
        return Ok(Proofs {
            owner: proof.owner.clone(),
            clouds: vec![proof],
            aws: None,
            clock: SignedDuration::ZERO,
        });
    };
    let known = aws::identify(client, &wishes).await?;
    let (scope, here) = local(engine, config, known.owner.clone()).await?;
    let proven = aws::prove(&known, &scope, &wishes).await?;
    let Some(proof) = proven.scope.aws() else {
        return Err(run::NotMade::of("AWS proof").into());
    };
    let there = on_aws(proof, &known.owner, engine);
    Ok(Proofs {
        owner: known.owner.to_string(),
        clouds: vec![here, there],
        aws: Some(proof.clone()),
        clock: proven.aws.clock_difference(),
    })
}

/// What the identity contract asks for, line by line.
fn on_aws(proof: &AwsProof, owner: &Owner, engine: &Engine) -> CloudProof {
    let left = |at: Timestamp| at.duration_since(engine.doors.clock.now()).as_secs() / 60;
    let lasts = proof.expires.map_or_else(
        || "which do not expire".to_owned(),
        |at| format!("for {} more minutes", left(at)),
    );
    let mut proofs = identity::told(proof);
    proofs.insert(0, format!("the owner was proven by {}", proof.caller));
    CloudProof {
        cloud: "aws".into(),
        owner: owner.to_string(),
        proofs,
        credentials: format!("{}, {lasts}", proof.credentials),
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
    let asked = engine.doors.env.get(identity::ENV_CLAIM).map(Owner::new);
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
) -> Result<(ProvenScope, CloudProof), EngineError> {
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
    let proven = Local::new(engine.doors.clone(), nowhere)
        .prove(scope)
        .await?;
    let proof = CloudProof {
        cloud: "local".into(),
        owner: owner.to_string(),
        proofs: vec![
            "a scope was read back from a child process that carried it".into(),
            "that process was ended again".into(),
        ],
        credentials: "none are needed for this machine".into(),
    };
    Ok((proven, proof))
}
