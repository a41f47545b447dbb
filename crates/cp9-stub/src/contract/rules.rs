//! Rules of OpenAPI 3.0 that a document may break without any answer showing it. A contract that
//! breaks one means something else than its author thinks, so it is refused, with every fault.

mod operations;
mod parts;
mod references;
mod security;
mod servers;

use serde_json::{Map, Value};

use super::document::Document;

/// The most faults that are told.
const MOST: usize = 50;

/// Every fault of a document.
pub(crate) fn faults(document: &Document) -> Vec<String> {
    let mut rules = Rules {
        document,
        found: Vec::new(),
    };
    rules.versions();
    rules.references();
    // What a broken reference leads to need not be looked at.
    if rules.found.is_empty() {
        rules.servers();
        rules.components();
        rules.operations();
    }
    rules.found
}

/// The faults so far.
struct Rules<'d> {
    document: &'d Document,
    found: Vec<String>,
}

impl<'d> Rules<'d> {
    fn fault(&mut self, at: &str, what: &str) {
        if self.found.len() < MOST {
            self.found.push(format!("{at}: {what}"));
        }
    }

    /// What a node is after its references, which must be an object. References to other documents
    /// are passed over: they are refused where an answer needs them.
    fn object(&mut self, at: &str, node: &'d Value) -> Option<&'d Map<String, Value>> {
        let node = self.document.follow(node).ok()?;
        if node.as_object().is_none() {
            self.fault(at, "it is no object");
        }
        node.as_object()
    }

    /// The members of an object that may be absent, without extensions.
    fn members(
        &mut self,
        at: &str,
        node: Option<&'d Value>,
    ) -> impl Iterator<Item = (&'d String, &'d Value)> + use<'d> {
        let map = node.and_then(|node| self.object(at, node));
        let members = map.into_iter().flatten();
        members.filter(|(name, _)| !name.starts_with("x-"))
    }

    /// Words of a later version, which say that the document is one.
    fn versions(&mut self) {
        let root = self.document.root();
        for (pointer, word) in [
            ("/webhooks", "webhooks"),
            ("/jsonSchemaDialect", "jsonSchemaDialect"),
            ("/components/pathItems", "components.pathItems"),
        ] {
            if root.pointer(pointer).is_some() {
                self.fault(word, "OpenAPI 3.0 does not know it, 3.1 does");
            }
        }
    }

    fn components(&mut self) {
        let Some(components) = self.document.root().get("components") else {
            return;
        };
        for (kind, list) in self.members("components", Some(components)) {
            let at = format!("components.{kind}");
            for (name, node) in self.members(&at, Some(list)) {
                let at = format!("{at}.{name}");
                let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                if name.is_empty() || !name.chars().all(allowed) {
                    self.fault(
                        &at,
                        "its name may have letters, digits, `.`, `_` and `-` only",
                    );
                }
                self.component(kind, &at, node);
            }
        }
    }

    fn component(&mut self, kind: &str, at: &str, node: &'d Value) {
        match kind {
            "schemas" => self.schema(at, node),
            "parameters" => drop(self.parameter(at, node)),
            "headers" => self.header(at, None, node),
            "responses" => self.response(at, node),
            "requestBodies" => self.request_body(at, node),
            "securitySchemes" => self.security_scheme(at, node),
            _ => drop(self.object(at, node)),
        }
    }
}
