//! Kinds of resources that a substrate never makes, and where the providers of a plan may write.

use super::offence::{Offence, Rule};
use super::plan::{Change, ResourceChange};

/// Beginning of the type, why not, and what to do instead. The first match decides.
const NEVER: &[(&str, &str, &str)] = &[
    (
        "aws_eks_",
        "the substrate never makes EKS clusters, node groups or what belongs to them",
        "remove it; services run on the session's own host",
    ),
    (
        "awscc_eks_",
        "the substrate never makes EKS clusters, node groups or what belongs to them",
        "remove it; services run on the session's own host",
    ),
    (
        "aws_cloudformation_stack",
        "a stack makes resources that the plan does not show",
        "declare the resources themselves",
    ),
    (
        "awscc_cloudformation_stack",
        "a stack makes resources that the plan does not show",
        "declare the resources themselves",
    ),
    (
        "aws_serverlessapplicationrepository_cloudformation_stack",
        "a stack makes resources that the plan does not show",
        "declare the resources themselves",
    ),
    (
        "aws_cloudcontrolapi_resource",
        "it makes a resource of any type, whose tags and name the plan does not show",
        "declare the resource by its own type",
    ),
    (
        "aws_servicecatalog_provisioned_product",
        "a product makes resources that the plan does not show",
        "declare the resources themselves",
    ),
    (
        "aws_organizations_",
        "accounts and organisations outlive every session",
        "remove it; an account is prepared by its owners",
    ),
    (
        "argocd_",
        "a session is never registered in Argo CD",
        "remove it; cp9 renders the applications itself",
    ),
    (
        "github_",
        "the substrate neither dispatches workflows nor opens pull requests",
        "remove it; no repository changes for a session",
    ),
    (
        "gitlab_",
        "the substrate neither dispatches workflows nor opens merge requests",
        "remove it; no repository changes for a session",
    ),
    (
        "k3d_",
        "the local cluster is made by cp9",
        "remove it, and set `host.mode: local-k3d`",
    ),
    (
        "kind_",
        "the substrate makes no cluster",
        "remove it, and choose a `host.mode`",
    ),
    (
        "kubernetes_",
        "what runs on the host is applied by the session's controller",
        "move it to the app-delivery environment",
    ),
    (
        "kubectl_",
        "what runs on the host is applied by the session's controller",
        "move it to the app-delivery environment",
    ),
    (
        "helm_",
        "what runs on the host is applied by the session's controller",
        "move it to the app-delivery environment",
    ),
    (
        "google_container_",
        "the substrate makes no cluster",
        "remove it, and choose a `host.mode`",
    ),
    (
        "azurerm_kubernetes_",
        "the substrate makes no cluster",
        "remove it, and choose a `host.mode`",
    ),
    (
        "alicloud_cs_",
        "the substrate makes no cluster",
        "remove it, and choose a `host.mode`",
    ),
];

/// Words in a name or type that mark the registration of a region for everybody.
const REGISTRATION: &[&str] = &["global_registration", "region_registration"];

/// Providers that reach nothing outside the working copy.
const INNER: &[&str] = &[
    "archive",
    "cloudinit",
    "local",
    "null",
    "random",
    "terraform",
    "time",
    "tls",
];
/// Providers that write into the proven account.
const PROVEN: &[&str] = &["aws", "awscc"];

/// Where a provider writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nowhere outside.
    Inner,
    /// Into the account of the session's credentials.
    Proven,
    /// Elsewhere.
    Elsewhere,
}

/// Where the provider of an address such as `registry.terraform.io/hashicorp/aws` writes.
pub(super) fn reach(provider: &str) -> Reach {
    let name = provider.rsplit('/').next().unwrap_or(provider);
    if INNER.contains(&name) {
        Reach::Inner
    } else if PROVEN.contains(&name) {
        Reach::Proven
    } else {
        Reach::Elsewhere
    }
}

/// Why a substrate never makes a kind of resource, if it does not.
pub fn never(kind: &str) -> Option<&'static str> {
    let found = NEVER.iter().find(|(begin, ..)| kind.starts_with(begin));
    found.map(|(_, why, _)| *why)
}

/// What a change may not make, by its kind.
pub(super) fn judge(change: &ResourceChange) -> Option<Offence> {
    if !change.change.makes() && !change.change.changes() {
        return None;
    }
    let kind = change.kind.as_str();
    if let Some((_, why, remedy)) = NEVER.iter().find(|(begin, ..)| kind.starts_with(begin)) {
        return Some(Offence::new(&change.address, Rule::Kind, *why, *remedy));
    }
    let registers = |text: &str| REGISTRATION.iter().any(|word| text.contains(word));
    if registers(&change.address) {
        return Some(Offence::new(
            &change.address,
            Rule::Kind,
            "regions are registered for everybody, not for a session",
            "remove it",
        ));
    }
    (reach(&change.provider_name) == Reach::Elsewhere).then(|| elsewhere(change))
}

fn elsewhere(change: &ResourceChange) -> Offence {
    Offence::new(
        &change.address,
        Rule::Provider,
        format!(
            "provider `{}` writes to a place that was not proven",
            change.provider_name
        ),
        "declare resources of the proven AWS account only",
    )
}

impl Change {
    /// True if something new comes of it.
    pub(super) fn makes(&self) -> bool {
        self.actions.iter().any(|action| action == "create")
    }

    /// True if something that is there changes.
    pub(super) fn changes(&self) -> bool {
        self.actions.iter().any(|action| action == "update")
    }

    /// True if something goes.
    pub(super) fn ends(&self) -> bool {
        let ending = |action: &String| action == "delete" || action == "forget";
        self.actions.iter().any(ending)
    }
}
