//! Where credentials come from.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::Explain;
use cp9_tools::Doors;
use jiff::SignedDuration;

use crate::aws::tests::{
    Answer, Asked, KEY, SECRET, Server, doors, identity, in_region, query_error, reply, reply_with,
};
use crate::aws::{
    Aws, AwsError, AwsErrorKind, AwsSettings, CallLimits, RoleRequest, SessionCredentials,
    caller_identity,
};

/// A home folder with AWS files.
struct Home {
    _folder: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Home {
    fn new(config: &str, credentials: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        let home = Self {
            _folder: folder,
            path,
        };
        home.file(".aws/config", config);
        home.file(".aws/credentials", credentials);
        home
    }

    #[expect(clippy::disallowed_methods, reason = "the files of a test's own home")]
    fn file(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.path.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new("/"))).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn program(&self, script: &str) -> Utf8PathBuf {
        let path = self.file("give keys", &format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        path
    }

    fn doors(&self, variables: &[(&str, &str)]) -> Doors {
        let mut all = vec![("HOME", self.path.as_str()), ("PATH", "/usr/bin:/bin")];
        all.extend(variables);
        doors(&all)
    }

    fn client(&self, profile: Option<&str>, variables: &[(&str, &str)]) -> Aws {
        let settings = AwsSettings {
            profile: profile.map(str::to_owned),
            region: "eu-west-1".to_owned(),
        };
        Aws::new(self.doors(variables), settings)
    }

    async fn credentials(
        &self,
        profile: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<SessionCredentials, AwsError> {
        self.client(profile, variables).credentials().await
    }
}

fn keys(credentials: &SessionCredentials) -> (&str, &str, Option<&str>) {
    let token = credentials.session_token.as_ref();
    (
        credentials.access_key.expose(),
        credentials.secret_key.expose(),
        token.map(cp9_tools::Secret::expose),
    )
}

/// The answer to `AssumeRole` and its kin.
fn assumed(operation: &str, number: usize, expires: &str) -> Answer {
    reply(
        200,
        format!(
            "<{operation}Response><{operation}Result><Credentials>\
             <AccessKeyId>ASIAROLE{number:08}</AccessKeyId>\
             <SecretAccessKey>role-secret-{number}</SecretAccessKey>\
             <SessionToken>role-token-{number}</SessionToken>\
             <Expiration>{expires}</Expiration></Credentials><AssumedRoleUser>\
             <Arn>arn:aws:sts::1:assumed-role/dev/ann</Arn><AssumedRoleId>AROA:ann</AssumedRoleId>\
             </AssumedRoleUser></{operation}Result></{operation}Response>"
        ),
    )
}

fn printed(key: &str) -> String {
    format!(
        r#"{{"Version":1,"AccessKeyId":"{key}","SecretAccessKey":"program-secret","SessionToken":"program-token","Expiration":"2026-12-01T11:00:00Z"}}"#
    )
}

#[tokio::test]
async fn the_environment_passed_in_is_the_only_one() {
    let home = Home::new("", "");
    let env = [
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", "env-token"),
    ];
    let credentials = home.credentials(None, &env).await.unwrap();
    assert_eq!(keys(&credentials), (KEY, SECRET, Some("env-token")));
    assert_eq!(
        (credentials.source.as_str(), credentials.expires),
        ("environment", None)
    );
    let client = home.client(None, &env);
    client.credentials().await.unwrap();
    let shown = client
        .doors
        .redactor
        .redact(&format!("{KEY} {SECRET} env-token"));
    assert_eq!(shown, "*** *** ***");
}

#[tokio::test]
async fn without_any_nobody_is_asked() {
    let home = Home::new("", "");
    let error = home.credentials(None, &[]).await.unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::NoCredentials);
    assert!(error.remedy().unwrap().contains("AWS_PROFILE"));
    // The metadata service would have been asked through the recorded door.
    let doors = home.doors(&[]);
    let record = home.path.join("calls.jsonl");
    doors.recorder.to_file(record.clone());
    in_region(doors, "eu-west-1")
        .credentials()
        .await
        .unwrap_err();
    let recorded = std::fs::read_to_string(record).unwrap_or_default();
    assert!(!recorded.contains("http"), "{recorded}");
}

#[tokio::test]
async fn the_metadata_service_is_asked_where_the_environment_says_so() {
    let server = Server::start(|asked, _| match (asked.method.as_str(), asked.path.as_str()) {
        ("PUT", _) => {
            let life = [("x-aws-ec2-metadata-token-ttl-seconds", "21600")];
            reply_with(200, &life, "metadata-token")
        }
        (_, path) if path.ends_with("/dev") => reply(
            200,
            r#"{"Code":"Success","AccessKeyId":"ASIAMACHINE","SecretAccessKey":"machine-secret","Token":"machine-token","Expiration":"2026-12-01T16:00:00Z"}"#,
        ),
        _ => reply(200, "dev"),
    })
    .await;
    let home = Home::new("", "");
    let url = server.url();
    let env = [("AWS_EC2_METADATA_SERVICE_ENDPOINT", url.as_str())];
    let credentials = home.credentials(None, &env).await.unwrap();
    assert_eq!(
        keys(&credentials),
        ("ASIAMACHINE", "machine-secret", Some("machine-token"))
    );
    let off = [env[0], ("AWS_EC2_METADATA_DISABLED", "true")];
    let before = server.asked().len();
    assert!(home.credentials(None, &off).await.is_err());
    assert_eq!(server.asked().len(), before);
}

#[tokio::test]
async fn a_named_profile_wins_over_keys_in_the_environment() {
    let home = Home::new(
        "[profile other]\nregion = us-west-2\n",
        "[default]\naws_access_key_id = DEFAULTKEY\naws_secret_access_key = default-secret\n\
         [other]\naws_access_key_id = OTHERKEY\naws_secret_access_key = other-secret\n",
    );
    let env = [
        ("AWS_ACCESS_KEY_ID", KEY),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
    ];
    let of = async |profile, env: &[(&str, &str)]| {
        let credentials = home.credentials(profile, env).await.unwrap();
        (
            credentials.access_key.expose().to_owned(),
            credentials.source,
        )
    };
    let other = ("OTHERKEY".to_owned(), "profile `other` (keys)".to_owned());
    assert_eq!(of(Some("other"), &env).await, other);
    assert_eq!(of(None, &env).await.0, KEY);
    assert_eq!(of(None, &[]).await.0, "DEFAULTKEY");
    assert_eq!(of(None, &[("AWS_PROFILE", "other")]).await, other);
    assert_eq!(of(None, &[("AWS_PROFILE", "")]).await.0, "DEFAULTKEY");
    assert_eq!(of(None, &[("AWS_DEFAULT_PROFILE", "other")]).await, other);
}

#[tokio::test]
async fn a_profile_brings_region_and_endpoints() {
    let server = Server::start(|_, _| identity()).await;
    let config = format!(
        "[profile lab]\nregion = ap-south-1\naws_access_key_id = LABKEY\n\
         aws_secret_access_key = lab-secret\nservices = here\nendpoint_url = http://127.0.0.1:1\n\
         [services here]\nsts =\n  endpoint_url = {}\n",
        server.url()
    );
    let home = Home::new(&config, "");
    let settings = AwsSettings {
        profile: Some("lab".to_owned()),
        region: String::new(),
    };
    let aws = Aws::new(home.doors(&[]), settings);
    caller_identity(&aws).await.unwrap();
    let asked = server.asked();
    assert!(
        asked[0]
            .header("authorization")
            .contains("/ap-south-1/sts/"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_missing_profile_is_named_with_those_there_are() {
    let home = Home::new(
        "[profile b]\n[profile a]\nrole_arn = r\nsource_profile = gone\n",
        "",
    );
    let error = home.credentials(Some("c"), &[]).await.unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Config);
    assert_eq!(
        error.to_string(),
        "profile `c` is not in the AWS profile files"
    );
    assert!(
        error.remedy().unwrap().ends_with("or name one of `a`, `b`"),
        "{:?}",
        error.remedy()
    );
    let error = home.credentials(Some("a"), &[]).await.unwrap_err();
    assert!(
        error.to_string().contains("`gone`, the source of `a`,"),
        "{error}"
    );
}

#[tokio::test]
async fn chains_that_cannot_end_are_refused() {
    let home = Home::new(
        "[profile a]\nrole_arn = r1\nsource_profile = b\n[profile b]\nrole_arn = r2\nsource_profile = a\n\
         [profile m]\nrole_arn = r\nsource_profile = a\nmfa_serial = arn:aws:iam::1:mfa/ann\n\
         [profile l]\nlogin_session = arn:aws:iam::1:user/ann\n",
        "",
    );
    for (profile, words) in [
        ("a", "its own source"),
        ("m", "a code of a device"),
        ("l", "console"),
    ] {
        let error = home.credentials(Some(profile), &[]).await.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        if profile != "a" {
            let remedy = error.remedy().unwrap();
            assert!(remedy.contains("credential_process"), "{remedy}");
        }
    }
}

#[tokio::test]
async fn a_program_gives_credentials_through_the_door() {
    let home = Home::new("", "");
    let script = format!(
        "test \"$WHO\" = ann && test \"$1\" = 'a b' && echo '{}'",
        printed("PROGRAMKEY")
    );
    let program = home.program(&script);
    home.file(
        ".aws/config",
        &format!("[profile p]\ncredential_process = \"{program}\" 'a b' --password hush-hush\n"),
    );
    let aws = home.client(Some("p"), &[("WHO", "ann")]);
    let record = home.path.join("calls.jsonl");
    aws.doors.recorder.to_file(record.clone());
    let credentials = aws.credentials().await.unwrap();
    assert_eq!(
        keys(&credentials),
        ("PROGRAMKEY", "program-secret", Some("program-token"))
    );
    assert_eq!(credentials.source, "profile `p` (program)");
    assert_eq!(
        credentials.expires,
        Some("2026-12-01T11:00:00Z".parse().unwrap())
    );
    let recorded = std::fs::read_to_string(record).unwrap();
    assert!(
        recorded.contains("\"sh\"") && !recorded.contains("hush-hush"),
        "{recorded}"
    );
    let redacted = aws
        .doors
        .redactor
        .redact("PROGRAMKEY program-secret program-token");
    assert_eq!(redacted, "*** *** ***");
}

#[tokio::test]
async fn a_program_that_fails_or_babbles_gives_none() {
    for script in [
        "echo no luck >&2; exit 3",
        "echo '{\"Version\":1}'",
        "echo '{\"Version\":2,\"AccessKeyId\":\"a\",\"SecretAccessKey\":\"b\"}'",
        "true",
    ] {
        let home = Home::new("", "");
        let program = home.program(script);
        home.file(
            ".aws/config",
            &format!("[profile p]\ncredential_process = \"{program}\"\n"),
        );
        let error = home.credentials(Some("p"), &[]).await.unwrap_err();
        assert_eq!(error.kind(), AwsErrorKind::NoCredentials, "{script}");
        assert!(
            error
                .to_string()
                .contains("`credential_process` of profile `p`"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn roles_follow_the_program_of_their_source() {
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRole" => assumed("AssumeRole", before, "2026-12-01T11:00:00Z"),
        _ => identity(),
    })
    .await;
    let home = Home::new("", "");
    let program = home.program(&format!("echo '{}'", printed("PROGRAMKEY")));
    home.file(
        ".aws/config",
        &format!(
            "[profile base]\ncredential_process = \"{program}\"\n\
             [profile one]\nrole_arn = arn:aws:iam::1:role/one\nsource_profile = base\n\
             [profile two]\nrole_arn = arn:aws:iam::1:role/two\nsource_profile = one\n\
             external_id = e7\nduration_seconds = 1800\nrole_session_name = ann\n"
        ),
    );
    let url = server.url();
    let aws = home.client(Some("two"), &[("AWS_ENDPOINT_URL", &url)]);
    caller_identity(&aws).await.unwrap();
    let asked = server.asked();
    let signer = |at: usize| {
        asked[at]
            .header("authorization")
            .split(['=', '/'])
            .nth(1)
            .map(str::to_owned)
    };
    assert_eq!(signer(0).as_deref(), Some("PROGRAMKEY"));
    assert!(asked[0].body.contains("role%2Fone"), "{}", asked[0].body);
    assert_eq!(signer(1).as_deref(), Some("ASIAROLE00000000"));
    assert!(asked[1].body.contains("role%2Ftwo") && asked[1].body.contains("ExternalId=e7"));
    assert!(
        asked[1].body.contains("DurationSeconds=1800")
            && asked[1].body.contains("RoleSessionName=ann")
    );
    assert_eq!(signer(2).as_deref(), Some("ASIAROLE00000001"));
    assert_eq!(asked[2].header("x-amz-security-token"), "role-token-1");
}

const SSO: &str = "[profile dev]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = Dev\n\
                   [sso-session corp]\nsso_region = eu-west-1\nsso_start_url = https://corp.example/start\n";

/// The name under which the AWS tools keep the token of session `corp`.
const SSO_CACHE: &str = ".aws/sso/cache/ee0bfd2552fbd840c02cc48b6e823320543c450f.json";

fn sso_home(server: &Server, expires: &str) -> (Home, String) {
    let home = Home::new(SSO, "");
    let token = format!(
        r#"{{"accessToken":"sso-access-token","expiresAt":"{expires}","startUrl":"https://corp.example/start","region":"eu-west-1"}}"#
    );
    home.file(SSO_CACHE, &token);
    (home, server.url())
}

fn portal(asked: &Asked) -> Answer {
    if asked.path.starts_with("/federation/credentials")
        && asked.header("x-amz-sso_bearer_token") == "sso-access-token"
    {
        reply(
            200,
            r#"{"roleCredentials":{"accessKeyId":"ASIASSOROLE","secretAccessKey":"sso-secret","sessionToken":"sso-token","expiration":1796126400000}}"#,
        )
    } else {
        reply(401, r#"{"message":"Session token not found or invalid"}"#)
    }
}

#[tokio::test]
async fn a_log_in_in_the_browser_gives_credentials() {
    let server = Server::start(|asked, _| portal(asked)).await;
    let (home, url) = sso_home(&server, "2026-12-01T18:00:00Z");
    let aws = home.client(Some("dev"), &[("AWS_ENDPOINT_URL", &url)]);
    let credentials = aws.credentials().await.unwrap();
    assert_eq!(
        keys(&credentials),
        ("ASIASSOROLE", "sso-secret", Some("sso-token"))
    );
    assert_eq!(credentials.source, "profile `dev` (SSO)");
    assert_eq!(
        credentials.expires,
        Some("2026-12-01T12:00:00Z".parse().unwrap())
    );
    let redacted = aws.doors.redactor.redact("sso-access-token sso-secret");
    assert_eq!(redacted, "*** ***");
}

#[tokio::test]
async fn a_log_in_that_has_ended_says_how_to_renew_it() {
    let refusing = Server::start(|_, _| reply(401, r#"{"message":"invalid"}"#)).await;
    for expires in ["2026-12-01T18:00:00Z", "2026-11-30T18:00:00Z"] {
        let (home, url) = sso_home(&refusing, expires);
        let error = home
            .credentials(Some("dev"), &[("AWS_ENDPOINT_URL", &url)])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), AwsErrorKind::Expired, "{error}");
        assert_eq!(
            error.to_string(),
            "the log-in of profile `dev` (SSO) has expired or is missing"
        );
        assert_eq!(
            error.remedy().as_deref(),
            Some("aws sso login --profile dev")
        );
    }
    let home = Home::new(SSO, "");
    let error = home.credentials(Some("dev"), &[]).await.unwrap_err();
    assert_eq!(
        error.remedy().as_deref(),
        Some("aws sso login --profile dev")
    );
}

#[tokio::test]
async fn a_portal_that_refuses_or_fails_is_no_ended_log_in() {
    for (status, kind) in [
        (403, AwsErrorKind::Denied),
        (500, AwsErrorKind::Server),
        (429, AwsErrorKind::Throttled),
    ] {
        let server = Server::start(move |_, _| reply(status, r#"{"message":"no"}"#)).await;
        let (home, url) = sso_home(&server, "2026-12-01T18:00:00Z");
        let error = home
            .credentials(Some("dev"), &[("AWS_ENDPOINT_URL", &url)])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    let (home, _) = sso_home(
        &Server::start(|_, _| reply(200, "")).await,
        "2026-12-01T18:00:00Z",
    );
    let nowhere = [("AWS_ENDPOINT_URL", "http://127.0.0.1:1")];
    let error = home.credentials(Some("dev"), &nowhere).await.unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Network, "{error}");
}

#[tokio::test]
async fn an_old_token_is_renewed_without_the_user() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/token" => reply(
            200,
            r#"{"accessToken":"sso-access-token","expiresIn":28800,"refreshToken":"next-refresh-token","tokenType":"Bearer"}"#,
        ),
        _ => portal(asked),
    })
    .await;
    let home = Home::new(SSO, "");
    home.file(
        SSO_CACHE,
        r#"{"accessToken":"old-access-token","expiresAt":"2026-12-01T09:00:00Z","clientId":"client-id",
            "clientSecret":"client-secret-value","refreshToken":"first-refresh-token",
            "registrationExpiresAt":"2027-01-01T00:00:00Z"}"#,
    );
    let url = server.url();
    let aws = home.client(Some("dev"), &[("AWS_ENDPOINT_URL", &url)]);
    assert_eq!(keys(&aws.credentials().await.unwrap()).0, "ASIASSOROLE");
    assert_eq!(server.asked().len(), 2);
    let secrets = "client-secret-value first-refresh-token next-refresh-token sso-access-token";
    assert_eq!(aws.doors.redactor.redact(secrets), "*** *** *** ***");
}

#[tokio::test]
async fn roles_follow_a_log_in_in_the_browser() {
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRole" => assumed("AssumeRole", before, "2026-12-01T11:00:00Z"),
        _ => portal(asked),
    })
    .await;
    let (home, url) = sso_home(&server, "2026-12-01T18:00:00Z");
    let role = "[profile ops]\nrole_arn = arn:aws:iam::1:role/ops\nsource_profile = dev\n";
    home.file(".aws/config", &format!("{SSO}{role}"));
    let env = [("AWS_ENDPOINT_URL", url.as_str())];
    let credentials = home.credentials(Some("ops"), &env).await.unwrap();
    assert_eq!(keys(&credentials).0, "ASIAROLE00000001");
    assert_eq!(credentials.source, "profile `ops` (SSO)");
    let asked = server.asked();
    assert!(
        asked[1].header("authorization").contains("ASIASSOROLE/"),
        "{asked:?}"
    );
    let refusing = Server::start(|asked, _| match asked.action() {
        "AssumeRole" => query_error(
            403,
            "AccessDenied",
            "no sts:AssumeRole on arn:aws:iam::1:role/ops",
        ),
        _ => portal(asked),
    })
    .await;
    let url = refusing.url();
    let error = home
        .credentials(Some("ops"), &[("AWS_ENDPOINT_URL", &url)])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Denied);
    assert!(
        error.to_string().contains("arn:aws:iam::1:role/ops"),
        "{error}"
    );
}

#[tokio::test]
async fn keys_in_a_file_may_be_the_source_of_their_own_role() {
    let server =
        Server::start(|_, before| assumed("AssumeRole", before, "2026-12-01T11:00:00Z")).await;
    let keys_of = |extra: &str| {
        format!("aws_access_key_id = FILEKEY\naws_secret_access_key = file-secret\n{extra}")
    };
    let config = format!(
        "[profile own]\nrole_arn = arn:aws:iam::1:role/own\nsource_profile = own\n{}\
         [profile environment]\nrole_arn = arn:aws:iam::1:role/env\ncredential_source = Environment\n\
         [profile half]\naws_access_key_id = FILEKEY\n",
        keys_of("")
    );
    let home = Home::new(&config, "");
    let url = server.url();
    let env = [("AWS_ENDPOINT_URL", url.as_str())];
    home.credentials(Some("own"), &env).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0]
            .header("authorization")
            .contains("Credential=FILEKEY/"),
        "{asked:?}"
    );
    let error = home.credentials(Some("half"), &env).await.unwrap_err();
    assert_eq!(error.to_string(), "profile `half` has only half of a key");
}

#[tokio::test]
async fn a_token_that_ends_in_use_names_the_log_in() {
    let server = Server::start(|asked, _| match asked.method.as_str() {
        "GET" => portal(asked),
        _ => query_error(
            403,
            "ExpiredToken",
            "The security token included in the request is expired",
        ),
    })
    .await;
    let (home, url) = sso_home(&server, "2026-12-01T18:00:00Z");
    let aws = home.client(Some("dev"), &[("AWS_ENDPOINT_URL", &url)]);
    let error = caller_identity(&aws).await.unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Expired);
    assert_eq!(
        error.remedy().as_deref(),
        Some("aws sso login --profile dev")
    );
}

#[tokio::test]
async fn a_token_file_is_changed_for_credentials() {
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRoleWithWebIdentity" => {
            assumed("AssumeRoleWithWebIdentity", before, "2026-12-01T11:00:00Z")
        }
        _ => query_error(400, "InvalidAction", "m"),
    })
    .await;
    let home = Home::new("", "");
    let file = home.file("token", "web-identity-token");
    let url = server.url();
    let env = [
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", file.as_str()),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/ci"),
        ("AWS_ROLE_SESSION_NAME", "ci"),
    ];
    let aws = home.client(None, &env);
    let credentials = aws.credentials().await.unwrap();
    assert_eq!(
        keys(&credentials),
        ("ASIAROLE00000000", "role-secret-0", Some("role-token-0"))
    );
    assert_eq!(credentials.source, "web identity");
    assert_eq!(aws.doors.redactor.redact("web-identity-token"), "***");
    let refusing =
        Server::start(|_, _| query_error(400, "InvalidIdentityToken", "no provider")).await;
    let url = refusing.url();
    let error = home
        .credentials(None, &[("AWS_ENDPOINT_URL", &url), env[1], env[2]])
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::InvalidCredentials, "{error}");
}

#[tokio::test]
async fn a_container_asks_the_address_it_was_given() {
    let server = Server::start(|asked, _| {
        assert_eq!(asked.header("authorization"), "container-token");
        reply(
            200,
            r#"{"AccessKeyId":"ASIACONTAINER","SecretAccessKey":"container-secret","Token":"t-of-container","Expiration":"2026-12-01T16:00:00Z"}"#,
        )
    })
    .await;
    let home = Home::new("", "");
    let url = format!("{}/creds", server.url());
    let env = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token"),
    ];
    let credentials = home.credentials(None, &env).await.unwrap();
    assert_eq!(keys(&credentials).0, "ASIACONTAINER");
}

fn env_keys(server: &Server) -> Aws {
    crate::aws::tests::client(server)
}

#[tokio::test]
async fn a_role_is_assumed_at_once_and_kept() {
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRole" => assumed("AssumeRole", before, "2026-12-01T11:00:00Z"),
        _ => identity(),
    })
    .await;
    let request = RoleRequest {
        transitive_tags: vec!["cp9-owner".to_owned()],
        ..RoleRequest::new("arn:aws:iam::1:role/dev", "ann@example.com").tag("cp9-owner", "ann")
    };
    let aws = env_keys(&server).with_role(&request).await.unwrap();
    assert_eq!(server.asked().len(), 1);
    caller_identity(&aws).await.unwrap();
    caller_identity(&aws.in_region("us-east-1")).await.unwrap();
    let asked = server.asked();
    let actions: Vec<_> = asked.iter().map(Asked::action).collect();
    assert_eq!(
        actions,
        ["AssumeRole", "GetCallerIdentity", "GetCallerIdentity"]
    );
    assert!(
        asked[0].body.contains("RoleSessionName=ann%40example.com"),
        "{}",
        asked[0].body
    );
    assert!(
        asked[1]
            .header("authorization")
            .contains("Credential=ASIAROLE00000000/")
    );
    let redacted = aws.doors.redactor.redact("role-secret-0 role-token-0");
    assert_eq!(redacted, "*** ***");
    assert!(format!("{aws:?}").contains("arn:aws:iam::1:role/dev"));
}

#[tokio::test]
async fn a_role_is_renewed_before_it_expires() {
    // The clock stands at 10:00, so this session has less than the margin left.
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRole" => assumed("AssumeRole", before, "2026-12-01T10:04:00Z"),
        _ => identity(),
    })
    .await;
    let request = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let aws = env_keys(&server).with_role(&request).await.unwrap();
    caller_identity(&aws).await.unwrap();
    assert_eq!(
        server.asked().len(),
        2,
        "no source is asked twice in a moment"
    );
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    caller_identity(&aws).await.unwrap();
    let asked = server.asked();
    let renewals = asked
        .iter()
        .filter(|asked| asked.action() == "AssumeRole")
        .count();
    assert_eq!(renewals, 2);
    let last = asked.last().unwrap();
    assert!(
        !last.header("authorization").contains("ASIAROLE00000000"),
        "{last:?}"
    );
}

#[tokio::test]
async fn credentials_that_still_hold_serve_while_there_are_no_new_ones() {
    let server = Server::start(|asked, before| match (asked.action(), before) {
        ("AssumeRole", 0) => assumed("AssumeRole", 0, "2026-12-01T10:04:00Z"),
        ("AssumeRole", _) => query_error(403, "AccessDenied", "not now"),
        _ => identity(),
    })
    .await;
    let request = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let aws = env_keys(&server).with_role(&request).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    caller_identity(&aws).await.unwrap();
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_role_that_expired_unseen_is_renewed_once() {
    let server = Server::start(|asked, before| match asked.action() {
        "AssumeRole" => assumed("AssumeRole", before, "2026-12-01T11:00:00Z"),
        _ if asked.header("authorization").contains("ASIAROLE00000000") => {
            query_error(403, "ExpiredToken", "m")
        }
        _ => identity(),
    })
    .await;
    let request = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let aws = env_keys(&server).with_role(&request).await.unwrap();
    caller_identity(&aws).await.unwrap();
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn a_role_that_may_not_be_assumed_says_so() {
    let message = "User: arn:aws:iam::1:user/ann is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::1:role/dev";
    let server = Server::start(move |_, _| query_error(403, "AccessDenied", message)).await;
    let request = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let error = env_keys(&server).with_role(&request).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.operation()),
        (AwsErrorKind::Denied, "AssumeRole")
    );
    assert!(
        error.to_string().contains("arn:aws:iam::1:role/dev"),
        "{error}"
    );
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_silent_source_is_a_timeout_with_its_address() {
    let server = Server::start(|_, _| Answer::Silence).await;
    let (home, url) = sso_home(&server, "2026-12-01T18:00:00Z");
    let aws = home.client(Some("dev"), &[("AWS_ENDPOINT_URL", &url)]);
    let limits = CallLimits {
        attempt: Duration::from_millis(150),
        ..CallLimits::default()
    };
    let error = aws.with_limits(limits).credentials().await.unwrap_err();
    assert_eq!(error.kind(), AwsErrorKind::Timeout, "{error}");
    assert!(error.to_string().ends_with("within 150 ms"), "{error}");
    assert_eq!(server.asked().len(), 1);
    assert!(error.to_string().contains(&url), "{error}");
}

#[tokio::test]
async fn who_keeps_credentials_for_long_gets_those_that_last() {
    // Eleven minutes are more than the margin of a call.
    let server = Server::start(|asked, before| match (asked.action(), before) {
        ("AssumeRole", 0) => assumed("AssumeRole", 0, "2026-12-01T10:11:00Z"),
        _ => assumed("AssumeRole", before, "2026-12-01T11:00:00Z"),
    })
    .await;
    let request = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let aws = env_keys(&server).with_role(&request).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    let own = aws.credentials().await.unwrap();
    assert_eq!(own.access_key.expose(), "ASIAROLE00000000");
    let margin = SignedDuration::from_mins(20);
    let lasting = aws.credentials_lasting(margin).await.unwrap();
    assert_eq!(lasting.access_key.expose(), "ASIAROLE00000001");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn keys_that_do_not_end_are_stood_in_for() {
    let server =
        Server::start(|asked, before| assumed(asked.action(), before, "2026-12-01T11:00:00Z"))
            .await;
    let keys = env_keys(&server);
    let passing = keys.passing().await.unwrap();
    let lent = passing.credentials().await.unwrap();
    assert_eq!(self::keys(&lent).2, Some("role-token-0"));
    assert_ne!(lent.access_key.expose(), KEY);
    let asked = server.asked();
    assert_eq!(asked[0].action(), "GetSessionToken");
    assert!(asked[0].body.contains("DurationSeconds=3600"), "{asked:?}");
    let shown = keys.doors.redactor.redact("role-secret-0 role-token-0");
    assert_eq!(shown, "*** ***");

    // What ends by itself is given as it is.
    let role = RoleRequest::new("arn:aws:iam::1:role/dev", "ann");
    let role = keys.with_role(&role).await.unwrap();
    let lent = role.passing().await.unwrap().credentials().await.unwrap();
    assert_eq!(lent, role.credentials().await.unwrap());
}
