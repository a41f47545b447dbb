//! What an error code means. The spellings differ from service to service.

use super::AwsErrorKind;

const THROTTLED: [&str; 13] = [
    "BandwidthLimitExceeded",
    "EC2ThrottledException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "Throttled",
    "ThrottledException",
    "Throttling",
    "TooManyRequestsException",
    "TransactionInProgressException",
];
const EXPIRED: [&str; 4] = [
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpiredToken",
    "TokenRefreshRequired",
];
const SKEW: [&str; 3] = [
    "RequestExpired",
    "RequestInTheFuture",
    "RequestTimeTooSkewed",
];
const DENIED: [&str; 10] = [
    "AccessDenied",
    "AccessDeniedException",
    "AuthorizationError",
    "AuthorizationErrorException",
    "Forbidden",
    "ForbiddenException",
    "NotAuthorized",
    "OptInRequired",
    "UnauthorizedAccess",
    "UnauthorizedOperation",
];
const INVALID: [&str; 11] = [
    "IncompleteSignature",
    "IncompleteSignatureException",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "InvalidToken",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "UnrecognizedClient",
    "UnrecognizedClientException",
];
const NETWORK_SIDE: [&str; 4] = [
    "InternalFailure",
    "InternalServerError",
    "ServiceUnavailable",
    "Unavailable",
];

/// The kind of a failure from code, message and status of the answer.
pub(crate) fn classify(code: &str, message: &str, status: u16) -> AwsErrorKind {
    let bare = code.strip_prefix("Client.").unwrap_or(code);
    let is = |list: &[&str]| list.contains(&bare);
    if is(&THROTTLED) || bare.starts_with("Throttl") || status == 429 || is_rate(bare, message) {
        AwsErrorKind::Throttled
    } else if is_skew(bare, message) {
        AwsErrorKind::Skew
    } else if is(&EXPIRED)
        || (is(&INVALID) && message.contains("token") && message.contains("expired"))
    {
        AwsErrorKind::Expired
    } else if is(&INVALID) || (bare == "AuthFailure" && status == 401) {
        AwsErrorKind::InvalidCredentials
    } else if is(&DENIED) || bare == "AuthFailure" {
        AwsErrorKind::Denied
    } else if is_absence(bare, status) {
        AwsErrorKind::NotFound
    } else if status >= 500 || is(&NETWORK_SIDE) {
        AwsErrorKind::Server
    } else if status == 401 || status == 403 {
        AwsErrorKind::Denied
    } else {
        AwsErrorKind::Other
    }
}

/// True when the time of the request is what is wrong with it.
fn is_skew(code: &str, message: &str) -> bool {
    let signature = matches!(code, "SignatureDoesNotMatch" | "InvalidSignatureException");
    let about_time = ["Signature expired", "Signature not yet current"];
    SKEW.contains(&code) || (signature && about_time.iter().any(|words| message.contains(words)))
}

fn is_rate(code: &str, message: &str) -> bool {
    let vague = matches!(
        code,
        "LimitExceededException" | "ServiceUnavailable" | "503"
    );
    vague && (message.contains("Rate exceeded") || message.contains("reduce your request rate"))
}

fn is_absence(code: &str, status: u16) -> bool {
    let word = code.rsplit(['.', ':']).next().unwrap_or(code);
    let ends = [
        "NotFound",
        "NotFoundException",
        "NotFoundFault",
        "NonExistentQueue",
        "DoesNotExist",
    ];
    let said = word.starts_with("NoSuch")
        || ends.iter().any(|end| word.ends_with(end))
        || word.contains("DoesNotExist");
    // An unknown operation answers with 404 as well, and says nothing about things.
    said || (status == 404 && !code.starts_with("UnknownOperation"))
}

#[cfg(test)]
mod tests {
    use AwsErrorKind::{
        Denied, Expired, InvalidCredentials, NotFound, Other, Server, Skew, Throttled,
    };

    use super::*;

    #[test]
    fn codes_of_all_services_fall_into_kinds() {
        for (code, status, kind) in [
            ("Throttling", 400, Throttled),
            ("ThrottlingException", 400, Throttled),
            ("Throttling.User", 400, Throttled),
            ("RequestLimitExceeded", 503, Throttled),
            ("Client.RequestLimitExceeded", 503, Throttled),
            ("TooManyRequestsException", 429, Throttled),
            ("SlowDown", 503, Throttled),
            ("PriorRequestNotComplete", 400, Throttled),
            ("", 429, Throttled),
            ("ExpiredToken", 403, Expired),
            ("ExpiredTokenException", 400, Expired),
            ("RequestExpired", 400, Skew),
            ("RequestTimeTooSkewed", 403, Skew),
            ("InvalidClientTokenId", 403, InvalidCredentials),
            ("AuthFailure", 401, InvalidCredentials),
            ("AuthFailure", 400, Denied),
            ("UnauthorizedOperation", 403, Denied),
            ("AccessDeniedException", 400, Denied),
            ("", 403, Denied),
            ("InvalidGroup.NotFound", 400, NotFound),
            ("InvalidVpcID.NotFound", 400, NotFound),
            ("NatGatewayNotFound", 400, NotFound),
            ("DBInstanceNotFoundFault", 404, NotFound),
            ("ResourceNotFoundException", 400, NotFound),
            ("AWS.SimpleQueueService.NonExistentQueue", 400, NotFound),
            ("QueueDoesNotExist", 400, NotFound),
            ("NoSuchEntity", 404, NotFound),
            ("NoSuchBucket", 404, NotFound),
            ("", 404, NotFound),
            ("UnknownOperationException", 404, Other),
            ("InternalFailure", 500, Server),
            ("", 502, Server),
            ("DependencyViolation", 400, Other),
            ("DeleteConflict", 409, Other),
            ("LimitExceeded", 409, Other),
        ] {
            assert_eq!(classify(code, "", status), kind, "{code} {status}");
        }
    }

    #[test]
    fn messages_decide_where_codes_are_vague() {
        let invalid = |message| classify("InvalidSignatureException", message, 400);
        assert_eq!(
            invalid("Signature expired: 20261201T000000Z is now earlier than"),
            Skew
        );
        assert_eq!(invalid("Signature not yet current: 2026"), Skew);
        assert_eq!(
            invalid("The request signature we calculated"),
            InvalidCredentials
        );
        let limit = |message| classify("LimitExceededException", message, 400);
        assert_eq!(limit("Rate exceeded"), Throttled);
        assert_eq!(limit("You have 20 of 20 tables"), Other);
        let token = classify(
            "UnrecognizedClientException",
            "The security token is expired",
            400,
        );
        assert_eq!(token, Expired);
    }
}
