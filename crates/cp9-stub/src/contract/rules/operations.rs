//! Operations have names of their own, and parameters that their paths know.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::Rules;
use crate::contract::load::METHODS;

impl<'d> Rules<'d> {
    pub(super) fn operations(&mut self) {
        let root = self.document.root();
        self.requirements("security", root.get("security"));
        let mut ids = HashMap::new();
        for (path, item) in self.members("paths", root.get("paths")) {
            let Some(item) = self.object(path, item) else {
                continue;
            };
            self.parameters(path, path, item.get("parameters"));
            for method in METHODS {
                let Some(operation) = item.get(method) else {
                    continue;
                };
                let at = format!("{} {path}", method.to_uppercase());
                let Some(operation) = self.object(&at, operation) else {
                    continue;
                };
                if let Some(id) = operation.get("operationId").and_then(Value::as_str)
                    && let Some(other) = ids.insert(id, at.clone())
                {
                    let what = format!("`operationId` `{id}` is also that of {other}");
                    self.fault(&at, &what);
                }
                self.operation(&at, path, operation);
            }
        }
    }

    fn operation(&mut self, at: &str, path: &str, operation: &'d Map<String, Value>) {
        self.parameters(at, path, operation.get("parameters"));
        self.requirements(at, operation.get("security"));
        if let Some(body) = operation.get("requestBody") {
            self.request_body(&format!("{at}: requestBody"), body);
        }
        let responses = operation.get("responses");
        for (status, response) in self.members(at, responses) {
            self.response(&format!("{at}: response {status}"), response);
        }
    }

    fn parameters(&mut self, at: &str, path: &str, node: Option<&'d Value>) {
        let mut known = HashSet::new();
        let list = node.and_then(Value::as_array);
        for (index, parameter) in list.into_iter().flatten().enumerate() {
            let at = format!("{at}: parameter {index}");
            let Some((place, name)) = self.parameter(&at, parameter) else {
                continue;
            };
            // Names of headers are the same in any case.
            let name = match place {
                "header" => name.to_ascii_lowercase(),
                _ => name.to_owned(),
            };
            if place == "path" && !path.contains(&format!("{{{name}}}")) {
                self.fault(&at, &format!("`{{{name}}}` does not occur in the path"));
            }
            if !known.insert((place, name.clone())) {
                self.fault(&at, &format!("`{name}` in `{place}` is declared twice"));
            }
        }
    }
}
