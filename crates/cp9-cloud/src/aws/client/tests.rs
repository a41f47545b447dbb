//! The client against servers.

use std::time::Duration;

use cp9_model::{Category, Explain};
use cp9_tools::{Clock, Doors};
use serde_json::json;

use crate::aws::tests::{
    Answer, KEY, SECRET, Server, client, doors, identity, in_region, query_error, reply, reply_with,
};
use crate::aws::{
    ApiCall, Aws, AwsError, AwsErrorKind, AwsSettings, CallLimits, Paging, RoleRequest,
    caller_identity,
};

const QUICK: CallLimits = CallLimits {
    attempt: Duration::from_secs(5),
    overall: Duration::from_secs(20),
    attempts: 3,
};

fn describe() -> ApiCall {
    ApiCall::ec2("DescribeVpcs").limits(QUICK)
}

async fn failing(answer: Answer, call: &ApiCall) -> (AwsError, usize) {
    let server = Server::start(move |_, _| answer.clone()).await;
    let error = client(&server).call(call).await.unwrap_err();
    (error, server.asked().len())
}

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
    assert_eq!(
        (asked[0].method.as_str(), asked[0].path.as_str()),
        ("POST", "/")
    );
    let authorization = asked[0].header("authorization");
    let scope = format!("Credential={KEY}/20261201/eu-west-1/sts/aws4_request");
    assert!(authorization.contains(&scope), "{authorization}");
    assert_eq!(asked[0].header("x-amz-date"), "20261201T100000Z");
}

#[tokio::test]
async fn an_answer_without_the_fields_is_an_error() {
    let empty = reply(
        200,
        "<GetCallerIdentityResponse><GetCallerIdentityResult/></GetCallerIdentityResponse>",
    );
    let server = Server::start(move |_, _| empty.clone()).await;
    let error = caller_identity(&client(&server)).await.unwrap_err();
    assert!(error.to_string().contains("`Account`"), "{error}");
}

#[tokio::test]
async fn one_connection_serves_many_calls_and_regions() {
    let server = Server::start(|_, _| reply(200, "<R/>")).await;
    let aws = client(&server);
    for region in ["eu-west-1", "us-east-1", "eu-west-1"] {
        aws.in_region(region).call(&describe()).await.unwrap();
    }
    aws.call(&describe().region("cn-north-1")).await.unwrap();
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.connection == 0), "{asked:?}");
    let signed = |at: usize, region: &str| {
        let scope = format!("/{region}/ec2/aws4_request");
        assert!(
            asked[at].header("authorization").contains(&scope),
            "{region}"
        );
    };
    signed(1, "us-east-1");
    signed(3, "cn-north-1");
}

#[tokio::test]
async fn throttling_and_broken_connections_are_got_over() {
    let server = Server::start(|_, before| match before {
        0 => query_error(400, "Throttling", "Rate exceeded"),
        1 => Answer::HangUp,
        _ => identity(),
    })
    .await;
    caller_identity(&client(&server)).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn what_may_have_happened_is_not_repeated() {
    let create = ApiCall::ec2("CreateVpc").limits(QUICK);
    let (error, asked) = failing(reply(500, ""), &create).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Server, 1));
    let (error, asked) = failing(Answer::HangUp, &create).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Network, 1));
    let (error, asked) = failing(query_error(503, "RequestLimitExceeded", "m"), &create).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Throttled, 3));
    assert_eq!(
        (error.attempts(), error.category()),
        (3, Category::Transient)
    );
    let (error, asked) = failing(reply(200, "<cut"), &describe()).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Server, 3));
}

#[tokio::test]
async fn a_denial_says_who_may_not_do_what() {
    let message = "User: arn:aws:iam::1:user/ann is not authorized to perform: ec2:DescribeVpcs.";
    let (error, asked) = failing(
        query_error(403, "UnauthorizedOperation", message),
        &describe(),
    )
    .await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Denied, 1));
    assert_eq!(error.category(), Category::Config);
    assert_eq!(error.http_status(), Some(403));
    assert_eq!(
        error.to_string(),
        "`ec2 DescribeVpcs` in `eu-west-1` was denied (`UnauthorizedOperation`): User: \
         arn:aws:iam::1:user/ann is not authorized to perform: ec2:DescribeVpcs"
    );
    let remedy = error.remedy().unwrap();
    assert!(remedy.contains("`ec2:DescribeVpcs`"), "{remedy}");
}

#[tokio::test]
async fn a_silent_endpoint_is_given_up_and_named() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let limits = CallLimits {
        attempt: Duration::from_millis(150),
        overall: Duration::from_millis(150),
        attempts: 9,
    };
    let error = client(&server)
        .call(&describe().limits(limits))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Timeout);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    let address = format!("no answer from `{}/` within 1", server.url());
    assert!(cause.starts_with(&address), "{cause}");
    assert_eq!(error.code(), "aws-timeout");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_a_network_error() {
    let doors = doors(&[
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"),
    ]);
    let error = in_region(doors, "eu-west-1")
        .call(&describe())
        .await
        .unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (AwsErrorKind::Network, 3));
    assert!(error.remedy().unwrap().contains("AWS_ENDPOINT_URL"));
}

#[tokio::test]
async fn cancelling_ends_a_call() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let aws = client(&server);
    aws.credentials().await.unwrap();
    let cancel = aws.doors.cancel.clone();
    let call = ApiCall::ec2("DescribeVpcs");
    let (called, ()) = tokio::join!(aws.call(&call), async {
        while server.asked().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert_eq!(called.unwrap_err().kind(), AwsErrorKind::Interrupted);
}

/// A server that refuses requests whose date is not its own minute.
async fn strict_about_time(now: &'static str, code: &'static str) -> Server {
    Server::start(move |asked, _| {
        let date = ("date", "Tue, 01 Dec 2026 10:20:00 GMT");
        if asked.header("x-amz-date") == now {
            return identity();
        }
        let body = format!("<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>");
        reply_with(403, &[date], &body)
    })
    .await
}

#[tokio::test]
async fn a_wrong_clock_is_corrected_once_for_all() {
    for code in [
        "RequestTimeTooSkewed",
        "SignatureDoesNotMatch",
        "RequestExpired",
    ] {
        let server = strict_about_time("20261201T102000Z", code).await;
        let aws = client(&server);
        caller_identity(&aws).await.unwrap();
        assert_eq!(aws.clock_difference().as_secs(), 1200);
        caller_identity(&aws.in_region("us-east-1")).await.unwrap();
        assert_eq!(server.asked().len(), 3, "{code}");
    }
}

#[tokio::test]
async fn a_clock_that_stays_wrong_is_reported() {
    let server = strict_about_time("never", "RequestTimeTooSkewed").await;
    let error = caller_identity(&client(&server)).await.unwrap_err();
    assert_eq!(
        (error.kind(), server.asked().len()),
        (AwsErrorKind::Skew, 2)
    );
    assert!(error.remedy().unwrap().contains("timedatectl"));
    let (error, asked) = failing(query_error(403, "SignatureDoesNotMatch", "m"), &describe()).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::InvalidCredentials, 1));
}

#[tokio::test]
async fn buckets_are_found_in_their_region_and_remembered() {
    let server = Server::start(|asked, _| {
        if asked.header("authorization").contains("/eu-central-1/s3/") {
            return reply(200, "<ListVersionsResult/>");
        }
        let elsewhere = [("x-amz-bucket-region", "eu-central-1")];
        match asked.method.as_str() {
            "HEAD" => reply_with(400, &elsewhere, ""),
            _ => reply_with(
                301,
                &elsewhere,
                "<Error><Code>PermanentRedirect</Code></Error>",
            ),
        }
    })
    .await;
    let aws = client(&server);
    let head = ApiCall::s3("HeadBucket", "HEAD", "bucket", "");
    aws.call(&head).await.unwrap();
    aws.call(&ApiCall::s3("ListObjectVersions", "GET", "bucket", "").param("versions", ""))
        .await
        .unwrap();
    let paths: Vec<_> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, ["/bucket", "/bucket", "/bucket?versions="]);
    assert!(!server.asked()[0].header("x-amz-content-sha256").is_empty());
    aws.call(&ApiCall::s3("ListObjectVersions", "GET", "other", ""))
        .await
        .unwrap();
    assert_eq!(server.asked().len(), 5);
}

#[tokio::test]
async fn a_bucket_that_is_nowhere_ends_the_search() {
    let everywhere = reply_with(301, &[("x-amz-bucket-region", "eu-south-9")], "");
    let head = ApiCall::s3("HeadBucket", "HEAD", "bucket", "");
    let (error, asked) = failing(everywhere, &head).await;
    assert_eq!((error.kind(), asked), (AwsErrorKind::Other, 2));
    for (status, kind) in [(403, AwsErrorKind::Denied), (404, AwsErrorKind::NotFound)] {
        let (error, asked) = failing(reply(status, ""), &head).await;
        assert_eq!((error.kind(), asked), (kind, 1));
    }
}

#[tokio::test]
async fn json_and_rest_calls_reach_their_place() {
    let server = Server::start(|asked, _| match asked.method.as_str() {
        "POST" => reply(
            200,
            r#"{"ResourceTagMappingList":[{"ResourceARN":"arn:a"}]}"#,
        ),
        _ => reply(200, r#"{"cluster":{"name":"c"}}"#),
    })
    .await;
    let aws = client(&server);
    let call = ApiCall::json(
        "tagging",
        "ResourceGroupsTaggingAPI_20170126",
        "GetResources",
        json!({}),
    );
    let reply = aws.call(&call).await.unwrap();
    assert_eq!(reply.list("ResourceTagMappingList.ResourceARN"), ["arn:a"]);
    let call =
        ApiCall::rest_json("eks", "DescribeCluster", "GET", "/clusters/{name}").fill("name", "c d");
    assert_eq!(
        aws.call(&call).await.unwrap().text("cluster.name"),
        Some("c")
    );
    let asked = server.asked();
    assert_eq!(
        asked[0].header("x-amz-target"),
        "ResourceGroupsTaggingAPI_20170126.GetResources"
    );
    assert_eq!(asked[1].path, "/clusters/c%20d");
}

#[tokio::test]
async fn secrets_are_neither_recorded_nor_shown() {
    let folder = tempfile::tempdir().unwrap();
    let record = camino::Utf8PathBuf::from_path_buf(folder.path().join("calls.jsonl")).unwrap();
    let server = Server::start(|_, _| {
        query_error(
            403,
            "AccessDenied",
            &format!("key {KEY} with {SECRET} may not"),
        )
    })
    .await;
    let aws = client(&server);
    aws.doors.recorder.to_file(record.clone());
    let call = ApiCall::rest_json("eks", "ListClusters", "GET", "/clusters").param("q", SECRET);
    let error = aws.call(&call).await.unwrap_err();
    assert_eq!(error.message(), "key *** with *** may not");
    let credentials = aws.credentials().await.unwrap();
    let shown = format!(
        "{error:?} {aws:?} {credentials:?} {call:?}",
        call = describe()
    );
    let recorded = std::fs::read_to_string(record).unwrap();
    assert!(recorded.contains("GET eks:ListClusters"), "{recorded}");
    for secret in [KEY, SECRET] {
        assert!(
            !shown.contains(secret) && !recorded.contains(secret),
            "{shown}{recorded}"
        );
    }
}

#[tokio::test]
async fn a_region_comes_from_the_settings_then_the_environment() {
    let region = |settings: &str, variables: &[(&str, &str)]| {
        let settings = AwsSettings {
            region: settings.to_owned(),
            ..AwsSettings::default()
        };
        Aws::new(doors(variables), settings).region().to_owned()
    };
    let both = [
        ("AWS_REGION", "us-west-2"),
        ("AWS_DEFAULT_REGION", "us-west-1"),
    ];
    assert_eq!(region("eu-west-1", &both), "eu-west-1");
    assert_eq!(region("", &both), "us-west-2");
    assert_eq!(region("", &both[1..]), "us-west-1");
    let server = Server::start(|_, _| identity()).await;
    let url = server.url();
    let keys = [
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_ENDPOINT_URL", &url),
    ];
    let error = in_region(doors(&keys), "")
        .call(&describe())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Config);
    assert!(error.remedy().unwrap().contains("AWS_REGION"), "{error}");
}

/// A reaper asks many regions at once, each in a task of its own.
#[tokio::test]
async fn calls_can_be_made_by_tasks() {
    let server = Server::start(|_, _| reply(200, "<R/>")).await;
    let aws = client(&server);
    let mut asked = tokio::task::JoinSet::new();
    for region in ["eu-west-1", "us-east-1", "ap-south-1"] {
        let aws = aws.in_region(region);
        asked.spawn(async move {
            let role = RoleRequest::new("arn:aws:iam::1:role/none", "ann");
            let _ = aws.with_role(&role).await;
            let paging = Paging::token("NextToken", "nextToken");
            aws.pages(&describe(), &paging)
                .await
                .map(|pages| pages.len())
        });
    }
    while let Some(pages) = asked.join_next().await {
        assert_eq!(pages.unwrap().unwrap(), 1);
    }
}

/// The real clock works too: a date of today is signed.
#[tokio::test]
async fn the_time_is_that_of_the_clock_passed_in() {
    let server = Server::start(|_, _| identity()).await;
    let fixed = client(&server);
    let system = Doors::new(fixed.doors.env.clone(), Clock::system(), false);
    caller_identity(&fixed.through(system)).await.unwrap();
    assert_ne!(server.asked()[0].header("x-amz-date"), "20261201T100000Z");
}
