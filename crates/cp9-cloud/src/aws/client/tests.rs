//! The client against servers.

use crate::aws::caller_identity;
use crate::aws::tests::{KEY, Server, client, identity};

#[tokio::test]
async fn a_signed_question_is_answered() {
    let server = Server::start(|_, _| identity()).await;
    let caller = caller_identity(&client(&server)).await.unwrap();
    assert_eq!(caller.account, "123456789012");
    assert_eq!(caller.arn, "arn:aws:sts::123456789012:assumed-role/dev/ann");
    assert_eq!(caller.user_id, "AROA:ann");
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].body, "Action=GetCallerIdentity&Version=2011-06-15");
    let authorization = asked[0].header("authorization");
    let scope = format!("Credential={KEY}/20261201/eu-west-1/sts/aws4_request");
    assert!(authorization.contains(&scope), "{authorization}");
    assert_eq!(asked[0].header("x-amz-date"), "20261201T100000Z");
}
