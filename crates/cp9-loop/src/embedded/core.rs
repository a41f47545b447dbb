//! The owner of all state: hears every message, lets the machines step, does what they ask for,
//! and publishes the status. Nothing else changes a resource.

use std::collections::HashMap;
use std::time::Duration;

use cp9_model::control::{ControllerStatus, Hello, PROTOCOL, Phase, Reply, Request};
use cp9_model::devplan::{DevPlan, Trigger};
use indexmap::IndexMap;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::adopt::Survivor;
use super::echo::{Changed, Spans};
use super::item::{Item, Work};
use super::message::{Message, Messages, ReplyTo, Why};
use super::service::{Due, Which};
use super::session::Session;
use super::sources::watch_sets;
use super::timers::Timers;
use super::watch::SourceWatcher;
use super::{builder, service};
use crate::logs::Indexer;

/// What falls due later: for a resource and one of its runs.
#[derive(Debug)]
pub(super) struct Later {
    pub(super) resource: String,
    pub(super) run: u64,
    pub(super) what: What,
}

/// What is to be done then.
#[derive(Debug, Clone, Copy)]
pub(super) enum What {
    Probe(Which),
    Due(Due),
}

/// All state of a controller.
pub(super) struct Core {
    pub(super) session: Session,
    pub(super) plan: DevPlan,
    pub(super) items: IndexMap<String, Item>,
    pub(super) messages: Messages,
    pub(super) timers: Timers<Later>,
    pub(super) sources: SourceWatcher,
    pub(super) indexer: Indexer,
    pub(super) notes: Vec<String>,
    hello: Hello,
    born: Instant,
    status_tx: watch::Sender<ControllerStatus>,
    pub(super) triggers: HashMap<String, Vec<ReplyTo>>,
    /// True when nobody watches files any more.
    pub(super) blind: bool,
    /// True until what an earlier controller left running has ended: it may hold a port.
    pub(super) clearing: bool,
    /// When builds ran.
    pub(super) spans: Spans,
    stopping: Option<Vec<ReplyTo>>,
}

/// The helpers that run beside the owner.
pub(super) struct Beside {
    pub(super) sources: SourceWatcher,
    pub(super) indexer: Indexer,
}

impl Core {
    /// Takes over a plan and the processes that survived.
    pub(super) fn new(
        session: Session,
        plan: DevPlan,
        survivors: Vec<Survivor>,
        beside: Beside,
        messages: Messages,
    ) -> Self {
        let hello = Hello {
            id: session.scope.id.clone(),
            protocol: PROTOCOL,
            plan_digest: plan.digest(),
            pid: cp9_tools::procs::own_pid(),
            version: session.version.to_string(),
            stopping: false,
        };
        let status = ControllerStatus {
            hello: hello.clone(),
            resources: Vec::new(),
            notes: Vec::new(),
        };
        let mut core = Self {
            session,
            items: IndexMap::new(),
            messages,
            timers: Timers::new(),
            sources: beside.sources,
            indexer: beside.indexer,
            notes: Vec::new(),
            hello,
            born: Instant::now(),
            status_tx: watch::Sender::new(status),
            triggers: HashMap::new(),
            blind: false,
            clearing: true,
            spans: Spans::default(),
            stopping: None,
            plan,
        };
        for entry in core.plan.resources.clone() {
            core.add(&entry);
        }
        for survivor in survivors {
            core.adopt(survivor);
        }
        core.sources.set_plan(watch_sets(&core.plan));
        core.after();
        core
    }

    /// Where the status can be followed.
    pub(super) fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status_tx.subscribe()
    }

    /// Runs until it was stopped and every child has ended; returns who waits to hear that.
    pub(super) async fn run(mut self, mut heard: mpsc::UnboundedReceiver<Message>) -> Vec<ReplyTo> {
        loop {
            if let Some(waiting) = self.stopped() {
                self.rest().await;
                self.sources.finish();
                self.indexer.finish();
                return waiting;
            }
            let next = self.timers.next();
            let far = Instant::now() + Duration::from_hours(1);
            tokio::select! {
                message = heard.recv() => match message {
                    Some(message) => self.hear(message),
                    None => self.begin_stop(None),
                },
                () = tokio::time::sleep_until(next.unwrap_or(far)), if next.is_some() => self.fire(),
            }
            self.after();
        }
    }

    /// Time since the start of this controller.
    pub(super) fn now(&self) -> Duration {
        self.born.elapsed()
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Client(request, reply) => self.client(request, reply),
            Message::Source {
                resource,
                digest,
                changed,
                why,
            } => self.source(&resource, digest, changed, why),
            Message::Resumed {
                resource,
                plan,
                product,
            } => self.resumed(&resource, &plan, product),
            Message::Cleared => self.clearing = false,
            Message::Probed {
                resource,
                run,
                judged,
                which,
                answer,
            } => self.probed(
                &resource,
                judged,
                service::Event::Probed(run, which, answer),
            ),
            Message::Note(note) => self.notes.push(note),
            Message::Blind => self.go_blind(),
            Message::Build(name, event) => self.step_build(&name, event),
            Message::Service(name, event) => self.step_service(&name, event),
            Message::Shutdown => self.begin_stop(None),
        }
    }

    fn client(&mut self, request: Request, reply: ReplyTo) {
        let refused = |message: String| Reply::Error { message };
        let answer = match request {
            Request::Hello => Reply::Hello(self.hello.clone()),
            // The socket answers these two itself.
            Request::Watch | Request::Credentials => return,
            Request::Status => Reply::Status(self.report()),
            Request::Stop => return self.begin_stop(Some(reply)),
            Request::Trigger { .. } | Request::Reload if self.stopping.is_some() => {
                refused("the controller is stopping".into())
            }
            Request::Trigger { resource } => return self.trigger(resource, reply),
            Request::Reload => match self.reload() {
                Ok(()) => Reply::Hello(self.hello.clone()),
                Err(message) => refused(message),
            },
        };
        // A client that hung up needs no answer.
        let _ = reply.send(answer);
    }

    fn source(&mut self, name: &str, digest: String, changed: Changed, why: Why) {
        let outdated = self.outdated(name, why);
        let Some(item) = self.items.get_mut(name) else {
            return;
        };
        item.disk = Some(digest.clone());
        let asked = why == Why::Asked;
        match &mut item.work {
            Work::Build { .. } => {
                let event = if asked {
                    builder::Event::Triggered(digest)
                } else if self.spans.cover(&changed) {
                    let files = changed.into_iter().map(|(file, _)| file).collect();
                    builder::Event::Echo { digest, files }
                } else {
                    builder::Event::Source(digest)
                };
                self.step_build(name, event);
            }
            Work::Serve(serve) => {
                let taken = why != Why::Seen || serve.source.is_none();
                if (taken || item.resource.trigger == Trigger::Auto) && !outdated {
                    serve.source = Some(digest);
                    serve.renewing = false;
                }
                if asked {
                    serve.launch = super::plan::launch_digest(&self.session.doors, &item.resource);
                }
                let before = serve.service.run();
                self.refresh_service(name);
                // What has just been started because of this very digest needs no second start.
                if asked && self.run_of_service(name) == Some(before) {
                    self.step_service(name, service::Event::Triggered);
                }
            }
        }
        if asked {
            self.answer_triggers(name);
        }
    }

    /// True for a digest that does not know the product yet which a process is to be started with.
    fn outdated(&self, name: &str, why: Why) -> bool {
        let Some(Work::Serve(serve)) = self.items.get(name).map(|item| &item.work) else {
            return false;
        };
        let feeder = serve.fed_by.as_ref();
        let unbuilt = |build: &String| !self.items.get(build).is_some_and(Item::succeeded);
        serve.service.phase() == Phase::Waiting
            && feeder.is_some_and(|build| unbuilt(build) || (serve.renewing && why == Why::Seen))
    }

    fn run_of_service(&self, name: &str) -> Option<u64> {
        match self.items.get(name).map(|item| &item.work) {
            Some(Work::Serve(serve)) => Some(serve.service.run()),
            _ => None,
        }
    }

    /// Tells a process what it must be started from as far as that is known by now.
    pub(super) fn refresh_service(&mut self, name: &str) {
        let Some(Work::Serve(serve)) = self.items.get(name).map(|item| &item.work) else {
            return;
        };
        let (entry, product) = (serve.entry(), serve.own_product());
        if let Some(entry) = entry {
            self.step_service(name, service::Event::Entry(entry));
        }
        if let Some(product) = product {
            self.step_service(name, service::Event::Product(product));
        }
    }

    /// Adds a resource that was not there.
    pub(super) fn add(&mut self, entry: &cp9_model::devplan::Resource) {
        let mut item = Item::new(&self.session.doors, &self.plan, entry);
        item.looking = self.look_for_product(&item);
        self.items.insert(entry.name.clone(), item);
        self.refresh_service(&entry.name);
    }

    fn begin_stop(&mut self, reply: Option<ReplyTo>) {
        let first = self.stopping.is_none();
        self.stopping.get_or_insert_default().extend(reply);
        if !first {
            return;
        }
        self.hello.stopping = true;
        for name in self.items.keys().cloned().collect::<Vec<_>>() {
            self.end(&name);
        }
    }

    /// Ends what runs for a resource.
    pub(super) fn end(&mut self, name: &str) {
        match self.items.get(name).map(|item| &item.work) {
            Some(Work::Build { .. }) => self.step_build(name, builder::Event::Stop),
            Some(Work::Serve(_)) => self.step_service(name, service::Event::Stop),
            None => {}
        }
    }

    fn stopped(&mut self) -> Option<Vec<ReplyTo>> {
        self.stopping.as_ref().filter(|_| !self.clearing)?;
        self.items
            .values()
            .all(Item::ended)
            .then(|| self.stopping.take().unwrap_or_default())
    }

    /// Waits until the records of finished builds are written, which the next controller reads.
    async fn rest(&self) {
        for item in self.items.values() {
            if let Work::Build { turn, .. } = &item.work {
                drop(turn.lock().await);
            }
        }
    }

    fn fire(&mut self) {
        while let Some(later) = self.timers.due(Instant::now()) {
            match later.what {
                What::Probe(which) => self.probe(&later.resource, later.run, which),
                What::Due(due) => {
                    self.step_service(&later.resource, service::Event::Due(later.run, due));
                }
            }
        }
    }

    /// What follows every change: resources that left, dependencies that are met, the status.
    fn after(&mut self) {
        self.let_go();
        self.settle();
        let report = self.report();
        self.status_tx.send_if_modified(|status| {
            let news = *status != report;
            *status = report;
            news
        });
    }

    /// Tells resources whose dependencies have had success, until no more follows.
    fn settle(&mut self) {
        loop {
            let met: Vec<String> = self
                .items
                .iter()
                .filter(|(_, item)| !item.deps_met && !item.looking)
                .filter(|(_, item)| self.waits_for(item).is_empty())
                .map(|(name, _)| name.clone())
                .collect();
            if met.is_empty() || self.clearing || self.stopping.is_some() {
                return;
            }
            for name in met {
                let Some(item) = self.items.get_mut(&name) else {
                    continue;
                };
                item.deps_met = true;
                match &item.work {
                    Work::Build { .. } => self.step_build(&name, builder::Event::DepsMet),
                    Work::Serve(_) => self.step_service(&name, service::Event::DepsMet),
                }
            }
        }
    }

    fn report(&self) -> ControllerStatus {
        let resources = self
            .plan
            .resources
            .iter()
            .filter_map(|entry| self.resource_status(&entry.name))
            .collect();
        ControllerStatus {
            hello: self.hello.clone(),
            resources,
            notes: self.notes.clone(),
        }
    }

    /// Puts another plan in force.
    pub(super) fn set_plan(&mut self, plan: DevPlan) {
        self.hello.plan_digest = plan.digest();
        self.plan = plan;
    }
}

#[cfg(test)]
#[path = "core_tests.rs"]
mod tests;
