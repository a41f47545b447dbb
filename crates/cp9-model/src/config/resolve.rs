//! From the file as written to the resolved session: defaults applied, paths absolute, names parsed.

mod services;

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Serialize;
use serde_json::{Map, Value};

use super::load::Loaded;
use super::raw::{self, Session};
use super::resolved::{
    AppDelivery, AwsTarget, Ci, CloudName, ControllerKind, Host, HostMode, K3d, ResolvedConfig,
    Retry, SecretInputs, Target, Terraform, Tilt, TiltMode, Trace,
};
use super::{paths, rules};
use crate::diagnostic::{Code, Diagnostic, Finding};
use crate::name::{NameError, ServiceName};

/// Resolves a session that every check has passed.
pub(super) fn resolve(
    file: &Utf8Path,
    session: &Session,
    json: &Value,
    warnings: Vec<Diagnostic>,
) -> Result<Loaded, Box<Finding>> {
    let mut json = json.clone();
    paths::resolve(
        &mut json,
        file.parent().unwrap_or(Utf8Path::new("/")),
        &session.name,
    );
    let unread = |why: String| Box::new(Finding::error(Code::SCHEMA, 0..0, why));
    let session: Session =
        serde_json::from_value(json).map_err(|error| unread(error.to_string()))?;
    let resolved = config(file, &session).map_err(|error| unread(error.to_string()))?;
    let secret_values = secret_values(&session).map_err(|error| unread(error.to_string()))?;
    Ok(Loaded {
        resolved,
        secret_values,
        warnings,
    })
}

/// The content of `cp9.resolved.yaml`, the same bytes for the same session.
pub fn resolved_yaml(config: &ResolvedConfig) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let mut text = String::new();
    match serde_saphyr::to_fmt_writer_with_options(&mut text, config, options) {
        Ok(()) => text,
        // JSON is YAML too; plain data never gets here.
        Err(_) => serde_json::to_string_pretty(config).unwrap_or_default(),
    }
}

fn config(file: &Utf8Path, session: &Session) -> Result<ResolvedConfig, NameError> {
    let services = services::resolve(session)?;
    let source_build_services = match &session.source_build_services {
        Some(names) => names
            .iter()
            .map(|name| name.parse())
            .collect::<Result<_, _>>()?,
        None => services.source.keys().cloned().collect(),
    };
    let mode = session
        .host
        .as_ref()
        .map(|host| host.mode)
        .unwrap_or_default()
        .into();
    Ok(ResolvedConfig {
        api_version: "cp9.tidbcloud.com/v1alpha2".into(),
        kind: "Session".into(),
        name: session.name.parse()?,
        file: file.to_string(),
        controller: controller(session.controller, mode),
        host: host(session.host.as_ref(), mode),
        target: target(session),
        terraform: session.terraform.as_ref().map(terraform),
        app_delivery: session.app_delivery.as_ref().map(app_delivery),
        tilt: tilt(session.tilt.clone().unwrap_or_default()),
        services,
        source_build_services,
        secrets: secrets(session)?,
        retry: retry(session.retry.as_ref()),
        trace: trace(session.trace.clone().unwrap_or_default()),
        ci: ci(session.ci.as_ref()),
        extra: extra(session),
    })
}

fn controller(controller: raw::Controller, mode: HostMode) -> ControllerKind {
    match controller {
        raw::Controller::Embedded => ControllerKind::Embedded,
        raw::Controller::Auto if mode == HostMode::Process => ControllerKind::Embedded,
        raw::Controller::Tilt | raw::Controller::Auto => ControllerKind::Tilt,
    }
}

fn host(host: Option<&raw::Host>, mode: HostMode) -> Host {
    let host = host.cloned().unwrap_or_default();
    let k3d = host.k3d.map(|k3d| K3d {
        agents: k3d.agents,
        memory: k3d.memory,
        registry: k3d.registry,
    });
    Host {
        mode,
        ttl_seconds: host.ttl.as_deref().and_then(rules::seconds),
        ttl: host.ttl,
        kubeconfig: host.kubeconfig,
        context: host.context,
        k3d,
    }
}

fn target(session: &Session) -> Target {
    let target = session.target.clone().unwrap_or_default();
    let cloud = target.cloud.into();
    Target {
        cloud,
        region: target.region,
        aws: (cloud == CloudName::Aws).then(|| aws(target.aws, session.clouds.as_ref())),
    }
}

fn aws(target: Option<raw::Aws>, clouds: Option<&raw::Clouds>) -> AwsTarget {
    let wide = clouds.and_then(|clouds| clouds.aws.clone());
    let (wide_profile, wide_allowed, wide_blocked) = wide
        .map(|wide| (wide.profile, wide.account_allowlist, wide.account_blocklist))
        .unwrap_or_default();
    let (allowed, blocked, iam) = target
        .map(|aws| (aws.account_allowlist, aws.account_blocklist, aws.iam))
        .unwrap_or_default();
    let (profile, role, tags) = iam
        .map(|iam| (iam.profile, iam.role_arn, iam.session_tags))
        .unwrap_or_default();
    let mut account_blocklist = blocked.unwrap_or_default();
    account_blocklist.extend(wide_blocked.unwrap_or_default());
    account_blocklist.sort();
    account_blocklist.dedup();
    AwsTarget {
        account_allowlist: allowed.or(wide_allowed).unwrap_or_default(),
        account_blocklist,
        profile: profile.or(wide_profile),
        // The check has refused what is no ARN.
        role_arn: role.and_then(|role| role.parse().ok()),
        session_tags: tags.unwrap_or_default().into_keys().collect(),
    }
}

fn ci(ci: Option<&raw::Ci>) -> Ci {
    let list = ci.and_then(|ci| ci.owner_allowlist.clone());
    Ci {
        owner_allowlist: list.unwrap_or_default().into_iter().collect(),
    }
}

fn terraform(terraform: &raw::Terraform) -> Terraform {
    Terraform {
        repo: terraform.repo.clone(),
        git_ref: terraform.git_ref.clone(),
        path: terraform.path.clone(),
        var_file: terraform.var_file.clone(),
        state: word(terraform.state),
    }
}

fn app_delivery(delivery: &raw::AppDelivery) -> AppDelivery {
    AppDelivery {
        repo: delivery.repo.clone(),
        git_ref: delivery.git_ref.clone(),
        env: delivery.env.clone(),
    }
}

fn tilt(tilt: raw::Tilt) -> Tilt {
    let mode = match tilt.mode {
        raw::TiltMode::Up => TiltMode::Up,
        raw::TiltMode::Ci => TiltMode::Ci,
        raw::TiltMode::GenerateOnly => TiltMode::GenerateOnly,
    };
    Tilt {
        mode,
        port: tilt.port,
        include: tilt.include,
    }
}

fn secrets(session: &Session) -> Result<BTreeMap<ServiceName, SecretInputs>, NameError> {
    let each = session.secrets.iter().flatten().map(|(service, inputs)| {
        let mut values: Vec<_> = inputs
            .values
            .iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        values.sort_unstable();
        Ok((
            service.parse()?,
            SecretInputs {
                env_file: inputs.env_file.clone(),
                values,
            },
        ))
    });
    each.collect()
}

fn secret_values(
    session: &Session,
) -> Result<BTreeMap<ServiceName, BTreeMap<String, String>>, NameError> {
    let all = session.secrets.iter().flatten();
    let given = all.filter_map(|(service, inputs)| Some((service, inputs.values.as_ref()?)));
    let each = given.map(|(service, values)| {
        let values = values
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()));
        Ok((service.parse()?, values.collect()))
    });
    each.collect()
}

fn retry(retry: Option<&raw::Retry>) -> Retry {
    let retry = retry.cloned().unwrap_or_default();
    Retry {
        states: retry
            .states()
            .map(|(state, attempts)| (state.to_owned(), attempts))
            .collect(),
        total: retry.total.unwrap_or(5),
        on_budget_exceeded: word(retry.on_budget_exceeded),
    }
}

fn trace(trace: raw::Trace) -> Trace {
    Trace::new(trace.header, trace.keys)
}

/// The blocks that only later states read, sorted by key, without what is left out.
fn extra(session: &Session) -> Map<String, Value> {
    let blocks = [
        ("clouds", session.clouds.as_ref().map(plain)),
        ("contracts", session.contracts.as_ref().map(plain)),
        ("credentials", session.credentials.as_ref().map(plain)),
        ("metadb", session.metadb.as_ref().map(plain)),
        ("reaper", session.reaper.as_ref().map(plain)),
        ("registries", session.registries.as_ref().map(plain)),
        ("tunnel", session.tunnel.as_ref().map(plain)),
    ];
    blocks
        .into_iter()
        .filter_map(|(key, block)| Some((key.to_owned(), block?)))
        .collect()
}

/// A block as JSON: keys sorted, nulls left out.
fn plain(block: &impl Serialize) -> Value {
    fn tidy(value: Value) -> Value {
        match value {
            Value::Object(keys) => {
                let keys: BTreeMap<_, _> = keys
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .collect();
                Value::Object(
                    keys.into_iter()
                        .map(|(key, value)| (key, tidy(value)))
                        .collect(),
                )
            }
            Value::Array(items) => items.into_iter().map(tidy).collect(),
            other => other,
        }
    }
    tidy(serde_json::to_value(block).unwrap_or_default())
}

/// The word of a unit variant.
fn word(variant: impl Serialize) -> String {
    plain(&variant).as_str().unwrap_or_default().to_owned()
}

impl From<raw::HostMode> for HostMode {
    fn from(mode: raw::HostMode) -> Self {
        match mode {
            raw::HostMode::Process => Self::Process,
            raw::HostMode::LocalK3d => Self::LocalK3d,
            raw::HostMode::ExistingCluster => Self::ExistingCluster,
            raw::HostMode::RemoteEc2K3d => Self::RemoteEc2K3d,
        }
    }
}

impl From<raw::Cloud> for CloudName {
    fn from(cloud: raw::Cloud) -> Self {
        match cloud {
            raw::Cloud::Local => Self::Local,
            raw::Cloud::Aws => Self::Aws,
            raw::Cloud::Gcp => Self::Gcp,
            raw::Cloud::Azure => Self::Azure,
            raw::Cloud::Alicloud => Self::Alicloud,
        }
    }
}
