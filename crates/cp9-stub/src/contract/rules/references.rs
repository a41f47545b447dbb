//! References inside the document lead somewhere, and to an end.

use std::collections::HashMap;

use serde_json::Value;

use super::Rules;

/// Members that hold values of the author's own, in which `$ref` means nothing.
const FREE: [&str; 4] = ["example", "default", "enum", "value"];

impl Rules<'_> {
    pub(super) fn references(&mut self) {
        let root = self.document.root();
        self.below("", root, &mut HashMap::new());
    }

    /// `known` holds what is wrong with references that were followed.
    fn below<'n>(
        &mut self,
        at: &str,
        node: &'n Value,
        known: &mut HashMap<&'n str, Option<String>>,
    ) {
        if self.is_full() {
            return;
        }
        match node {
            Value::Object(map) => {
                match map.get("$ref") {
                    Some(Value::String(name)) => {
                        let fault = known.entry(name);
                        if let Some(what) = fault.or_insert_with(|| self.broken(name, node)) {
                            self.fault(at, what);
                        }
                    }
                    // A property may have that name.
                    None | Some(Value::Object(_)) => {}
                    Some(_) => self.fault(at, "its `$ref` is no text"),
                }
                let own = map
                    .iter()
                    .filter(|(key, _)| !key.starts_with("x-") && !FREE.contains(&key.as_str()));
                for (key, child) in own {
                    self.below(&format!("{at}/{}", escaped(key)), child, known);
                }
            }
            Value::Array(list) => {
                for (index, child) in list.iter().enumerate() {
                    self.below(&format!("{at}/{index}"), child, known);
                }
            }
            _ => {}
        }
    }

    /// What is wrong with a reference, if anything.
    fn broken(&self, name: &str, node: &Value) -> Option<String> {
        if name.chars().any(char::is_control) {
            return Some(format!("reference `{name}` is no URL"));
        }
        let followed = name.starts_with('#').then(|| self.document.follow(node));
        let reason = followed?.err().filter(|reason| !reason.is_foreign());
        reason.map(|reason| reason.to_string())
    }
}

fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}
