//! A crate uses only the crates that the table of `docs/architecture.md` grants it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::report::Finding;

/// The page whose table is the rule.
pub(crate) const PAGE: &str = "docs/architecture.md";

/// What tests of any crate may use besides what the crate itself may.
const TEST_ONLY: &str = "cp9-testkit";

/// Compares the dependencies that cargo sees with the table.
pub(crate) fn check(page: &str, metadata: &Value) -> Vec<Finding> {
    let table = table(page);
    let crates = crates(metadata);
    let mut found = Vec::new();
    for name in table.keys().filter(|name| !crates.contains_key(*name)) {
        found.push(Finding::about(
            PAGE,
            format!("lists `{name}`, which is no crate of the workspace"),
        ));
    }
    for (name, uses) in &crates {
        let Some(allowed) = table.get(name) else {
            found.push(Finding::about(
                PAGE,
                format!("does not list the crate `{name}`"),
            ));
            continue;
        };
        for (used, in_tests) in uses.iter().filter(|(used, _)| crates.contains_key(used)) {
            let granted =
                allowed.contains(used) || (*in_tests && (used == TEST_ONLY || used == name));
            if !granted {
                found.push(Finding::about(
                    name,
                    format!("may not use `{used}`; see the table of `{PAGE}`"),
                ));
            }
        }
    }
    found
}

/// The crates of the workspace, each with the crates it uses and whether only its tests do: by a
/// dev-dependency, or by an optional one that a test feature switches on.
fn crates(metadata: &Value) -> BTreeMap<String, Vec<(String, bool)>> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .map(|package| (text(&package["name"]), uses(package)))
        .collect()
}

fn uses(package: &Value) -> Vec<(String, bool)> {
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    dependencies
        .map(|dependency| {
            (
                text(&dependency["name"]),
                dependency["kind"] == "dev" || dependency["optional"] == true,
            )
        })
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Reads the table's rows: crate, what it may use. Short words leave out the `cp9-` prefix, `all above`
/// means every row before, `–` means none.
fn table(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut table = BTreeMap::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.trim().split('|').map(str::trim).collect();
        let ["", name, uses, _, ..] = cells.as_slice() else {
            continue;
        };
        let Some(name) = name
            .strip_prefix('`')
            .and_then(|name| name.strip_suffix('`'))
        else {
            continue;
        };
        let granted = match *uses {
            "all above" => table.keys().cloned().collect(),
            "–" | "-" => BTreeSet::new(),
            list => list
                .split(',')
                .map(|word| format!("cp9-{}", word.trim()))
                .collect(),
        };
        table.insert(name.to_owned(), granted);
    }
    table
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TABLE: &str = "
| crate | may use | owns |
|---|---|---|
| `cp9-model` | – | words |
| `cp9-tools` | model | doors |
| `cp9-engine` | all above | use cases |
| `cp9-testkit` | model | doubles |
";

    fn metadata(tools: &Value) -> Value {
        let depends = |name: &str| json!({"name": name, "kind": null});
        json!({"packages": [
            {"name": "cp9-model", "dependencies": [depends("serde")]},
            {"name": "cp9-tools", "dependencies": tools},
            {"name": "cp9-engine", "dependencies": [depends("cp9-model"), depends("cp9-tools")]},
            {"name": "cp9-testkit", "dependencies": []},
        ]})
    }

    #[test]
    fn granted_uses_pass_and_tests_may_use_the_testkit() {
        let tools =
            json!([{"name": "cp9-model", "kind": null}, {"name": "cp9-testkit", "kind": "dev"}]);
        assert_eq!(check(TABLE, &metadata(&tools)), []);
    }

    #[test]
    fn an_upward_use_is_refused() {
        let found = check(
            TABLE,
            &metadata(&json!([{"name": "cp9-engine", "kind": null}])),
        );
        assert_eq!(
            found,
            [Finding::about(
                "cp9-tools",
                "may not use `cp9-engine`; see the table of `docs/architecture.md`"
            )]
        );
        assert_eq!(
            check(
                TABLE,
                &metadata(&json!([{"name": "cp9-engine", "kind": "dev"}]))
            )
            .len(),
            1
        );
        assert_eq!(
            check(
                TABLE,
                &metadata(&json!([{"name": "cp9-testkit", "kind": null}]))
            )
            .len(),
            1
        );
    }

    #[test]
    fn table_and_workspace_name_the_same_crates() {
        let found = check(
            &format!("{TABLE}| `cp9-ghost` | – | nothing |\n"),
            &metadata(&json!([])),
        );
        assert_eq!(found.len(), 1);
        let found = check("", &metadata(&json!([])));
        assert_eq!(found.len(), 4);
    }
}
