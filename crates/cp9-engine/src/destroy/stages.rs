//! The stages of a destroy in their order. A stage that fails is reported and stops none after it; only
//! the post-scan decides.

use std::collections::BTreeSet;

use cp9_cloud::local::Local;
use cp9_cloud::{Cloud as _, Found, Ledger, ProvenScope};
use cp9_model::host::HostFacts;
use cp9_model::lifecycle::SessionState;
use cp9_model::report::{DestroyReport, Progress, StageReport, Survivor};
use cp9_model::{Owner, Scope};
use cp9_tools::procs;

use super::{ledger, record};
use crate::commands::controller;
use crate::dirs::Dirs;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::host::{Host as _, ProcessHost};
use crate::registry::Registry;

/// One destroy under the session's lock.
pub(crate) struct Destroy<'a> {
    engine: &'a Engine,
    dirs: Dirs,
    folder: Folder,
    scope: Scope,
    force: bool,
    progress: &'a mut dyn FnMut(Progress),
    stages: Vec<StageReport>,
}

impl<'a> Destroy<'a> {
    /// A session whose journal was never written, or is beyond reading, is still found by its folder.
    pub(crate) fn new(
        engine: &'a Engine,
        folder: Folder,
        state: Option<SessionState>,
        force: bool,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, EngineError> {
        let owner = state.as_ref().and_then(|state| state.owner.clone());
        let scope = Scope {
            owner: owner.unwrap_or_else(|| Owner::new(Owner::LOCAL)),
            session: folder.name.parse()?,
            id: state.map_or_else(|| "unknown".to_owned(), |state| state.id),
        };
        let dirs = Dirs::of(&engine.doors.env)?;
        if engine.doors.exists(&folder.logs()) {
            engine
                .doors
                .recorder
                .to_file(folder.logs().join("calls.jsonl"));
        }
        Ok(Self {
            engine,
            dirs,
            folder,
            scope,
            force,
            progress,
            stages: Vec::new(),
        })
    }

    fn host(&self) -> ProcessHost<'_> {
        ProcessHost {
            engine: self.engine,
            dirs: &self.dirs,
            folder: &self.folder,
            id: &self.scope.id,
        }
    }

    /// Everything, in order.
    pub(crate) async fn run(&mut self) -> Result<DestroyReport, EngineError> {
        let ledger = ledger::write(self.engine, &self.folder, &self.host())?;
        let facts = self.host().load().unwrap_or_default();
        let held = held_ports(facts.as_ref());
        self.stage_one().await;
        self.skip("substrate", "no cloud state ever began");
        let cloud = Local::new(self.engine.doors.clone(), self.folder.root.clone());
        let proven = cloud.prove(self.scope.clone()).await?;
        self.reap(&cloud, &proven, &ledger).await;
        let survivors = self.post_scan(&cloud, &proven, &ledger, &held).await?;
        let mut record = None;
        if survivors.is_empty() {
            record = Some(self.finish(facts.as_ref()).await?.into_string());
        } else {
            self.remember(&survivors)?;
        }
        Ok(DestroyReport {
            session: self.folder.name.clone(),
            already: false,
            stages: self.stages.clone(),
            survivors,
            record,
        })
    }

    /// Stage 1: controller and host. Marked when done, and not done twice unless forced.
    async fn stage_one(&mut self) {
        let marker = self.folder.destroy().join("stage-1.done");
        if self.engine.doors.exists(&marker) && !self.force {
            self.skip("controller", "done by an earlier destroy");
            self.skip("host", "done by an earlier destroy");
            return;
        }
        let stopped = controller::stop(self.engine, &self.folder)
            .await
            .map(u32::from);
        let controller = self.report("controller", stopped);
        let ended = self.host().stop().await;
        let host = self.report("host", ended);
        if controller && host {
            // The mark only saves work: without it the next pass looks again.
            let _ = self.engine.doors.write_if_changed(&marker, b"", 0o600);
        }
    }

    /// Stage 2: whatever still carries the scope.
    async fn reap(&mut self, cloud: &Local, proven: &ProvenScope, ledger: &Ledger) {
        let found = match cloud.scan(proven, ledger).await {
            Ok(found) => found,
            Err(error) => {
                self.report("reaper", Err(error.into()));
                return;
            }
        };
        let (mut deleted, mut survived) = (0, 0);
        for thing in &found {
            match cloud.delete(proven, thing).await {
                Ok(true) => deleted += 1,
                Ok(false) | Err(_) => survived += 1,
            }
        }
        self.push(StageReport {
            name: "reaper".into(),
            deleted,
            survived,
            error: None,
            skipped: None,
        });
    }

    /// What is there after all; "could not look" is an error.
    async fn post_scan(
        &mut self,
        cloud: &Local,
        proven: &ProvenScope,
        ledger: &Ledger,
        held: &BTreeSet<u16>,
    ) -> Result<Vec<Survivor>, EngineError> {
        let found = cloud.scan(proven, ledger).await?;
        let processes = found.iter().map(process_survivor);
        let ports = held
            .iter()
            .filter(|port| !procs::is_port_free(**port))
            .map(|port| port_survivor(*port));
        let survivors: Vec<Survivor> = processes.chain(ports).collect();
        let survived = u32::try_from(survivors.len()).unwrap_or(u32::MAX);
        self.push(StageReport {
            name: "post-scan".into(),
            deleted: 0,
            survived,
            error: None,
            skipped: None,
        });
        Ok(survivors)
    }

    /// Takes away what is outside the folder, then the folder.
    async fn finish(
        &mut self,
        facts: Option<&HostFacts>,
    ) -> Result<camino::Utf8PathBuf, EngineError> {
        if let Some(facts) = facts {
            self.engine
                .doors
                .remove_file(facts.socket.as_str().into())?;
        }
        Registry::new(&self.engine.doors, &self.dirs)
            .release(self.engine, &self.folder)
            .await?;
        self.push(StageReport {
            name: "folder".into(),
            deleted: 1,
            survived: 0,
            error: None,
            skipped: None,
        });
        record::finish(
            self.engine,
            &self.folder,
            &self.scope.id,
            self.scope.owner.as_str(),
            &self.stages,
        )
    }

    fn remember(&self, survivors: &[Survivor]) -> Result<(), EngineError> {
        let bytes = serde_json::to_vec_pretty(survivors)
            .expect("survivors are plain data and always serialise");
        let path = self.folder.destroy().join("survivors.json");
        Ok(self.engine.doors.write_atomic(&path, &bytes, 0o600)?)
    }

    fn report(&mut self, name: &str, ended: Result<u32, EngineError>) -> bool {
        let (deleted, error) = match ended {
            Ok(deleted) => (deleted, None),
            Err(error) => (0, Some(error.last().message)),
        };
        let good = error.is_none();
        self.push(StageReport {
            name: name.into(),
            deleted,
            survived: 0,
            error,
            skipped: None,
        });
        good
    }

    fn skip(&mut self, name: &str, why: &str) {
        let skipped = Some(why.to_owned());
        self.push(StageReport {
            name: name.into(),
            deleted: 0,
            survived: 0,
            error: None,
            skipped,
        });
    }

    fn push(&mut self, stage: StageReport) {
        (self.progress)(Progress::Stage(stage.clone()));
        self.stages.push(stage);
    }
}

/// The session's ports that something listens on now: each must be free in the end.
fn held_ports(facts: Option<&HostFacts>) -> BTreeSet<u16> {
    let ports = facts.iter().flat_map(|facts| facts.ports.values());
    ports
        .flat_map(|ports| ports.values().copied())
        .filter(|port| !procs::is_port_free(*port))
        .collect()
}

fn process_survivor(found: &Found) -> Survivor {
    Survivor {
        cloud: "local".into(),
        region: "this machine".into(),
        kind: found.kind.clone(),
        id: found.id.clone(),
        reason: format!(
            "`{}` is still running, ours by {}",
            found.name, found.because
        ),
        remedy: Some(format!("end it: `kill -9 {}`", found.id)),
    }
}

fn port_survivor(port: u16) -> Survivor {
    Survivor {
        cloud: "local".into(),
        region: "this machine".into(),
        kind: "port".into(),
        id: port.to_string(),
        reason: "still in use, by a process that does not carry the session's scope".into(),
        remedy: Some(format!("see who listens: `ss -ltnp sport = :{port}`")),
    }
}
