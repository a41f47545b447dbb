//! Where the Kubernetes API merges lists instead of replacing them: the `patchStrategy` and
//! `patchMergeKey` tags of its types, as kubectl reads them.

/// How a field takes a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// A mapping is merged, a list is replaced.
    Plain,
    /// A mapping, too, is replaced.
    Replace,
    /// Elements of the list are matched by this key.
    Keyed(&'static str),
    /// The list is a set of plain values.
    Set,
}

/// A field of a type: what it holds and how it takes a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    /// The type inside; empty if nothing in it is special.
    pub of: &'static str,
    /// How it takes a patch.
    pub strategy: Strategy,
}

const PLAIN: Field = Field {
    of: "",
    strategy: Strategy::Plain,
};

/// The API groups that are part of Kubernetes itself.
const GROUPS: [&str; 19] = [
    "",
    "admissionregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// True for kinds that take a strategic merge patch.
pub(super) fn is_built_in(group: &str) -> bool {
    GROUPS.contains(&group)
}

/// Type, field, type inside, merge key. The key is empty for a set, `-` for no list, `=` for a
/// mapping that is replaced.
type Row = (&'static str, &'static str, &'static str, &'static str);

const METADATA: &str = "ObjectMeta";
const TEMPLATE: &str = "PodTemplateSpec";

const ROWS: &[Row] = &[
    (METADATA, "finalizers", "", ""),
    (METADATA, "ownerReferences", "", "uid"),
    // Workloads.
    ("Deployment", "spec", "TemplateHolder", "-"),
    ("StatefulSet", "spec", "TemplateHolder", "-"),
    ("DaemonSet", "spec", "TemplateHolder", "-"),
    ("ReplicaSet", "spec", "TemplateHolder", "-"),
    ("ReplicationController", "spec", "TemplateHolder", "-"),
    ("Job", "spec", "TemplateHolder", "-"),
    ("CronJob", "spec", "CronJobSpec", "-"),
    ("CronJobSpec", "jobTemplate", "Job", "-"),
    ("PodTemplate", "template", TEMPLATE, "-"),
    ("TemplateHolder", "template", TEMPLATE, "-"),
    (TEMPLATE, "spec", "PodSpec", "-"),
    ("Pod", "spec", "PodSpec", "-"),
    ("PodSpec", "containers", "Container", "name"),
    ("PodSpec", "initContainers", "Container", "name"),
    ("PodSpec", "ephemeralContainers", "Container", "name"),
    ("PodSpec", "hostAliases", "", "ip"),
    ("PodSpec", "imagePullSecrets", "", "name"),
    ("PodSpec", "resourceClaims", "", "name"),
    ("PodSpec", "schedulingGates", "", "name"),
    ("PodSpec", "topologySpreadConstraints", "", "topologyKey"),
    ("PodSpec", "volumes", "Volume", "name"),
    ("Container", "env", "", "name"),
    ("Container", "ports", "", "containerPort"),
    ("Container", "volumeDevices", "", "devicePath"),
    ("Container", "volumeMounts", "", "mountPath"),
    ("Volume", "ephemeral", "EphemeralVolume", "-"),
    (
        "EphemeralVolume",
        "volumeClaimTemplate",
        "VolumeClaimTemplate",
        "-",
    ),
    // Everything else.
    ("Service", "spec", "ServiceSpec", "-"),
    ("ServiceSpec", "ports", "", "port"),
    ("ServiceAccount", "secrets", "", "name"),
    ("Node", "spec", "NodeSpec", "-"),
    ("NodeSpec", "podCIDRs", "", ""),
    (
        "PodDisruptionBudget",
        "spec",
        "PodDisruptionBudgetSpec",
        "-",
    ),
    ("PodDisruptionBudgetSpec", "selector", "", "="),
    ("CSINode", "spec", "CSINodeSpec", "-"),
    ("CSINodeSpec", "drivers", "", "name"),
    (
        "MutatingWebhookConfiguration",
        "webhooks",
        "Webhook",
        "name",
    ),
    (
        "ValidatingWebhookConfiguration",
        "webhooks",
        "Webhook",
        "name",
    ),
    ("Webhook", "matchConditions", "", "name"),
    (
        "ValidatingAdmissionPolicy",
        "spec",
        "AdmissionPolicySpec",
        "-",
    ),
    ("AdmissionPolicySpec", "matchConditions", "", "name"),
    ("AdmissionPolicySpec", "variables", "", "name"),
];

/// Types whose `metadata` is none of an object.
const WITHOUT_METADATA: [&str; 4] = ["", "PodSpec", "Container", METADATA];

/// How a field of a type takes a patch.
pub(super) fn field(of: &str, name: &str) -> Field {
    if name == "metadata" && !WITHOUT_METADATA.contains(&of) {
        return Field {
            of: METADATA,
            ..PLAIN
        };
    }
    let row = ROWS
        .iter()
        .find(|(owner, field, ..)| *owner == of && *field == name);
    row.map_or(PLAIN, |(_, _, of, key)| Field {
        of,
        strategy: match *key {
            "-" => Strategy::Plain,
            "=" => Strategy::Replace,
            "" => Strategy::Set,
            key => Strategy::Keyed(key),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_table_is_reached() {
        let kinds = [
            "Deployment",
            "StatefulSet",
            "DaemonSet",
            "ReplicaSet",
            "Job",
            "CronJob",
            "Pod",
        ];
        for (owner, ..) in ROWS {
            let is_kind = kinds.contains(owner) || owner.ends_with("Configuration");
            let reached = ROWS.iter().any(|(_, _, of, _)| of == owner);
            let root = ["Node", "Service", "PodTemplate", "PodDisruptionBudget"].contains(owner)
                || ["ReplicationController", "ServiceAccount", "CSINode"].contains(owner)
                || ["ValidatingAdmissionPolicy", METADATA].contains(owner);
            assert!(is_kind || reached || root, "{owner}");
        }
        assert_eq!(field("Deployment", "metadata").of, METADATA);
        assert_eq!(field("Widget", "spec"), PLAIN);
    }
}
