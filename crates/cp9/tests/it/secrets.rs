//! A secret value is in the file that the user wrote, in the session's one 0600 file and in the process,
//! and nowhere else: not in a file, a log, a record or an output, plain or encoded.

use std::os::unix::fs::PermissionsExt as _;

use cp9_testkit::{Run, Sandbox, http_post};

use crate::prebuilt;

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
