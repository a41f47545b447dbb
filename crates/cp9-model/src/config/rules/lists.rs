//! Lists: nothing twice, no empty text, and not empty where an empty list means nothing sensible.

use serde_json::Value;

use crate::config::check::{Check, dotted};
use crate::config::paths::matching;
use crate::diagnostic::Code;

/// Every list; whether it may be empty, and whether an item may stand twice.
const LISTS: &[(&str, bool, bool)] = &[
    ("/source_build_services", true, false),
    ("/services/source/*/needs", true, false),
    ("/services/live/*/needs", true, false),
    ("/services/source/*/overrides", true, false),
    ("/services/live/*/overrides", true, false),
    ("/services/source/*/build/ignore", true, false),
    ("/services/source/*/build/command", false, true),
    ("/services/source/*/run/command", false, true),
    ("/services/live/*/run/command", false, true),
    ("/services/source/*/run/ignore", true, false),
    ("/services/live/*/run/ignore", true, false),
    ("/target/aws/account_allowlist", false, false),
    ("/target/aws/account_blocklist", true, false),
    ("/clouds/aws/account_allowlist", false, false),
    ("/clouds/aws/account_blocklist", true, false),
    ("/clouds/aws/regions", false, false),
    ("/clouds/gcp/regions", false, false),
    ("/clouds/gcp/project_allowlist", false, false),
    ("/clouds/azure/regions", false, false),
    ("/clouds/azure/subscription_allowlist", false, false),
    ("/clouds/alicloud/regions", false, false),
    ("/clouds/alicloud/account_allowlist", false, false),
    ("/reaper/clouds", false, false),
    ("/reaper/default_regions", false, false),
    ("/ci/owner_allowlist/*", false, false),
    ("/trace/keys", false, false),
];

/// Texts that must say something.
const TEXTS: &[&str] = &[
    "/target/region",
    "/host/context",
    "/terraform/ref",
    "/appDelivery/ref",
    "/appDelivery/env",
    "/services/source/*/ref",
    "/services/*/*/app/env",
];

pub(super) fn check(check: &mut Check<'_>) {
    for (pattern, may_be_empty, may_repeat) in LISTS {
        for pointer in matching(check.json, pattern) {
            let Some(items) = check.json.pointer(&pointer).and_then(Value::as_array) else {
                continue;
            };
            if items.is_empty() && !may_be_empty {
                let found = check.key(
                    Code::EMPTY,
                    &pointer,
                    format!("`{}` is an empty list", dotted(&pointer)),
                );
                check.add(found.help("fill it or remove the key"));
            }
            each(check, &pointer, items, *may_repeat);
        }
    }
    for pattern in TEXTS {
        for pointer in matching(check.json, pattern) {
            let empty = check
                .json
                .pointer(&pointer)
                .and_then(Value::as_str)
                .is_some_and(|text| text.trim().is_empty());
            if empty {
                let found = check.value(
                    Code::EMPTY,
                    &pointer,
                    format!("`{}` is empty", dotted(&pointer)),
                );
                check.add(found.help("give it a value or remove the key"));
            }
        }
    }
}

fn each(check: &mut Check<'_>, pointer: &str, items: &[Value], may_repeat: bool) {
    let mut seen = std::collections::HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let Some(text) = item.as_str() else { continue };
        let here = format!("{pointer}/{at}");
        // An empty argument is an argument; an empty program is none.
        if text.trim().is_empty() && (!may_repeat || at == 0) {
            let found = check.value(
                Code::EMPTY,
                &here,
                format!("an empty item in `{}`", dotted(pointer)),
            );
            check.add(found.help("remove it"));
        } else if !seen.insert(text) && !may_repeat {
            let found = check.value(
                Code::TWICE,
                &here,
                format!("`{text}` stands twice in `{}`", dotted(pointer)),
            );
            check.add(found.help("remove one of them"));
        }
    }
}
