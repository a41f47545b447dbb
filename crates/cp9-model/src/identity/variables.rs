//! The variables by which programs find out who they are on AWS.

/// Variables that hold credentials, name where some are, or say as whom to act.
const CREDENTIALS: [&str; 19] = [
    "AWS_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_CONFIG_FILE",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CREDENTIAL_EXPIRATION",
    "AWS_CREDENTIAL_FILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SECRET_KEY",
    "AWS_SECURITY_TOKEN",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
];

/// True for a variable that decides which credentials a program has on AWS.
pub fn leads_to_credentials(name: &str) -> bool {
    CREDENTIALS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_no_credentials() {
        for name in ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SECURITY_TOKEN"] {
            assert!(leads_to_credentials(name), "{name}");
        }
        for name in ["AWS_REGION", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "PROFILE"] {
            assert!(!leads_to_credentials(name), "{name}");
        }
    }
}
