//! A private place to run `cp9` in: own folder, own HOME, a cleared environment.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::artefacts::artefacts;
use crate::fake;
use crate::leftovers::{Leftover, leftovers};
use crate::normalise::Normaliser;
use crate::run::{Invocation, Run};

/// How long the last clean-up of a sandbox may take.
const CLEANUP_LIMIT: Duration = Duration::from_secs(30);
/// The quickstart of this repository.
const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/quickstart");
/// Its session file.
const QUICKSTART_FILE: &str = "cp9.quickstart.example.yaml";
/// Its session.
const QUICKSTART_NAME: &str = "quickstart";

/// A private place to run `cp9` in. When it is dropped, its sessions are destroyed and what still
/// runs out of it is killed; with `CP9_TESTKIT_KEEP` set, its files stay.
#[derive(Debug)]
pub struct Sandbox {
    _dir: TempDir,
    root: Utf8PathBuf,
    work: Utf8PathBuf,
    cp9: Utf8PathBuf,
    session: String,
    env: BTreeMap<String, String>,
}

impl Sandbox {
    /// An empty working folder. Give the program as `env!("CARGO_BIN_EXE_cp9")`.
    pub fn new(cp9: &str) -> Self {
        Self::with_work(cp9, "work")
    }

    /// An empty working folder whose path has at least this many bytes.
    pub fn with_long_path(cp9: &str, length: usize) -> Self {
        let part = "long-folder-name";
        Self::with_work(cp9, &vec![part; length.div_ceil(part.len() + 1)].join("/"))
    }

    fn with_work(cp9: &str, name: &str) -> Self {
        let mut dir = tempfile::Builder::new()
            .prefix("cp9-")
            .rand_bytes(8)
            .tempdir()
            .expect("a temporary folder");
        dir.disable_cleanup(env::var_os("CP9_TESTKIT_KEEP").is_some());
        let root = dir.path().canonicalize().expect("a real path");
        let root = Utf8PathBuf::from_path_buf(root).expect("a UTF-8 path");
        let work = root.join(name);
        for folder in [
            &root.join("home"),
            &root.join("tmp"),
            &root.join("bin"),
            &work,
        ] {
            fs::create_dir_all(folder).expect("a folder");
        }
        // The random part of the folder's name, so that sessions of parallel tests, whose ports
        // follow from their names, stay out of each other's way.
        let session = root.file_name().unwrap_or_default().to_lowercase();
        Self {
            env: environment(&root),
            cp9: cp9.into(),
            _dir: dir,
            root,
            work,
            session,
        }
    }

    /// A copy of the quickstart as it stands, under its own session name.
    pub fn quickstart_as_is(cp9: &str) -> Self {
        let mut sandbox = Self::new(cp9);
        QUICKSTART_NAME.clone_into(&mut sandbox.session);
        copy_tree(Utf8Path::new(QUICKSTART), &sandbox.work);
        sandbox
    }

    /// A copy of the quickstart whose session file is `cp9.yaml` and whose session has a name
    /// of its own, so that tests can run in parallel.
    pub fn quickstart(cp9: &str) -> Self {
        let sandbox = Self::new(cp9);
        copy_tree(Utf8Path::new(QUICKSTART), &sandbox.work);
        let (from, to) = (sandbox.path(QUICKSTART_FILE), sandbox.path("cp9.yaml"));
        fs::rename(from, to).expect("the quickstart has its session file");
        sandbox.replace(
            "cp9.yaml",
            "\nname: quickstart\n",
            &format!("\nname: {}\n", sandbox.session),
        );
        sandbox
    }

    /// The folder that holds everything of the sandbox.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The session's name, if the session file takes it from here.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// A path in the working folder.
    pub fn path(&self, relative: &str) -> Utf8PathBuf {
        self.work.join(relative)
    }

    /// The folder of the session.
    pub fn folder(&self) -> Utf8PathBuf {
        self.work.join(".cp9").join(&self.session)
    }

    /// Reads a file of the working folder.
    #[track_caller]
    pub fn read(&self, relative: &str) -> String {
        let path = self.path(relative);
        fs::read_to_string(&path).unwrap_or_else(|err| panic!("cannot read {path}: {err}"))
    }

    /// Writes a file of the working folder.
    #[track_caller]
    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).unwrap_or_else(|err| panic!("cannot write {path}: {err}"));
    }

    /// Replaces a text of a file, which must be there.
    #[track_caller]
    pub fn replace(&self, relative: &str, from: &str, to: &str) {
        let text = self.read(relative);
        assert!(text.contains(from), "{relative} has no {from:?}");
        self.write(relative, &text.replace(from, to));
    }

    /// Sets a variable for all runs to come.
    pub fn set_env(&mut self, key: &str, value: &str) {
        self.env.insert(key.to_owned(), value.to_owned());
    }

    /// Takes a variable away from all runs to come.
    pub fn remove_env(&mut self, key: &str) {
        self.env.remove(key);
    }

    /// What takes the accidents of this sandbox out of a text.
    pub fn normaliser(&self) -> Normaliser {
        Normaliser::new()
            .literal(self.root.as_str(), "[ROOT]")
            .literal(self.cp9.as_str(), "[CP9]")
            .literal(&self.session, "[SESSION]")
    }

    /// `cp9` with these arguments, in the working folder.
    pub fn cp9<S: Into<String>>(&self, args: impl IntoIterator<Item = S>) -> Invocation {
        self.program(&self.cp9).args(args)
    }

    /// Any program, in the working folder.
    pub fn program(&self, program: impl AsRef<Utf8Path>) -> Invocation {
        Invocation::new(
            program.as_ref(),
            &self.work,
            self.env.clone(),
            self.normaliser(),
        )
    }

    /// The state of the session folder, for comparisons.
    pub fn artefacts(&self) -> BTreeMap<String, String> {
        artefacts(&self.folder(), &self.normaliser())
    }

    /// The report of `cp9 status`.
    #[track_caller]
    pub fn status(&self) -> serde_json::Value {
        self.cp9(["status", "--json"]).run().data()
    }

    /// Where a service answers, by `cp9 status`.
    #[track_caller]
    pub fn endpoint(&self, service: &str) -> String {
        let status = self.status();
        let services = status["services"].as_array().into_iter().flatten();
        let found = services
            .into_iter()
            .find(|report| report["name"] == service)
            .and_then(|report| report["endpoint"].as_str());
        let found = found.unwrap_or_else(|| panic!("`{service}` has no endpoint in {status}"));
        found.trim_end_matches('/').to_owned()
    }

    /// Runs `cp9 destroy` and checks with other means that nothing is left: no process, and nothing
    /// under `.cp9` but destroy records.
    #[track_caller]
    pub fn destroy(&self) -> Run {
        let host = fs::read_to_string(self.folder().join("host.json")).unwrap_or_default();
        let host: serde_json::Value = serde_json::from_str(&host).unwrap_or_default();
        let run = self.cp9(["destroy", "--yes"]).run().assert_code(0);
        self.assert_nothing_left();
        let socket = host["socket"].as_str().unwrap_or_default();
        assert!(!Utf8Path::new(socket).exists(), "socket {socket} is left");
        for port in ports(&host) {
            let bound = std::net::TcpListener::bind(("127.0.0.1", port));
            assert!(bound.is_ok(), "port {port} is still held");
        }
        run
    }

    /// Panics if a process of this sandbox lives, or `.cp9` holds more than destroy records.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        assert_eq!(self.leftovers(), [], "processes are left");
        assert_eq!(
            self.session_folders(),
            Vec::<String>::new(),
            "session folders are left"
        );
    }

    /// Processes that run out of this sandbox, carry its paths, or belong to its session.
    pub fn leftovers(&self) -> Vec<Leftover> {
        let own = format!("CP9_SESSION={}", self.session);
        // The quickstart's own name may belong to other sessions of this machine.
        leftovers(
            &self.root,
            (self.session != QUICKSTART_NAME).then_some(own.as_str()),
        )
    }

    fn session_folders(&self) -> Vec<String> {
        let entries = self
            .work
            .join(".cp9")
            .read_dir_utf8()
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.map(|entry| entry.file_name().to_owned());
        names.filter(|name| name != ".destroyed").collect()
    }
}

/// The loopback ports that a host's facts name.
fn ports(host: &serde_json::Value) -> Vec<u16> {
    let services = host["ports"]
        .as_object()
        .into_iter()
        .flat_map(serde_json::Map::values);
    let ports = services
        .filter_map(|ports| ports.as_object())
        .flat_map(serde_json::Map::values);
    ports
        .filter_map(|port| u16::try_from(port.as_u64()?).ok())
        .collect()
}

/// The scripted programs of a sandbox.
impl Sandbox {
    /// Puts a scripted program first on PATH. Give the program as `env!("CARGO_BIN_EXE_…")`, and the
    /// script as in [`fake::Line`].
    #[track_caller]
    pub fn fake(&self, name: &str, program: &str, script: &str) {
        fake::Script::parse(script).unwrap_or_else(|err| panic!("script of `{name}`: {err}"));
        let exe = self.fake_path(name);
        // A hard link where possible, not a symbolic one: the program must find its own name.
        let _ = fs::remove_file(&exe);
        if fs::hard_link(program, &exe).is_err() {
            fs::copy(program, &exe).unwrap_or_else(|err| panic!("cannot copy {program}: {err}"));
        }
        let _ = fs::remove_file(fake::calls_path(&exe));
        fs::write(fake::script_path(&exe), script).expect("a script");
    }

    /// The calls of a scripted program so far.
    #[track_caller]
    pub fn calls(&self, name: &str) -> Vec<fake::Call> {
        fake::load_calls(&self.fake_path(name))
            .unwrap_or_else(|err| panic!("calls of `{name}`: {err}"))
    }

    /// Panics if a scripted program got a call that it did not expect, or not all that it expected.
    #[track_caller]
    pub fn assert_script_spent(&self) {
        let mut complaints = Vec::new();
        let entries = self
            .root
            .join("bin")
            .read_dir_utf8()
            .expect("the folder")
            .flatten();
        for name in entries.filter_map(|entry| {
            entry
                .file_name()
                .strip_suffix(".script.json")
                .map(str::to_owned)
        }) {
            let script =
                fake::load_script(&self.fake_path(&name)).expect("a script that was read before");
            let calls = self.calls(&name);
            let used: Vec<usize> = calls.iter().filter_map(|call| call.line).collect();
            let unexpected = calls.iter().filter(|call| call.line.is_none());
            complaints.extend(
                unexpected.map(|call| format!("unscripted call: {name} {}", call.argv.join(" "))),
            );
            complaints.extend(
                script
                    .unused(&used)
                    .iter()
                    .map(|line| format!("unused line: {name} {}", line.argv.join(" "))),
            );
        }
        complaints.sort();
        assert!(
            complaints.is_empty(),
            "the script is not spent\n{}",
            complaints.join("\n")
        );
    }

    fn fake_path(&self, name: &str) -> Utf8PathBuf {
        self.root.join("bin").join(name)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        for session in self.session_folders() {
            let destroy = self
                .cp9(["destroy", "--session", &session, "--yes", "--force"])
                .limit(CLEANUP_LIMIT);
            // A panic here would hide the test's own, and end the whole process.
            let _ = std::panic::catch_unwind(|| drop(destroy.run()));
        }
        for leftover in self.leftovers() {
            let _ = nix::sys::signal::kill(
                nix::unistd::Pid::from_raw(leftover.pid),
                nix::sys::signal::SIGKILL,
            );
        }
    }
}

/// PATH and what compilers need; all else is private or absent.
fn environment(root: &Utf8Path) -> BTreeMap<String, String> {
    let path = env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    let mut variables = BTreeMap::from([
        ("HOME".to_owned(), root.join("home").to_string()),
        ("TMPDIR".to_owned(), root.join("tmp").to_string()),
        ("PATH".to_owned(), format!("{}:{path}", root.join("bin"))),
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        // The machine's own git settings must not name an identity.
        ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
    ]);
    for (key, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        let default = || env::var("HOME").ok().map(|home| format!("{home}/{folder}"));
        let value = env::var(key)
            .ok()
            .or_else(default)
            .filter(|path| Utf8Path::new(path).is_dir());
        variables.extend(value.map(|value| (key.to_owned(), value)));
    }
    variables
}

/// Copies files and folders, but no sessions and no build products.
fn copy_tree(from: &Utf8Path, to: &Utf8Path) {
    fs::create_dir_all(to).unwrap_or_else(|err| panic!("cannot make {to}: {err}"));
    for entry in from
        .read_dir_utf8()
        .unwrap_or_else(|err| panic!("cannot list {from}: {err}"))
    {
        let entry = entry.expect("an entry with a UTF-8 name");
        let target = to.join(entry.file_name());
        if matches!(entry.file_name(), ".cp9" | "target") {
            continue;
        }
        if entry.file_type().expect("a type").is_dir() {
            copy_tree(entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target)
                .unwrap_or_else(|err| panic!("cannot copy {target}: {err}"));
        }
    }
}
