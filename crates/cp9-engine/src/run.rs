//! One run of `up`: what it is about, what its states have made so far.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use cp9_cloud::ProvenScope;
use cp9_cloud::aws::{Aws, Identified};
use cp9_loop::embedded::Client;
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::control::ControllerStatus;
use cp9_model::devplan::DevPlan;
use cp9_model::graph::ServiceGraph;
use cp9_model::host::HostFacts;
use cp9_model::lifecycle::StateName;
use cp9_model::output::Target;
use cp9_model::report::{Progress, StateReport};
use cp9_model::{Category, Explain, Owner, ServiceName};
use cp9_render::process::AwsScope;
use cp9_render::{AppTree, FileTree, Rendered, ServiceInput};
use cp9_tools::terraform::Terraform;
use thiserror::Error;

use crate::dirs::Dirs;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::LockedSession;

/// Everything a state may use.
pub(crate) struct Run<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) dirs: Dirs,
    pub(crate) config: ResolvedConfig,
    pub(crate) secret_values: BTreeMap<ServiceName, BTreeMap<String, String>>,
    pub(crate) mode: Mode,
    pub(crate) session: LockedSession,
    pub(crate) progress: &'a mut dyn FnMut(Progress),
    pub(crate) made: Made,
}

/// What becomes of the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Only write the plan; a person starts the controller.
    pub(crate) generate_only: bool,
    /// End with the first failed resource.
    pub(crate) fail_fast: bool,
    /// How long the first verdicts may take.
    pub(crate) limit: std::time::Duration,
}

/// What the states of this run have made or found, for those after them.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) owner: Option<Owner>,
    pub(crate) identified: Option<Identified>,
    pub(crate) scope: Option<ProvenScope>,
    /// The client of the identity that writes to AWS.
    pub(crate) aws: Option<Aws>,
    /// What processes are told of AWS.
    pub(crate) aws_scope: Option<AwsScope>,
    pub(crate) terraform: Option<Terraform>,
    /// The files of the Terraform root.
    pub(crate) sources: OnceCell<FileTree>,
    pub(crate) delivery: OnceCell<AppTree>,
    pub(crate) inputs: Option<Vec<ServiceInput>>,
    pub(crate) host: Option<HostFacts>,
    pub(crate) graph: Option<ServiceGraph>,
    pub(crate) rendered: Option<Rendered>,
    pub(crate) plan: Option<DevPlan>,
    pub(crate) status: Option<ControllerStatus>,
    /// States that still held and were left alone.
    pub(crate) kept: Vec<StateName>,
}

/// A state asked for what no state before it made: a bug.
#[derive(Debug, Error)]
#[error("no state before this one made the {what}")]
pub(crate) struct NotMade {
    what: &'static str,
}

impl NotMade {
    /// Something that should have been made.
    pub(crate) fn of(what: &'static str) -> Self {
        Self { what }
    }
}

impl NotMade {
    /// Nothing of AWS was proven.
    pub(crate) const PROOF: Self = Self { what: "proof" };
}

impl Explain for NotMade {
    fn category(&self) -> Category {
        Category::Permanent
    }
    fn code(&self) -> &'static str {
        "state-order"
    }
}

/// How a state's work ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ran {
    /// Done, with what it wrote or proved.
    Done(Vec<String>),
    /// There was nothing to do, and why.
    Skipped(String),
}

impl Ran {
    /// Done, with one piece of evidence.
    pub(crate) fn with(evidence: impl Into<String>) -> Self {
        Self::Done(vec![evidence.into()])
    }
}

macro_rules! made {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $what:literal;)*) => {
        impl Made {
            $($(#[$doc])*
            pub(crate) fn $name(&self) -> Result<&$type, EngineError> {
                self.$name.as_ref().ok_or_else(|| NotMade { what: $what }.into())
            })*
        }
    };
}

made! {
    /// The owner.
    owner: Owner = "owner";
    /// The identity that AWS confirmed.
    identified: Identified = "identity";
    /// The proven scope.
    scope: ProvenScope = "proven scope";
    /// The app-delivery inputs.
    inputs: Vec<ServiceInput> = "app-delivery inputs";
    /// The host's facts.
    host: HostFacts = "host facts";
    /// The service graph.
    graph: ServiceGraph = "service graph";
    /// The rendered context.
    rendered: Rendered = "rendered context";
    /// The dev plan.
    plan: DevPlan = "dev plan";
}

impl Run<'_> {
    /// A connection to this session's controller, if it speaks this build's protocol.
    pub(crate) async fn client(&self) -> Result<Client, EngineError> {
        let socket = self.made.host()?.socket.as_str();
        Ok(Client::connect(socket.into(), &self.session.state.id).await?)
    }

    /// Who and where.
    pub(crate) fn target(&self) -> Target {
        let owner = self.made.owner.as_ref();
        let owner = owner.or(self.session.state.owner.as_ref());
        let proof = self.made.scope.as_ref().and_then(ProvenScope::aws);
        Target {
            account: proof.map(|proof| proof.account.clone()),
            ..target(&self.config, owner)
        }
    }

    /// Tells the person where a state stands.
    pub(crate) fn tell(&mut self, state: StateName, status: &str, message: Option<String>) {
        let entry = self.session.state.entry(state);
        let seconds = crate::commands::status::seconds(&entry);
        (self.progress)(Progress::State(StateReport {
            name: state.to_string(),
            status: status.to_owned(),
            seconds: if status == "running" || status == "kept" {
                None
            } else {
                seconds
            },
            message,
        }));
    }
}

/// Who and where a session acts.
pub(crate) fn target(config: &ResolvedConfig, owner: Option<&Owner>) -> Target {
    let word = |value: serde_json::Result<serde_json::Value>| {
        value
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
    };
    Target {
        owner: owner.map(ToString::to_string),
        session: Some(config.name.to_string()),
        cloud: word(serde_json::to_value(config.target.cloud)),
        account: None,
        region: config.target.region.clone(),
        host: word(serde_json::to_value(config.host.mode)),
    }
}
