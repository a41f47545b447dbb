//! What Terraform is asked: commands as values. The environment holds what it needs and nothing else, so
//! that no credential but the session's own reaches a provider.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::find::Terraform;
use crate::env::Environment;
use crate::program::Cmd;
use crate::secret::Secret;

/// How long it may wait for a state that another of its kind holds.
const LOCK_TIMEOUT: &str = "-lock-timeout=5s";
/// How long a question about files on disk may take.
const SHORT: Duration = Duration::from_mins(2);
/// Variables that are handed through if they are set: where programs, homes, proxies, certificates, the
/// plug-in cache and the settings of the command line are, and where an emulator answers.
const THROUGH: &[&str] = &[
    "ALL_PROXY",
    "AWS_CA_BUNDLE",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_USE_FIPS_ENDPOINT",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "NO_PROXY",
    "PATH",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TF_CLI_CONFIG_FILE",
    "TF_PLUGIN_CACHE_DIR",
    "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE",
    "TF_REGISTRY_CLIENT_TIMEOUT",
    "TMPDIR",
    "USER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];
/// The same by their beginning.
const THROUGH_FAMILIES: &[&str] = &["AWS_ENDPOINT_URL"];
/// Tokens of module registries, by their beginning; secrets.
const TOKENS: &str = "TF_TOKEN_";

/// Where Terraform works, and as whom.
#[derive(Debug, Clone)]
pub struct Place {
    /// The root module of the working copy.
    pub root: Utf8PathBuf,
    /// Where it keeps providers and modules.
    pub data: Utf8PathBuf,
    /// Variables of the session: its region, and what marks its processes.
    pub variables: Vec<(String, String)>,
    /// The session's credentials.
    pub credentials: Vec<(String, Secret)>,
}

/// The values of a plan, in the order in which they win.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables {
    /// Files given with `-var-file`.
    pub files: Vec<Utf8PathBuf>,
}

impl Variables {
    fn args(&self) -> impl Iterator<Item = String> {
        self.files.iter().map(|file| format!("-var-file={file}"))
    }
}

impl Terraform {
    /// Providers and modules.
    pub fn init(&self, env: &Environment, place: &Place) -> Cmd {
        self.in_place(env, place, "init")
            .args(["-input=false", "-no-color", "-reconfigure"])
    }

    /// A plan, saved to a file.
    pub fn plan(
        &self,
        env: &Environment,
        place: &Place,
        variables: &Variables,
        out: &Utf8Path,
    ) -> Cmd {
        self.in_place(env, place, "plan")
            .args(["-input=false", "-no-color", LOCK_TIMEOUT, "-json"])
            .args(variables.args())
            .arg(format!("-out={out}"))
    }

    /// Whether a plan would change anything: code 0 for no, 2 for yes. Nothing is kept.
    pub fn look(&self, env: &Environment, place: &Place, variables: &Variables) -> Cmd {
        self.in_place(env, place, "plan")
            .args(["-input=false", "-no-color", LOCK_TIMEOUT, "-json"])
            .args(variables.args())
            .arg("-detailed-exitcode")
    }

    /// A saved plan as JSON.
    pub fn show(&self, env: &Environment, place: &Place, plan: &Utf8Path) -> Cmd {
        self.in_place(env, place, "show")
            .args(["-no-color", "-json"])
            .arg(plan)
            .timeout(SHORT)
            .output_cap(256 * 1024 * 1024)
    }

    /// Exactly a saved plan made true.
    pub fn apply(&self, env: &Environment, place: &Place, plan: &Utf8Path) -> Cmd {
        self.in_place(env, place, "apply")
            .args(["-input=false", "-no-color", LOCK_TIMEOUT, "-json"])
            .arg(plan)
    }

    /// Everything of the state destroyed.
    pub fn destroy(&self, env: &Environment, place: &Place, variables: &Variables) -> Cmd {
        self.in_place(env, place, "destroy")
            .args(["-input=false", "-no-color", LOCK_TIMEOUT, "-json"])
            .arg("-auto-approve")
            .args(variables.args())
    }

    /// Something that exists taken into the state.
    pub fn import(
        &self,
        env: &Environment,
        place: &Place,
        variables: &Variables,
        address: &str,
        id: &str,
    ) -> Cmd {
        self.in_place(env, place, "import")
            .args(["-input=false", "-no-color", LOCK_TIMEOUT])
            .args(variables.args())
            .args([address, id])
    }

    /// Something taken out of the state and left as it is.
    pub fn forget(&self, env: &Environment, place: &Place, address: &str) -> Cmd {
        self.in_place(env, place, "state")
            .args(["rm", LOCK_TIMEOUT])
            .arg(address)
            .timeout(SHORT)
    }

    /// A state that could not be written where it belongs, put there.
    pub fn push(&self, env: &Environment, place: &Place, state: &Utf8Path) -> Cmd {
        self.in_place(env, place, "state")
            .args(["push", LOCK_TIMEOUT])
            .arg(state)
            .timeout(SHORT)
    }

    /// A lock given up whose holder is dead.
    pub fn force_unlock(&self, env: &Environment, place: &Place, id: &str) -> Cmd {
        self.in_place(env, place, "force-unlock")
            .args(["-force", id])
            .timeout(SHORT)
    }

    fn in_place(&self, env: &Environment, place: &Place, command: &str) -> Cmd {
        let cmd = Cmd::new(self.program.as_str())
            .arg(command)
            .cwd(&place.root)
            .clear_env()
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_DATA_DIR", place.data.as_str())
            .env("TF_IN_AUTOMATION", "1")
            // Nothing of the user's own AWS set-up: only the credentials that were proven.
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
        let cmd = env
            .iter()
            .fold(cmd, |cmd, (name, value)| handed(cmd, name, value))
            .envs(place.variables.iter().cloned());
        let credentials = place.credentials.iter();
        credentials.fold(cmd, |cmd, (name, value)| cmd.secret_env(name, value))
    }
}

fn handed(cmd: Cmd, name: &str, value: &str) -> Cmd {
    let family = THROUGH_FAMILIES.iter().any(|begin| name.starts_with(begin));
    if name.starts_with(TOKENS) {
        cmd.secret_env(name, &Secret::new(value))
    } else if family || THROUGH.contains(&name) {
        cmd.env(name, value)
    } else {
        cmd
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terraform() -> Terraform {
        Terraform {
            program: "/bin/terraform".into(),
            name: "terraform",
            version: "1.11.4".into(),
        }
    }

    fn place() -> Place {
        Place {
            root: "/s/terraform/source/r".into(),
            data: "/s/terraform/data".into(),
            variables: vec![("AWS_REGION".into(), "us-west-2".into())],
            credentials: vec![("AWS_SECRET_ACCESS_KEY".into(), Secret::new("hush-hush"))],
        }
    }

    fn env() -> Environment {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let variables = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("AWS_PROFILE", "prod"),
            ("AWS_ACCESS_KEY_ID", "other"),
            ("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:5"),
            ("TF_PLUGIN_CACHE_DIR", "/cache"),
            ("TF_CLI_ARGS", "-lock=false"),
            ("TF_LOG", "trace"),
            ("TF_VAR_cp9_owner", "me"),
            ("TF_WORKSPACE", "prod"),
            ("TF_TOKEN_registry_example", "tok-en"),
            ("GITHUB_TOKEN", "gh"),
        ];
        Environment::new(variables.map(own))
    }

    #[test]
    fn each_command_says_everything_on_its_line() {
        let (tf, env, place) = (terraform(), env(), place());
        let variables = Variables {
            files: vec!["/s/premium.tfvars".into(), "/s/cp9.tfvars.json".into()],
        };
        let line = |cmd: Cmd| cmd.argv()[1..].join(" ");
        let plan = Utf8Path::new("/s/tfplan");
        for (cmd, expected) in [
            (
                tf.init(&env, &place),
                "init -input=false -no-color -reconfigure",
            ),
            (
                tf.plan(&env, &place, &variables, plan),
                "plan -input=false -no-color -lock-timeout=5s -json -var-file=/s/premium.tfvars -var-file=/s/cp9.tfvars.json -out=/s/tfplan",
            ),
            (
                tf.look(&env, &place, &Variables::default()),
                "plan -input=false -no-color -lock-timeout=5s -json -detailed-exitcode",
            ),
            (
                tf.show(&env, &place, plan),
                "show -no-color -json /s/tfplan",
            ),
            (
                tf.apply(&env, &place, plan),
                "apply -input=false -no-color -lock-timeout=5s -json /s/tfplan",
            ),
            (
                tf.destroy(&env, &place, &Variables::default()),
                "destroy -input=false -no-color -lock-timeout=5s -json -auto-approve",
            ),
            (
                tf.import(&env, &place, &Variables::default(), "a.b[\"c\"]", "id"),
                "import -input=false -no-color -lock-timeout=5s a.b[\"c\"] id",
            ),
            (
                tf.forget(&env, &place, "a.b"),
                "state rm -lock-timeout=5s a.b",
            ),
            (
                tf.push(&env, &place, "/s/errored.tfstate".into()),
                "state push -lock-timeout=5s /s/errored.tfstate",
            ),
            (
                tf.force_unlock(&env, &place, "0-1"),
                "force-unlock -force 0-1",
            ),
        ] {
            assert_eq!(cmd.directory(), Some("/s/terraform/source/r".into()));
            assert_eq!(line(cmd), expected);
        }
    }

    #[test]
    fn the_environment_is_what_it_needs_and_no_other_identity() {
        let cmd = terraform().init(&env(), &place());
        let binding = env();
        let whole = cmd.environment(&binding);
        for absent in [
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "TF_CLI_ARGS",
            "TF_LOG",
            "TF_VAR_cp9_owner",
            "TF_WORKSPACE",
            "GITHUB_TOKEN",
        ] {
            assert!(!whole.contains_key(absent), "{absent}");
        }
        for (name, value) in [
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:5"),
            ("AWS_REGION", "us-west-2"),
            ("AWS_SECRET_ACCESS_KEY", "hush-hush"),
            ("HOME", "/home/me"),
            ("TF_DATA_DIR", "/s/terraform/data"),
            ("TF_PLUGIN_CACHE_DIR", "/cache"),
            ("TF_TOKEN_registry_example", "tok-en"),
        ] {
            assert_eq!(whole.get(name).copied(), Some(value), "{name}");
        }
        assert_eq!(cmd.variables()["AWS_SECRET_ACCESS_KEY"], "***");
        assert_eq!(cmd.variables()["TF_TOKEN_registry_example"], "***");
    }
}
