//! Services act as the session does: the SDK in a process finds the generated profile, whose credentials come
//! from the controller and are renewed. Against moto, with a proxy that shortens lives and refuses.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use cp9_testkit::aws::{Asked, Fault, Keys, Moto, REGION};
use cp9_testkit::{Run, Sandbox, http_get, wait_until};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::identity::{Given, OWNER, ROLE};

const LIMIT: Duration = Duration::from_mins(1);
const ACTS: &str = "arn:aws:sts::123456789012:assumed-role/cp9-developer/nightly@example.com";
const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: asker}
spec: {source: {path: envs/dev/asker}, destination: {namespace: shop}}
";
const MANIFESTS: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: asker}
spec:
  template:
    metadata: {labels: {app: asker}}
    spec:
      containers:
      - name: asker
        command: [asker]
        ports: [{name: http, containerPort: 8080}]
        env: [{name: AWS_PROFILE, value: staging}]
";

/// What the proxy does now.
#[derive(Clone, Default)]
struct Mood(Arc<AtomicUsize>);

const WELL: usize = 0;
const SHORT: usize = 1;
const REVOKED: usize = 2;
const HANGING: usize = 3;

impl Mood {
    fn set(&self, mood: usize) {
        self.0.store(mood, Ordering::SeqCst);
    }

    fn judge(&self, asked: &Asked) -> Option<Fault> {
        let gives = matches!(asked.operation.as_str(), "AssumeRole" | "GetSessionToken");
        match self.0.load(Ordering::SeqCst) {
            SHORT if gives => {
                let end = Timestamp::now() + SignedDuration::from_secs(3);
                Some(Fault::Ends(format!("{end:.0}")))
            }
            REVOKED if gives => Some(Fault::Error(403, "ExpiredToken", "expired")),
            HANGING => Some(Fault::Hang),
            _ => None,
        }
    }
}

/// A session on AWS without a service.
fn bare(moto: &Moto) -> (Given, Mood) {
    let mood = Mood::default();
    let judged = mood.clone();
    (Given::new(moto, move |asked, _| judged.judge(asked)), mood)
}

/// A session on AWS with one service that tells who it is.
fn given(moto: &Moto) -> (Given, Mood) {
    let (given, mood) = bare(moto);
    let sandbox = &given.sandbox;
    let asker = format!("{}/tests/fixtures/asker.py", env!("CARGO_MANIFEST_DIR"));
    let services = format!(
        "appDelivery: {{repo: ./app-delivery, env: dev}}\nservices:\n  live:\n    asker:\n      \
         app: {{registry: registry/asker.yaml}}\n      \
         run: {{command: [\"{}\", \"{asker}\"], ports: {{http: PORT}}}}\n",
        moto.python()
    );
    let text = sandbox.read("cp9.yaml");
    sandbox.write("cp9.yaml", &format!("{text}{services}"));
    sandbox.write("app-delivery/registry/asker.yaml", APPLICATION);
    sandbox.write("app-delivery/envs/dev/asker/all.yaml", MANIFESTS);
    (given, mood)
}

fn up(sandbox: &Sandbox) -> Run {
    sandbox.cp9(["up"]).run().assert_code(0)
}

/// What the service says of itself.
#[track_caller]
fn who(sandbox: &Sandbox) -> Value {
    let reply = http_get(&sandbox.endpoint("asker")).expect("an answer");
    reply.json()
}

/// What an SDK would run, from a shell that knows nothing of AWS.
fn ask(sandbox: &Sandbox) -> cp9_testkit::Invocation {
    let folder = sandbox.folder().into_string();
    let ask = sandbox
        .cp9(["controller", "credentials", "--folder"])
        .args([folder]);
    [
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ENDPOINT_URL",
        "HOME",
    ]
    .into_iter()
    .fold(ask, cp9_testkit::Invocation::without_env)
}

fn credentials(sandbox: &Sandbox) -> Value {
    let run = ask(sandbox).run().assert_code(0);
    serde_json::from_str(&run.stdout).expect("what SDKs read")
}

fn leaks(given: &Given, lent: &Value) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    for key in ["SecretAccessKey", "SessionToken", "AccessKeyId"] {
        let secret = lent[key].as_str().expect("text").to_owned();
        let id = String::new();
        found.extend(Keys { id, secret }.leaks(given.sandbox.root()));
    }
    found
}

/// What `doctor` says of the profile.
fn finding(doctor: &Run) -> Value {
    let data = doctor.data();
    let all = data["findings"].as_array().into_iter().flatten();
    let found = all
        .into_iter()
        .find(|finding| finding["check"] == "profile");
    found.cloned().unwrap_or_default()
}

fn asked(given: &Given, operation: &str) -> usize {
    let asked = given.proxy.asked();
    asked
        .iter()
        .filter(|asked| asked.operation == operation)
        .count()
}

#[test]
fn a_service_acts_as_the_session_and_all_tell_so() {
    let Some(moto) = Moto::shared() else { return };
    let (given, _) = given(moto);
    let sandbox = &given.sandbox;
    up(sandbox);
    let who = who(sandbox);
    let place = (&who["arn"], &who["region"]);
    assert_eq!(place, (&ACTS.into(), &REGION.into()), "{who}");

    let config = sandbox.folder().join("aws/config");
    let text = std::fs::read_to_string(&config).expect("the profile");
    assert!(text.contains(&format!("cp9-owner = {OWNER}\n")), "{text}");
    let mode = |path: &Utf8PathBuf| {
        let facts = std::fs::metadata(path).expect("facts");
        facts.permissions().mode() & 0o777
    };
    let modes = (mode(&config), mode(&sandbox.folder().join("aws")));
    assert_eq!(modes, (0o600, 0o700));
    let report = sandbox.read(&format!(
        ".cp9/{}/tilt/reports/context-report.json",
        sandbox.session()
    ));
    assert!(
        report.contains("variable `AWS_PROFILE` of the manifests is left out"),
        "{report}"
    );
    let status = sandbox.status();
    assert_eq!(status["identity"]["profile"], config.as_str(), "{status}");
    let doctor = sandbox.cp9(["doctor", "--json"]).run();
    assert_eq!(finding(&doctor)["id"], "profile-gives", "{}", doctor.stdout);

    // A second `up` keeps everything as it is.
    let pid = status["services"][0]["pid"].as_u64().expect("a pid");
    up(sandbox);
    assert_eq!(sandbox.status()["services"][0]["pid"], pid);
    given.destroy();
}

#[test]
fn what_is_given_out_is_written_nowhere() {
    let Some(moto) = Moto::shared() else { return };
    let (given, _) = given(moto);
    let sandbox = &given.sandbox;
    up(sandbox);
    let who = who(sandbox);
    let lent = credentials(sandbox);
    assert_eq!(lent["Version"], 1);
    assert_eq!(lent["AccessKeyId"], who["key"], "one for all");
    let end = lent["Expiration"].as_str().expect("text");
    let end: Timestamp = end.parse().expect("a time");
    let life = end.duration_since(Timestamp::now());
    assert!(life > SignedDuration::from_mins(20), "{life}");

    // No process of the session but the controller has the user's own keys.
    let pid = sandbox.status()["services"][0]["pid"].clone();
    let environ = std::fs::read_to_string(format!("/proc/{pid}/environ")).expect("its variables");
    assert!(environ.contains("AWS_PROFILE=cp9"), "{environ}");
    assert!(!environ.contains(&given.keys.secret) && !environ.contains("AWS_ACCESS_KEY"));
    let verbose = ask(sandbox).env("CP9_VERBOSE", "1").run().assert_code(0);
    let secret = lent["SecretAccessKey"].as_str().expect("text");
    assert!(!verbose.stderr.contains(secret), "{}", verbose.stderr);
    given.assert_no_leak();
    assert_eq!(leaks(&given, &lent), Vec::<Utf8PathBuf>::new());

    sandbox.cp9(["pause"]).run().assert_code(0);
    let none = ask(sandbox).run();
    assert!(none.code != Some(0) && none.stdout.is_empty());
    assert!(none.stderr.contains("does not run"), "{}", none.stderr);
    given.destroy();
    assert_eq!(leaks(&given, &lent), Vec::<Utf8PathBuf>::new());
}

#[test]
fn what_ends_is_renewed_and_what_is_revoked_is_told() {
    let Some(moto) = Moto::shared() else { return };
    let (given, mood) = given(moto);
    let sandbox = &given.sandbox;
    mood.set(SHORT);
    up(sandbox);
    let first = who(sandbox);
    assert_eq!(first["arn"], ACTS, "{first}");
    let second = wait_until(LIMIT, "other keys in the same process", || {
        let now = who(sandbox);
        (now["key"] != first["key"]).then_some(now)
    });
    assert_eq!(second["arn"], ACTS, "{second}");

    mood.set(REVOKED);
    let refused = wait_until(LIMIT, "the end of what holds", || {
        who(sandbox)["error"].as_str().map(str::to_owned)
    });
    assert!(
        refused.contains("expired") && refused.contains("hint:"),
        "{refused}"
    );
    let before = sandbox.status()["controller"].clone();
    assert_eq!(before["state"], "running", "{before}");
    let doctor = sandbox.cp9(["doctor", "--json"]).run().assert_code(3);
    assert_eq!(
        finding(&doctor)["id"],
        "profile-withheld",
        "{}",
        doctor.stdout
    );
    mood.set(WELL);
    let third = who(sandbox);
    assert_eq!(third["arn"], ACTS, "{third}");
    assert_eq!(sandbox.status()["controller"], before);
    given.destroy();
}

#[test]
fn a_cloud_that_hangs_holds_up_nobody_but_who_asks() {
    let Some(moto) = Moto::shared() else { return };
    let (given, mood) = bare(moto);
    let sandbox = &given.sandbox;
    up(sandbox);
    mood.set(HANGING);
    let waiting = ask(sandbox).spawn();
    wait_until(LIMIT, "the question", || {
        (asked(&given, "GetCallerIdentity") > 2).then_some(())
    });
    let began = Instant::now();
    assert_eq!(sandbox.status()["controller"]["state"], "running");
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    let late = waiting.wait(LIMIT).assert_code(4);
    assert!(
        late.stderr.contains("gives no credentials"),
        "{}",
        late.stderr
    );
    mood.set(WELL);
    // Several that ask at once are one question to AWS.
    let before = asked(&given, "AssumeRole");
    let all: Vec<_> = (0..5).map(|_| ask(sandbox).spawn()).collect();
    let keys: Vec<String> = all
        .into_iter()
        .map(|one| one.wait(LIMIT).assert_code(0).stdout)
        .collect();
    assert!(keys.iter().all(|key| *key == keys[0]));
    assert_eq!(asked(&given, "AssumeRole"), before + 1);
    given.destroy();
}

#[test]
fn a_controller_that_was_killed_gives_credentials_again_once_it_is_back() {
    let Some(moto) = Moto::shared() else { return };
    let (given, _) = given(moto);
    let sandbox = &given.sandbox;
    up(sandbox);
    let before = who(sandbox);
    let service = sandbox.status()["services"][0]["pid"].clone();
    let pid = sandbox.status()["controller"]["pid"]
        .as_i64()
        .expect("a pid");
    std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .status()
        .expect("kill runs");
    wait_until(LIMIT, "its end", || {
        (sandbox.status()["controller"]["state"] == "dead").then_some(())
    });
    let none = ask(sandbox).run();
    assert!(
        none.code != Some(0) && none.stderr.contains("does not run"),
        "{}",
        none.stderr
    );
    assert_eq!(
        who(sandbox)["key"],
        before["key"],
        "what it has still holds"
    );
    up(sandbox);
    assert_eq!(sandbox.status()["services"][0]["pid"], service, "adopted");
    assert_ne!(credentials(sandbox)["AccessKeyId"], before["key"]);
    given.destroy();
}

#[test]
fn keys_that_do_not_end_are_never_given_out() {
    let Some(moto) = Moto::shared() else { return };
    let (given, _) = given(moto);
    let sandbox = &given.sandbox;
    sandbox.replace("cp9.yaml", &format!("      role_arn: {ROLE}\n"), "");
    up(sandbox);
    let who = who(sandbox);
    assert!(
        who["arn"].is_string() && who["key"] != given.keys.id,
        "{who}"
    );
    assert_eq!(asked(&given, "GetSessionToken"), 1);
    given.destroy();
}

#[test]
fn only_the_session_itself_is_given_credentials() {
    let Some(moto) = Moto::shared() else { return };
    let given = Given::on(moto);
    let sandbox = &given.sandbox;
    up(sandbox);
    credentials(sandbox);
    let other = ask(sandbox)
        .env("CP9_SESSION_ID", "of-another")
        .run()
        .assert_code(3);
    assert!(other.stderr.contains("another session"), "{}", other.stderr);
    let id = sandbox.read(&format!(".cp9/{}/state.json", sandbox.session()));
    let id: Value = serde_json::from_str(&id).expect("JSON");
    let own = id["id"].as_str().expect("an id");
    ask(sandbox).env("CP9_SESSION_ID", own).run().assert_code(0);

    let copy = sandbox.root().join("copy/.cp9").join(sandbox.session());
    let from = sandbox.folder();
    std::fs::create_dir_all(&copy).expect("a folder");
    for file in ["state.json", "host.json"] {
        std::fs::copy(from.join(file), copy.join(file)).expect("a copy");
    }
    let copied = sandbox
        .cp9(["controller", "credentials", "--folder", copy.as_str()])
        .run()
        .assert_code(3);
    assert!(copied.stderr.contains("is a copy"), "{}", copied.stderr);

    // Who acts as the session cannot prove who it is.
    let own_profile = from.join("aws/config");
    let circle = sandbox
        .cp9(["up", "--json"])
        .env("AWS_CONFIG_FILE", own_profile.as_str())
        .env("AWS_PROFILE", "cp9")
        .run()
        .assert_code(3);
    assert_eq!(
        circle.json()["error"]["code"],
        "profile-own",
        "{}",
        circle.snapshot()
    );
    given.destroy();

    let local = crate::prebuilt::quickstart();
    local.cp9(["up"]).run().assert_code(0);
    let none = ask(&local).run().assert_code(3);
    assert!(
        none.stderr.contains("writes to no cloud"),
        "{}",
        none.stderr
    );
    assert!(!local.folder().join("aws").exists());
    local.destroy();
}
