//! References inside the document lead somewhere, and to an end.

use serde_json::Value;

use super::Rules;

/// Members that hold values of the author's own, in which `$ref` means nothing.
const FREE: [&str; 4] = ["example", "default", "enum", "value"];

impl Rules<'_> {
    pub(super) fn references(&mut self) {
        let root = self.document.root();
        self.below("", root);
    }

    fn below(&mut self, at: &str, node: &Value) {
        match node {
            Value::Object(map) => {
                if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                    self.one(at, name, node);
                }
                let own = map
                    .iter()
                    .filter(|(key, _)| !key.starts_with("x-") && !FREE.contains(&key.as_str()));
                for (key, child) in own {
                    self.below(&format!("{at}/{}", escaped(key)), child);
                }
            }
            Value::Array(list) => {
                for (index, child) in list.iter().enumerate() {
                    self.below(&format!("{at}/{index}"), child);
                }
            }
            _ => {}
        }
    }

    fn one(&mut self, at: &str, name: &str, node: &Value) {
        if name.chars().any(char::is_control) {
            self.fault(
                at,
                &format!("reference `{}` is no URL", name.escape_debug()),
            );
        } else if name.starts_with('#')
            && let Err(reason) = self.document.follow(node)
            && !reason.is_foreign()
        {
            self.fault(at, &reason.to_string());
        }
    }
}

fn escaped(step: &str) -> String {
    step.replace('~', "~0").replace('/', "~1")
}
