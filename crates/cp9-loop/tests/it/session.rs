//! A session folder with a plan, its controller in this process or in one of its own, and waiting
//! on what the controller publishes.

use std::cell::RefCell;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_loop::ControllerError;
use cp9_loop::embedded::{Client, LoanQuestions, SessionFolderPaths, StatusStream, serve};
use cp9_model::control::{ControllerStatus, ResourceStatus};
use cp9_model::scope::{ENV_ID, Scope};
use cp9_tools::procs::{scan, signal_group};
use cp9_tools::{Clock, Cmd, Doors, Environment, ProcessId, Signal};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// No event takes this long unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Session {
    pub(crate) paths: SessionFolderPaths,
    pub(crate) doors: Doors,
    pub(crate) resources: Vec<Value>,
    /// Who gives credentials; nobody listens unless a test does.
    pub(crate) lender: LoanQuestions,
    id: String,
    root: Utf8PathBuf,
    _dir: tempfile::TempDir,
    apart: RefCell<Vec<ProcessId>>,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::below(Utf8Path::to_owned)
    }

    /// A session that is reached through a link, so that its paths are not the system's.
    pub(crate) fn through_a_link() -> Self {
        Self::below(|root| {
            std::fs::create_dir(root.join("real")).expect("dir");
            std::os::unix::fs::symlink(root.join("real"), root.join("link")).expect("link");
            root.join("link")
        })
    }

    fn below(root: impl FnOnce(&Utf8Path) -> Utf8PathBuf) -> Self {
        let dir = tempfile::tempdir().expect("tempdir");
        let root = root(Utf8Path::from_path(dir.path()).expect("utf-8"));
        let doors = Doors::new(environment(), Clock::system(), false);
        let paths = SessionFolderPaths {
            folder: root.join("s"),
            socket: root.join("s/controller.sock"),
        };
        let id = dir
            .path()
            .file_name()
            .expect("name")
            .to_string_lossy()
            .into_owned();
        for folder in ["s/tilt", "s/secrets", "src", "out"] {
            doors.create_private_dir(&root.join(folder)).expect("dir");
        }
        Self {
            paths,
            doors,
            resources: Vec::new(),
            lender: mpsc::unbounded_channel().0,
            id,
            root,
            _dir: dir,
            apart: RefCell::default(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.root.join(name)
    }

    /// Writes a file as a person's editor does: a new file renamed over the old.
    pub(crate) fn save(&self, name: &str, text: &str) {
        self.doors
            .write_atomic(&self.path(name), text.as_bytes(), 0o755)
            .expect("write");
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.doors.read_text(&self.path(name)).unwrap_or_default()
    }

    pub(crate) fn lines(&self, name: &str) -> usize {
        self.text(name).lines().count()
    }

    /// The pair of resources of a service that is "built" by copying `src/<name>.sh`. A build
    /// appends a line to `out/builds`, and fails with the line of the source that starts with `error`.
    pub(crate) fn source_service(&mut self, name: &str) {
        let out = self.path("out");
        let script = format!(
            "echo {name} >> {out}/builds; \
             if grep '^error' ${{0}} >&2; then exit 1; fi; cp ${{0}} $1 && chmod 755 $1"
        );
        self.resources.push(json!({
            "name": format!("{name}-live-binary"), "service": name, "kind": "build", "trigger": "auto",
            "watch": ["${src}"], "cwd": "${src}",
            "argv": ["/bin/sh", "-c", script, format!("${{src}}/{name}.sh"), "${output}"],
            "binary": format!("${{session}}/.cp9-build/{name}/live/service"),
        }));
        self.resources.push(json!({
            "name": name, "service": name, "kind": "serve", "trigger": "auto", "cwd": "${session}",
            "argv": ["service", "an argument"], "deps": [format!("{name}-live-binary")],
            "env": {"PATH": "/usr/bin:/bin", "OUT": out, "NAME": name},
            "binary": format!("${{session}}/.cp9-build/{name}/live/service"),
            "ready": {"check": {"type": "exec", "argv": ["/bin/sh", "-c", "test -s $OUT/$NAME"]},
                "period_seconds": 1, "timeout_seconds": 5, "failure_threshold": 3, "success_threshold": 1},
            "grace_seconds": 5,
        }));
    }

    /// A service that is just a command; ready once it has lived for a moment.
    pub(crate) fn command_service(&mut self, name: &str, script: &str) -> &mut Value {
        self.resources.push(json!({
            "name": name, "service": name, "kind": "serve", "trigger": "auto", "cwd": "${session}",
            "argv": ["/bin/sh", "-c", script], "env": {"PATH": "/usr/bin:/bin", "OUT": self.path("out")},
            "ready": {"check": {"type": "alive", "millis": 30},
                "period_seconds": 1, "timeout_seconds": 1, "failure_threshold": 3, "success_threshold": 1},
            "grace_seconds": 5,
        }));
        self.resources.last_mut().expect("pushed")
    }

    pub(crate) fn write_plan(&self) {
        let plan = json!({
            "apiVersion": "cp9.devplan/v1", "session": "test",
            "roots": {"session": self.paths.folder, "src": self.path("src")}, "resources": self.resources,
        });
        let text = serde_json::to_vec_pretty(&plan).expect("json");
        self.doors
            .write_atomic(&self.paths.folder.join("tilt/dev-plan.json"), &text, 0o600)
            .expect("write");
    }

    pub(crate) fn scope(&self) -> Scope {
        serde_json::from_value(json!({"owner": "local", "session": "test", "id": self.id}))
            .expect("scope")
    }

    pub(crate) fn serve_here(&self) -> JoinHandle<Result<(), ControllerError>> {
        let doors = Doors::new(environment(), Clock::system(), false);
        let (paths, scope, lender) = (self.paths.clone(), self.scope(), self.lender.clone());
        tokio::spawn(async move { serve(doors, paths, scope, "1.2.3", lender).await })
    }

    /// Writes the plan, serves it in this process, and watches what comes of it.
    pub(crate) async fn begin(&self) -> Watch {
        self.write_plan();
        // The test hears of its end from the watch.
        drop(self.serve_here());
        self.watch().await
    }

    /// A controller in a process of its own: this test program, asked for the one test that serves.
    pub(crate) fn serve_apart(&self) -> ProcessId {
        let config = json!({"folder": self.paths.folder, "socket": self.paths.socket,
            "scope": self.scope()});
        self.save("controller.json", &config.to_string());
        let cmd = Cmd::new(this_program())
            .args(["--exact", "session::controller_process", "--nocapture"])
            .cwd(self.path("."));
        let controller = self
            .doors
            .spawn_detached(&cmd, &self.path("controller.log"))
            .expect("controller starts");
        self.apart.borrow_mut().push(controller);
        controller
    }

    /// Who holds the controller's lock.
    pub(crate) fn holder(&self) -> Option<u32> {
        cp9_tools::lock::holder(&self.paths.folder.join("controller.lock")).map(|info| info.pid)
    }

    /// True while there is a socket; a controller that is stopped removes it.
    pub(crate) fn socket(&self) -> bool {
        self.doors.exists(&self.paths.socket)
    }

    /// Waits until a controller that was stopped has gone.
    pub(crate) async fn stopped(&self) {
        assert!(!self.socket(), "removed before the answer");
        eventually("the end of its lock", || self.holder().is_none()).await;
    }

    /// Kills a controller and waits for its end.
    pub(crate) async fn kill(&self, controller: ProcessId) {
        signal_group(controller, Signal::Kill);
        eventually("the end of the controller", || !is_running(controller.pid)).await;
    }

    /// Sends a process any signal, by its name.
    pub(crate) async fn signal(&self, process: ProcessId, signal: &str) {
        let pid = process.pid.to_string();
        let cmd = Cmd::new("/bin/sh").args(["-c", "kill $0 $1", signal, &pid]);
        let sent = self.doors.run(&cmd).await.expect("runs");
        assert!(sent.success(), "{}", sent.stderr);
    }

    pub(crate) async fn client(&self) -> Client {
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        let connect = async {
            loop {
                tick.tick().await;
                if let Ok(client) = Client::connect(&self.paths.socket, &self.id).await {
                    return client;
                }
            }
        };
        let connected = tokio::time::timeout(PATIENCE, connect).await;
        connected.unwrap_or_else(|_| panic!("no controller: {}", self.text("controller.log")))
    }

    pub(crate) async fn watch(&self) -> Watch {
        Watch {
            stream: self.client().await.watch().await.expect("watch"),
            last: None,
        }
    }
}

impl Drop for Session {
    /// A test that failed leaves no process behind.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for controller in self.apart.borrow().iter() {
            signal_group(*controller, Signal::Kill);
        }
        for facts in scan() {
            if facts.var(ENV_ID) == Some(self.id.as_str()) {
                signal_group(facts.id, Signal::Kill);
            }
        }
    }
}

pub(crate) struct Watch {
    stream: StatusStream,
    last: Option<ControllerStatus>,
}

impl Watch {
    /// Waits for a status that meets the condition, looking at the last one first.
    pub(crate) async fn until(
        &mut self,
        what: &str,
        met: impl Fn(&ControllerStatus) -> bool,
    ) -> ControllerStatus {
        let wait = async {
            loop {
                if let Some(status) = self.last.as_ref().filter(|status| met(status)) {
                    return status.clone();
                }
                self.last = self.stream.next().await.expect("status");
                assert!(
                    self.last.is_some(),
                    "the controller ended while waiting for {what}"
                );
            }
        };
        let met = tokio::time::timeout(PATIENCE, wait).await;
        met.unwrap_or_else(|_| panic!("waited in vain for {what}: {:#?}", self.last))
    }

    pub(crate) async fn until_ready(&mut self) -> ControllerStatus {
        self.until("everything ready", |status| {
            status.resources.iter().all(|resource| resource.ready)
        })
        .await
    }

    /// Waits for the end of the controller.
    pub(crate) async fn ended(&mut self) {
        let end = async { while self.stream.next().await.expect("status").is_some() {} };
        tokio::time::timeout(PATIENCE, end)
            .await
            .expect("the controller ends");
    }
}

pub(crate) fn of<'a>(status: &'a ControllerStatus, name: &str) -> &'a ResourceStatus {
    status
        .resources
        .iter()
        .find(|resource| resource.name == name)
        .expect("resource")
}

pub(crate) fn pid(status: &ControllerStatus, name: &str) -> u32 {
    of(status, name).pid.expect("a pid")
}

pub(crate) fn is_running(pid: u32) -> bool {
    cp9_tools::procs::find(pid).is_some_and(|facts| !facts.zombie)
}

/// Waits until a condition holds that nothing tells us about.
pub(crate) async fn eventually(what: &str, met: impl Fn() -> bool) {
    let mut tick = tokio::time::interval(Duration::from_millis(5));
    let wait = async {
        while !met() {
            tick.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait)
        .await
        .unwrap_or_else(|_| panic!("waited in vain for {what}"));
}

/// A script that says which version it is and runs until it is stopped.
pub(crate) fn version(word: &str) -> String {
    format!("#!/bin/sh\necho {word} > $OUT/$NAME\necho \"INFO {word} up\"\nexec sleep 1000\n")
}

fn environment() -> Environment {
    let pairs = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
        ("CARGO", "/c"),
        ("CARGO_PKG_NAME", "x"),
    ];
    Environment::new(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

fn this_program() -> String {
    std::env::current_exe()
        .expect("own path")
        .to_string_lossy()
        .into_owned()
}

/// No test: the body of the process that `serve_apart` starts. Elsewhere there is no
/// `controller.json` in the working directory, and it ends at once.
#[tokio::test]
async fn controller_process() {
    let Ok(text) = std::fs::read("controller.json") else {
        return;
    };
    let config: Value = serde_json::from_slice(&text).expect("json");
    let path = |name: &str| Utf8PathBuf::from(config[name].as_str().expect("path"));
    let paths = SessionFolderPaths {
        folder: path("folder"),
        socket: path("socket"),
    };
    let scope: Scope = serde_json::from_value(config["scope"].clone()).expect("scope");
    let doors = Doors::new(environment(), Clock::system(), false);
    let lender = mpsc::unbounded_channel().0;
    serve(doors, paths, scope, "1.2.3", lender)
        .await
        .expect("serves until it is stopped");
}
