//! Putting a changed plan in force: what did not change goes on undisturbed.

use std::collections::BTreeMap;

use cp9_model::control::Phase;
use cp9_model::devplan::{DevPlan, Resource, Trigger};

use super::child::in_words;
use super::core::Core;
use super::item::{Stay, Work};
use super::plan::{self, build_digest, concrete};
use super::sources::watch_sets;
use super::{builder, service};

impl Core {
    /// Reads the plan again; a plan that cannot be executed changes nothing.
    pub(super) fn reload(&mut self) -> Result<(), String> {
        let plan = plan::read(&self.session.doors, &self.session.paths)
            .map_err(|error| in_words(&error))?;
        crate::secrets::learn(&self.session.doors, &self.session.paths.folder);
        let names: Vec<String> = self.items.keys().cloned().collect();
        self.set_plan(plan);
        for name in names {
            if self.plan.resource(&name).is_none() {
                self.leave(&name, None);
            }
        }
        for entry in self.plan.resources.clone() {
            self.take_over(&entry);
        }
        self.sources.set_plan(watch_sets(&self.plan));
        self.indexer.set_resources(owners(&self.plan));
        Ok(())
    }

    fn take_over(&mut self, entry: &Resource) {
        let Some(item) = self.items.get(&entry.name) else {
            return self.add(entry);
        };
        if !item.stays()
            || item.resource.kind != entry.kind
            || item.resource.service != entry.service
        {
            return self.leave(&entry.name, Some(entry.clone()));
        }
        match &item.work {
            Work::Build { .. } => self.replan_build(entry),
            Work::Serve(_) => self.replan_service(entry),
        }
    }

    fn replan_build(&mut self, entry: &Resource) {
        let resource = concrete(&self.plan, entry);
        let Some(item) = self.items.get_mut(&entry.name) else {
            return;
        };
        let changed = build_digest(&resource) != build_digest(&item.resource);
        item.resource = resource;
        item.looking &= !changed;
        if let Work::Build { builder, .. } = &mut item.work {
            builder.auto = entry.trigger == Trigger::Auto;
        }
        if changed {
            self.step_build(&entry.name, builder::Event::Replanned);
        }
        // A reload is what `up` asks for, and `up` gives what failed another chance.
        self.step_build(&entry.name, builder::Event::Retry);
    }

    fn replan_service(&mut self, entry: &Resource) {
        let resource = concrete(&self.plan, entry);
        let Some(item) = self.items.get_mut(&entry.name) else {
            return;
        };
        item.resource = resource;
        let Work::Serve(serve) = &mut item.work else {
            return;
        };
        let asks = serve.replan(&self.session.doors, &self.plan, entry, &item.resource);
        let down = serve.service.phase() == Phase::Quiescent;
        let product = serve.built_by.clone();
        if let Some(asks) = asks {
            self.ask_anew(&entry.name, asks);
        }
        self.refresh_service(&entry.name);
        if let Some(Work::Build { builder, .. }) = product
            .and_then(|build| self.items.get(&build))
            .map(|b| &b.work)
            && let Some(product) = builder.product.clone()
        {
            self.step_service(&entry.name, service::Event::Product(product));
        }
        if down {
            self.step_service(&entry.name, service::Event::Triggered);
        }
    }

    /// Ends a resource; a successor takes its place when it has ended.
    fn leave(&mut self, name: &str, successor: Option<Resource>) {
        if let Some(item) = self.items.get_mut(name) {
            item.stay = successor.map_or(Stay::Leaves, |entry| Stay::Replaced(Box::new(entry)));
        }
        self.refuse_triggers(name);
        self.end(name);
    }

    /// Removes resources that have left, and lets their successors in.
    pub(super) fn let_go(&mut self) {
        let gone: Vec<String> = self
            .items
            .iter()
            .filter(|(_, item)| !item.stays() && item.ended())
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            let Some(item) = self.items.shift_remove(&name) else {
                continue;
            };
            if let Stay::Replaced(successor) = item.stay {
                self.add(&successor);
                // Its watched files were reported while its predecessor stood in its place.
                self.sources.set_plan(watch_sets(&self.plan));
            }
        }
    }
}

/// The service of each resource.
pub(super) fn owners(plan: &DevPlan) -> BTreeMap<String, String> {
    plan.resources
        .iter()
        .map(|resource| (resource.name.clone(), resource.service.clone()))
        .collect()
}
