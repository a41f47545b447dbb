//! Names of external resources: they begin with the session's name, and what a service finds too long is
//! cut and closed with a hash.

/// Characters of the hash that closes a cut name.
const HASH: usize = 8;
/// Words that a service wants in front of a name.
const DECORATIONS: &[&str] = &["alias/", "/aws/lambda/", "/aws/rds/", "/aws/", "/"];

/// How a type calls its name, and how long it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// The attribute.
    pub(super) attribute: &'static str,
    /// The attribute that gives only the beginning, if the provider has one.
    pub(super) prefix: Option<&'static str>,
    /// The most characters that the service takes.
    pub(super) limit: usize,
}

macro_rules! named {
    ($($type:literal: $attribute:literal $(/ $prefix:literal)?, $limit:literal;)*) => {
        /// The types whose names are known, from the providers' and the services' documentation.
        const NAMED: &[(&str, Named)] = &[
            $(($type, Named { attribute: $attribute, prefix: named!(@ $($prefix)?), limit: $limit }),)*
        ];
    };
    (@) => { None };
    (@ $prefix:literal) => { Some($prefix) };
}

named! {
    "aws_autoscaling_group": "name" / "name_prefix", 255;
    "aws_cloudwatch_event_bus": "name", 256;
    "aws_cloudwatch_event_rule": "name" / "name_prefix", 64;
    "aws_cloudwatch_log_group": "name" / "name_prefix", 512;
    "aws_cloudwatch_metric_alarm": "alarm_name", 255;
    "aws_codebuild_project": "name", 150;
    "aws_db_cluster_snapshot": "db_cluster_snapshot_identifier", 255;
    "aws_db_instance": "identifier" / "identifier_prefix", 63;
    "aws_db_option_group": "name" / "name_prefix", 255;
    "aws_db_parameter_group": "name" / "name_prefix", 255;
    "aws_db_proxy": "name", 63;
    "aws_db_snapshot": "db_snapshot_identifier", 255;
    "aws_db_subnet_group": "name" / "name_prefix", 255;
    "aws_dynamodb_table": "name", 255;
    "aws_ecr_repository": "name", 256;
    "aws_ecs_cluster": "name", 255;
    "aws_elasticache_cluster": "cluster_id", 50;
    "aws_elasticache_replication_group": "replication_group_id", 40;
    "aws_elasticache_subnet_group": "name", 255;
    "aws_iam_group": "name", 128;
    "aws_iam_instance_profile": "name" / "name_prefix", 128;
    "aws_iam_policy": "name" / "name_prefix", 128;
    "aws_iam_role": "name" / "name_prefix", 64;
    "aws_iam_user": "name", 64;
    "aws_key_pair": "key_name" / "key_name_prefix", 255;
    "aws_kinesis_firehose_delivery_stream": "name", 64;
    "aws_kinesis_stream": "name", 128;
    "aws_kms_alias": "name" / "name_prefix", 256;
    "aws_lambda_function": "function_name", 64;
    "aws_launch_configuration": "name" / "name_prefix", 255;
    "aws_launch_template": "name" / "name_prefix", 128;
    "aws_lb": "name" / "name_prefix", 32;
    "aws_lb_target_group": "name" / "name_prefix", 32;
    "aws_placement_group": "name", 255;
    "aws_rds_cluster": "cluster_identifier" / "cluster_identifier_prefix", 63;
    "aws_rds_cluster_instance": "identifier" / "identifier_prefix", 63;
    "aws_rds_cluster_parameter_group": "name" / "name_prefix", 255;
    "aws_s3_bucket": "bucket" / "bucket_prefix", 63;
    "aws_secretsmanager_secret": "name" / "name_prefix", 512;
    "aws_security_group": "name" / "name_prefix", 255;
    "aws_sfn_state_machine": "name" / "name_prefix", 80;
    "aws_sns_topic": "name" / "name_prefix", 256;
    "aws_sqs_queue": "name" / "name_prefix", 80;
    "aws_ssm_parameter": "name", 1011;
}

/// Types whose `name` is not a name of their own: it lives inside another resource or is an address.
const NOT_NAMED: &[&str] = &[
    "aws_cloudwatch_event_target",
    "aws_iam_group_policy",
    "aws_iam_policy_attachment",
    "aws_iam_role_policy",
    "aws_iam_user_policy",
    "aws_lambda_alias",
    "aws_lambda_permission",
    "aws_route53_record",
    "aws_route53_zone",
    "aws_service_discovery_private_dns_namespace",
];

/// Attributes that are a name in types that the table does not know.
const USUAL: &[(&str, Option<&str>)] = &[
    ("name", Some("name_prefix")),
    ("identifier", Some("identifier_prefix")),
    ("cluster_identifier", Some("cluster_identifier_prefix")),
    ("bucket", Some("bucket_prefix")),
    ("function_name", None),
    ("table_name", None),
];

/// How a type with these attributes is named; none where it has no name of its own.
pub(super) fn of(kind: &str, has: impl Fn(&str) -> bool) -> Option<Named> {
    if let Some((_, named)) = NAMED.iter().find(|(known, _)| *known == kind) {
        return Some(*named);
    }
    // A bucket's settings name the bucket that they are of.
    if NOT_NAMED.contains(&kind) || kind.starts_with("aws_s3_bucket_") {
        return None;
    }
    let usual = USUAL.iter().find(|(attribute, _)| has(attribute));
    usual.map(|(attribute, prefix)| Named {
        attribute,
        prefix: *prefix,
        limit: usize::MAX,
    })
}

/// Types that the provider imports by their name.
const BY_NAME: &[&str] = &[
    "aws_autoscaling_group",
    "aws_cloudwatch_log_group",
    "aws_cloudwatch_metric_alarm",
    "aws_db_instance",
    "aws_db_option_group",
    "aws_db_parameter_group",
    "aws_db_proxy",
    "aws_db_subnet_group",
    "aws_dynamodb_table",
    "aws_ecr_repository",
    "aws_ecs_cluster",
    "aws_elasticache_cluster",
    "aws_elasticache_replication_group",
    "aws_elasticache_subnet_group",
    "aws_iam_group",
    "aws_iam_instance_profile",
    "aws_iam_role",
    "aws_iam_user",
    "aws_key_pair",
    "aws_kinesis_stream",
    "aws_kms_alias",
    "aws_lambda_function",
    "aws_rds_cluster",
    "aws_rds_cluster_instance",
    "aws_rds_cluster_parameter_group",
    "aws_s3_bucket",
    "aws_ssm_parameter",
];

/// Where a resource is, for ids that say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whereabouts<'a> {
    /// `aws`, `aws-cn` and so on.
    pub partition: &'a str,
    /// The account.
    pub account: &'a str,
    /// The region.
    pub region: &'a str,
}

/// The id by which the provider finds a resource of this name; none where the name is not enough.
pub fn import_id(kind: &str, name: &str, at: Whereabouts<'_>) -> Option<String> {
    let Whereabouts {
        partition,
        account,
        region,
    } = at;
    if BY_NAME.contains(&kind) {
        return Some(name.to_owned());
    }
    Some(match kind {
        "aws_iam_policy" => format!("arn:{partition}:iam::{account}:policy/{name}"),
        "aws_sns_topic" => format!("arn:{partition}:sns:{region}:{account}:{name}"),
        "aws_sfn_state_machine" => {
            format!("arn:{partition}:states:{region}:{account}:stateMachine:{name}")
        }
        "aws_sqs_queue" => {
            let suffix = if partition == "aws-cn" { ".cn" } else { "" };
            format!("https://sqs.{region}.amazonaws.com{suffix}/{account}/{name}")
        }
        _ => return None,
    })
}

/// A name for `what` of a session, cut with a hash where it is longer than the service takes.
pub fn cut(session: &str, what: &str, limit: usize) -> String {
    let whole = format!("{session}-{what}");
    if whole.chars().count() <= limit {
        return whole;
    }
    let hash = &crate::digest::bytes(whole.as_bytes())[..HASH];
    let kept: String = whole.chars().take(limit.saturating_sub(HASH + 1)).collect();
    let kept = kept.trim_end_matches('-');
    format!("{kept}-{hash}")
}

/// True for a name that begins with the session's: `demo-role`, `/demo/dsn`, but not `demo2-role`.
pub fn bears(session: &str, name: &str, limit: usize) -> bool {
    let bare = DECORATIONS
        .iter()
        .find_map(|decoration| name.strip_prefix(decoration))
        .unwrap_or(name);
    match bare.strip_prefix(session) {
        Some(rest) => !rest.starts_with(|c: char| c.is_ascii_alphanumeric()),
        None => was_cut(session, bare, limit),
    }
}

/// Where a service's limit is shorter than the session's name, as much of it as there is room for.
fn was_cut(session: &str, name: &str, limit: usize) -> bool {
    let Some((kept, hash)) = name.rsplit_once('-') else {
        return false;
    };
    let room = limit.saturating_sub(HASH + 1);
    let is_hash = hash.len() == HASH && hash.chars().all(|c| c.is_ascii_hexdigit());
    let begins: String = session.chars().take(room).collect();
    let cut = session.chars().count() > room;
    cut && is_hash && !kept.is_empty() && kept == begins.trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_with_a_hash_and_still_bears_the_session() {
        assert_eq!(cut("demo", "provider", 64), "demo-provider");
        let long = "x".repeat(80);
        let name = cut("demo", &long, 64);
        assert_eq!(name.len(), 64);
        assert!(name.starts_with("demo-xxx") && bears("demo", &name, 64));
        assert_ne!(name, cut("demo", &format!("{long}y"), 64));
        let session = "a23456789012345678901234567890ab";
        let name = cut(session, "gateway", 32);
        assert_eq!(name.len(), 32);
        assert!(bears(session, &name, 32), "{name}");
        assert!(!bears(session, "a2345678901234567890123-gateway!", 32));
        assert!(cut("demo", &long, 4).len() <= 9, "no limit is too small");
    }

    #[test]
    fn a_neighbour_whose_name_begins_alike_is_another() {
        for good in [
            "demo",
            "demo-role",
            "demo_role",
            "demo.fifo",
            "demo/dsn",
            "/demo/dsn",
            "alias/demo-key",
            "/aws/lambda/demo-fn",
        ] {
            assert!(bears("demo", good, 64), "{good}");
        }
        for bad in ["", "demo2-role", "role-demo", "Demo-role", "dem", "/x/demo"] {
            assert!(!bears("demo", bad, 64), "{bad}");
        }
    }

    #[test]
    fn ids_for_an_import_come_from_the_name() {
        let at = Whereabouts {
            partition: "aws",
            account: "111122223333",
            region: "us-west-2",
        };
        for (kind, id) in [
            ("aws_iam_role", Some("demo-x")),
            (
                "aws_iam_policy",
                Some("arn:aws:iam::111122223333:policy/demo-x"),
            ),
            (
                "aws_sqs_queue",
                Some("https://sqs.us-west-2.amazonaws.com/111122223333/demo-x"),
            ),
            ("aws_vpc", None),
        ] {
            assert_eq!(import_id(kind, "demo-x", at).as_deref(), id, "{kind}");
        }
    }

    #[test]
    fn the_tables_are_sorted_and_know_their_types_once() {
        assert!(NAMED.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(NOT_NAMED.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(BY_NAME.windows(2).all(|pair| pair[0] < pair[1]));
        let named = |kind: &&str| NAMED.iter().any(|(known, _)| known == kind);
        assert!(BY_NAME.iter().all(named));
        assert_eq!(of("aws_sqs_queue", |_| false).map(|n| n.limit), Some(80));
        assert_eq!(of("aws_iam_role_policy", |_| true), None);
        assert_eq!(of("aws_s3_bucket_policy", |_| true), None);
        assert_eq!(of("aws_new_thing", |_| false), None);
        let usual = of("aws_new_thing", |name| name == "identifier");
        assert_eq!(usual.map(|n| n.attribute), Some("identifier"));
    }
}
