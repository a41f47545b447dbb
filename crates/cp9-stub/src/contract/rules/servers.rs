//! Servers: their variables are declared, and have one of their own values.

use std::collections::HashSet;

use serde_json::Value;

use super::Rules;

impl Rules<'_> {
    pub(super) fn servers(&mut self) {
        let servers = self
            .document
            .root()
            .get("servers")
            .and_then(Value::as_array);
        for (index, server) in servers.into_iter().flatten().enumerate() {
            let at = format!("servers.{index}");
            let Some(server) = self.object(&at, server) else {
                continue;
            };
            let variables = server.get("variables");
            let url = server.get("url").and_then(Value::as_str);
            for name in url.map(names).unwrap_or_default() {
                if variables.and_then(|all| all.get(name)).is_none() {
                    self.fault(&at, &format!("`{{{name}}}` of its `url` is no variable"));
                }
            }
            for (name, variable) in self.members(&at, variables) {
                self.variable(&format!("{at}.{name}"), variable);
            }
        }
    }

    fn variable(&mut self, at: &str, variable: &Value) {
        let Some(default) = variable.get("default") else {
            self.fault(at, "it has no `default`");
            return;
        };
        let Some(values) = variable.get("enum").and_then(Value::as_array) else {
            return;
        };
        if !values.contains(default) {
            self.fault(at, "its `enum` lacks its `default`");
        }
        let distinct: HashSet<String> = values.iter().map(ToString::to_string).collect();
        if distinct.len() < values.len() {
            self.fault(at, "its `enum` has a value twice");
        }
    }
}

/// The names in braces.
fn names(url: &str) -> Vec<&str> {
    let parts = url.split('{').skip(1);
    parts
        .filter_map(|part| Some(part.split_once('}')?.0))
        .collect()
}
