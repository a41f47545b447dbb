//! The rules of a plan, one table or example each.
#![expect(
    clippy::needless_pass_by_value,
    reason = "values of `json!` read best where they are handed over"
)]

use serde_json::json;

use super::*;

const AWS: &str = "registry.terraform.io/hashicorp/aws";

fn expected() -> Expected {
    let session = "demo".parse().expect("a name");
    let owner = crate::Owner::new("alice@example.com");
    Expected {
        tags: SessionTags::new(owner, session, Some("8h")),
        account: "111122223333".into(),
        region: "us-west-2".into(),
    }
}

fn four() -> Value {
    json!({"cp9-owner": "alice@example.com", "cp9-session": "demo",
           "cp9-managed": "terraform-substrate", "cp9-ttl": "8h"})
}

fn change(kind: &str, actions: Value, before: Value, after: Value, unknown: Value) -> Value {
    json!({"address": format!("{kind}.x"), "mode": "managed", "type": kind, "name": "x",
           "provider_name": AWS, "change": {
               "actions": actions, "before": before, "after": after, "after_unknown": unknown}})
}

fn create(kind: &str, after: Value, unknown: Value) -> Value {
    change(kind, json!(["create"]), Value::Null, after, unknown)
}

fn found(changes: Vec<Value>, more: Value) -> Vec<(Rule, String)> {
    let mut plan = json!({"format_version": "1.2", "resource_changes": changes});
    if let (Value::Object(plan), Value::Object(more)) = (&mut plan, more) {
        plan.extend(more);
    }
    let plan = Plan::parse(plan.to_string().as_bytes()).expect("a plan");
    check(&plan, &expected())
        .into_iter()
        .map(|offence| {
            (
                offence.rule,
                format!("{}: {}", offence.address, offence.message),
            )
        })
        .collect()
}

fn rules(changes: Vec<Value>, more: Value) -> Vec<Rule> {
    found(changes, more)
        .into_iter()
        .map(|(rule, _)| rule)
        .collect()
}

fn one(change: Value) -> Vec<Rule> {
    rules(vec![change], json!({}))
}

#[test]
fn a_tagged_and_named_queue_passes() {
    let queue = json!({"name": "demo-events", "tags": null, "tags_all": four()});
    assert_eq!(one(create("aws_sqs_queue", queue, json!({"id": true}))), []);
}

#[test]
fn kinds_that_no_substrate_makes_are_refused_whatever_their_tags() {
    let good = json!({"name": "demo-x", "tags_all": four()});
    for kind in [
        "aws_eks_cluster",
        "aws_eks_node_group",
        "aws_eks_fargate_profile",
        "aws_eks_addon",
        "aws_eks_access_entry",
        "aws_eks_pod_identity_association",
        "awscc_eks_cluster",
        "aws_cloudformation_stack_set",
        "aws_serverlessapplicationrepository_cloudformation_stack",
        "aws_cloudcontrolapi_resource",
        "argocd_cluster",
        "argocd_application",
        "github_actions_workflow_dispatch",
        "github_repository_pull_request",
        "kubernetes_manifest",
        "helm_release",
        "k3d_cluster",
        "google_container_cluster",
        "azurerm_kubernetes_cluster",
        "alicloud_cs_managed_kubernetes",
    ] {
        assert_eq!(
            one(create(kind, good.clone(), json!({}))),
            [Rule::Kind],
            "{kind}"
        );
    }
    // Taking one away is what a destroy is for.
    let gone = change(
        "aws_eks_cluster",
        json!(["delete"]),
        good.clone(),
        Value::Null,
        json!({}),
    );
    assert_eq!(one(gone), []);
    let region = json!({"address": "module.global_registration.aws_dynamodb_table_item.r",
        "mode": "managed", "type": "aws_dynamodb_table_item", "provider_name": AWS,
        "change": {"actions": ["create"], "after": {}}});
    assert_eq!(one(region), [Rule::Kind]);
}

#[test]
fn data_sources_are_read_and_nothing_else() {
    let mut data = create("aws_eks_cluster", json!({"name": "prod"}), json!({}));
    data["mode"] = json!("data");
    assert_eq!(one(data), []);
}

#[test]
fn tags_must_be_all_four_with_our_values() {
    let mut wrong = four();
    wrong["cp9-session"] = json!("other");
    let mut three = four();
    three.as_object_mut().expect("a map").remove("cp9-ttl");
    for (after, unknown) in [
        (json!({"name": "demo-q", "tags_all": {}}), json!({})),
        (
            json!({"name": "demo-q", "tags_all": null, "tags": null}),
            json!({}),
        ),
        (json!({"name": "demo-q", "tags_all": wrong}), json!({})),
        (
            json!({"name": "demo-q", "tags_all": three, "tags": four()}),
            json!({}),
        ),
        (json!({"name": "demo-q"}), json!({"tags_all": true})),
        (json!({"name": "demo-q"}), json!({"tags": true})),
    ] {
        assert_eq!(
            one(create("aws_sqs_queue", after.clone(), unknown)),
            [Rule::Tags],
            "{after}"
        );
    }
    let update = change(
        "aws_sqs_queue",
        json!(["update"]),
        json!({"name": "demo-q", "tags_all": four()}),
        json!({"name": "demo-q", "tags_all": {}}),
        json!({}),
    );
    assert_eq!(one(update), [Rule::Tags]);
}

#[test]
fn tags_in_a_list_and_resources_without_any_are_understood() {
    let list: Vec<_> = four()
        .as_object()
        .expect("a map")
        .iter()
        .map(|(key, value)| json!({"key": key, "value": value, "propagate_at_launch": true}))
        .collect();
    let group = json!({"name": "demo-g", "tag": list});
    assert_eq!(one(create("aws_autoscaling_group", group, json!({}))), []);
    let group = json!({"name": "demo-g", "tag": []});
    assert_eq!(
        one(create("aws_autoscaling_group", group, json!({}))),
        [Rule::Tags]
    );
    let policy = json!({"role": "demo-r", "name": "inline", "policy": "{}"});
    assert_eq!(one(create("aws_iam_role_policy", policy, json!({}))), []);
}

#[test]
fn unknown_tags_count_with_what_the_provider_adds_to_all() {
    let queue = || {
        create(
            "aws_sqs_queue",
            json!({"name": "demo-q"}),
            json!({"tags_all": true}),
        )
    };
    let configuration = |tags: Value| {
        json!({
            "variables": {"cp9_tags": {"value": four()}},
            "configuration": {
                "provider_config": {"aws": {"name": "aws", "full_name": AWS,
                    "expressions": {"default_tags": [{"tags": tags}]}}},
                "root_module": {"resources": [
                    {"address": "aws_sqs_queue.x", "mode": "managed", "provider_config_key": "aws"}]}}
        })
    };
    assert_eq!(
        rules(
            vec![queue()],
            configuration(json!({"constant_value": four()}))
        ),
        []
    );
    let referred = configuration(json!({"references": ["var.cp9_tags"]}));
    assert_eq!(rules(vec![queue()], referred), []);
    let other = configuration(json!({"references": ["var.tags", "local.all"]}));
    assert_eq!(rules(vec![queue()], other), [Rule::Tags]);
    let parts = create(
        "aws_sqs_queue",
        json!({"name": "demo-q", "tags_all": four()}),
        json!({"tags_all": {"built": true}}),
    );
    assert_eq!(one(parts), [], "all four are known");
}

#[test]
fn names_begin_with_the_session() {
    let role = |name: Value, prefix: Value, unknown: Value| {
        let after = json!({"name": name, "name_prefix": prefix, "tags_all": four()});
        one(create("aws_iam_role", after, unknown))
    };
    assert_eq!(role(json!("demo-r"), Value::Null, json!({})), []);
    assert_eq!(role(Value::Null, json!("demo-"), json!({"name": true})), []);
    assert_eq!(role(json!("demo2-r"), Value::Null, json!({})), [Rule::Name]);
    assert_eq!(
        role(Value::Null, json!("other-"), json!({"name": true})),
        [Rule::Name]
    );
    assert_eq!(
        role(Value::Null, Value::Null, json!({"name": true})),
        [Rule::Name]
    );
    for (kind, attribute) in [
        ("aws_s3_bucket", "bucket"),
        ("aws_db_instance", "identifier"),
        ("aws_lambda_function", "function_name"),
        ("aws_unheard_of", "name"),
    ] {
        let after = |name: &str| json!({attribute: name, "tags_all": four()});
        assert_eq!(one(create(kind, after("demo-x"), json!({}))), [], "{kind}");
        assert_eq!(
            one(create(kind, after("x"), json!({}))),
            [Rule::Name],
            "{kind}"
        );
    }
    let vpc = json!({"cidr_block": "10.0.0.0/16", "tags_all": four()});
    assert_eq!(one(create("aws_vpc", vpc, json!({}))), []);
}

#[test]
fn account_and_region_are_the_proven_ones() {
    let queue = |more: Value| {
        let mut after = json!({"name": "demo-q", "tags_all": four()});
        after
            .as_object_mut()
            .expect("a map")
            .extend(more.as_object().cloned().unwrap_or_default());
        one(create("aws_sqs_queue", after, json!({})))
    };
    assert_eq!(
        queue(json!({"arn": "arn:aws:sqs:us-west-2:111122223333:demo-q"})),
        []
    );
    assert_eq!(
        queue(json!({"arn": "arn:aws:iam::111122223333:role/demo"})),
        []
    );
    assert_eq!(queue(json!({"arn": "arn:aws:iam::aws:policy/X"})), []);
    assert_eq!(
        queue(json!({"arn": "arn:aws:sqs:us-west-2:999922223333:q"})),
        [Rule::Account]
    );
    assert_eq!(
        queue(json!({"arn": "arn:aws:sqs:eu-west-1:111122223333:q"})),
        [Rule::Region]
    );
    assert_eq!(queue(json!({"region": "eu-west-1"})), [Rule::Region]);
    assert_eq!(queue(json!({"availability_zone": "us-west-2b"})), []);
    assert_eq!(
        queue(json!({"availability_zone": "us-east-1b"})),
        [Rule::Region]
    );
}

fn provider(expressions: Value) -> Vec<Rule> {
    let provider = json!({"name": "aws", "full_name": AWS, "expressions": expressions});
    let more = json!({
        "variables": {"cp9_region": {"value": "us-west-2"}, "other": {"value": "eu-west-1"}},
        "configuration": {"provider_config": {"aws": provider}}
    });
    rules(Vec::new(), more)
}

#[test]
fn a_provider_keeps_the_proven_identity_and_region() {
    assert_eq!(provider(json!({})), []);
    assert_eq!(
        provider(json!({"region": {"constant_value": "us-west-2"}})),
        []
    );
    assert_eq!(
        provider(json!({"region": {"references": ["var.cp9_region"]}})),
        []
    );
    assert_eq!(
        provider(json!({"region": {"references": ["var.other"]}})),
        [Rule::Region]
    );
    assert_eq!(
        provider(json!({"region": {"constant_value": "eu-west-1"}})),
        [Rule::Region]
    );
    let computed = json!({"region": {"references": ["data.x.y.z", "data.x.y"]}});
    assert_eq!(provider(computed), [Rule::Region]);
    assert_eq!(
        provider(json!({"profile": {"constant_value": "prod"}})),
        [Rule::Identity]
    );
    let role = json!({"assume_role": [{"role_arn": {"constant_value": "arn:aws:iam::9:role/x"}}]});
    assert_eq!(provider(role), [Rule::Identity]);
    assert_eq!(provider(json!({"assume_role": []})), []);
}

#[test]
fn providers_of_other_places_are_refused_and_inner_ones_are_not() {
    let mut bucket = create(
        "google_storage_bucket",
        json!({"name": "demo-b"}),
        json!({}),
    );
    bucket["provider_name"] = json!("registry.terraform.io/hashicorp/google");
    assert_eq!(one(bucket), [Rule::Provider]);
    let mut random = create("random_password", json!({"length": 8}), json!({}));
    random["provider_name"] = json!("registry.opentofu.org/hashicorp/random");
    assert_eq!(one(random), []);
}

#[test]
fn what_belongs_to_others_is_neither_taken_in_nor_left_behind_nor_destroyed() {
    let queue = json!({"name": "demo-q", "tags_all": four()});
    let mut imported = create("aws_sqs_queue", queue.clone(), json!({}));
    imported["change"]["importing"] = json!({"id": "q"});
    assert_eq!(one(imported), [Rule::Foreign]);
    let forget = change(
        "aws_sqs_queue",
        json!(["forget"]),
        queue.clone(),
        Value::Null,
        json!({}),
    );
    assert_eq!(one(forget), [Rule::Foreign]);
    let mut theirs = queue.clone();
    theirs["tags_all"]["cp9-session"] = json!("other");
    let delete = |before| {
        change(
            "aws_sqs_queue",
            json!(["delete"]),
            before,
            Value::Null,
            json!({}),
        )
    };
    assert_eq!(one(delete(theirs)), [Rule::Foreign]);
    assert_eq!(one(delete(queue)), []);
}

#[test]
fn programs_and_states_of_others_are_refused_at_any_depth() {
    let module = json!({
        "resources": [
            {"address": "null_resource.gh", "mode": "managed", "type": "null_resource",
             "provisioners": [{"type": "local-exec"}]},
            {"address": "data.external.x", "mode": "data", "type": "external"},
            {"address": "data.terraform_remote_state.s", "mode": "data", "type": "terraform_remote_state"},
            {"address": "data.aws_ami.a", "mode": "data", "type": "aws_ami"}]});
    let more =
        json!({"configuration": {"root_module": {"module_calls": {"m": {"module": module}}}}});
    let found = found(Vec::new(), more);
    let addresses: Vec<_> = found
        .iter()
        .map(|(rule, text)| {
            assert_eq!(*rule, Rule::Reach);
            text.split(':').next().unwrap_or_default()
        })
        .collect();
    assert_eq!(
        addresses,
        [
            "module.m.data.external.x",
            "module.m.data.terraform_remote_state.s",
            "module.m.null_resource.gh"
        ]
    );
}

#[test]
fn a_plan_that_does_not_show_everything_is_refused() {
    assert_eq!(
        rules(Vec::new(), json!({"errored": true})),
        [Rule::Incomplete]
    );
    assert_eq!(
        rules(Vec::new(), json!({"complete": false})),
        [Rule::Incomplete]
    );
    assert_eq!(
        rules(Vec::new(), json!({"complete": true, "unheard_of": [1]})),
        []
    );
}

#[test]
fn every_offence_names_its_address_and_a_remedy() {
    let plan = json!({"format_version": "1.2", "resource_changes": [
        create("aws_eks_cluster", json!({}), json!({})),
        create("aws_sqs_queue", json!({"name": "q", "tags": null}), json!({}))]});
    let plan = Plan::parse(plan.to_string().as_bytes()).expect("a plan");
    let offences = check(&plan, &expected());
    assert_eq!(offences.len(), 3);
    assert!(
        offences
            .iter()
            .all(|one| !one.address.is_empty() && !one.remedy.is_empty())
    );
    let name = offences
        .iter()
        .find(|one| one.rule == Rule::Name)
        .expect("one");
    assert_eq!(
        name.remedy,
        "begin `name` with `${var.cp9_session}-`; 80 characters at most, cut with a hash"
    );
    assert_eq!(plan.counts(), (2, 0, 0));
}

#[test]
fn a_state_is_looked_at_once_more() {
    let text = format!(
        r#"{{"version":4,"resources":[{{"mode":"managed","type":"aws_sqs_queue","name":"q",
        "provider":"provider[\"{AWS}\"]","instances":[{{"attributes":{{"tags_all":{{"a":"b"}}}}}}]}}]}}"#
    );
    let state = TerraformState::parse(text.as_bytes()).expect("a state");
    let offences = untagged(&state, &expected().tags);
    assert_eq!(offences.len(), 1);
    assert_eq!(offences[0].address, "aws_sqs_queue.q");
}

#[test]
fn no_input_makes_it_panic() {
    for text in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"format_version":"2.0"}"#,
        r#"{"format_version":1}"#,
    ] {
        assert!(Plan::parse(text.as_bytes()).is_err(), "{text}");
    }
    let odd = json!({"address": "x", "type": "aws_x", "provider_name": AWS,
        "change": {"actions": ["create"], "after": [1], "after_unknown": "?"}});
    assert_eq!(one(odd), []);
}
