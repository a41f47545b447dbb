//! One resource of the plan with its machine and the handles of what runs for it.

use std::sync::Arc;

use cp9_model::devplan::{DevPlan, Resource, ResourceKind, Trigger};
use cp9_tools::Doors;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::builder::{Builder, Product};
use super::plan::{concrete, launch_digest};
use super::service::{Action, Probes, Service};
use super::sources::WatchSet;

/// A resource as the controller keeps it.
#[derive(Debug)]
pub(super) struct Item {
    /// The plan's entry with its roots filled in.
    pub(super) resource: Resource,
    /// What it does.
    pub(super) work: Work,
    /// True once its dependencies were told to be met.
    pub(super) deps_met: bool,
    /// Whether it is to stay.
    pub(super) stay: Stay,
    /// Digest of its watched files as last seen.
    pub(super) disk: Option<String>,
    /// True while the product of an earlier controller is looked at; nothing is built meanwhile.
    pub(super) looking: bool,
}

/// Held by whoever reads or writes a build's products and their record, from a build's start until
/// its record is written.
pub(super) type Turn = Arc<Mutex<()>>;

/// Whether a resource is to stay.
#[derive(Debug)]
pub(super) enum Stay {
    /// It belongs to the plan.
    Stays,
    /// It goes when it has ended.
    Leaves,
    /// This takes its place when it has ended.
    Replaced(Box<Resource>),
}

/// What a resource does.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a plan has few resources, and most plans as many builds as processes"
)]
pub(super) enum Work {
    /// It is built.
    Build {
        /// Its machine.
        builder: Builder,
        /// Ends the build in flight.
        kill: Option<CancellationToken>,
        /// Whose turn it is with the products.
        turn: Turn,
    },
    /// It is kept running.
    Serve(Box<Serve>),
}

/// A served resource.
#[derive(Debug)]
pub(super) struct Serve {
    /// Its machine.
    pub(super) service: Service,
    /// Ends the process.
    pub(super) stop: Option<CancellationToken>,
    /// The build that delivers its binary.
    pub(super) built_by: Option<String>,
    /// The build whose product is among the files that it watches.
    pub(super) fed_by: Option<String>,
    /// True while a digest is awaited that knows the newest product of that build.
    pub(super) renewing: bool,
    /// How often the plan has judged it another way; answers to earlier questions count no more.
    pub(super) judged: u64,
    /// True when it watches files of its own.
    pub(super) watches: bool,
    /// Digest of its own watched files as last taken over.
    pub(super) source: Option<String>,
    /// Digest of its plan entry, files and secrets.
    pub(super) launch: String,
}

impl Item {
    /// A resource that has done nothing yet.
    pub(super) fn new(doors: &Doors, plan: &DevPlan, entry: &Resource) -> Self {
        let resource = concrete(plan, entry);
        let work = match resource.kind {
            ResourceKind::Build => Work::Build {
                builder: Builder::new(resource.trigger == Trigger::Auto),
                kill: None,
                turn: Turn::default(),
            },
            ResourceKind::Serve | ResourceKind::Apply => {
                Work::Serve(Box::new(Serve::new(doors, plan, entry, &resource)))
            }
        };
        Self {
            resource,
            work,
            deps_met: false,
            stay: Stay::Stays,
            disk: None,
            looking: false,
        }
    }

    /// True once what depends on it may start.
    pub(super) fn succeeded(&self) -> bool {
        match &self.work {
            Work::Build { builder, .. } => builder.product.is_some(),
            Work::Serve(serve) => serve.service.succeeded,
        }
    }

    /// True while it belongs to the plan.
    pub(super) fn stays(&self) -> bool {
        matches!(self.stay, Stay::Stays)
    }

    /// True when nothing runs for it any more.
    pub(super) fn ended(&self) -> bool {
        match &self.work {
            Work::Build { builder, .. } => !builder.busy(),
            Work::Serve(serve) => serve.service.phase() == cp9_model::control::Phase::Stopped,
        }
    }
}

impl Serve {
    fn new(doors: &Doors, plan: &DevPlan, entry: &Resource, resource: &Resource) -> Self {
        let built_by = built_by(plan, entry);
        let watches = !WatchSet::of(plan, entry).is_empty();
        let needs_product = built_by.is_some() || watches;
        Self {
            service: Service::new(probes(resource), needs_product),
            stop: None,
            launch: launch_digest(doors, resource),
            fed_by: fed_by(plan, entry),
            renewing: false,
            judged: 0,
            built_by,
            watches,
            source: None,
        }
    }

    /// Takes over a changed plan entry. If it is judged another way now, comes back with what that
    /// asks for.
    pub(super) fn replan(
        &mut self,
        doors: &Doors,
        plan: &DevPlan,
        entry: &Resource,
        resource: &Resource,
    ) -> Option<Vec<Action>> {
        self.built_by = built_by(plan, entry);
        self.fed_by = fed_by(plan, entry);
        self.watches = !WatchSet::of(plan, entry).is_empty();
        self.launch = launch_digest(doors, resource);
        let needs_product = self.built_by.is_some() || self.watches;
        let actions = self.service.set_plan(probes(resource), needs_product);
        self.judged += u64::from(actions.is_some());
        actions
    }

    /// What a process must have been started from, besides its product; `None` until it is known.
    pub(super) fn entry(&self) -> Option<String> {
        if self.built_by.is_none() || !self.watches {
            return Some(self.launch.clone());
        }
        self.source
            .as_ref()
            .map(|source| format!("{}+{source}", self.launch))
    }

    /// What a process is started from now and what it was started from: the files of its build; for
    /// one without a build its plan entry and the files that it watches.
    pub(super) fn origins(&self, disk: Option<&String>) -> (Option<String>, Option<String>) {
        let started = self.service.started();
        let source = started.and_then(|from| from.product.as_ref().map(|made| &made.source));
        if self.built_by.is_some() {
            return (None, source.cloned());
        }
        let watched = disk.filter(|_| self.watches);
        let now = (!self.watches || watched.is_some()).then(|| origin(&self.launch, watched));
        (now, started.map(|from| origin(&from.entry, source)))
    }

    /// The product of a process without a build: just the files that it watches.
    pub(super) fn own_product(&self) -> Option<Product> {
        let own = self.built_by.is_none() && self.watches;
        let source = self.source.clone().filter(|_| own)?;
        Some(Product {
            binary: None,
            source,
        })
    }
}

fn probes(resource: &Resource) -> Probes {
    let ready = resource.ready.clone();
    Probes {
        ready: ready.expect("a plan is refused in which a process has no readiness"),
        live: resource.live.clone(),
    }
}

/// Digest of all that a process without a build is started from.
pub(super) fn origin(launch: &str, watched: Option<&String>) -> String {
    let watched = watched.map_or("", String::as_str);
    cp9_model::digest::bytes(format!("{launch}+{watched}").as_bytes())
}

/// The build whose product a process runs.
fn built_by(plan: &DevPlan, entry: &Resource) -> Option<String> {
    let binary = entry.binary.as_ref()?;
    let builds = |other: &&Resource| {
        other.kind == ResourceKind::Build && other.binary.as_ref() == Some(binary)
    };
    plan.resources
        .iter()
        .find(builds)
        .map(|build| build.name.clone())
}

/// The build whose product a process watches, as one does that is started by a command of its own.
fn fed_by(plan: &DevPlan, entry: &Resource) -> Option<String> {
    let product = |other: &&Resource| {
        let binary = other
            .binary
            .as_ref()
            .filter(|_| other.kind == ResourceKind::Build);
        binary.is_some_and(|binary| entry.watch.contains(binary))
    };
    plan.resources
        .iter()
        .find(product)
        .filter(|build| entry.binary != build.binary)
        .map(|build| build.name.clone())
}
