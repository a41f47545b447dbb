//! Who writes where on AWS is proven before anything is made: against moto, with a proxy that refuses.

use std::time::Duration;

use cp9_testkit::aws::{ACCOUNT, Asked, Fault, Keys, Moto, PRINCIPAL, Proxy, REGION, leaks};
use cp9_testkit::{Run, Sandbox};

use crate::prebuilt::CP9;

pub(crate) const OWNER: &str = "nightly@example.com";
pub(crate) const ROLE: &str = "arn:aws:iam::123456789012:role/cp9-developer";

/// A session on AWS, its proxy, and its keys.
pub(crate) struct Given {
    pub(crate) sandbox: Sandbox,
    pub(crate) proxy: Proxy,
    pub(crate) keys: Keys,
}

impl Given {
    pub(crate) fn new(
        moto: &Moto,
        judge: impl Fn(&Asked, usize) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        let mut sandbox = Sandbox::new(CP9);
        let proxy = Proxy::before(moto.port(), judge);
        let keys = sandbox.on_aws(&proxy.url());
        let name = sandbox.session().to_owned();
        sandbox.write(
            "cp9.yaml",
            &format!(
                "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: {name}\nhost:\n  ttl: 8h\n\
                 target:\n  cloud: aws\n  region: {REGION}\n  aws:\n    account_allowlist: [\"{ACCOUNT}\"]\n    \
                 iam:\n      role_arn: {ROLE}\n      session_tags: {{cp9-owner: required, cp9-session: required}}\n\
                 ci:\n  owner_allowlist:\n    {PRINCIPAL}: [{OWNER}]\n"
            ),
        );
        sandbox.set_env("CP9_OWNER", OWNER);
        Self {
            sandbox,
            proxy,
            keys,
        }
    }

    pub(crate) fn on(moto: &Moto) -> Self {
        Self::new(moto, |_, _| None)
    }

    /// Runs `up`, which must be refused within five seconds with these words, after questions alone.
    pub(crate) fn refused(&self, code: &str, words: &[&str]) -> Run {
        let run = self.sandbox.cp9(["up", "--json"]).run().assert_code(3);
        assert!(run.millis < 5000, "{} ms", run.millis);
        let error = &run.json()["error"];
        assert_eq!(error["code"], code, "{error}");
        let told = error.to_string();
        for word in words {
            assert!(told.contains(word), "`{word}` is missing in {told}");
        }
        assert!(error["hints"][0].is_string(), "a remedy: {error}");
        let harmful: Vec<Asked> = self
            .proxy
            .asked()
            .into_iter()
            .filter(|asked| !asked.is_harmless())
            .collect();
        assert_eq!(harmful, [], "nothing was made");
        run
    }

    /// No file of the test holds a secret: neither of its own keys nor of those that it was given since.
    pub(crate) fn assert_no_leak(&self) {
        let given = self.proxy.given();
        let secrets = given.iter().map(String::as_str).chain([&*self.keys.secret]);
        assert_eq!(
            leaks(secrets, self.sandbox.root()),
            Vec::<camino::Utf8PathBuf>::new()
        );
    }

    /// Destroys the session, once its folder, which goes with it, was scanned.
    pub(crate) fn destroy(&self) {
        self.assert_no_leak();
        self.sandbox.destroy();
    }
}

/// Every test ends with the scan, so that none can forget it.
impl Drop for Given {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.assert_no_leak();
        }
    }
}

fn deny(operation: &'static str, message: &'static str) -> impl Fn(&Asked, usize) -> Option<Fault> {
    move |asked, _| {
        (asked.operation == operation).then_some(Fault::Error(403, "AccessDenied", message))
    }
}

#[test]
fn the_right_account_is_proven_and_everything_carries_the_owner() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    // The first questions of a moto make it read its services.
    given.sandbox.cp9(["setup"]).run().assert_code(0);
    let up = given.sandbox.cp9(["up", "--json"]).run().assert_code(0);
    let envelope = up.json();
    let target = &envelope["target"];
    assert_eq!(
        (&target["owner"], &target["account"]),
        (&OWNER.into(), &ACCOUNT.into())
    );
    let all = up.data()["states"].as_array().expect("states").clone();
    let proof: f64 = all
        .iter()
        .filter(|state| state["name"] == "owner_identity_ready" || state["name"] == "iam_ready")
        .filter_map(|state| state["seconds"].as_f64())
        .sum();
    assert!(proof < 10.0, "{proof} s");
    let assume = given
        .proxy
        .asked()
        .into_iter()
        .find(|asked| asked.operation == "AssumeRole");
    let body = assume.expect("the role was assumed").body;
    assert!(given.proxy.given().len() >= 3, "the scan knows its keys");
    assert!(
        body.contains("Tags.member.1.Value=nightly%40example.com"),
        "{body}"
    );
    assert!(
        body.contains(&format!("Tags.member.2.Value={}", given.sandbox.session())),
        "{body}"
    );

    let status = given.sandbox.status();
    assert_eq!(status["identity"]["account"], ACCOUNT);
    assert!(
        status["identity"]["expires_in"]
            .as_i64()
            .is_some_and(|left| left > 3000)
    );
    let text = given.sandbox.cp9(["status"]).run().assert_code(0);
    assert!(text.stdout.contains("credentials last"), "{}", text.stdout);

    // Each process that writes proves anew.
    let before = given.proxy.asked().len();
    given.sandbox.cp9(["up"]).run().assert_code(0);
    assert!(given.proxy.asked().len() > before);
    given.destroy();
}

#[test]
fn another_account_is_refused_with_the_principal() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    given.sandbox.replace(
        "cp9.yaml",
        &format!("[\"{ACCOUNT}\"]"),
        "[\"999999999999\"]",
    );
    given.refused("account-not-allowed", &[ROLE, ACCOUNT, "account_allowlist"]);
}

#[test]
fn a_blocked_account_is_refused_whatever_else_is_said() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    let lists =
        format!("account_allowlist: [\"999999999999\"]\n    account_blocklist: [\"{ACCOUNT}\"]");
    given.sandbox.replace(
        "cp9.yaml",
        &format!("account_allowlist: [\"{ACCOUNT}\"]"),
        &lists,
    );
    given.refused("account-blocked", &[ACCOUNT]);
}

#[test]
fn a_ci_principal_that_is_not_listed_is_refused_and_a_listed_one_goes_on() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    given
        .sandbox
        .replace("cp9.yaml", &format!("[{OWNER}]"), "[somebody@example.com]");
    let file = given.sandbox.path("cp9.yaml").to_string();
    given.refused("owner-not-allowed", &[PRINCIPAL, OWNER, &file]);
    given
        .sandbox
        .replace("cp9.yaml", "[somebody@example.com]", &format!("[{OWNER}]"));
    given.sandbox.cp9(["up"]).run().assert_code(0);
    given.destroy();
}

#[test]
fn nobody_is_guessed() {
    let Some(moto) = Moto::shared() else { return };
    let mut given = Given::on(moto);
    given.sandbox.remove_env("CP9_OWNER");
    given.sandbox.set_env("USER", "root");
    given.refused("owner-unknown", &[PRINCIPAL, "aws sso login"]);
}

#[test]
fn a_role_that_cannot_be_assumed_is_named() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(
        moto,
        deny("AssumeRole", "not authorized to perform: sts:AssumeRole"),
    );
    given.refused(
        "role-not-assumable",
        &[ROLE, PRINCIPAL, "aws sts assume-role"],
    );
}

#[test]
fn a_missing_right_to_tag_is_found_before_anything_is_made() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(
        moto,
        deny("AssumeRole", "not authorized to perform: sts:TagSession"),
    );
    given.refused("role-not-assumable", &[ROLE, "allow `sts:TagSession`"]);
    let blind = Given::new(moto, deny("GetResources", "no"));
    blind.refused(
        "scope-not-scannable",
        &["tag:GetResources", "assumed-role/cp9-developer"],
    );
}

#[test]
fn expired_credentials_lead_to_the_login() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(moto, |_, _| {
        Some(Fault::Error(403, "ExpiredToken", "expired"))
    });
    given.refused("aws-expired", &["aws sso login", "expired"]);
}

#[test]
fn an_endpoint_that_never_answers_is_given_up() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::new(moto, |_, _| Some(Fault::Hang));
    given.sandbox.replace(
        "cp9.yaml",
        "ci:\n",
        "retry:\n  owner_identity_ready: 1\nci:\n",
    );
    let run = given
        .sandbox
        .cp9(["up", "--json"])
        .limit(Duration::from_mins(1))
        .run()
        .assert_code(4);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "aws-timeout", "{error}");
    assert!(error.to_string().contains("GetCallerIdentity"), "{error}");
    assert!(run.millis < 20_000, "{} ms", run.millis);
}

#[test]
fn a_destroy_without_a_proof_ends_what_runs_here_and_keeps_the_folder() {
    let Some(moto) = Moto::shared() else { return };
    let mut given = Given::on(moto);
    given.sandbox.cp9(["up"]).run().assert_code(0);
    let (id, secret) = (given.keys.id.clone(), given.keys.secret.clone());
    given.sandbox.remove_env("AWS_ACCESS_KEY_ID");
    given.sandbox.remove_env("AWS_SECRET_ACCESS_KEY");
    let run = given
        .sandbox
        .cp9(["destroy", "--json"])
        .run()
        .assert_code(3);
    assert_eq!(
        run.json()["error"]["code"],
        "aws-no-credentials",
        "{}",
        run.snapshot()
    );
    assert!(given.sandbox.folder().exists());
    assert_eq!(given.sandbox.leftovers(), []);

    // Somebody else may not go on with it, neither up nor down.
    given.sandbox.set_env("AWS_ACCESS_KEY_ID", &id);
    given.sandbox.set_env("AWS_SECRET_ACCESS_KEY", &secret);
    given.sandbox.replace(
        "cp9.yaml",
        &format!("[{OWNER}]"),
        &format!("[{OWNER}, eve@example.com]"),
    );
    given.sandbox.cp9(["up"]).run().assert_code(0);
    given.sandbox.set_env("CP9_OWNER", "eve@example.com");
    for command in ["up", "destroy"] {
        let other = given.sandbox.cp9([command, "--json"]).run().assert_code(3);
        assert_eq!(
            other.json()["error"]["code"],
            "owner-changed",
            "{}",
            other.snapshot()
        );
    }
    given.sandbox.set_env("CP9_OWNER", OWNER);
    given.destroy();
}

#[test]
fn what_still_carries_the_tags_survives_a_destroy() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    given.sandbox.cp9(["up"]).run().assert_code(0);
    let name = given.sandbox.session().to_owned();
    let queue = |action: &str, more: &str| moto.query("sqs", "2012-11-05", action, more);
    let tags = format!(
        "&QueueName={name}-q&Tag.1.Key=cp9-owner&Tag.1.Value={OWNER}&Tag.2.Key=cp9-session&Tag.2.Value={name}"
    );
    queue("CreateQueue", &tags);
    let run = given
        .sandbox
        .cp9(["destroy", "--json"])
        .run()
        .assert_code(2);
    let survivors = run.data()["survivors"]
        .as_array()
        .expect("survivors")
        .clone();
    assert_eq!(survivors.len(), 1, "{survivors:?}");
    assert_eq!(
        (&survivors[0]["cloud"], &survivors[0]["region"]),
        (&"aws".into(), &REGION.into())
    );
    assert!(
        survivors[0]["id"]
            .as_str()
            .is_some_and(|id| id.ends_with(&format!(":{name}-q")))
    );
    let url = format!("{}/{ACCOUNT}/{name}-q", moto.url());
    queue("DeleteQueue", &format!("&QueueUrl={url}"));
    given.destroy();
}

#[test]
fn a_session_does_not_move_to_another_place() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    given.sandbox.cp9(["up"]).run().assert_code(0);
    given.sandbox.replace("cp9.yaml", REGION, "eu-west-1");
    let moved = given.sandbox.cp9(["up", "--json"]).run().assert_code(3);
    assert_eq!(
        moved.json()["error"]["code"],
        "target-changed",
        "{}",
        moved.snapshot()
    );
    given.sandbox.replace("cp9.yaml", "eu-west-1", REGION);
    given.sandbox.cp9(["up"]).run().assert_code(0);
    given.destroy();
}

#[test]
fn the_doctor_proves_what_up_would_and_makes_nothing() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    let well = given.sandbox.cp9(["doctor", "--json"]).run();
    let severity = |run: &Run, check: &str| {
        let findings = run.data()["findings"].as_array().expect("findings").clone();
        let found = findings
            .into_iter()
            .find(|finding| finding["check"] == check);
        found.expect("the check ran")["severity"].clone()
    };
    for check in ["identity", "credentials", "clock"] {
        assert_eq!(severity(&well, check), "ok", "{check}");
    }
    assert!(given.proxy.asked().iter().all(Asked::is_harmless));
    given.sandbox.replace(
        "cp9.yaml",
        &format!("[\"{ACCOUNT}\"]"),
        "[\"999999999999\"]",
    );
    let ill = given.sandbox.cp9(["doctor", "--json"]).run().assert_code(3);
    assert_eq!(severity(&ill, "identity"), "error");
}
