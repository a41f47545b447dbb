//! Host, cloud and controller: what goes together.

use serde_json::Value;

use crate::config::check::{Check, dotted};
use crate::config::raw::Session;
use crate::config::resolved::{CloudName, HostMode};
use crate::diagnostic::Code;
use crate::identity::{Arn, Principal};

pub(super) fn check(check: &mut Check<'_>, session: &Session) {
    let mode: HostMode = session
        .host
        .as_ref()
        .map(|host| host.mode)
        .unwrap_or_default()
        .into();
    let cloud: CloudName = session
        .target
        .as_ref()
        .map(|target| target.cloud)
        .unwrap_or_default()
        .into();
    if check.sound("/target/cloud") {
        self::cloud(check, session, cloud);
    }
    if check.sound("/host/mode") {
        host(check, mode);
    }
    if check.sound("/host/mode")
        && check.sound("/target/cloud")
        && mode == HostMode::RemoteEc2K3d
        && cloud != CloudName::Aws
    {
        let found = check.value(
            Code::COMBINATION,
            "/host/mode",
            "an EC2 host needs the cloud `aws`",
        );
        check.add(
            found.help("set `target.cloud: aws` with its `region`, or use another `host.mode`"),
        );
    }
    accounts(check);
    role(check);
}

/// The role is named by its ARN.
fn role(check: &mut Check<'_>) {
    const ROLE: &str = "/target/aws/iam/role_arn";
    let role = check.json.pointer(ROLE).and_then(Value::as_str);
    if let Some(text) = role {
        let is_role = |arn: &Arn| matches!(arn.principal(), Principal::Role(_));
        if !text.parse::<Arn>().is_ok_and(|arn| is_role(&arn)) {
            let found = check.value(Code::VALUE, ROLE, format!("`{text}` is no ARN of a role"));
            check.add(found.help("write it as `arn:aws:iam::ACCOUNT:role/NAME`"));
        }
    }
}

fn cloud(check: &mut Check<'_>, session: &Session, cloud: CloudName) {
    let target = session.target.as_ref();
    let region = target.and_then(|target| target.region.as_ref());
    match (cloud, region) {
        (CloudName::Local, Some(_)) => {
            needless(
                check,
                "/target/region",
                "the cloud `local` has no regions",
                "remove it, or name another cloud",
            );
        }
        (CloudName::Local, None) | (_, Some(_)) => {}
        _ if !check.sound("/target/region") => {}
        (_, None) => {
            let found = check.key(
                Code::MISSING_KEY,
                "/target",
                format!(
                    "`region` is missing, which the cloud `{}` needs",
                    word(cloud)
                ),
            );
            check.add(found.help("add `region:`, such as `us-west-2`"));
        }
    }
    if cloud != CloudName::Aws && target.is_some_and(|target| target.aws.is_some()) {
        let why = format!("the cloud is `{}`", word(cloud));
        needless(
            check,
            "/target/aws",
            &why,
            "remove the block, or set `target.cloud: aws`",
        );
    }
    if cloud == CloudName::Local && session.terraform.is_some() {
        needless(
            check,
            "/terraform",
            "the cloud `local` has no substrate",
            "remove the block, or name another cloud",
        );
    }
}

fn host(check: &mut Check<'_>, mode: HostMode) {
    let cluster = mode == HostMode::ExistingCluster;
    for key in ["/host/kubeconfig", "/host/context"] {
        let given = check
            .json
            .pointer(key)
            .is_some_and(|value| !value.is_null());
        if cluster && !given && check.sound(key) {
            let message = format!(
                "`{}` is missing, which `host.mode: existing-cluster` needs",
                dotted(key)
            );
            let found = check.key(Code::MISSING_KEY, "/host", message);
            check.add(found.help("name the cluster in full; cp9 never takes the current context"));
        }
        if !cluster && given {
            needless(
                check,
                key,
                "only `host.mode: existing-cluster` reads it",
                "remove it, or change `host.mode`",
            );
        }
    }
    let k3d = check
        .json
        .pointer("/host/k3d")
        .is_some_and(|value| !value.is_null());
    if k3d && !matches!(mode, HostMode::LocalK3d | HostMode::RemoteEc2K3d) {
        needless(
            check,
            "/host/k3d",
            "there is no k3d cluster on this host",
            "remove it, or change `host.mode`",
        );
    }
}

fn needless(check: &mut Check<'_>, pointer: &str, why: &str, help: &str) {
    let found = check.key(
        Code::COMBINATION,
        pointer,
        format!("`{}` has no effect: {why}", dotted(pointer)),
    );
    check.add(found.help(help));
}

const ACCOUNTS: [&str; 4] = [
    "/target/aws/account_allowlist/*",
    "/target/aws/account_blocklist/*",
    "/clouds/aws/account_allowlist/*",
    "/clouds/aws/account_blocklist/*",
];

fn accounts(check: &mut Check<'_>) {
    for pattern in ACCOUNTS {
        for pointer in crate::config::paths::matching(check.json, pattern) {
            let Some(account) = check.json.pointer(&pointer).and_then(Value::as_str) else {
                continue;
            };
            if account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            let found = check.value(
                Code::VALUE,
                &pointer,
                format!("`{account}` is no AWS account"),
            );
            check.add(found.help("write its twelve digits in quotes"));
        }
    }
    let blocked = blocked_and_allowed(check.json);
    for pointer in blocked {
        let found = check.value(
            Code::COMBINATION,
            &pointer,
            "the account is on `account_allowlist` too",
        );
        check.add(found.help("take it off one of the two lists"));
    }
}

fn blocked_and_allowed(json: &Value) -> Vec<String> {
    let allowed = json
        .pointer("/target/aws/account_allowlist")
        .and_then(Value::as_array);
    let blocked = json
        .pointer("/target/aws/account_blocklist")
        .and_then(Value::as_array);
    let (Some(allowed), Some(blocked)) = (allowed, blocked) else {
        return Vec::new();
    };
    let both = blocked
        .iter()
        .enumerate()
        .filter(|(_, account)| allowed.contains(account));
    both.map(|(at, _)| format!("/target/aws/account_blocklist/{at}"))
        .collect()
}

fn word(cloud: CloudName) -> String {
    serde_json::to_value(cloud)
        .ok()
        .and_then(|word| word.as_str().map(str::to_owned))
        .unwrap_or_default()
}
