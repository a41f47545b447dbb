//! A command as a value: built by pure functions, tested on its argv, run by the doors.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::env::Environment;
use crate::redact::{MASK, Redactor};
use crate::secret::Secret;

/// How long a group that was asked to end may take.
const DEFAULT_GRACE: Duration = Duration::from_secs(5);
/// What is kept of the standard output of one run.
const DEFAULT_CAP: usize = 32 * 1024 * 1024;

/// A program with arguments, directory, environment and limits.
#[derive(Debug, Clone)]
pub struct Cmd {
    pub(super) program: String,
    args: Vec<Arg>,
    pub(super) cwd: Option<Utf8PathBuf>,
    inherit: bool,
    removed: Vec<String>,
    set: BTreeMap<String, Arg>,
    pub(super) timeout: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) cap: usize,
    pub(super) quiet: bool,
}

#[derive(Debug, Clone)]
enum Arg {
    Plain(String),
    Secret(Secret),
}

impl Arg {
    fn value(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(secret) => secret.expose(),
        }
    }

    fn shown(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Secret(_) => MASK,
        }
    }
}

impl Cmd {
    /// A program by name, looked up in the command's own `PATH`, or by path. It inherits the
    /// environment that the doors were opened with.
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            inherit: true,
            removed: Vec::new(),
            set: BTreeMap::new(),
            timeout: None,
            grace: DEFAULT_GRACE,
            cap: DEFAULT_CAP,
            quiet: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        let arg = arg.as_ref().to_string_lossy().into_owned();
        self.args.push(Arg::Plain(arg));
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Adds an argument that is never shown.
    #[must_use]
    pub fn secret_arg(mut self, secret: &Secret) -> Self {
        self.args.push(Arg::Secret(secret.clone()));
        self
    }

    /// Runs in this directory instead of the current one.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<Utf8PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.insert(name.into(), Arg::Plain(value.into()));
        self
    }

    /// Sets variables.
    #[must_use]
    pub fn envs<K: Into<String>, V: Into<String>>(
        self,
        variables: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        variables
            .into_iter()
            .fold(self, |cmd, (name, value)| cmd.env(name, value))
    }

    /// Sets a variable whose value is never shown.
    #[must_use]
    pub fn secret_env(mut self, name: impl Into<String>, secret: &Secret) -> Self {
        self.set.insert(name.into(), Arg::Secret(secret.clone()));
        self
    }

    /// Starts from no variables at all; variables that are set stay.
    #[must_use]
    pub fn clear_env(mut self) -> Self {
        self.inherit = false;
        self
    }

    /// Starts from the environment that the doors were opened with, which is the default.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherit = true;
        self
    }

    /// Does not inherit this variable, or with a final `*` every variable that begins so.
    /// Variables that are set stay.
    #[must_use]
    pub fn remove_env(mut self, pattern: impl Into<String>) -> Self {
        self.removed.push(pattern.into());
        self
    }

    /// Ends the program with its group after this time.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How long the group may take to end before it is killed.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Keeps at most this much of the standard output (and of standard error, its end).
    #[must_use]
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.cap = bytes;
        self
    }

    /// Records the run only when its outcome differs from the last one.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The program.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The directory it runs in.
    pub fn directory(&self) -> Option<&Utf8Path> {
        self.cwd.as_deref()
    }

    /// Program and arguments as they may be shown: secret arguments masked.
    pub fn argv(&self) -> Vec<String> {
        let args = self.args.iter().map(|arg| arg.shown().to_owned());
        std::iter::once(self.program.clone()).chain(args).collect()
    }

    /// The variables that were set, as they may be shown: secret ones masked.
    pub fn variables(&self) -> BTreeMap<&str, &str> {
        self.set
            .iter()
            .map(|(name, value)| (name.as_str(), value.shown()))
            .collect()
    }

    pub(super) fn real_args(&self) -> impl Iterator<Item = &str> {
        self.args.iter().map(Arg::value)
    }

    /// The whole environment of the program.
    pub(crate) fn environment<'c>(&'c self, base: &'c Environment) -> BTreeMap<&'c str, &'c str> {
        let inherited = base
            .iter()
            .filter(|(name, _)| self.inherit && !self.removes(name));
        let set = self
            .set
            .iter()
            .map(|(name, value)| (name.as_str(), value.value()));
        inherited.chain(set).collect()
    }

    fn removes(&self, name: &str) -> bool {
        self.removed
            .iter()
            .any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == pattern,
            })
    }

    pub(super) fn teach(&self, redactor: &Redactor) {
        for arg in self.args.iter().chain(self.set.values()) {
            if let Arg::Secret(secret) = arg {
                redactor.add(secret);
            }
        }
    }
}
