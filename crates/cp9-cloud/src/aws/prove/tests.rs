//! Identity and proof against a server that plays AWS.

use std::collections::BTreeMap;

use cp9_model::identity::{Accounts, OwnerSource};
use cp9_model::{Category, Explain as _, Owner};

use super::super::identity::identify;
use super::super::tests::{Answer, Asked, Server, client, query_error, reply};
use super::*;

const ROLE: &str = "arn:aws:iam::123456789012:role/team/cp9-developer";
const SSO: &str = "assumed-role/AWSReservedSSO_Dev_01/Ann@Example.com";
const DEV: &str = "assumed-role/cp9-developer/ann@example.com";

fn operation(asked: &Asked) -> String {
    let target = asked.header("x-amz-target").rsplit('.').next();
    let target = target.filter(|target| !target.is_empty());
    target.unwrap_or(asked.action()).to_owned()
}

fn identity_of(resource: &str) -> Answer {
    reply(
        200,
        format!(
            "<R><GetCallerIdentityResult><Arn>arn:aws:sts::123456789012:{resource}</Arn>\
             <UserId>AROA:x</UserId><Account>123456789012</Account></GetCallerIdentityResult></R>"
        ),
    )
}

/// The key of the assumed role.
const ROLE_KEY: &str = "ASIAROLE7EXAMPLE";

fn assumed() -> Answer {
    reply(
        200,
        format!(
            "<R><AssumeRoleResult><Credentials><AccessKeyId>{ROLE_KEY}</AccessKeyId>\
             <SecretAccessKey>role-secret-key</SecretAccessKey><SessionToken>role-token</SessionToken>\
             <Expiration>2026-12-01T11:00:00Z</Expiration></Credentials></AssumeRoleResult></R>"
        ),
    )
}

/// What everything answers that is not told otherwise.
fn usual(asked: &Asked, who: &str) -> Answer {
    match operation(asked).as_str() {
        "GetCallerIdentity" if asked.header("authorization").contains(ROLE_KEY) => identity_of(DEV),
        "GetCallerIdentity" => identity_of(who),
        "AssumeRole" => assumed(),
        "GetResources" => reply(200, "{\"ResourceTagMappingList\": []}"),
        _ => reply(200, "<R/>"),
    }
}

struct Given {
    role: Option<&'static str>,
    allowed: &'static [&'static str],
    tags: &'static [&'static str],
}

const GIVEN: Given = Given {
    role: Some(ROLE),
    allowed: &["123456789012"],
    tags: &["cp9-owner", "cp9-session"],
};

async fn run(server: &Server, given: Given) -> Result<(Identified, Proven), IdentityError> {
    let strings = |list: &[&str]| -> Vec<String> { list.iter().map(|&s| s.to_owned()).collect() };
    let (allowed, tags) = (strings(given.allowed), strings(given.tags));
    let role: Option<Arn> = given.role.map(|role| role.parse().unwrap());
    let allowlist = BTreeMap::new();
    let wishes = Wishes {
        role: role.as_ref(),
        asked: None,
        allowlist: &allowlist,
        tags: &tags,
        accounts: Accounts {
            allowed: &allowed,
            blocked: &[],
        },
        file: "/w/cp9.yaml",
    };
    let known = identify(client(server), &wishes).await?;
    let local = ProvenScope::new(Scope {
        owner: known.owner.clone(),
        session: "shop".parse().unwrap(),
        id: "0123".into(),
    });
    let proven = prove(&known, &local, &wishes).await?;
    Ok((known, proven))
}

#[tokio::test]
async fn a_person_assumes_the_role_with_both_tags_and_can_scan() {
    let server = Server::start(|asked, _| usual(asked, SSO)).await;
    let (known, proven) = run(&server, GIVEN).await.expect("proven");
    assert_eq!(known.owner, Owner::new("ann@example.com"));
    assert_eq!(known.source, OwnerSource::Sso);
    let proof = proven.scope.aws().expect("a proof");
    assert_eq!(
        proof.principal.to_string(),
        format!("arn:aws:sts::123456789012:{DEV}")
    );
    assert_eq!(
        (proof.account.as_str(), proof.region.as_str()),
        ("123456789012", "eu-west-1")
    );
    assert!(proof.session_tags && proof.expires.is_some());
    let asked = server.asked();
    let assume = asked
        .iter()
        .find(|asked| asked.action() == "AssumeRole")
        .expect("asked");
    for part in [
        "Tags.member.1.Key=cp9-owner",
        "Tags.member.1.Value=ann%40example.com",
        "Tags.member.2.Value=shop",
        "TransitiveTagKeys.member.2=cp9-session",
        "RoleSessionName=ann%40example.com",
    ] {
        assert!(assume.body.contains(part), "{part}: {}", assume.body);
    }
    let scan = asked
        .iter()
        .find(|asked| operation(asked) == "GetResources")
        .expect("asked");
    assert!(
        scan.header("authorization").contains(ROLE_KEY),
        "as the role"
    );
    assert!(scan.body.contains("ann@example.com") && scan.body.contains("shop"));
    let written = serde_json::to_string(proof).expect("plain data");
    assert!(!written.contains("role-secret-key") && !written.contains("role-token"));
}

#[tokio::test]
async fn who_already_runs_as_the_role_assumes_nothing() {
    let server = Server::start(|asked, _| usual(asked, DEV)).await;
    let (known, proven) = run(&server, GIVEN).await.expect("proven");
    assert_eq!(known.source, OwnerSource::Role);
    assert!(!proven.scope.aws().expect("a proof").session_tags);
    assert!(
        server
            .asked()
            .iter()
            .all(|asked| asked.action() != "AssumeRole")
    );
}

#[tokio::test]
async fn another_account_is_refused_before_anything_is_assumed() {
    let server = Server::start(|asked, _| usual(asked, SSO)).await;
    let other = Given {
        allowed: &["999999999999"],
        ..GIVEN
    };
    let error = run(&server, other).await.expect_err("refused");
    assert_eq!(
        (error.code(), error.category()),
        ("account-not-allowed", Category::Config)
    );
    assert!(error.to_string().contains(ROLE), "{error}");
    assert_eq!(server.asked().len(), 1, "only who one is was asked");
}

#[tokio::test]
async fn a_role_that_is_not_ours_to_assume_is_named_with_what_is_missing() {
    for (message, wanted) in [
        (
            "User: x is not authorized to perform: sts:AssumeRole",
            "aws sts assume-role",
        ),
        (
            "User: x is not authorized to perform: sts:TagSession on it",
            "allow `sts:TagSession`",
        ),
    ] {
        let server = Server::start(move |asked, _| match asked.action() {
            "AssumeRole" => query_error(403, "AccessDenied", message),
            _ => usual(asked, SSO),
        })
        .await;
        let error = run(&server, GIVEN).await.expect_err("refused");
        assert_eq!(
            (error.code(), error.category()),
            ("role-not-assumable", Category::Config)
        );
        assert!(error.to_string().contains(ROLE), "{error}");
        let remedy = error.remedy().expect("a remedy");
        assert!(remedy.contains(wanted) && remedy.contains(ROLE), "{remedy}");
    }
}

#[tokio::test]
async fn a_scope_that_could_not_be_scanned_is_refused_with_the_permission() {
    let server = Server::start(|asked, _| match operation(asked).as_str() {
        "GetResources" => reply(
            400,
            "{\"__type\": \"AccessDeniedException\", \"message\": \"no\"}",
        ),
        _ => usual(asked, SSO),
    })
    .await;
    let error = run(&server, GIVEN).await.expect_err("refused");
    assert_eq!(
        (error.code(), error.category()),
        ("scope-not-scannable", Category::Config)
    );
    let remedy = error.remedy().expect("a remedy");
    assert!(
        remedy.contains("tag:GetResources") && remedy.contains(DEV),
        "{remedy}"
    );
}

#[tokio::test]
async fn expired_credentials_lead_to_the_login() {
    let server =
        Server::start(|_, _| query_error(403, "ExpiredToken", "The token is expired")).await;
    let error = run(&server, GIVEN).await.expect_err("refused");
    assert_eq!(
        (error.code(), error.category()),
        ("aws-expired", Category::Config)
    );
    assert_eq!(error.remedy().as_deref(), Some("run `aws sso login`"));
}

#[tokio::test]
async fn a_session_tag_without_a_value_is_refused_before_anything_is_assumed() {
    let server = Server::start(|asked, _| usual(asked, SSO)).await;
    let more = Given {
        tags: &["cp9-owner", "team"],
        ..GIVEN
    };
    let error = run(&server, more).await.expect_err("refused");
    assert!(error.to_string().contains("`team`"), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_role_that_turns_out_to_be_another_is_refused() {
    let server = Server::start(|asked, _| match operation(asked).as_str() {
        "GetCallerIdentity" => identity_of(SSO),
        _ => usual(asked, SSO),
    })
    .await;
    let error = run(&server, GIVEN).await.expect_err("refused");
    assert_eq!(error.code(), "role-differs");
}
