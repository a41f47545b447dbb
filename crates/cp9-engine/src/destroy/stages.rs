//! The stages of a destroy in their order. A stage that fails is reported and stops none after it; only
//! the post-scan decides.

use std::sync::Arc;

use camino::Utf8PathBuf;
use cp9_cloud::aws::Proven;
use cp9_cloud::local::Local;
use cp9_cloud::{Cloud as _, Found, Ledger, ProvenScope};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::host::HostFacts;
use cp9_model::report::{DestroyReport, Progress, StageReport, StateReport, Survivor};
use cp9_model::{ExitCode, Scope};
use tokio::sync::Mutex;

use super::{ledger, orphans, ports, record, remote, substrate};
use crate::commands::controller;
use crate::dirs::Dirs;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::folder::Folder;
use crate::host::{Host as _, ProcessHost};
use crate::identity;
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
    /// The session file as it was last resolved, where the session may have written to a cloud.
    owed: Option<ResolvedConfig>,
    /// True when nothing could be looked at because nobody is proven.
    unproven: bool,
    /// Held while something works that must not be dropped in the middle.
    unbroken: Arc<Mutex<()>>,
}

impl<'a> Destroy<'a> {
    /// A destroy of a scope's folder.
    pub(crate) fn new(
        engine: &'a Engine,
        folder: Folder,
        scope: Scope,
        config: Option<ResolvedConfig>,
        force: bool,
        progress: &'a mut dyn FnMut(Progress),
    ) -> Result<Self, EngineError> {
        let owed = remote::owed(engine, &folder, config)?;
        let dirs = Dirs::of(&engine.doors.env)?;
        if engine.doors.exists(&folder.logs()) {
            let calls = folder.logs().join("calls.jsonl");
            engine.doors.recorder.to_file(calls);
        }
        let stages = Vec::new();
        Ok(Self {
            engine,
            dirs,
            folder,
            scope,
            force,
            progress,
            stages,
            owed,
            unproven: false,
            unbroken: Arc::default(),
        })
    }

    /// What is held while something works that must not be dropped in the middle: who cancels waits for it.
    pub(crate) fn unbroken(&self) -> Arc<Mutex<()>> {
        Arc::clone(&self.unbroken)
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
    pub(crate) async fn run(&mut self) -> (DestroyReport, Option<EngineError>) {
        let ended = self.all_stages().await;
        let (survivors, record, error) = match ended {
            Ok((survivors, record)) => (survivors, record, None),
            // What could not be looked at cannot be said to be gone.
            Err(error) => (
                Vec::new(),
                None,
                Some(if self.unproven {
                    error
                } else {
                    EngineError {
                        exit: ExitCode::Survivors,
                        ..error
                    }
                }),
            ),
        };
        let report = DestroyReport {
            session: self.folder.name.clone(),
            stages: self.stages.clone(),
            survivors,
            record,
            ..DestroyReport::default()
        };
        (report, error)
    }

    async fn all_stages(&mut self) -> Result<(Vec<Survivor>, Option<String>), EngineError> {
        let ledger = ledger::gather(self.engine, &self.folder, &self.host());
        let kept = ledger::write(self.engine, &self.folder, &ledger);
        self.unless_written("the ledger", kept);
        let facts = self.host().load().unwrap_or_default();
        let remote = self.identity().await;
        self.unproven = remote.is_err();
        let remote = remote?;
        self.stage_one().await;
        let remote = match remote {
            Identity::Nowhere => None,
            Identity::Proven(proven) => Some(proven),
            Identity::Unproven(error) => {
                self.unproven = true;
                return Err(error);
            }
        };
        let substrate = self.substrate(remote.as_deref()).await;
        let cloud = Local::new(self.engine.doors.clone(), self.folder.root.clone());
        let proven = cloud.prove(self.scope.clone()).await?;
        self.reap(&cloud, &proven, &ledger).await;
        let survivors = self
            .post_scan(&cloud, &proven, &ledger, remote.as_deref())
            .await?;
        if let (true, Some(error)) = (survivors.is_empty(), substrate) {
            return Err(error);
        }
        if survivors.is_empty() {
            let record = self.finish(facts.as_ref()).await?;
            return Ok((survivors, Some(record.into_string())));
        }
        let kept = self.remember(&survivors);
        self.unless_written("the list of survivors", kept);
        Ok((survivors, None))
    }

    /// Who destroys, where the session may have written to a cloud. Another owner's session is refused at
    /// once; without any proof what runs here is still ended.
    async fn identity(&self) -> Result<Identity, EngineError> {
        let Some(config) = &self.owed else {
            return Ok(Identity::Nowhere);
        };
        let proven = Box::pin(identity::prove(
            self.engine,
            &self.folder,
            &self.scope,
            config,
        ))
        .await;
        Ok(match proven {
            Ok(Some(proven)) => Identity::Proven(Box::new(proven)),
            Ok(None) => Identity::Nowhere,
            Err(identity::Unproven::Refused(error)) => return Err(error),
            Err(identity::Unproven::Failed(error)) => Identity::Unproven(error),
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

    /// Between the stages: what Terraform made. Its failure is reported and stops none after it.
    async fn substrate(&mut self, remote: Option<&Proven>) -> Option<EngineError> {
        let unbroken = self.unbroken();
        let _held = unbroken.lock().await;
        let progress = &mut *self.progress;
        let mut tell = |text: &str| progress(Progress::State(told(text)));
        let (engine, folder) = (self.engine, &self.folder);
        let ended = substrate::run(engine, folder, self.owed.as_ref(), remote, &mut tell);
        match Box::pin(ended).await {
            Ok(None) => {
                let begun = self.engine.doors.exists(&self.folder.join("terraform"));
                let why = if begun {
                    "nothing of it exists"
                } else {
                    "no cloud state ever began"
                };
                self.skip("substrate", why);
                None
            }
            Ok(Some(gone)) => {
                self.report("substrate", Ok(gone));
                None
            }
            Err(error) => {
                let message = error.last(&self.engine.doors.redactor).message;
                self.push(StageReport {
                    name: "substrate".into(),
                    deleted: 0,
                    survived: 0,
                    error: Some(message),
                    skipped: None,
                });
                Some(error)
            }
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
        let deleted = orphans::purge(cloud, proven, &found).await;
        let survived = u32::try_from(found.len())
            .unwrap_or(u32::MAX)
            .saturating_sub(deleted);
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
        remote: Option<&Proven>,
    ) -> Result<Vec<Survivor>, EngineError> {
        let found = cloud.scan(proven, ledger).await?;
        let processes = found.iter().map(process_survivor);
        let held = ports::still_held(ledger, &self.scope.id).await;
        let mut survivors: Vec<Survivor> = processes.chain(held).collect();
        if let Some(proven) = remote {
            survivors.extend(Box::pin(remote::left(proven)).await?);
        }
        survivors.extend(substrate::left(self.engine, &self.folder, &survivors));
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
    async fn finish(&mut self, facts: Option<&HostFacts>) -> Result<Utf8PathBuf, EngineError> {
        let recorded = facts.map(|facts| Utf8PathBuf::from(&facts.socket));
        for socket in recorded.into_iter().chain([self.host().socket()]) {
            self.engine.doors.remove_file(&socket)?;
        }
        Registry::new(&self.engine.doors, &self.dirs)
            .release(self.engine, &self.folder, Some(&self.scope.id))
            .await?;
        self.push(StageReport {
            name: "folder".into(),
            deleted: 1,
            survived: 0,
            error: None,
            skipped: None,
        });
        record::finish(self.engine, &self.folder, &self.scope, &self.stages)
    }

    fn remember(&self, survivors: &[Survivor]) -> Result<(), EngineError> {
        let bytes = serde_json::to_vec_pretty(survivors)
            .expect("survivors are plain data and always serialise");
        let path = self.folder.destroy().join("survivors.json");
        Ok(self.engine.doors.write_atomic(&path, &bytes, 0o600)?)
    }

    /// A disk that takes no writes must not keep a destroy from ending what runs; it is said instead.
    fn unless_written(&mut self, what: &str, kept: Result<(), EngineError>) {
        if let Err(error) = kept {
            let why = error.last(&self.engine.doors.redactor).message;
            let text = format!("{what} of this destroy was not written: {why}");
            (self.progress)(Progress::Note { text });
        }
    }

    fn report(&mut self, name: &str, ended: Result<u32, EngineError>) -> bool {
        let (deleted, error) = match ended {
            Ok(deleted) => (deleted, None),
            Err(error) => (0, Some(error.last(&self.engine.doors.redactor).message)),
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

/// A few words while the substrate is destroyed.
fn told(text: &str) -> StateReport {
    StateReport {
        name: "substrate".into(),
        status: "running".into(),
        seconds: None,
        message: Some(text.to_owned()),
    }
}

pub(crate) fn process_survivor(found: &Found) -> Survivor {
    let reason = format!(
        "`{}` is still running, ours by {}",
        found.name, found.because
    );
    let remedy = format!("end it: `kill -9 {}`", found.id);
    Survivor::local(&found.kind, found.id.clone(), reason, remedy)
}

/// What is known of who destroys.
enum Identity {
    /// Nothing was ever written to a cloud.
    Nowhere,
    /// The session's owner.
    Proven(Box<Proven>),
    /// Nobody.
    Unproven(EngineError),
}
