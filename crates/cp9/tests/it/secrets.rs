//! A secret value is in the file that the user wrote, in the session's one 0600 file and in the process,
//! and nowhere else: not in a file, a log, a record or an output, plain or encoded.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use cp9_testkit::{Run, Sandbox, http_post, wait_until};

use crate::prebuilt;

const LIMIT: Duration = Duration::from_secs(20);

/// The value, and what it looks like in base64 whatever stands before it.
const VALUE: &str = "s3cr3t/Value+With=Signs&7f3a9";
const FORMS: [&str; 3] = [
    VALUE,
    "s3cr3t%2FValue",
    "czNjcjN0L1ZhbHVlK1dpdGg9U2lnbnMmN2YzYTk",
];

fn holds(bytes: &[u8]) -> bool {
    FORMS.iter().any(|form| {
        bytes
            .windows(form.len())
            .any(|window| window == form.as_bytes())
    })
}

#[track_caller]
fn silent(run: &Run) {
    assert!(
        !holds(run.stdout.as_bytes()) && !holds(run.stderr.as_bytes()),
        "{} tells the secret",
        run.command
    );
}

/// Every file of the sandbox that holds the value.
fn told(sandbox: &Sandbox) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![sandbox.root().to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in dir.read_dir_utf8().expect("a folder").flatten() {
            let kind = entry.file_type().expect("a type");
            if kind.is_dir() {
                waiting.push(entry.path().to_owned());
            } else if kind.is_file() && std::fs::read(entry.path()).is_ok_and(|bytes| holds(&bytes))
            {
                found.push(
                    entry
                        .path()
                        .strip_prefix(sandbox.root())
                        .expect("below")
                        .to_string(),
                );
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_secret_stays_in_its_file() {
    let sandbox = prebuilt::quickstart();
    let own = "secrets/cluster-worker.env";
    let text = sandbox.read(own);
    let edited: String = text
        .lines()
        .map(|line| {
            if line.starts_with("PROVIDER_TOKEN=") {
                format!("PROVIDER_TOKEN={VALUE}\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    assert!(edited.contains(VALUE));
    sandbox.write(own, &edited);
    let run = |args: &[&str]| {
        let run = sandbox
            .cp9(args.iter().copied())
            .env("CP9_VERBOSE", "1")
            .run();
        silent(&run);
        run
    };
    run(&["up"]).assert_code(0);
    let api = sandbox.endpoint("cluster-api");
    let reply = http_post(
        &format!("{api}/v1beta1/projects/p/clusters"),
        r#"{"name":"one"}"#,
    )
    .expect("an answer");
    assert_eq!(
        reply.status,
        201,
        "the worker has its secret: {}",
        reply.text()
    );
    run(&["status", "--json"]).assert_code(0);
    run(&["deploy", "cluster-worker"]).assert_code(0);
    run(&["doctor", "--json"]);
    run(&["logs", "--all"]).assert_code(0);
    // A mistake in the very line that holds it is told without it.
    sandbox.write(own, &edited.replace("PROVIDER_TOKEN=", "PROVIDER_TOKEN = "));
    let wrong = run(&["up"]).assert_code(3);
    assert!(
        wrong.stderr.contains("cluster-worker.env"),
        "{}",
        wrong.stderr
    );
    sandbox.write(own, &edited);
    run(&["up", "--json=lines"]).assert_code(0);

    let kept = format!("work/.cp9/{}/secrets/cluster-worker.env", sandbox.session());
    assert_eq!(told(&sandbox), [kept.clone(), format!("work/{own}")]);
    let mode = std::fs::metadata(sandbox.root().join(&kept))
        .expect("the file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    run(&["pause"]).assert_code(0);
    run(&["up"]).assert_code(0);
    run(&["destroy"]).assert_code(0);
    assert_eq!(told(&sandbox), [format!("work/{own}")]);
}

/// A worker that tells its secret in every way before it works: its environment, a line without an end, a
/// terminal's colours in the middle of it.
fn talkative(sandbox: &Sandbox) {
    let worker = prebuilt::built("cluster-worker");
    let script = format!(
        "#!/bin/sh\nenv\ncat \"$SECRET_FILES/PROVIDER_TOKEN\"\n\
         printf 'half \\033[1m%s' \"$PROVIDER_TOKEN\" >&2\necho\n\
         printf 'without an end: %s' \"$PROVIDER_TOKEN\" >&2\nexec {worker} \"$@\"\n"
    );
    sandbox.write("talkative", &script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("talkative"), mode).expect("a mode");
    let program = sandbox.path("talkative");
    sandbox.replace("cp9.yaml", worker.as_str(), program.as_str());
    let manifest = "app-delivery/envs/quickstart/cluster-worker/deployment.yaml";
    sandbox.replace(
        manifest,
        "          volumeMounts:\n",
        "          volumeMounts:\n            - name: secret\n              mountPath: /secret-files\n",
    );
    sandbox.replace(
        manifest,
        "          env:\n",
        "          env:\n            - name: SECRET_FILES\n              value: /secret-files\n",
    );
    sandbox.replace(
        manifest,
        "      volumes:\n",
        "      volumes:\n        - name: secret\n          secret:\n            secretName: cluster-worker\n",
    );
}

#[test]
fn what_services_print_and_recorders_are_sent_is_masked() {
    let sandbox = prebuilt::quickstart();
    let own = "secrets/cluster-worker.env";
    sandbox.write(own, &format!("PROVIDER_TOKEN={VALUE}\n"));
    talkative(&sandbox);
    sandbox.cp9(["up"]).run().assert_code(0);
    let billing = sandbox.endpoint("billing-svc");
    let body = format!(r#"{{"note":"it is {VALUE}","items":["{VALUE}"]}}"#);
    http_post(&format!("{billing}/v1/{VALUE}?q={VALUE}"), &body).expect("an answer");

    let session = format!("work/.cp9/{}", sandbox.session());
    let kept = format!("{session}/secrets/cluster-worker.env");
    let mounted = format!("{session}/run/cluster-worker/root/secret-files/PROVIDER_TOKEN");
    let mut expected = [kept.clone(), mounted, format!("work/{own}")];
    expected.sort();
    let place = || {
        let told = told(&sandbox);
        (told == expected).then_some(told)
    };
    wait_until(LIMIT, "raw lines that are masked", place);
    let lines = sandbox.cp9(["logs", "cluster-worker", "--all"]).run();
    silent(&lines);
    assert!(
        lines.stdout.contains("PROVIDER_TOKEN=***"),
        "{}",
        lines.stdout
    );
    assert!(lines.stdout.contains("half ***"), "{}", lines.stdout);
    let raw = sandbox.read(&format!(
        ".cp9/{}/logs/raw/cluster-worker.log",
        sandbox.session()
    ));
    assert!(raw.contains("PROVIDER_TOKEN=***"), "{raw}");
    let recorded = sandbox.read(&format!(
        ".cp9/{}/stubs/billing-svc/invoices.jsonl",
        sandbox.session()
    ));
    assert!(
        recorded.contains(r#""note":"it is ***","items":["***"]"#),
        "{recorded}"
    );

    sandbox.cp9(["pause"]).run().assert_code(0);
    assert_eq!(told(&sandbox), [kept, format!("work/{own}")], "paused");
    sandbox.cp9(["up"]).run().assert_code(0);
    wait_until(LIMIT, "raw lines that are masked again", place);
    sandbox.destroy();
    assert_eq!(told(&sandbox), [format!("work/{own}")], "destroyed");
}
