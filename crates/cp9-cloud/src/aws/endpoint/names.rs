//! The names of a service: in host names, signatures and variables they differ now and then.

use crate::aws::partition::Partition;

/// The service in signatures.
pub fn signing_name(service: &str) -> &str {
    match service {
        "api.ecr" => "ecr",
        "api.ecr-public" => "ecr-public",
        "api.pricing" => "pricing",
        "api.sagemaker" => "sagemaker",
        "appstream2" => "appstream",
        "email" => "ses",
        "models.lex" => "lex",
        "streams.dynamodb" => "dynamodb",
        "data.iot" => "iotdata",
        other => other,
    }
}

/// The ids of a service as variables spell them; several services share a host name.
pub(super) fn ids(service: &str) -> Vec<String> {
    let listed: &[&str] = match service {
        "api.ecr" => &["ECR"],
        "api.ecr-public" => &["ECR_PUBLIC"],
        "apigateway" => &["API_GATEWAY", "APIGATEWAYV2"],
        "application-autoscaling" => &["APPLICATION_AUTO_SCALING"],
        "autoscaling" => &["AUTO_SCALING"],
        "cloudcontrolapi" => &["CLOUDCONTROL"],
        "cognito-idp" => &["COGNITO_IDENTITY_PROVIDER"],
        "elasticbeanstalk" => &["ELASTIC_BEANSTALK"],
        "elasticfilesystem" => &["EFS"],
        "elasticloadbalancing" => &["ELASTIC_LOAD_BALANCING_V2", "ELASTIC_LOAD_BALANCING"],
        "elasticmapreduce" => &["EMR"],
        "email" => &["SESV2", "SES"],
        "es" => &["OPENSEARCH", "ELASTICSEARCH_SERVICE"],
        "events" => &["EVENTBRIDGE", "CLOUDWATCH_EVENTS"],
        "globalaccelerator" => &["GLOBAL_ACCELERATOR"],
        "logs" => &["CLOUDWATCH_LOGS"],
        "monitoring" => &["CLOUDWATCH"],
        "route53" => &["ROUTE_53"],
        "route53domains" => &["ROUTE_53_DOMAINS"],
        "secretsmanager" => &["SECRETS_MANAGER"],
        "states" => &["SFN"],
        "tagging" => &["RESOURCE_GROUPS_TAGGING_API"],
        _ => &[],
    };
    let own = service.to_ascii_uppercase().replace(['-', '.'], "_");
    let listed = listed.iter().map(|id| (*id).to_owned());
    listed.chain([own]).collect()
}

/// Host and signing region of a service that a partition has once, not in every region.
pub(super) fn global(service: &str, partition: &Partition) -> Option<(String, String)> {
    let (suffix, home) = (partition.suffix, partition.global_region);
    let (host, region) = match (service, partition.name) {
        ("iam" | "route53", "aws-us-gov") => (format!("{service}.us-gov.{suffix}"), home),
        ("iam" | "cloudfront" | "waf" | "budgets", "aws") => (format!("{service}.{suffix}"), home),
        ("route53", "aws-cn") => (format!("route53.{suffix}"), "cn-northwest-1"),
        ("route53", _) => (format!("route53.{suffix}"), home),
        ("cloudfront" | "organizations", "aws-cn") => (
            format!("{service}.cn-northwest-1.{suffix}"),
            "cn-northwest-1",
        ),
        ("iam" | "organizations", _) => (format!("{service}.{home}.{suffix}"), home),
        ("globalaccelerator" | "networkmanager", "aws") => {
            (format!("{service}.us-west-2.{suffix}"), "us-west-2")
        }
        ("account" | "api.ecr-public" | "route53domains" | "shield" | "support", "aws") => {
            (format!("{service}.{home}.{suffix}"), home)
        }
        _ => return None,
    };
    Some((host, region.to_owned()))
}
