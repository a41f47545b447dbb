//! Stubs of a session: planned, served, recorded, restarted alone.

use cp9_testkit::{Sandbox, http_get, http_post};
use serde_json::Value;

use crate::prebuilt;

const DEFINITION: &str = "openapi: 3.0.3
info: {title: accounts, version: '1'}
paths:
  /v1/accounts/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        '200':
          description: ok
          content:
            application/json:
              schema: {type: object, required: [plan], properties: {plan: {type: string, enum: [free, paid]}}}
";

/// A contract of no operation.
const SERVED: &str = "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths: {}\n";

/// The quickstart with three stubs, one of them without its definition.
fn with_stubs() -> Sandbox {
    let sandbox = prebuilt::quickstart();
    let stubs = "  stub:
    accounts: {swagger: ./contracts/accounts.yaml}
    usage: {kind: metering-recorder, output: '.cp9/${name}/stubs/usage/payloads.jsonl'}
    later: {swagger: ./contracts/later.yaml}
";
    let text = sandbox.read("cp9.yaml");
    let has_stubs = text.contains("\n  stub:\n");
    let (from, to) = if has_stubs {
        ("  stub:\n", stubs.to_owned())
    } else {
        ("services:\n", format!("services:\n{stubs}"))
    };
    sandbox.write("cp9.yaml", &text.replacen(from, &to, 1));
    let needs = "needs: [cluster-worker";
    sandbox.replace("cp9.yaml", needs, "needs: [accounts, cluster-worker");
    sandbox.write("contracts/accounts.yaml", DEFINITION);
    sandbox
}

fn json(sandbox: &Sandbox, below: &str) -> Value {
    let path = format!(".cp9/{}/{below}", sandbox.session());
    serde_json::from_str(&sandbox.read(&path)).expect("JSON")
}

fn find<'a>(list: &'a Value, name: &str) -> &'a Value {
    let items = list.as_array().expect("a list");
    let found = items.iter().find(|item| item["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list}"))
}

#[test]
fn stubs_answer_and_record_and_a_changed_definition_restarts_one() {
    let sandbox = with_stubs();
    sandbox.cp9(["up"]).run().assert_code(0);
    let accounts = sandbox.endpoint("accounts");
    let answer = || http_get(&format!("{accounts}/v1/accounts/7")).expect("an answer");
    assert_eq!(answer().status, 200);
    assert!(answer().text().contains("\"free\""), "{}", answer().text());
    let later = sandbox.endpoint("later");
    let any = http_get(&format!("{later}/whatever")).expect("an answer");
    assert_eq!((any.status, any.text().trim()), (200, "{}"));
    let usage = sandbox.endpoint("usage");
    http_post(&format!("{usage}/v1/payloads"), r#"{"units":3}"#).expect("an answer");
    let records = format!(".cp9/{}/stubs/usage/payloads.jsonl", sandbox.session());
    assert!(sandbox.read(&records).contains("units"));

    let before = sandbox.status();
    let changed = DEFINITION.replace("[free, paid]", "[paid, free]");
    sandbox.write("contracts/accounts.yaml", &changed);
    sandbox.cp9(["up"]).run().assert_code(0);
    assert!(answer().text().contains("\"paid\""), "{}", answer().text());
    let after = sandbox.status();
    for service in before["services"].as_array().expect("services") {
        let name = service["name"].as_str().expect("a name");
        let same = find(&after["services"], name)["pid"] == service["pid"];
        assert_eq!(same, name != "accounts", "{name}");
    }
    assert!(sandbox.read(&records).contains("units"), "kept");
    sandbox.destroy();
}

#[test]
fn stubs_are_planned_with_a_copy_of_their_definition() {
    let sandbox = with_stubs();
    sandbox.write("contracts/accounts.yaml", SERVED);
    sandbox.cp9(["up", "--no-tilt"]).run().assert_code(0);
    let plan = json(&sandbox, "tilt/dev-plan.json");
    let argv = |name: &str| {
        let argv = find(&plan["resources"], name)["argv"].clone();
        let words: Vec<String> = serde_json::from_value(argv).expect("words");
        words.join(" ")
    };
    let port = |name: &str| json(&sandbox, "host.json")["ports"][name]["80"].clone();
    assert_eq!(
        argv("accounts"),
        format!(
            "${{bin}}/cp9 stub serve --name accounts --kind openapi --definition ${{session}}/run/accounts/root/openapi.yaml --listen 127.0.0.1:{}",
            port("accounts")
        )
    );
    assert_eq!(
        argv("usage"),
        format!(
            "${{bin}}/cp9 stub serve --name usage --kind metering-recorder --output ${{session}}/stubs/usage/payloads.jsonl --hide-secrets-of ${{session}} --listen 127.0.0.1:{}",
            port("usage")
        )
    );
    assert!(argv("later").contains("--kind permissive"));
    let deps = &find(&plan["resources"], "cluster-api")["deps"];
    assert!(deps.to_string().contains("\"accounts\""), "{deps}");
    let report = json(&sandbox, "tilt/reports/context-report.json");
    let stub = |name: &str| find(&report["services"], name)["stub"].clone();
    assert_eq!(stub("accounts"), "openapi");
    assert_eq!(stub("later"), "permissive (definition missing)");
    let copy = format!(
        ".cp9/{}/tilt/inputs/stubs/accounts/openapi.yaml",
        sandbox.session()
    );
    assert_eq!(sandbox.read(&copy), SERVED);
    sandbox.write("contracts/accounts.yaml", &SERVED.replace("3.0.3", "3.0.2"));
    sandbox.cp9(["up", "--no-tilt"]).run().assert_code(0);
    assert_eq!(sandbox.read(&copy), SERVED.replace("3.0.3", "3.0.2"));
    sandbox.destroy();
}

#[test]
fn a_contract_that_cannot_be_served_is_refused_before_anything_is_made() {
    let sandbox = with_stubs();
    let contract = "contracts/accounts.yaml";
    for (text, word) in [
        ("openapi: 3.0.3\ninfo: [\n", "cannot parse definition"),
        ("swagger: '2.0'\n", "only OpenAPI 3.0 is served"),
        (
            "openapi: 3.0.3\ninfo: {title: a, version: '1'}\npaths:\n  /a:\n    get:\n      responses:\n        '200':\n          $ref: '#/components/responses/Gone'\n",
            "/a",
        ),
    ] {
        sandbox.write(contract, text);
        let up = sandbox.cp9(["up", "--no-tilt"]).run().assert_code(3);
        assert!(
            up.stderr.contains("CP9-C323") && up.stderr.contains(word),
            "{}",
            up.stderr
        );
        assert!(
            up.stderr.contains("contracts/accounts.yaml"),
            "{}",
            up.stderr
        );
        let state = json(&sandbox, "state.json").to_string();
        assert!(state.contains("config_load"), "{state}");
        assert!(
            !sandbox
                .path(&format!(".cp9/{}/host.json", sandbox.session()))
                .exists()
        );
        let doctor = sandbox.cp9(["doctor", "--json"]).run();
        assert!(doctor.stdout.contains("stub-contract"), "{}", doctor.stdout);
    }
    sandbox.write(contract, SERVED);
    sandbox.cp9(["up", "--no-tilt"]).run().assert_code(0);
    // One that broke since is found by the next `up`.
    sandbox.write(contract, "openapi: 3.0.3\ninfo: [\n");
    let again = sandbox.cp9(["up", "--no-tilt"]).run().assert_code(3);
    assert!(again.stderr.contains("config_load"), "{}", again.stderr);
    sandbox.destroy();
}
