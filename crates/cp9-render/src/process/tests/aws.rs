//! Who a process is on AWS: the session, unless the session file says otherwise.

use serde_json::json;

use super::{Case, api};

const SECRET: &str = "apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {AWS_ACCESS_KEY_ID: AKIASTAGING, AWS_SECRET_ACCESS_KEY: hunter2, AWS_THING: kept}
";

fn aws(case: &Case) -> Vec<(String, String)> {
    let rendered = case.good();
    let env = &rendered.of("api").env;
    let of_aws = env.iter().filter(|(name, _)| name.starts_with("AWS_"));
    let mut found: Vec<(String, String)> = of_aws.map(|(k, v)| (k.clone(), v.clone())).collect();
    found.sort();
    found
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
    list.iter().map(owned).collect()
}

#[test]
fn a_process_acts_as_the_session() {
    let case = api(json!({}), "env: []", "", "");
    assert_eq!(aws(&case), [], "nothing where nothing is written to");
    let case = case.on_aws();
    let expected = [
        ("AWS_CONFIG_FILE", "${session}/aws/config"),
        ("AWS_DEFAULT_REGION", "us-west-2"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000"),
        ("AWS_PROFILE", "cp9"),
        ("AWS_REGION", "us-west-2"),
        ("AWS_SDK_LOAD_CONFIG", "1"),
        ("AWS_SHARED_CREDENTIALS_FILE", "${session}/aws/credentials"),
    ];
    assert_eq!(aws(&case), pairs(&expected));
    let rendered = case.good();
    let scope = &rendered.report.scope;
    assert_eq!(scope.account.as_deref(), Some("123456789012"));
    assert!(
        scope
            .role
            .as_deref()
            .is_some_and(|role| role.contains("assumed-role/dev"))
    );
    let patch = rendered.input("patches/api/patch.yaml");
    assert!(patch.contains("AWS_PROFILE"), "{patch}");
}

#[test]
fn another_identity_of_the_manifests_is_left_out_and_told() {
    let container = "envFrom: [{secretRef: {name: keys}}], env: [
        {name: AWS_PROFILE, value: staging}, {name: AWS_REGION, value: eu-west-1},
        {name: AWS_DEFAULT_REGION, value: us-west-2}, {name: AWS_ENDPOINT_URL, value: 'http://minio'},
        {name: AWS_ROLE_ARN, value: 'arn:aws:iam::999999999999:role/staging'}]";
    let case = api(json!({}), container, "", SECRET).on_aws();
    let rendered = case.good();
    let env = &rendered.of("api").env;
    assert_eq!(env["AWS_PROFILE"], "cp9");
    assert_eq!(env["AWS_REGION"], "us-west-2");
    assert_eq!(
        env["AWS_ENDPOINT_URL"], "http://minio",
        "a place, not an identity"
    );
    assert!(!env.contains_key("AWS_ROLE_ARN"));
    assert_eq!(rendered.secret_file("api"), "AWS_THING=kept\n");
    let notes = &rendered.report.services[0].notes;
    for name in [
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_PROFILE",
        "AWS_REGION",
        "AWS_ROLE_ARN",
    ] {
        let told = |note: &String| note.contains(&format!("`{name}`"));
        assert!(notes.iter().any(told), "{name}: {notes:?}");
    }
    assert_eq!(notes.len(), 5, "{notes:?}");
}

#[test]
fn the_session_file_may_decide_otherwise() {
    let run = json!({"env": {"AWS_ACCESS_KEY_ID": "minio", "AWS_SECRET_ACCESS_KEY": "minio"}});
    let case = api(run, "env: []", "", "").on_aws();
    let found = aws(&case);
    let value = |name: &str| {
        found
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, v)| v.as_str())
    };
    assert_eq!(value("AWS_ACCESS_KEY_ID"), Some("minio"));
    assert_eq!(value("AWS_REGION"), Some("us-west-2"));
    for name in [
        "AWS_PROFILE",
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
    ] {
        assert_eq!(value(name), None, "{name}");
    }
    let notes = &case.good().report.services[0].notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("`run.env.AWS_ACCESS_KEY_ID`")),
        "{notes:?}"
    );
}

#[test]
fn without_a_cloud_the_manifests_are_taken_at_their_word() {
    let container =
        "env: [{name: AWS_PROFILE, value: staging}, {name: AWS_REGION, value: eu-west-1}]";
    let case = api(json!({}), container, "", "");
    assert_eq!(
        aws(&case),
        pairs(&[("AWS_PROFILE", "staging"), ("AWS_REGION", "eu-west-1")])
    );
}
