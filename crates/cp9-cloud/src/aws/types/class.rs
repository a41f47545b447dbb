//! What the error of a call about an object means, and what it says is in the way.

use cp9_model::reaper::{Class, Key};

use super::row::Errors;
use super::table::{Place, Table, Type};
use crate::aws::endpoint::signing_name;
use crate::aws::error::{AwsError, AwsErrorKind};
use crate::aws::protocol::ApiCall;

/// Codes of all services that mean that something else must go first, or that time must pass.
const RETRY: [&str; 12] = [
    "ConcurrentModification",
    "ConcurrentModificationException",
    "ConflictException",
    "DeleteConflict",
    "DependencyViolation",
    "IncorrectState",
    "InvalidParameterValue: currently in use",
    "OperationAborted",
    "ResourceInUse",
    "ResourceInUseException",
    "ResourceNotReady",
    "TryAgainLater",
];

/// The meaning of a failed call about an object of a type.
pub fn class_of(one: &Type, error: &AwsError) -> Class {
    let (code, message) = (error.aws_code(), error.message());
    let Errors {
        gone,
        retry,
        wait,
        protected,
        permanent,
    } = &one.row.errors;
    let lists = [
        (gone, Class::Gone),
        (wait, Class::Wait),
        (protected, Class::Protected),
        (permanent, Class::Permanent),
        (retry, Class::Retry),
    ];
    // What names words of the message says more than what names the code alone.
    for worded in [true, false] {
        for (list, class) in &lists {
            let mut fitting = list.iter().filter(|known| known.contains(": ") == worded);
            if fitting.any(|known| means(known, code, message)) {
                return *class;
            }
        }
    }
    if RETRY.iter().any(|known| means(known, code, message)) {
        return Class::Retry;
    }
    match error.kind() {
        AwsErrorKind::NotFound => Class::Gone,
        AwsErrorKind::Throttled => Class::Throttled,
        AwsErrorKind::Timeout
        | AwsErrorKind::Network
        | AwsErrorKind::Server
        | AwsErrorKind::Interrupted => Class::Retry,
        AwsErrorKind::Denied
        | AwsErrorKind::Expired
        | AwsErrorKind::InvalidCredentials
        | AwsErrorKind::NoCredentials => Class::Denied,
        AwsErrorKind::Skew | AwsErrorKind::Config | AwsErrorKind::Other => Class::Permanent,
    }
}

/// True for the error that `Code`, or `Code: words`, stands for.
pub(super) fn means(known: &str, code: &str, message: &str) -> bool {
    match known.split_once(": ") {
        Some((known, words)) => {
            known == code && message.to_lowercase().contains(&words.to_lowercase())
        }
        None => known == code,
    }
}

/// The object that an error names besides the one that it is about.
pub fn blocker(table: &Table, about: &Key, message: &str, place: &Place) -> Option<Key> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_/:.@+=".contains(c);
    let words = message
        .split(|c| !is_part(c))
        .map(|word| word.trim_end_matches(['.', ':']));
    let known = words.filter_map(|word| {
        if word.starts_with("arn:") {
            table.key(word)
        } else {
            let one = table.of_id(word)?;
            let digits = word.rsplit('-').next()?;
            let is_id = digits.len() >= 8 && digits.chars().all(|c| c.is_ascii_hexdigit());
            is_id.then(|| table.other(&one.row.kind, word, place))?
        }
    });
    let mut known = known;
    known.find(|key| key != about)
}

/// A call as a permission names it, such as `ec2:DescribeVpcs`.
pub fn permission(named: Option<&str>, call: &ApiCall) -> String {
    let service = named.unwrap_or_else(|| signing_name(&call.service));
    match (service, call.operation.as_str()) {
        ("tagging", operation) => format!("tag:{operation}"),
        ("s3", "ListBuckets") => "s3:ListAllMyBuckets".into(),
        ("s3", "ListObjectVersions") => "s3:ListBucketVersions".into(),
        ("s3", "DeleteObjects") => "s3:DeleteObjectVersion".into(),
        ("apigateway", _) => format!("apigateway:{}", call.method),
        ("kafka", "DescribeClusterV2") => "kafka:DescribeClusterV2".into(),
        (service, operation) => format!("{service}:{operation}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(kind: &str, code: &str, message: &str, status: u16) -> Class {
        let one = Table::embedded().kind(kind).expect("a kind");
        let known = crate::aws::error::classify(code, message, status);
        let error = AwsError::new(known, "s", "O", "r")
            .says(message)
            .edit(|facts| facts.code = code.into());
        class_of(one, &error)
    }

    /// Kind, code, message and status of an error, and what it means.
    const MEANINGS: [(&str, &str, &str, u16, Class); 19] = [
        (
            "ec2:vpc",
            "DependencyViolation",
            "has dependencies",
            400,
            Class::Retry,
        ),
        ("ec2:vpc", "InvalidVpcID.NotFound", "", 400, Class::Gone),
        (
            "ec2:instance",
            "OperationNotPermitted",
            "termination",
            400,
            Class::Protected,
        ),
        (
            "ec2:network-interface",
            "OperationNotPermitted",
            "ela-attach",
            400,
            Class::Retry,
        ),
        ("ec2:elastic-ip", "AuthFailure", "", 400, Class::Retry),
        ("ec2:volume", "AuthFailure", "", 400, Class::Denied),
        (
            "ec2:security-group",
            "CannotDelete",
            "",
            400,
            Class::Permanent,
        ),
        (
            "rds:db",
            "InvalidParameterCombination",
            "Cannot delete protected DB Instance",
            400,
            Class::Protected,
        ),
        (
            "rds:cluster",
            "InvalidDBClusterStateFault",
            "still contains DB instances",
            400,
            Class::Retry,
        ),
        (
            "dynamodb:table",
            "ValidationException",
            "Resource cannot be deleted as it is currently protected",
            400,
            Class::Protected,
        ),
        (
            "dynamodb:table",
            "ValidationException",
            "what",
            400,
            Class::Permanent,
        ),
        (
            "dynamodb:table",
            "ResourceInUseException",
            "Table is being deleted",
            400,
            Class::Wait,
        ),
        (
            "eks:cluster",
            "ResourceInUseException",
            "has nodegroups attached",
            409,
            Class::Retry,
        ),
        (
            "cloudformation:stack",
            "ValidationError",
            "Stack x does not exist",
            400,
            Class::Gone,
        ),
        (
            "cloudformation:stack",
            "ValidationError",
            "1 error",
            400,
            Class::Permanent,
        ),
        ("s3:bucket", "BucketNotEmpty", "", 409, Class::Retry),
        ("s3:bucket", "AccessDenied", "no", 403, Class::Denied),
        ("sqs:queue", "RequestThrottled", "", 400, Class::Throttled),
        ("sqs:queue", "InternalFailure", "", 500, Class::Retry),
    ];

    #[test]
    fn errors_mean_what_the_facts_say() {
        for (kind, code, message, status, want) in MEANINGS {
            assert_eq!(
                class(kind, code, message, status),
                want,
                "{kind} {code} {message}"
            );
        }
    }

    #[test]
    fn the_object_in_the_way_is_read_off_the_message() {
        let place = Place {
            region: "eu-west-1".into(),
            account: "1".into(),
        };
        let table = Table::embedded();
        let about = Key::new("eu-west-1", "ec2:volume", "vol-0123456789abcdef0");
        let named = |message| {
            blocker(table, &about, message, &place).map(|key| format!("{} {}", key.kind, key.id))
        };
        assert_eq!(
            named("Volume vol-0123456789abcdef0 is currently attached to i-0aaaaaaaaaaaaaaaa")
                .as_deref(),
            Some("ec2:instance i-0aaaaaaaaaaaaaaaa")
        );
        assert_eq!(
            named("Target group is in use by arn:aws:kms:eu-west-1:1:key/k.").as_deref(),
            Some("kms:key k")
        );
        assert_eq!(
            named("vol-0123456789abcdef0 has dependencies in i-love-it"),
            None
        );
    }

    #[test]
    fn permissions_are_spelt_as_policies_do() {
        let spelt = |service: &str, operation: &str| {
            permission(None, &ApiCall::query(service, "", operation))
        };
        assert_eq!(spelt("tagging", "GetResources"), "tag:GetResources");
        assert_eq!(
            spelt("api.ecr", "DescribeRepositories"),
            "ecr:DescribeRepositories"
        );
        assert_eq!(spelt("s3", "ListBuckets"), "s3:ListAllMyBuckets");
        let named = permission(
            Some("cloudwatch"),
            &ApiCall::query("monitoring", "", "DescribeAlarms"),
        );
        assert_eq!(named, "cloudwatch:DescribeAlarms");
    }
}
