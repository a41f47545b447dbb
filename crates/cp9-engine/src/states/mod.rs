//! The states of `up`, one file each: `input` (what it is made from), `observe` (does it hold in the
//! world?), `run` (make it true; twice changes nothing).

mod config_load;
mod context_materialize;
mod host_ready;
mod iam_ready;
mod metadb_seed;
mod owner_identity_ready;
mod preflight;
mod service_plan;
pub(crate) mod session_ready;
mod substrate_apply;
mod substrate_init;
mod substrate_plan;
mod tilt_ready;
mod tiltfile_generate;

use camino::Utf8Path;
use cp9_model::Diagnostic;
use cp9_model::lifecycle::StateName;

pub(crate) use owner_identity_ready::refuse_other;
pub(crate) use tilt_ready::handoff;

use crate::error::EngineError;
use crate::run::{Ran, Run};

/// The digest of what a state is made from.
pub(crate) fn input(run: &Run<'_>, state: StateName) -> String {
    match state {
        StateName::Preflight => preflight::input(run),
        StateName::ConfigLoad => config_load::input(run),
        StateName::OwnerIdentityReady => owner_identity_ready::input(run),
        StateName::IamReady => iam_ready::input(run),
        StateName::SubstrateInit => substrate_init::input(run),
        StateName::SubstratePlan | StateName::SubstrateApply => substrate_plan::input(run),
        StateName::RemoteHostReady | StateName::NetworkReady => String::new(),
        StateName::HostReady => host_ready::input(run),
        StateName::ServicePlan => service_plan::input(run),
        StateName::MetadbSeed => metadb_seed::input(run),
        StateName::ContextMaterialize => context_materialize::input(run),
        StateName::TiltfileGenerate => tiltfile_generate::input(run),
        StateName::TiltReady => tilt_ready::input(run),
        StateName::SessionReady => session_ready::input(run),
    }
}

/// True if the state holds in the world; it also finds what the states after it need.
pub(crate) async fn observe(run: &mut Run<'_>, state: StateName) -> Result<bool, EngineError> {
    match state {
        StateName::Preflight => proven(preflight::run(run).await),
        StateName::ConfigLoad => config_load::observe(run),
        StateName::OwnerIdentityReady => proven(owner_identity_ready::run(run).await),
        StateName::IamReady => proven(iam_ready::run(run).await),
        StateName::HostReady => host_ready::observe(run),
        StateName::ServicePlan => service_plan::observe(run),
        StateName::ContextMaterialize => context_materialize::observe(run),
        StateName::TiltfileGenerate => tiltfile_generate::observe(run),
        StateName::TiltReady => tilt_ready::observe(run).await,
        StateName::SessionReady => session_ready::observe(run).await,
        StateName::SubstrateInit => substrate_init::observe(run).await,
        StateName::SubstratePlan => substrate_plan::observe(run).await,
        StateName::SubstrateApply => substrate_apply::observe(run).await,
        StateName::RemoteHostReady | StateName::NetworkReady | StateName::MetadbSeed => Ok(true),
    }
}

/// Makes the state true.
pub(crate) async fn run(run: &mut Run<'_>, state: StateName) -> Result<Ran, EngineError> {
    match state {
        StateName::Preflight => preflight::run(run).await,
        StateName::ConfigLoad => config_load::run(run),
        StateName::OwnerIdentityReady => owner_identity_ready::run(run).await,
        StateName::IamReady => iam_ready::run(run).await,
        StateName::SubstrateInit => substrate_init::run(run).await,
        StateName::SubstratePlan => substrate_plan::run(run).await,
        StateName::SubstrateApply => substrate_apply::run(run).await,
        StateName::RemoteHostReady | StateName::NetworkReady => {
            Ok(Ran::Skipped("not selected".into()))
        }
        StateName::HostReady => host_ready::run(run).await,
        StateName::ServicePlan => service_plan::run(run),
        StateName::MetadbSeed => Ok(metadb_seed::run()),
        StateName::ContextMaterialize => context_materialize::run(run),
        StateName::TiltfileGenerate => tiltfile_generate::run(run),
        StateName::TiltReady => tilt_ready::run(run).await,
        StateName::SessionReady => session_ready::run(run).await,
    }
}

/// True for a state that ends by itself when the run is cancelled: what it started must not be dropped in
/// the middle, as Terraform writes its state last.
pub(crate) fn ends_itself(state: StateName) -> bool {
    matches!(
        state,
        StateName::SubstrateInit | StateName::SubstratePlan | StateName::SubstrateApply
    )
}

/// True for a state that is looked at by making it again.
pub(crate) fn is_proven_anew(state: StateName) -> bool {
    matches!(
        state,
        StateName::Preflight | StateName::OwnerIdentityReady | StateName::IamReady
    )
}

/// For the states that every run proves anew: proven again is still true.
fn proven(ran: Result<Ran, EngineError>) -> Result<bool, EngineError> {
    ran.map(|_| true)
}

/// An error made of what the renderer found; problems of the session file get their place in it.
fn invalid(run: &Run<'_>, mut problems: Vec<Diagnostic>) -> EngineError {
    let file = Utf8Path::new(&run.config.file);
    if let Ok(text) = run.engine.doors.read_text(file) {
        cp9_render::place_in(&mut problems, file.as_str(), &text);
    }
    crate::error::invalid(file, problems)
}

/// The digest of values that a state is made from.
fn digest<T: serde::Serialize>(value: &T) -> String {
    cp9_model::digest::value(value).expect("inputs are plain data and always serialise")
}
