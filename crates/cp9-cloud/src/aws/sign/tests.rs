//! Signatures that AWS has published, for keys that exist nowhere else.

use cp9_tools::Secret;
use proptest::prelude::*;

use super::*;
use crate::aws::protocol::escape;

const SUITE_KEY: (&str, &str) = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
const S3_KEY: (&str, &str) = (
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
);

fn credentials((id, key): (&str, &str), token: Option<&str>) -> SessionCredentials {
    SessionCredentials {
        access_key: Secret::new(id),
        secret_key: Secret::new(key),
        session_token: token.map(Secret::new),
        expires: None,
        source: "test".to_owned(),
    }
}

fn sign_as(
    credentials: &SessionCredentials,
    (name, time): (&str, &str),
    request: &Unsigned<'_>,
) -> Vec<(String, String)> {
    let signing = Signing {
        credentials,
        name,
        region: "us-east-1",
        time: time.parse().unwrap(),
    };
    signature(request, &signing).unwrap()
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> &'h str {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}

fn suite(method: &str, url: &str, headers: &[(String, String)], body: &[u8]) -> String {
    let request = Unsigned {
        method,
        url,
        headers,
        body,
    };
    let at = ("service", "2015-08-30T12:36:00Z");
    let signed = sign_as(&credentials(SUITE_KEY, None), at, &request);
    header(&signed, "authorization").to_owned()
}

fn s3(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> String {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let headers: Vec<_> = headers.iter().map(owned).collect();
    let request = Unsigned {
        method,
        url,
        headers: &headers,
        body: body.as_bytes(),
    };
    let at = ("s3", "2013-05-24T00:00:00Z");
    let signed = sign_as(&credentials(S3_KEY, None), at, &request);
    header(&signed, "authorization").to_owned()
}

#[test]
fn the_test_suite_of_the_signature() {
    let scope = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders=host;x-amz-date, Signature=";
    for (method, url, signature) in [
        (
            "GET",
            "https://example.amazonaws.com/",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "POST",
            "https://example.amazonaws.com/",
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
        ),
        (
            "GET",
            "https://example.amazonaws.com/?Param2=value2&Param1=value1",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
    ] {
        let authorization = suite(method, url, &[], b"");
        assert_eq!(
            authorization,
            format!("{scope}{signature}"),
            "{method} {url}"
        );
    }
}

#[test]
fn the_walk_through_of_the_documentation() {
    let media = "application/x-www-form-urlencoded; charset=utf-8";
    let headers = [("content-type".to_owned(), media.to_owned())];
    let request = Unsigned {
        method: "GET",
        url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        headers: &headers,
        body: b"",
    };
    let at = ("iam", "2015-08-30T12:36:00Z");
    let signed = sign_as(&credentials(SUITE_KEY, None), at, &request);
    assert_eq!(
        header(&signed, "authorization"),
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
         SignedHeaders=content-type;host;x-amz-date, \
         Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
    );
}

#[test]
fn the_examples_of_s3() {
    let host = "https://examplebucket.s3.amazonaws.com";
    let range = [("range", "bytes=0-9")];
    let stored = [
        ("date", "Fri, 24 May 2013 00:00:00 GMT"),
        ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
    ];
    for (authorization, signature) in [
        (
            s3("GET", &format!("{host}/test.txt"), &range, ""),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            s3(
                "PUT",
                &format!("{host}/test%24file.text"),
                &stored,
                "Welcome to Amazon S3.",
            ),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        (
            s3("GET", &format!("{host}/?lifecycle"), &[], ""),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
        ),
        (
            s3("GET", &format!("{host}/?max-keys=2&prefix=J"), &[], ""),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ] {
        assert!(
            authorization.ends_with(&format!("Signature={signature}")),
            "{authorization}"
        );
    }
}

#[test]
fn a_session_token_is_signed_with_the_rest() {
    let request = Unsigned {
        method: "POST",
        url: "https://example.amazonaws.com/",
        headers: &[],
        body: b"",
    };
    let at = ("service", "2015-08-30T12:36:00Z");
    let signed = sign_as(
        &credentials(SUITE_KEY, Some("token-of-session")),
        at,
        &request,
    );
    assert_eq!(header(&signed, "x-amz-security-token"), "token-of-session");
    let authorization = header(&signed, "authorization");
    assert!(
        authorization.contains("x-amz-security-token"),
        "{authorization}"
    );
}

proptest! {
    /// Whatever a name or value is, it can be signed, and another value signs otherwise.
    #[test]
    fn every_value_can_be_signed(path in ".{0,40}", value in ".{0,40}") {
        let url = |value: &str| {
            format!("https://example.amazonaws.com/{}?q={}", escape(&path), escape(value))
        };
        let one = suite("GET", &url(&value), &[], b"");
        let other = suite("GET", &url(&format!("{value}x")), &[], b"");
        prop_assert_ne!(one, other);
    }
}
