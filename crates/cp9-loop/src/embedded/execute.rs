//! Doing what the machines ask for: builds, starts, stops, probes and timers as tasks of their
//! own, which answer with messages.

use std::time::Duration;

use cp9_model::control::Phase;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::adopt::Survivor;
use super::build::Build;
use super::builder::{self, Product};
use super::check;
use super::child::Run;
use super::core::{Core, Later, What};
use super::generation;
use super::holder::Holder;
use super::item::{Item, Work};
use super::message::Message;
use super::oversight::{FAULT, oversee};
use super::plan::build_digest;
use super::service::{self, Started, Which};

impl Core {
    /// Lets a build's machine take an event, and does what it asks for.
    pub(super) fn step_build(&mut self, name: &str, event: builder::Event) {
        if matches!(event, builder::Event::Finished { .. }) {
            let now = self.session.doors.clock.now().as_nanosecond();
            self.spans.end(name, now);
        }
        let Some(Work::Build { builder, .. }) = self.items.get_mut(name).map(|item| &mut item.work)
        else {
            return;
        };
        for action in builder.step(event) {
            match action {
                builder::Action::Start { number, source } => self.start_build(name, number, source),
                builder::Action::Kill(_) => self.kill_build(name),
                builder::Action::Deliver(product) => self.deliver(name, &product),
            }
        }
    }

    fn start_build(&mut self, name: &str, number: u64, source: String) {
        let executed = !self.takers(name).is_empty();
        let Some(item) = self.items.get_mut(name) else {
            return;
        };
        let token = CancellationToken::new();
        let Work::Build { kill, turn, .. } = &mut item.work else {
            return;
        };
        *kill = Some(token.clone());
        let build = Build {
            turn: turn.clone(),
            session: self.session.clone(),
            resource: item.resource.clone(),
            number,
            source,
            executed,
            kill: token,
            messages: self.messages.clone(),
        };
        let lost = build.clone();
        let now = self.session.doors.clock.now().as_nanosecond();
        self.spans.begin(name, now);
        oversee(&self.messages, build.run(), lost.lost());
    }

    fn kill_build(&mut self, name: &str) {
        if let Some(Work::Build {
            kill: Some(kill), ..
        }) = self.items.get(name).map(|item| &item.work)
        {
            kill.cancel();
        }
    }

    /// The processes that are started from a build's product itself.
    fn takers(&self, build: &str) -> Vec<String> {
        self.items
            .iter()
            .filter(|(_, item)| matches!(&item.work, Work::Serve(serve) if serve.built_by.as_deref() == Some(build)))
            .map(|(taker, _)| taker.clone())
            .collect()
    }

    fn deliver(&mut self, name: &str, product: &Product) {
        for taker in self.takers(name) {
            self.step_service(&taker, service::Event::Product(product.clone()));
        }
        self.renew_watchers(name);
    }

    /// Processes that watch a build's product and have never been started, or have been given up, wait
    /// for a digest that knows the new one; else they would be started twice. Those that were given up
    /// are started by it even if nothing has changed.
    fn renew_watchers(&mut self, build: &str) {
        for (name, item) in &mut self.items {
            let Work::Serve(serve) = &mut item.work else {
                continue;
            };
            let waits = matches!(serve.service.phase(), Phase::Waiting | Phase::Quiescent);
            if waits && serve.fed_by.as_deref() == Some(build) {
                serve.renewing = true;
                serve.source = None;
                serve.service.withdraw_product();
                self.sources.renew(name);
            }
        }
    }

    /// Looks in the background whether an earlier controller left an intact product of a build.
    pub(super) fn look_for_product(&self, item: &Item) -> bool {
        let Work::Build { turn, .. } = &item.work else {
            return false;
        };
        if item.resource.binary.is_none() {
            return false;
        }
        let (doors, resource) = (self.session.doors.clone(), item.resource.clone());
        let (messages, turn) = (self.messages.clone(), turn.clone());
        tokio::spawn(async move {
            let _turn = turn.lock().await;
            let (name, plan) = (resource.name.clone(), build_digest(&resource));
            let look = move || generation::resume(&doors, &resource);
            let product = tokio::task::spawn_blocking(look).await.unwrap_or(None);
            // The owner of the state goes last; when it is gone, nobody needs to know.
            let _ = messages.send(Message::Resumed {
                resource: name,
                plan,
                product,
            });
        });
        true
    }

    /// Takes the answer, if the plan still builds it that way.
    pub(super) fn resumed(&mut self, name: &str, plan: &str, product: Option<Product>) {
        let Some(item) = self.items.get_mut(name) else {
            return;
        };
        if build_digest(&item.resource) != plan {
            return;
        }
        item.looking = false;
        if let Some(product) = product {
            self.step_build(name, builder::Event::Resumed(product));
        }
    }

    /// Lets a process's machine take an event, and does what it asks for.
    pub(super) fn step_service(&mut self, name: &str, event: service::Event) {
        let now = self.now();
        let Some(Work::Serve(serve)) = self.items.get_mut(name).map(|item| &mut item.work) else {
            return;
        };
        let before = serve.service.run();
        let actions = serve.service.step(event, now);
        let after = serve.service.run();
        if before != after {
            self.timers
                .retain(|later| later.resource != name || later.run == after);
        }
        self.act(name, actions);
    }

    /// Asks what replaces all questions that are open about a process.
    pub(super) fn ask_anew(&mut self, name: &str, questions: Vec<service::Action>) {
        let question = |later: &Later| matches!(later.what, What::Probe(_));
        self.timers
            .retain(|later| later.resource != name || !question(later));
        self.act(name, questions);
    }

    fn act(&mut self, name: &str, actions: Vec<service::Action>) {
        for action in actions {
            match action {
                service::Action::Spawn(run, started) => self.start_run(name, run, started),
                service::Action::Stop(_) => self.stop_run(name),
                service::Action::Probe(run, which, Duration::ZERO) => self.probe(name, run, which),
                service::Action::Probe(run, which, after) => {
                    self.later(name, run, What::Probe(which), after);
                }
                service::Action::Timer(run, due, after) => {
                    self.later(name, run, What::Due(due), after);
                }
            }
        }
    }

    fn later(&mut self, name: &str, run: u64, what: What, after: Duration) {
        self.timers.set(
            Instant::now() + after,
            Later {
                resource: name.to_owned(),
                run,
                what,
            },
        );
    }

    /// A new run of a resource, with the token that ends it.
    fn run_of(&mut self, name: &str, number: u64) -> Option<Run> {
        let item = self.items.get_mut(name)?;
        let Work::Serve(serve) = &mut item.work else {
            return None;
        };
        let stop = CancellationToken::new();
        serve.stop = Some(stop.clone());
        Some(Run {
            session: self.session.clone(),
            resource: item.resource.clone(),
            number,
            stop,
            messages: self.messages.clone(),
        })
    }

    fn start_run(&mut self, name: &str, number: u64, started: Started) {
        if let Some(run) = self.run_of(name, number) {
            let lost = run.clone();
            oversee(&self.messages, run.start(started), lost.lost());
        }
    }

    fn stop_run(&mut self, name: &str) {
        if let Some(Work::Serve(serve)) = self.items.get(name).map(|item| &item.work)
            && let Some(stop) = &serve.stop
        {
            stop.cancel();
        }
    }

    /// Goes on with a process of an earlier controller.
    pub(super) fn adopt(&mut self, survivor: Survivor) {
        let Survivor { resource, record } = survivor;
        self.step_service(
            &resource,
            service::Event::Adopted(record.id, record.started()),
        );
        let number = match self.items.get(&resource).map(|item| &item.work) {
            Some(Work::Serve(serve)) => serve.service.run(),
            _ => return,
        };
        if let Some(run) = self.run_of(&resource, number) {
            let lost = run.clone();
            oversee(
                &self.messages,
                run.adopt(record.id, record.mark),
                lost.lost(),
            );
        }
        self.refresh_service(&resource);
    }

    /// Asks a probe, if the run it belongs to still goes on.
    pub(super) fn probe(&mut self, name: &str, run: u64, which: Which) {
        let now = self.now();
        let Some(item) = self.items.get(name) else {
            return;
        };
        let Work::Serve(serve) = &item.work else {
            return;
        };
        let Some(probe) = serve
            .service
            .probe(which)
            .filter(|_| serve.service.probed_run(run))
        else {
            return;
        };
        let (session, resource, probe) =
            (self.session.clone(), item.resource.clone(), probe.clone());
        let (messages, age) = (self.messages.clone(), serve.service.age(now));
        let (judged, resource_name) = (serve.judged, resource.name.clone());
        let answered = move |answer| Message::Probed {
            resource: resource_name,
            run,
            judged,
            which,
            answer,
        };
        let lost = answered.clone();
        // Once is enough: what has come to have its port keeps it.
        let doubted = which == Which::Ready && !serve.service.was_ready();
        let holder = doubted.then(|| self.holder(name)).flatten();
        let asked = async move {
            let mut answer = check::ask(&session, &resource, &probe, age).await;
            if let Some(holder) = holder.filter(|_| answer.is_ok()) {
                let judged = tokio::task::spawn_blocking(move || holder.judge(&probe.check));
                answer = judged.await.unwrap_or_else(|_| Err(FAULT.to_owned()));
            }
            // The owner of the state goes last; when it is gone, nobody needs to know.
            let _ = messages.send(answered(answer));
        };
        oversee(
            &self.messages,
            asked,
            async move { lost(Err(FAULT.to_owned())) },
        );
    }

    /// Who may answer for a process.
    fn holder(&self, name: &str) -> Option<Holder> {
        let process = |item: &Item| match &item.work {
            Work::Serve(serve) => serve.service.id(),
            Work::Build { .. } => None,
        };
        let others = self.items.iter().filter(|(other, _)| *other != name);
        Some(Holder {
            process: process(self.items.get(name)?)?,
            others: others
                .filter_map(|(other, item)| Some((other.clone(), process(item)?)))
                .collect(),
            session: self.session.scope.id.clone(),
        })
    }

    /// Takes an answer, unless the process has come to be judged another way since.
    pub(super) fn probed(&mut self, name: &str, judged: u64, answer: service::Event) {
        let same = |item: &Item| matches!(&item.work, Work::Serve(serve) if serve.judged == judged);
        if self.items.get(name).is_some_and(same) {
            self.step_service(name, answer);
        }
    }
}
