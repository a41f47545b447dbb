//! Listings of several pages.

use super::*;
use crate::aws::tests::{Answer, Server, client, query_error, reply};

fn vpcs(id: &str, next: &str) -> Answer {
    let body = format!(
        "<R><vpcSet><item><vpcId>{id}</vpcId></item></vpcSet><nextToken>{next}</nextToken></R>"
    );
    reply(200, body)
}

fn ids(pages: &[ApiReply], path: &str) -> Vec<String> {
    let all = pages.iter().flat_map(|page| page.list(path));
    all.map(|id| id.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn query_listings_are_read_to_their_end() {
    let server = Server::start(|_, before| match before {
        0 => vpcs("a", "t 1"),
        1 => vpcs("b", "t 2"),
        _ => vpcs("c", ""),
    })
    .await;
    let call = ApiCall::ec2("DescribeVpcs");
    let pages = client(&server)
        .pages(&call, &Paging::token("NextToken", "nextToken"))
        .await;
    assert_eq!(ids(&pages.unwrap(), "vpcSet.vpcId"), ["a", "b", "c"]);
    let asked = server.asked();
    assert!(!asked[0].body.contains("NextToken"));
    assert!(
        asked[1].body.ends_with("&NextToken=t%201"),
        "{}",
        asked[1].body
    );
    assert!(
        asked[2].body.ends_with("&NextToken=t%202"),
        "{}",
        asked[2].body
    );
    assert_eq!(asked[2].body.matches("NextToken").count(), 1);
}

#[tokio::test]
async fn json_listings_take_their_token_in_the_body() {
    let server = Server::start(|_, before| match before {
        0 => reply(200, r#"{"Items":[1],"PaginationToken":"p"}"#),
        _ => reply(200, r#"{"Items":[2],"PaginationToken":""}"#),
    })
    .await;
    let paging = Paging::token("PaginationToken", "PaginationToken");
    for (input, second) in [
        (json!({"Limit": 1}), r#"{"Limit":1,"PaginationToken":"p"}"#),
        (Value::Null, r#"{"PaginationToken":"p"}"#),
    ] {
        let call = ApiCall::json("tagging", "T", "GetResources", input);
        let server = server.clone();
        let before = server.asked().len();
        if before == 0 {
            assert_eq!(
                client(&server).pages(&call, &paging).await.unwrap().len(),
                2
            );
            assert_eq!(server.asked()[1].body, second);
        } else {
            let mut next = call.clone();
            set(&mut next, "PaginationToken", "p");
            assert_eq!(next.body, Body::Json(serde_json::from_str(second).unwrap()));
        }
    }
}

#[tokio::test]
async fn rest_listings_continue_at_key_and_version() {
    let page = |key: &str, more: bool| {
        let marker = if more {
            "<NextKeyMarker>k&amp;1</NextKeyMarker><NextVersionIdMarker>v1</NextVersionIdMarker>"
        } else {
            "<NextKeyMarker>stale</NextKeyMarker>"
        };
        reply(
            200,
            format!(
                "<R><IsTruncated>{more}</IsTruncated>{marker}<Version><Key>{key}</Key></Version></R>"
            ),
        )
    };
    let server =
        Server::start(move |_, before| page(if before == 0 { "a" } else { "b" }, before == 0))
            .await;
    let call = ApiCall::s3("ListObjectVersions", "GET", "bucket", "").param("versions", "");
    let paging = Paging::token("key-marker", "NextKeyMarker")
        .and("version-id-marker", "NextVersionIdMarker")
        .while_true("IsTruncated");
    let pages = client(&server).pages(&call, &paging).await.unwrap();
    assert_eq!(ids(&pages, "Version.Key"), ["a", "b"]);
    assert_eq!(
        server.asked()[1].path,
        "/bucket?versions=&key-marker=k%261&version-id-marker=v1"
    );
}

async fn refused(call: &ApiCall, paging: &Paging, answer: Answer) -> (AwsError, usize) {
    let server = Server::start(move |_, _| answer.clone()).await;
    let error = client(&server).pages(call, paging).await.unwrap_err();
    (error, server.asked().len())
}

#[tokio::test]
async fn a_listing_that_goes_in_circles_is_an_error() {
    let call = ApiCall::ec2("DescribeVpcs");
    let paging = Paging::token("NextToken", "nextToken");
    let (error, asked) = refused(&call, &paging, vpcs("a", "same")).await;
    assert_eq!((error.aws_code(), asked), ("PagesAstray", 2));
    assert!(
        error.to_string().contains("the same page token again"),
        "{error}"
    );
    let paging = paging.while_true("truncated");
    let more = reply(200, "<R><truncated>true</truncated></R>");
    let (error, asked) = refused(&call, &paging, more).await;
    assert_eq!((error.aws_code(), asked), ("PagesAstray", 1));
}

#[tokio::test]
async fn a_page_that_fails_fails_the_listing() {
    let server = Server::start(|_, before| match before {
        0 => vpcs("a", "t"),
        _ => query_error(403, "UnauthorizedOperation", "m"),
    })
    .await;
    let mut seen = 0;
    let call = ApiCall::ec2("DescribeVpcs");
    let paging = Paging::token("NextToken", "nextToken");
    let result = client(&server)
        .each_page(&call, &paging, |_| seen += 1)
        .await;
    assert_eq!(
        (result.unwrap_err().kind(), seen),
        (AwsErrorKind::Denied, 1)
    );
}
