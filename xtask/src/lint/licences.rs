//! Every package that cp9 is built from has a licence that `deny.toml` accepts.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::report::Finding;

/// Where the accepted licences stand.
pub(crate) const FILE: &str = "deny.toml";

/// Refuses packages without a licence that is accepted.
pub(crate) fn check(deny: &str, metadata: &Value) -> Result<Vec<Finding>> {
    let accepted = accepted(deny)?;
    let packages = metadata["packages"]
        .as_array()
        .context("`cargo metadata` lists no packages")?;
    let foreign = packages
        .iter()
        .filter(|package| !package["source"].is_null());
    let refused = foreign.filter_map(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        match package["license"].as_str() {
            Some(licence) if holds(licence, &accepted) => None,
            Some(licence) => Some(Finding::about(
                name,
                format!("its licence `{licence}` is not accepted by `{FILE}`"),
            )),
            None => Some(Finding::about(name, "names no licence")),
        }
    });
    Ok(refused.collect())
}

/// The strings of the line `allow = [...]`.
fn accepted(deny: &str) -> Result<BTreeSet<String>> {
    let list = deny
        .lines()
        .find_map(|line| line.strip_prefix("allow = [")?.strip_suffix(']'));
    let list = list.with_context(|| format!("`{FILE}` has no line `allow = [...]`"))?;
    Ok(list
        .split(',')
        .map(|word| word.trim().trim_matches('"').to_owned())
        .collect())
}

/// Decides an SPDX expression. `/` is the old spelling of `OR`; `AND` binds closer than `OR`;
/// a licence with an exception grants at least what it grants without.
fn holds(expression: &str, accepted: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = either(&words, &mut at, accepted);
    verdict && at == words.len()
}

fn either(words: &[&str], at: &mut usize, accepted: &BTreeSet<String>) -> bool {
    let mut verdict = both(words, at, accepted);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        verdict |= both(words, at, accepted);
    }
    verdict
}

fn both(words: &[&str], at: &mut usize, accepted: &BTreeSet<String>) -> bool {
    let mut verdict = one(words, at, accepted);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        verdict &= one(words, at, accepted);
    }
    verdict
}

fn one(words: &[&str], at: &mut usize, accepted: &BTreeSet<String>) -> bool {
    let Some(word) = words.get(*at) else {
        return false;
    };
    *at += 1;
    if *word == "(" {
        let verdict = either(words, at, accepted);
        let closed = words.get(*at) == Some(&")");
        *at += 1;
        return verdict && closed;
    }
    if words.get(*at) == Some(&"WITH") {
        *at += 2;
    }
    accepted.contains(*word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DENY: &str = "[licenses]\nallow = [\"Apache-2.0\", \"MIT\", \"Zlib\"]\n";

    fn verdict(licence: &str) -> bool {
        holds(licence, &accepted(DENY).expect("a list"))
    }

    #[test]
    fn expressions_are_decided() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "Unlicense/MIT",
            "(MIT OR GPL-3.0) AND Zlib",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0 AND GPL-2.0 OR MIT",
        ] {
            assert!(verdict(good), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT AND (GPL-3.0 OR BSL-1.1)",
            "",
            "(MIT",
            "MIT Zlib",
        ] {
            assert!(!verdict(bad), "{bad}");
        }
    }

    #[test]
    fn foreign_packages_are_checked_and_ours_are_not() {
        let metadata = json!({"packages": [
            {"name": "cp9", "source": null, "license": null},
            {"name": "good", "source": "registry", "license": "MIT"},
            {"name": "closed", "source": "registry", "license": "Proprietary"},
            {"name": "silent", "source": "registry", "license": null},
        ]});
        let found = check(DENY, &metadata).expect("a verdict");
        let places: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, ["closed", "silent"]);
        assert!(check("", &metadata).is_err());
        assert!(check(DENY, &json!({})).is_err());
    }
}
