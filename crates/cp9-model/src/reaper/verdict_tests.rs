//! Whose is what, on small estates.

use super::*;
use crate::Owner;
use crate::scope::{TAG_OWNER, TAG_SESSION};

fn scope() -> Scope {
    Scope {
        owner: Owner::new("ann@example.com"),
        session: "shop".parse().unwrap(),
        id: "1".into(),
    }
}

fn key(kind: &str, id: &str) -> Key {
    Key::new("here", kind, id)
}

fn tagged(kind: &str, id: &str, owner: &str) -> Found {
    let tags = [(TAG_OWNER, owner), (TAG_SESSION, "shop")];
    let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Found {
        tags: Some(tags.into()),
        ..Found::new(key(kind, id))
    }
}

fn ours(kind: &str, id: &str) -> Found {
    tagged(kind, id, "ann@example.com")
}

fn untagged(kind: &str, id: &str) -> Found {
    Found {
        tags: Some(BTreeMap::new()),
        ..Found::new(key(kind, id))
    }
}

fn inside(mut found: Found, outer: &Found) -> Found {
    found.inside = Some(outer.key.clone());
    found
}

fn using(mut found: Found, used: &Found) -> Found {
    found.uses.push(used.key.clone());
    found
}

#[derive(Default)]
struct Case {
    ledger: BTreeSet<Key>,
    failed: BTreeMap<Key, Failure>,
}

impl Case {
    fn judge(&self, found: &[Found]) -> BTreeMap<String, Verdict> {
        let (scope, regions) = (scope(), BTreeSet::from(["here".to_owned()]));
        let ask = Ask {
            scope: &scope,
            regions: &regions,
            ledger: &self.ledger,
            failed: &self.failed,
        };
        let verdicts = judge(found, ask).into_iter();
        verdicts
            .map(|(key, verdict)| (key.id.clone(), verdict))
            .collect()
    }
}

fn judged(found: &[Found]) -> BTreeMap<String, Verdict> {
    Case::default().judge(found)
}

fn stays(reason: Reason, blocker: Option<Key>, inside: Option<Key>) -> Verdict {
    Verdict::Stay {
        reason,
        blocker,
        inside,
    }
}

#[test]
fn an_untagged_instance_in_our_vpc_stays_and_is_what_blocks_the_vpc() {
    let vpc = ours("ec2:vpc", "vpc");
    let subnet = inside(ours("ec2:subnet", "subnet"), &vpc);
    let other = inside(ours("ec2:subnet", "other"), &vpc);
    let instance = using(inside(untagged("ec2:instance", "i"), &subnet), &subnet);
    let verdicts = judged(&[vpc.clone(), subnet, other, instance.clone()]);
    let blocked = || stays(Reason::Dependency, Some(instance.key.clone()), None);
    assert_eq!(
        verdicts["i"],
        stays(Reason::Untagged, None, Some(vpc.key.clone()))
    );
    assert_eq!(verdicts["vpc"], blocked());
    assert_eq!(verdicts["subnet"], blocked());
    assert_eq!(verdicts["other"], Verdict::Go);
}

#[test]
fn what_the_cloud_made_goes_with_its_container_only() {
    let vpc = ours("ec2:vpc", "vpc");
    let mut group = inside(untagged("ec2:security-group", "default"), &vpc);
    group.maker = Maker::Default;
    let mut eni = inside(untagged("ec2:network-interface", "eni"), &vpc);
    eni.maker = Maker::Cloud { by: "elb".into() };
    let mut lonely = untagged("ec2:network-interface", "lonely");
    lonely.maker = Maker::Cloud { by: "elb".into() };
    let verdicts = judged(&[vpc.clone(), group, eni, lonely]);
    let along = Verdict::Along {
        container: vpc.key.clone(),
    };
    assert_eq!(verdicts["default"], along);
    assert_eq!(verdicts["eni"], along);
    assert_eq!(verdicts["lonely"], Verdict::Neighbour);
    assert_eq!(verdicts["vpc"], Verdict::Go);
}

#[test]
fn what_carries_another_scopes_tags_is_a_neighbour_whoever_made_it() {
    let vpc = ours("ec2:vpc", "vpc");
    let mut eni = inside(
        tagged("ec2:network-interface", "eni", "bob@example.com"),
        &vpc,
    );
    eni.maker = Maker::Cloud { by: "elb".into() };
    let verdicts = judged(&[vpc, eni.clone()]);
    assert_eq!(verdicts["eni"], Verdict::Neighbour);
    assert_eq!(
        verdicts["vpc"],
        stays(Reason::Dependency, Some(eni.key), None)
    );
}

#[test]
fn a_default_object_that_holds_somebodys_keeps_the_container() {
    let vpc = ours("ec2:vpc", "vpc");
    let mut group = inside(untagged("ec2:security-group", "default"), &vpc);
    group.maker = Maker::Default;
    let instance = using(untagged("ec2:instance", "i"), &group);
    let verdicts = judged(&[vpc, group, instance.clone()]);
    assert_eq!(
        verdicts["vpc"],
        stays(Reason::Dependency, Some(instance.key), None)
    );
}

#[test]
fn of_something_protected_nothing_else_is_deleted() {
    let mut cluster = ours("rds:cluster", "cluster");
    cluster.protection = Some("deletion protection".into());
    let group = ours("rds:subgrp", "group");
    let cluster = using(cluster, &group);
    let member = inside(ours("rds:db", "member"), &cluster);
    let parameters = ours("rds:pg", "parameters");
    let member = using(member, &parameters);
    let verdicts = judged(&[
        cluster.clone(),
        group,
        member,
        parameters,
        ours("sqs:queue", "q"),
    ]);
    let by = || Some(cluster.key.clone());
    assert_eq!(
        verdicts["cluster"],
        stays(Reason::Protected("deletion protection".into()), None, None)
    );
    assert_eq!(
        verdicts["member"],
        stays(Reason::ProtectedContainer, by(), None)
    );
    assert_eq!(verdicts["group"], stays(Reason::Dependency, by(), None));
    assert_eq!(
        verdicts["parameters"],
        stays(Reason::Dependency, by(), None)
    );
    assert_eq!(verdicts["q"], Verdict::Go);
}

#[test]
fn what_is_on_its_way_out_is_protected_by_nothing() {
    let mut db = ours("rds:db", "db");
    db.protection = Some("deletion protection".into());
    db.life = Life::Ending;
    assert_eq!(judged(&[db])["db"], Verdict::Go);
}

#[test]
fn an_undeclared_region_is_never_deleted_from_and_the_global_one_is() {
    let mut there = ours("sqs:queue", "there");
    there.key.region = "elsewhere".into();
    let mut role = ours("iam:role", "role");
    role.key.region = GLOBAL.into();
    let verdicts = judged(&[there, role]);
    assert_eq!(
        verdicts["there"],
        stays(Reason::UndeclaredRegion, None, None)
    );
    assert_eq!(verdicts["role"], Verdict::Go);
}

#[test]
fn what_the_ledger_knows_is_reported_whatever_tags_it_carries() {
    let (bare, others) = (
        untagged("sqs:queue", "bare"),
        tagged("sqs:queue", "others", "bob@example.com"),
    );
    let unreadable = Found::new(key("sqs:queue", "unreadable"));
    let found = [bare.clone(), others.clone(), unreadable];
    let known = Case {
        ledger: [bare.key, others.key].into(),
        ..Case::default()
    };
    let verdicts = known.judge(&found);
    assert_eq!(verdicts["bare"], stays(Reason::Untagged, None, None));
    assert_eq!(verdicts["others"], stays(Reason::OtherScope, None, None));
    assert_eq!(
        verdicts["unreadable"],
        stays(Reason::UnreadableTags, None, None)
    );
    let verdicts = judged(&found);
    assert_eq!(verdicts["bare"], Verdict::Neighbour);
    assert_eq!(verdicts["others"], Verdict::Neighbour);
}

#[test]
fn what_failed_blocks_what_it_uses_and_nothing_else() {
    let subnet = ours("ec2:subnet", "subnet");
    let eni = using(ours("ec2:network-interface", "eni"), &subnet);
    let case = Case {
        failed: [(eni.key.clone(), Reason::Timeout(String::new()).into())].into(),
        ..Case::default()
    };
    let verdicts = case.judge(&[subnet, eni.clone(), ours("ec2:volume", "v")]);
    assert_eq!(
        verdicts["subnet"],
        stays(Reason::Dependency, Some(eni.key), None)
    );
    assert_eq!(verdicts["v"], Verdict::Go);
}

#[test]
fn what_is_terminal_is_not_there_and_circles_end() {
    let mut ended = untagged("ec2:instance", "ended");
    ended.life = Life::Terminal;
    let (mut one, mut two) = (ours("k", "one"), untagged("k", "two"));
    one.inside = Some(two.key.clone());
    two.inside = Some(one.key.clone());
    ended.inside = Some(one.key.clone());
    let verdicts = judged(&[ended, one.clone(), two]);
    assert!(!verdicts.contains_key("ended"));
    assert_eq!(
        verdicts["two"],
        stays(Reason::Untagged, None, Some(one.key))
    );
}

#[test]
fn what_is_in_the_way_is_what_exists_and_needs_it() {
    let vpc = ours("ec2:vpc", "vpc");
    let mut group = inside(untagged("ec2:security-group", "default"), &vpc);
    group.maker = Maker::Default;
    let subnet = inside(ours("ec2:subnet", "subnet"), &vpc);
    let mut ended = inside(ours("ec2:subnet", "ended"), &vpc);
    ended.life = Life::Terminal;
    let found = [ended, group.clone(), subnet.clone(), vpc.clone()];
    let blocker = |gone: &[&Key]| in_the_way(&vpc.key, &found, |key| gone.contains(&key)).cloned();
    assert_eq!(blocker(&[]), Some(subnet.key.clone()));
    assert_eq!(blocker(&[&subnet.key]), Some(group.key.clone()));
    assert_eq!(blocker(&[&subnet.key, &group.key]), None);
}
