//! The cp9 that was just built, asked what it knows about itself.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::target_dir;
use crate::outside::command;

/// The debug binary of this workspace.
#[derive(Debug)]
pub(crate) struct Product {
    binary: PathBuf,
}

impl Product {
    /// The binary that `cargo test --no-run` left.
    pub(crate) fn built(root: &Path) -> Result<Self> {
        let binary = target_dir(root).join("debug/cp9");
        if !binary.is_file() {
            bail!("`{}` is not built", binary.display());
        }
        Ok(Self { binary })
    }

    /// The command tree.
    pub(crate) fn tree(&self) -> Result<Value> {
        self.data(&["cmds.tree"])
    }

    /// Every published schema with its name.
    pub(crate) fn schemas(&self, tree: &Value) -> Result<Vec<(String, Value)>> {
        let names = schema_names(tree);
        if names.is_empty() {
            bail!("`cp9 schema` names no schema");
        }
        let schema = |name: String| {
            let schema = self.data(&["schema", &name])?;
            if !schema.is_object() {
                bail!("`cp9 schema {name}` printed no schema");
            }
            Ok((name, schema))
        };
        names.into_iter().map(schema).collect()
    }

    /// The `data` of a command's envelope. The environment is empty: references must not depend on it.
    fn data(&self, words: &[&str]) -> Result<Value> {
        let words = [words, &["--json"]].concat();
        let output = command(&self.binary)
            .args(&words)
            .env_clear()
            .output()
            .context("cannot run the built `cp9`")?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            bail!(
                "`cp9 {}` ended with {}: {}",
                words.join(" "),
                output.status,
                told.trim()
            );
        }
        let mut envelope: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("`cp9 {}` printed no JSON", words.join(" ")))?;
        Ok(envelope["data"].take())
    }
}

/// The values of `schema`'s argument.
fn schema_names(tree: &Value) -> Vec<String> {
    let commands = tree["commands"].as_array().into_iter().flatten();
    let schema = commands.filter(|command| command["name"] == "schema");
    let values = schema.flat_map(|command| command["args"].as_array().into_iter().flatten());
    let values = values.flat_map(|arg| arg["values"].as_array().into_iter().flatten());
    values
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

/// A schema as it is committed.
pub(crate) fn pretty(schema: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schema_names_come_from_the_tree() {
        let tree = json!({"commands": [
            {"name": "logs", "args": [{"values": ["debug"]}]},
            {"name": "schema", "args": [{"name": "which", "values": ["cp9", "output"]}]},
        ]});
        assert_eq!(schema_names(&tree), ["cp9", "output"]);
        assert!(schema_names(&json!(null)).is_empty());
    }
}
