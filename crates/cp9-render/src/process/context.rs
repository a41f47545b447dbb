//! One service under translation: what is known about it, and what was noted on the way.

use std::collections::{BTreeMap, BTreeSet};

use cp9_model::Diagnostic;
use cp9_model::config::resolved::Run;
use cp9_model::diagnostic::Code;
use cp9_model::graph::{ServiceKind, ServiceNode};

use super::Session;
use super::environment::Variable;
use super::objects::Objects;
use super::report::Rewrite;
use super::rewrite::{Rewriter, Rewritten, Rule};
use super::workload::{ContainerPort, Workload};
use crate::argo::ServiceInput;
use crate::problem;

/// What is known about a service before its texts are read.
pub(crate) struct Context<'a> {
    /// The session.
    pub session: &'a Session<'a>,
    /// The service in the graph.
    pub node: &'a ServiceNode,
    /// Its manifests.
    pub input: &'a ServiceInput,
    /// Its `run` block.
    pub run: &'a Run,
    /// Its workload and container.
    pub workload: Workload<'a>,
    /// Its ports.
    pub ports: Vec<ContainerPort>,
    /// The objects it can refer to.
    pub objects: Objects<'a>,
}

impl Context<'_> {
    /// The service's name.
    pub(crate) fn name(&self) -> &str {
        self.node.name.as_str()
    }

    /// A problem at a pointer of the workload.
    pub(crate) fn problem(
        &self,
        code: Code,
        pointer: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        self.workload.manifest.problem(code, pointer, message, help)
    }

    /// A problem in the service's part of the session file; `rest` begins with a slash.
    pub(crate) fn session_problem(
        &self,
        code: Code,
        rest: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let kind = if self.node.kind == ServiceKind::Source {
            "source"
        } else {
            "live"
        };
        problem::session(
            self.session.config,
            code,
            format!("/services/{kind}/{}{rest}", self.name()),
            message,
            help,
        )
    }

    /// The loopback ports by container port.
    pub(crate) fn allocated(&self) -> BTreeMap<u16, u16> {
        self.ports
            .iter()
            .filter_map(|port| {
                Some((
                    port.number,
                    self.session.host.port(self.name(), port.number)?,
                ))
            })
            .collect()
    }

    /// Where mounts lie, as the dev plan spells it.
    pub(crate) fn plan_root(&self) -> String {
        format!("${{session}}/run/{}/root", self.name())
    }

    /// Where mounts lie, as files and secrets must spell it.
    pub(crate) fn real_root(&self) -> String {
        format!("{}/run/{}/root", self.session.folder, self.name())
    }
}

/// What is noted while the texts of a service are read.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// What is wrong.
    pub problems: Vec<Diagnostic>,
    /// What was replaced.
    pub rewrites: Vec<Rewrite>,
    /// Mentions of services that were left alone.
    pub left: Vec<Rewrite>,
    /// Own ports that were told to the process.
    pub ports: BTreeSet<u16>,
    /// Mounts that a text names.
    pub mounts: BTreeSet<String>,
    /// Anything else worth reading.
    pub remarks: Vec<String>,
}

impl Notes {
    /// Takes the text of a pass and notes what it did at a place.
    pub(crate) fn take(
        &mut self,
        place: &str,
        rewritten: Rewritten,
        root: &str,
        shown_root: &str,
    ) -> String {
        for hit in rewritten.hits {
            match &hit.rule {
                Rule::Port(port) => drop(self.ports.insert(*port)),
                Rule::Path(mount) => drop(self.mounts.insert(mount.clone())),
                Rule::Name => {}
            }
            let to = hit.to.replacen(root, shown_root, 1);
            self.rewrites.push(Rewrite {
                place: place.to_owned(),
                rule: hit.rule.word().to_owned(),
                from: hit.from,
                to,
            });
        }
        for from in rewritten.left {
            let to = String::new();
            self.left.push(Rewrite {
                place: place.to_owned(),
                rule: "name".to_owned(),
                from,
                to,
            });
        }
        rewritten.text
    }

    /// Rewrites the value of a variable.
    pub(crate) fn variable(
        &mut self,
        context: &Context<'_>,
        rewriter: &Rewriter<'_>,
        name: &str,
        variable: &Variable,
    ) -> String {
        let (plan, real) = (context.plan_root(), context.real_root());
        let root = if variable.secret { &real } else { &plan };
        let rewritten = rewriter.value(&variable.value, root);
        self.take(&format!("env/{name}"), rewritten, root, &plan)
    }
}
