//! What must hold of the table as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::row::{Find, TagSource};
use super::step::Ends;
use super::table::Table;

/// What must be gone before what, by the services' own words; written down from reports and documents, not
/// from the table.
const FACTS: [(&str, &str); 62] = [
    ("autoscaling:autoScalingGroup", "ec2:instance"),
    ("autoscaling:autoScalingGroup", "ec2:launch-template"),
    (
        "autoscaling:autoScalingGroup",
        "autoscaling:launchConfiguration",
    ),
    ("autoscaling:autoScalingGroup", "ec2:placement-group"),
    ("eks:nodegroup", "eks:cluster"),
    ("eks:fargateprofile", "eks:cluster"),
    ("eks:addon", "eks:cluster"),
    ("eks:cluster", "ec2:subnet"),
    ("eks:cluster", "ec2:security-group"),
    (
        "elasticloadbalancing:loadbalancer",
        "elasticloadbalancing:targetgroup",
    ),
    (
        "elasticloadbalancing:listener",
        "elasticloadbalancing:targetgroup",
    ),
    ("elasticloadbalancing:loadbalancer", "ec2:subnet"),
    ("elasticloadbalancing:loadbalancer", "ec2:security-group"),
    ("elasticloadbalancing:loadbalancer", "ec2:internet-gateway"),
    ("elasticloadbalancing:classic-loadbalancer", "ec2:subnet"),
    ("ec2:instance", "ec2:volume"),
    ("ec2:instance", "ec2:security-group"),
    ("ec2:instance", "ec2:subnet"),
    ("ec2:instance", "ec2:internet-gateway"),
    ("ec2:instance", "iam:instance-profile"),
    ("ec2:image", "ec2:snapshot"),
    ("ec2:natgateway", "ec2:elastic-ip"),
    ("ec2:natgateway", "ec2:subnet"),
    ("ec2:natgateway", "ec2:vpc"),
    ("ec2:natgateway", "ec2:internet-gateway"),
    ("ec2:elastic-ip", "ec2:internet-gateway"),
    ("ec2:subnet", "ec2:vpc"),
    ("ec2:route-table", "ec2:vpc"),
    ("ec2:network-acl", "ec2:vpc"),
    ("ec2:security-group", "ec2:vpc"),
    ("ec2:internet-gateway", "ec2:vpc"),
    ("ec2:egress-only-internet-gateway", "ec2:vpc"),
    ("ec2:vpn-gateway", "ec2:vpc"),
    ("ec2:vpc-endpoint", "ec2:vpc"),
    ("ec2:network-interface", "ec2:vpc"),
    ("ec2:vpc-peering-connection", "ec2:vpc"),
    ("ec2:vpc-endpoint", "ec2:subnet"),
    ("ec2:vpc-endpoint", "ec2:security-group"),
    ("ec2:network-interface", "ec2:subnet"),
    ("ec2:network-interface", "ec2:security-group"),
    ("ec2:vpc", "ec2:dhcp-options"),
    ("ec2:transit-gateway-attachment", "ec2:transit-gateway"),
    ("ec2:transit-gateway-attachment", "ec2:subnet"),
    ("ec2:vpn-connection", "ec2:vpn-gateway"),
    ("ec2:vpn-connection", "ec2:customer-gateway"),
    ("lambda:function", "ec2:security-group"),
    ("lambda:function", "ec2:subnet"),
    ("lambda:function", "logs:log-group"),
    ("ec2:vpc-flow-log", "logs:log-group"),
    ("eks:cluster", "logs:log-group"),
    ("rds:db", "rds:cluster"),
    ("rds:db", "rds:subgrp"),
    ("rds:cluster", "rds:subgrp"),
    ("rds:db", "rds:pg"),
    ("iam:role", "iam:policy"),
    ("iam:instance-profile", "iam:role"),
    ("ecs:service", "ecs:cluster"),
    ("ecs:task", "ecs:cluster"),
    ("ecs:container-instance", "ecs:cluster"),
    (
        "elasticfilesystem:mount-target",
        "elasticfilesystem:file-system",
    ),
    (
        "elasticfilesystem:access-point",
        "elasticfilesystem:file-system",
    ),
    ("elasticache:cluster", "elasticache:subnetgroup"),
];

/// Kinds of which one object may hold another of the same kind: only the description tells which.
const NESTED: [&str; 1] = ["cloudformation:stack"];

/// Which kinds a kind must wait for.
fn before() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in Table::embedded().types() {
        let (kind, row) = (one.row.kind.as_str(), &one.row);
        let own = before.entry(kind).or_default();
        own.extend(row.after.iter().map(String::as_str));
        for used in row
            .uses
            .keys()
            .filter(|used| !(NESTED.contains(&kind) && *used == kind))
        {
            before.entry(used).or_default().insert(kind);
        }
    }
    before
}

/// True when `later` waits for `first`, at once or by others between them.
fn waits(before: &BTreeMap<&str, BTreeSet<&str>>, later: &str, first: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![later];
    while let Some(kind) = next.pop() {
        for &one in before.get(kind).into_iter().flatten() {
            if one == first {
                return true;
            }
            if seen.insert(one) {
                next.push(one);
            }
        }
    }
    false
}

#[test]
fn the_table_has_a_hundred_types_and_more() {
    let types = Table::embedded().types().count();
    assert!(types >= 100, "{types}");
}

#[test]
fn every_type_waits_for_something_or_is_a_leaf() {
    for one in Table::embedded().types() {
        let row = &one.row;
        assert_eq!(
            row.after.is_empty(),
            row.leaf,
            "`{}` is a leaf, or names what goes first",
            row.kind
        );
        let twice: BTreeSet<&String> = row.after.iter().collect();
        assert_eq!(
            twice.len(),
            row.after.len(),
            "`{}` names something twice",
            row.kind
        );
    }
}

#[test]
fn nothing_waits_for_itself() {
    let before = before();
    let waiting: Vec<&&str> = before
        .keys()
        .filter(|kind| waits(&before, kind, kind))
        .collect();
    assert!(waiting.is_empty(), "a circle among {waiting:?}");
}

#[test]
fn the_table_agrees_with_the_facts() {
    let before = before();
    for (first, later) in FACTS {
        assert!(
            waits(&before, later, first),
            "`{later}` does not wait for `{first}`"
        );
        assert!(
            !waits(&before, first, later),
            "`{first}` waits for `{later}`"
        );
    }
}

#[test]
fn every_type_can_be_found_looked_at_and_deleted() {
    for one in Table::embedded().types() {
        let (kind, row) = (one.row.kind.as_str(), &one.row);
        assert!(row.describe.call.is_some(), "`{kind}` is not described");
        let tagged = row
            .find
            .iter()
            .any(|find| matches!(find, Find::Tagging | Find::Listing));
        assert_eq!(
            tagged,
            row.is.tags.is_some(),
            "`{kind}` is found by tags that it has not, or not by those it has"
        );
        if row.find.contains(&Find::Listing) && kind.split(':').next() != Some("ec2") {
            assert!(
                row.list.is_some(),
                "`{kind}` is found by a listing that it has not"
            );
        }
        assert!(
            row.describe.filter.is_none() || row.describe.most != Some(1),
            "`{kind}`"
        );
        let last = row.delete.last().expect("a call");
        assert!(last.after.is_empty(), "`{kind}` may never be deleted");
        assert_eq!(
            row.ends == Ends::Later,
            row.later.is_some(),
            "`{kind}` goes later, and says what stays"
        );
        assert!(row.poll < row.budget && row.at_once > 0, "`{kind}`");
        assert!(
            row.kind.contains(':')
                && row
                    .arn
                    .starts_with(&format!("{}:", kind.split(':').next().unwrap())),
            "`{kind}`"
        );
    }
}

#[test]
fn every_tag_call_and_page_is_spelt_out() {
    for one in Table::embedded().types() {
        if let Some(TagSource::Asked(ask)) = &one.row.is.tags {
            assert!(ask.call.is_some() && ask.at.is_some(), "`{}`", one.row.kind);
        }
        if let Some(list) = &one.row.list {
            let page = list.page.as_ref().or(one.wire.page.as_ref());
            assert!(
                page.is_some(),
                "the listing of `{}` has no pages",
                one.row.kind
            );
        }
    }
}
