//! What a resource looks like from outside.

use cp9_model::control::{Lineage, Phase, ResourceStatus};

use super::builder::Builder;
use super::core::Core;
use super::item::{Item, Serve, Work};
use super::triggers::BLIND;

/// No chain of dependencies is longer; a plan with a cycle ends here.
const DEEPEST: usize = 64;
const CLEARING: &str = "waits for the end of what an earlier controller left running";

impl Core {
    /// The dependencies of a resource that have not had success yet.
    pub(super) fn waits_for<'a>(&'a self, item: &'a Item) -> Vec<&'a str> {
        let lacks = |name: &&str| !self.items.get(*name).is_some_and(Item::succeeded);
        item.resource
            .deps
            .iter()
            .map(String::as_str)
            .filter(lacks)
            .collect()
    }

    pub(super) fn resource_status(&self, name: &str) -> Option<ResourceStatus> {
        let item = self.items.get(name)?;
        let mut status = match &item.work {
            Work::Build { builder, .. } => build_status(item, builder),
            Work::Serve(serve) => serve_status(item, serve),
        };
        if status.phase == Phase::Waiting && status.message.is_none() {
            let waits = self.blockers(item);
            if !waits.is_empty() {
                let names: Vec<String> = waits.iter().map(|name| format!("`{name}`")).collect();
                status.message = Some(format!("waits for {}", names.join(", ")));
            }
            status.verdict = self.hopeless(item, 0);
        }
        if status.phase == Phase::Waiting && self.clearing {
            status.message = Some(CLEARING.to_owned());
        }
        if status.phase == Phase::Waiting && self.blind {
            status.message = Some(BLIND.to_owned());
            status.verdict = true;
        }
        Some(status)
    }

    /// What a waiting resource waits for, the builds of its binary and of what it watches included.
    fn blockers<'a>(&'a self, item: &'a Item) -> Vec<&'a str> {
        let mut waits = self.waits_for(item);
        let Work::Serve(serve) = &item.work else {
            return waits;
        };
        for build in [&serve.built_by, &serve.fed_by].into_iter().flatten() {
            let unbuilt = !self.items.get(build).is_some_and(Item::succeeded);
            if unbuilt && !waits.contains(&build.as_str()) {
                waits.push(build);
            }
        }
        waits
    }

    /// True when what a resource waits for has failed, so that waiting is its verdict.
    fn hopeless(&self, item: &Item, depth: usize) -> bool {
        depth < DEEPEST
            && self
                .blockers(item)
                .iter()
                .filter_map(|name| self.items.get(*name))
                .any(|blocker| match &blocker.work {
                    Work::Build { builder, .. } => {
                        builder.phase() == Phase::Failed || self.hopeless(blocker, depth + 1)
                    }
                    Work::Serve(serve) => {
                        serve.service.verdict || self.hopeless(blocker, depth + 1)
                    }
                })
    }
}

fn build_status(item: &Item, builder: &Builder) -> ResourceStatus {
    ResourceStatus {
        name: item.resource.name.clone(),
        service: item.resource.service.clone(),
        phase: builder.phase(),
        ready: builder.ready(),
        verdict: builder.verdict(),
        message: builder.message(),
        pid: None,
        restarts: 0,
        runs: builder.runs,
        binary: builder
            .product
            .as_ref()
            .and_then(|product| product.binary.clone()),
        source: builder.source(),
        build_millis: builder.millis,
        lineage: Some(Lineage {
            ended: builder.ended,
            disk: item.disk.clone(),
            made_from: builder
                .product
                .as_ref()
                .map(|product| product.source.clone()),
            unreplaced: builder.unreplaced,
        }),
    }
}

fn serve_status(item: &Item, serve: &Serve) -> ResourceStatus {
    let service = &serve.service;
    let (disk, made_from) = serve.origins(item.disk.as_ref());
    let product = service
        .started()
        .and_then(|started| started.product.as_ref());
    ResourceStatus {
        name: item.resource.name.clone(),
        service: item.resource.service.clone(),
        phase: service.phase(),
        ready: service.phase() == Phase::Running,
        verdict: service.verdict,
        message: service.message.clone(),
        pid: service.id().map(|id| id.pid),
        restarts: service.restarts(),
        runs: service.runs,
        binary: product.and_then(|product| product.binary.clone()),
        source: product.map(|product| product.source.clone()),
        build_millis: None,
        lineage: Some(Lineage {
            ended: service.run(),
            disk,
            made_from,
            unreplaced: false,
        }),
    }
}
