//! Requests and answers of every protocol.

use cp9_tools::HttpResponse;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::aws::error::AwsErrorKind;

fn text_of(wire: &Wire) -> String {
    String::from_utf8(wire.body.clone()).unwrap()
}

fn header<'w>(wire: &'w Wire, name: &str) -> Option<&'w str> {
    let found = wire.headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

fn response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    HttpResponse {
        status,
        headers: headers.iter().map(owned).collect(),
        body: body.as_bytes().to_vec(),
    }
}

fn answer(call: &ApiCall, body: &str) -> ApiReply {
    ApiReply::of(call, response(200, &[], body)).unwrap()
}

#[test]
fn query_and_ec2_flatten_differently() {
    let tags = json!([{"Key": "a b", "Value": "c&d=e+f/ü"}]);
    let query = ApiCall::query("iam", "2010-05-08", "TagRole").nested("Tags", &tags);
    let wire = encode(&query);
    assert_eq!(
        (
            wire.method.as_str(),
            wire.path.as_str(),
            wire.query.as_str()
        ),
        ("POST", "/", "")
    );
    assert_eq!(
        text_of(&wire),
        "Action=TagRole&Version=2010-05-08&Tags.member.1.Key=a%20b\
         &Tags.member.1.Value=c%26d%3De%2Bf%2F%C3%BC"
    );
    let ec2 = ApiCall::ec2("DescribeVpcs")
        .nested("Filter", &json!([{"Name": "tag:x", "Value": ["1", "2"]}]))
        .nested("DryRun", &json!(false))
        .nested("NextToken", &Value::Null);
    assert_eq!(
        text_of(&encode(&ec2)),
        "Action=DescribeVpcs&Version=2016-11-15&Filter.1.Name=tag%3Ax&Filter.1.Value.1=1\
         &Filter.1.Value.2=2&DryRun=false"
    );
    assert!(ec2.idempotent && !query.idempotent);
}

#[test]
fn json_names_its_operation_in_a_header() {
    let call = ApiCall::json(
        "tagging",
        "ResourceGroupsTaggingAPI_20170126",
        "GetResources",
        Value::Null,
    );
    let wire = encode(&call);
    assert_eq!(
        header(&wire, "x-amz-target"),
        Some("ResourceGroupsTaggingAPI_20170126.GetResources")
    );
    assert_eq!(
        header(&wire, "content-type"),
        Some("application/x-amz-json-1.1")
    );
    assert_eq!(text_of(&wire), "{}");
    let call = ApiCall::json10(
        "dynamodb",
        "DynamoDB_20120810",
        "ListTables",
        json!({"Limit": 2}),
    );
    let wire = encode(&call);
    assert_eq!(
        header(&wire, "content-type"),
        Some("application/x-amz-json-1.0")
    );
    assert_eq!(text_of(&wire), r#"{"Limit":2}"#);
}

#[test]
fn rest_fills_paths_and_queries() {
    let call = ApiCall::rest_json(
        "eks",
        "DeleteNodegroup",
        "DELETE",
        "/clusters/{name}/node-groups/{group}",
    )
    .fill("name", "a/b c")
    .fill("group", "g")
    .param("max results", "1&2");
    let wire = encode(&call);
    assert_eq!(wire.path, "/clusters/a%2Fb%20c/node-groups/g");
    assert_eq!(wire.query, "max%20results=1%262");
    assert_eq!(
        (wire.method.as_str(), header(&wire, "content-type")),
        ("DELETE", None)
    );
    let call =
        ApiCall::s3("DeleteObject", "DELETE", "bucket", "a/ü?.txt").param("versionId", "v+1");
    let wire = encode(&call);
    assert_eq!(
        (wire.path.as_str(), wire.query.as_str()),
        ("/a/%C3%BC%3F.txt", "versionId=v%2B1")
    );
    assert_eq!(call.bucket.as_deref(), Some("bucket"));
    let greedy = ApiCall::rest_xml("s3", "GetObject", "GET", "/{Key+}").fill("Key", "a/b c");
    assert_eq!(greedy.path, "/a/b%20c");
}

#[test]
fn answers_read_alike_in_xml_and_json() {
    let ec2 = ApiCall::ec2("DescribeInstances");
    let reply = answer(
        &ec2,
        "<?xml version=\"1.0\"?><DescribeInstancesResponse xmlns=\"http://ec2/\"><reservationSet>\
         <item><instancesSet><item><instanceId>i-1</instanceId><tagSet/></item>\
         <item><instanceId>i-2</instanceId></item></instancesSet></item>\
         <item><instancesSet><item><instanceId>i-3</instanceId></item></instancesSet></item>\
         </reservationSet><nextToken>t &amp; u &#x2603;</nextToken></DescribeInstancesResponse>",
    );
    let ids = reply.list("reservationSet.instancesSet.instanceId");
    assert_eq!(ids, ["i-1", "i-2", "i-3"]);
    assert!(reply.list("reservationSet.instancesSet.tagSet").is_empty());
    assert_eq!(reply.text("nextToken"), Some("t & u ☃"));
    assert_eq!(reply.text("nowhere.at.all"), None);

    let rds = ApiCall::query("rds", "2014-10-31", "DescribeDBInstances");
    for (inner, count) in [
        ("<DBInstances/>", 0),
        (
            "<DBInstances><DBInstance><Id>a</Id></DBInstance></DBInstances>",
            1,
        ),
        (
            "<DBInstances><DBInstance><Id>a</Id></DBInstance><DBInstance><Id>b</Id></DBInstance></DBInstances>",
            2,
        ),
    ] {
        let reply = answer(
            &rds,
            &format!(
                "<DescribeDBInstancesResponse><DescribeDBInstancesResult>{inner}\
                 </DescribeDBInstancesResult><ResponseMetadata><RequestId>r</RequestId>\
                 </ResponseMetadata></DescribeDBInstancesResponse>"
            ),
        );
        assert_eq!(
            reply.list("DBInstances.DBInstance.Id").len(),
            count,
            "{inner}"
        );
    }

    let tagging = ApiCall::json("tagging", "T", "GetResources", Value::Null);
    let reply = answer(
        &tagging,
        r#"{"PaginationToken":"","ResourceTagMappingList":[{"ResourceARN":"a"}]}"#,
    );
    assert_eq!(reply.list("ResourceTagMappingList.ResourceARN"), ["a"]);
    assert_eq!(reply.text("PaginationToken"), None);
}

#[test]
fn what_is_no_answer_of_the_protocol_is_none() {
    let of = |call: &ApiCall, body: &str| ApiReply::of(call, response(200, &[], body));
    let ec2 = ApiCall::ec2("DescribeVpcs");
    for cut in [
        "",
        "<html>",
        "<a><b></a>",
        "<a>&nbsp;</a>",
        "{}",
        "<a><b>x</b>",
    ] {
        assert!(of(&ec2, cut).is_none(), "{cut}");
    }
    let deep = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
    assert!(of(&ec2, &deep).is_none());
    let json = ApiCall::json("tagging", "T", "X", Value::Null);
    assert!(of(&json, "<a/>").is_none());
    assert_eq!(of(&json, " ").unwrap().body, json!({}));
    let object = ApiCall::s3("GetObject", "GET", "b", "k");
    let reply = of(&object, "plain").unwrap();
    assert_eq!((reply.body, reply.raw), (Value::Null, b"plain".to_vec()));
    assert_eq!(
        format!("{:?}", of(&object, "hidden").unwrap()),
        "200 with 6 bytes"
    );
}

/// Code, message, request id and kind of an error answer.
fn told(
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> (String, String, Option<String>, AwsErrorKind) {
    let call = ApiCall::query("iam", "1", "GetRole");
    let error = failure(&call, "us-east-1", &response(status, headers, body));
    (
        error.aws_code().to_owned(),
        error.message().to_owned(),
        error.request_id().map(str::to_owned),
        error.kind(),
    )
}

/// Status, a header, the body; then code, message and kind.
const ERRORS: &str = r#"
404 | - | <ErrorResponse xmlns="x"><Error><Type>Sender</Type><Code>NoSuchEntity</Code><Message>The role &lt;a&gt;</Message></Error><RequestId>r1</RequestId></ErrorResponse> | NoSuchEntity | The role <a> | NotFound
400 | - | <?xml version="1.0"?> <Response><Errors><Error><Code>InvalidVpcID.NotFound</Code><Message>m</Message></Error></Errors><RequestID>r2</RequestID></Response> | InvalidVpcID.NotFound | m | NotFound
503 | - | <Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>m</Message></Error><Error><Code>X</Code></Error></Errors></Response> | RequestLimitExceeded | m | Throttled
409 | - | <Error><Code>BucketNotEmpty</Code><Message>m</Message><RequestId>r3</RequestId></Error> | BucketNotEmpty | m | Other
400 | - | {"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"m"} | ResourceNotFoundException | m | NotFound
400 | - | {"__type":"ThrottlingException","Message":"Rate exceeded"} | ThrottlingException | Rate exceeded | Throttled
404 | x-amzn-errortype ResourceNotFoundException:http://internal/ | {"message":"m"} | ResourceNotFoundException | m | NotFound
403 | x-amzn-errortype AccessDeniedException | {"Message":"m"} | AccessDeniedException | m | Denied
400 | x-amzn-query-error AWS.SimpleQueueService.NonExistentQueue;Sender | {"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"m"} | AWS.SimpleQueueService.NonExistentQueue | m | NotFound
404 | - |  | NotFound |  | NotFound
403 | - |  | Forbidden |  | Denied
429 | - | <html><body>slow</body></html> | TooManyRequests |  | Throttled
502 | - | <html>Bad Gateway | InternalServerError |  | Server
418 | - | [1,2] | Unknown |  | Other
"#;

#[test]
fn errors_are_read_in_every_shape() {
    for row in ERRORS.trim_matches('\n').lines() {
        let cells: Vec<&str> = row.split(" | ").collect();
        let header: Vec<_> = cells[1].split_once(' ').into_iter().collect();
        let (code, message, _, kind) = told(cells[0].parse().unwrap(), &header, cells[2]);
        let kind = format!("{kind:?}");
        assert_eq!([code.as_str(), &message, &kind], cells[3..], "{row}");
    }
    let ids = |headers: &[(&str, &str)], body: &str| told(400, headers, body).2;
    assert_eq!(ids(&[], "<Response><Errors><Error><Code>a</Code></Error></Errors><RequestID>r2</RequestID></Response>").as_deref(), Some("r2"));
    assert_eq!(
        ids(&[("x-amzn-requestid", "r4")], "{}").as_deref(),
        Some("r4")
    );
}

#[test]
fn waits_and_times_are_taken_from_headers() {
    let call = ApiCall::ec2("DescribeVpcs");
    let date = ("date", "Tue, 01 Dec 2026 10:00:00 GMT");
    let wait = |headers: &[(&str, &str)]| {
        let error = failure(&call, "us-east-1", &response(503, headers, ""));
        (
            error.facts().retry_after.map(|wait| wait.as_millis()),
            error.facts().server_time,
        )
    };
    assert_eq!(wait(&[("retry-after", "3")]), (Some(3000), None));
    assert_eq!(wait(&[("x-amz-retry-after", "250")]).0, Some(250));
    let at = ("retry-after", "Tue, 01 Dec 2026 10:00:07 GMT");
    assert_eq!(wait(&[date, at]), (Some(7000), Some(1_796_119_200)));
    assert_eq!(
        wait(&[("retry-after", "soon"), ("date", "now")]),
        (None, None)
    );
    assert_eq!(
        wait(&[date, ("retry-after", "Tue, 01 Dec 2026 09:00:00 GMT")]).0,
        None
    );
}

#[test]
fn a_failure_may_come_with_a_good_status() {
    let late = response(
        200,
        &[],
        "<?xml version=\"1.0\"?>\n\n<Error><Code>InternalError</Code></Error>",
    );
    let copy = ApiCall::s3("CopyObject", "PUT", "b", "k");
    assert!(is_late_failure(&copy, &late));
    assert!(!is_late_failure(&ApiCall::ec2("X"), &late));
    let deleted = response(
        200,
        &[],
        "<DeleteResult><Error><Code>AccessDenied</Code></Error></DeleteResult>",
    );
    assert!(!is_late_failure(&copy, &deleted));
}

proptest! {
    #[test]
    fn escaping_loses_nothing(text in any::<String>()) {
        let escaped = escape(&text);
        let mut bytes = Vec::new();
        let mut rest = escaped.as_bytes();
        while let Some((&first, after)) = rest.split_first() {
            if first == b'%' {
                let digits = std::str::from_utf8(&after[..2]).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
                rest = &after[2..];
            } else {
                prop_assert!(first.is_ascii_alphanumeric() || b"-._~".contains(&first));
                bytes.push(first);
                rest = after;
            }
        }
        prop_assert_eq!(bytes, text.into_bytes());
    }

    /// Whatever a server sends, it is an answer, a failure or none; never a panic.
    #[test]
    fn nonsense_is_never_fatal(status in 100_u16..700, body in "[<>/a-c&;#x \"{}:\\[\\]0-9]{0,80}") {
        for call in [
            ApiCall::ec2("A"),
            ApiCall::query("iam", "1", "A"),
            ApiCall::json("a", "b", "A", Value::Null),
            ApiCall::rest_json("a", "A", "GET", "/"),
            ApiCall::rest_xml("a", "A", "GET", "/"),
        ] {
            let response = response(status, &[("x-amzn-errortype", &body)], &body);
            let _ = failure(&call, "us-east-1", &response);
            let _ = is_late_failure(&call, &response);
            let _ = ApiReply::of(&call, response);
        }
    }

    /// Text survives XML, whatever it is.
    #[test]
    fn xml_text_comes_back(text in "[ -~äß☃]{0,40}") {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let call = ApiCall::ec2("A");
        let reply = answer(&call, &format!("<A><b>{escaped}</b><c>1</c></A>"));
        prop_assert_eq!(reply.body["b"].as_str(), Some(text.as_str()));
    }
}
