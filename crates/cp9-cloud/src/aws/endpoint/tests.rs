//! Addresses.

use super::*;

fn environment(variables: &[(&str, &str)]) -> EndpointChoices {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    EndpointChoices::of(&Environment::new(variables.iter().map(owned)))
}

fn at(service: &str, region: &str, choices: &EndpointChoices) -> (String, String) {
    let call = ApiCall::query(service, "1", "X");
    let endpoint = resolve(&call, region, choices).unwrap();
    (endpoint.base, endpoint.signing_region)
}

/// Service, region, endpoint, region of the signature.
const PLACES: &str = "
ec2 eu-west-1 https://ec2.eu-west-1.amazonaws.com eu-west-1
sts eu-west-1 https://sts.eu-west-1.amazonaws.com eu-west-1
sts cn-north-1 https://sts.cn-north-1.amazonaws.com.cn cn-north-1
sts us-gov-west-1 https://sts.us-gov-west-1.amazonaws.com us-gov-west-1
sts us-iso-east-1 https://sts.us-iso-east-1.c2s.ic.gov us-iso-east-1
iam eu-west-1 https://iam.amazonaws.com us-east-1
iam cn-northwest-1 https://iam.cn-north-1.amazonaws.com.cn cn-north-1
iam us-gov-east-1 https://iam.us-gov.amazonaws.com us-gov-west-1
iam us-isob-east-1 https://iam.us-isob-east-1.sc2s.sgov.gov us-isob-east-1
route53 ap-south-1 https://route53.amazonaws.com us-east-1
route53 cn-north-1 https://route53.amazonaws.com.cn cn-northwest-1
route53 us-gov-east-1 https://route53.us-gov.amazonaws.com us-gov-west-1
route53 us-iso-east-1 https://route53.c2s.ic.gov us-iso-east-1
cloudfront eu-west-1 https://cloudfront.amazonaws.com us-east-1
globalaccelerator eu-west-1 https://globalaccelerator.us-west-2.amazonaws.com us-west-2
organizations us-gov-east-1 https://organizations.us-gov-west-1.amazonaws.com us-gov-west-1
tagging eusc-de-east-1 https://tagging.eusc-de-east-1.amazonaws.eu eusc-de-east-1
";

#[test]
fn services_have_their_place_in_every_partition() {
    let none = EndpointChoices::default();
    for row in PLACES.trim().lines() {
        let words: Vec<&str> = row.split(' ').collect();
        let (base, signed) = at(words[0], words[1], &none);
        assert_eq!([base, signed], [words[2], words[3]], "{row}");
    }
    let ecr = resolve(&ApiCall::query("api.ecr", "1", "X"), "eu-west-1", &none).unwrap();
    assert_eq!(
        (ecr.base.as_str(), ecr.signing_name.as_str()),
        ("https://api.ecr.eu-west-1.amazonaws.com", "ecr")
    );
}

#[test]
fn variables_name_endpoints() {
    let choices = environment(&[
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000/"),
        ("AWS_ENDPOINT_URL_ELASTIC_LOAD_BALANCING_V2", "http://elb:1"),
        (
            "AWS_ENDPOINT_URL_RESOURCE_GROUPS_TAGGING_API",
            "https://tags:2/base/",
        ),
        ("AWS_ENDPOINT_URL_STS", ""),
    ]);
    let base = |service| at(service, "eu-west-1", &choices).0;
    assert_eq!(base("elasticloadbalancing"), "http://elb:1");
    assert_eq!(base("tagging"), "https://tags:2/base");
    assert_eq!(base("sts"), "http://127.0.0.1:5000");
    assert_eq!(
        at("iam", "eu-west-1", &choices),
        ("http://127.0.0.1:5000".into(), "us-east-1".into())
    );
    let ignored = environment(&[
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:5000"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
    ]);
    assert_eq!(
        at("ec2", "eu-west-1", &ignored).0,
        "https://ec2.eu-west-1.amazonaws.com"
    );
}

#[test]
fn switches_change_hosts() {
    let fips = environment(&[("AWS_USE_FIPS_ENDPOINT", "true")]);
    assert_eq!(
        at("ec2", "us-east-1", &fips).0,
        "https://ec2-fips.us-east-1.amazonaws.com"
    );
    assert_eq!(
        at("ec2", "us-gov-west-1", &fips).0,
        "https://ec2.us-gov-west-1.amazonaws.com"
    );
    let dual = environment(&[("AWS_USE_DUALSTACK_ENDPOINT", "true")]);
    assert_eq!(
        at("ec2", "us-east-1", &dual).0,
        "https://ec2.us-east-1.api.aws"
    );
    assert_eq!(
        at("s3", "us-east-1", &dual).0,
        "https://s3.dualstack.us-east-1.amazonaws.com"
    );
    let legacy = environment(&[("AWS_STS_REGIONAL_ENDPOINTS", "legacy")]);
    let global = (
        "https://sts.amazonaws.com".to_owned(),
        "us-east-1".to_owned(),
    );
    assert_eq!(at("sts", "eu-west-1", &legacy), global);
    assert_eq!(
        at("sts", "cn-north-1", &legacy).0,
        "https://sts.cn-north-1.amazonaws.com.cn"
    );
}

#[test]
fn what_is_no_address_or_region_is_refused() {
    for bad in [
        "localhost:5000",
        "ftp://x",
        "http://",
        "http://user@x",
        "http://x y",
    ] {
        let choices = environment(&[("AWS_ENDPOINT_URL", bad)]);
        let error = resolve(&ApiCall::ec2("X"), "eu-west-1", &choices).unwrap_err();
        assert_eq!(error.kind(), AwsErrorKind::Config, "{bad}");
        assert!(error.to_string().contains(bad), "{error}");
    }
    let error = resolve(
        &ApiCall::ec2("X"),
        "evil.example/",
        &EndpointChoices::default(),
    );
    assert_eq!(error.unwrap_err().kind(), AwsErrorKind::Config);
}

#[test]
fn buckets_go_into_the_host_where_they_fit() {
    let aws = resolve(
        &ApiCall::s3("X", "GET", "b", ""),
        "eu-west-1",
        &EndpointChoices::default(),
    );
    let aws = aws.unwrap();
    let host = "s3.eu-west-1.amazonaws.com";
    assert_eq!(
        url(&aws, Some("my-bucket"), "/k", "a=b"),
        format!("https://my-bucket.{host}/k?a=b")
    );
    assert_eq!(
        url(&aws, Some("my.bucket"), "/k", ""),
        format!("https://{host}/my.bucket/k")
    );
    assert_eq!(
        url(&aws, Some("Old_Bucket"), "/", "versions="),
        format!("https://{host}/Old_Bucket?versions=")
    );
    assert_eq!(
        url(&aws, Some("a/b"), "/", ""),
        format!("https://{host}/a%2Fb")
    );
    assert_eq!(url(&aws, None, "/", ""), format!("https://{host}/"));
    let emulated = environment(&[("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")]);
    let emulated = resolve(&ApiCall::s3("X", "GET", "b", ""), "eu-west-1", &emulated).unwrap();
    assert_eq!(
        url(&emulated, Some("bucket"), "/k", ""),
        "http://127.0.0.1:5000/bucket/k"
    );
}
