//! Translation of whole services.

use cp9_model::config::resolved::ResolvedConfig;
use serde_json::{Value, json};

/// A session file with the given services.
pub(crate) fn config(services: Value) -> ResolvedConfig {
    let value = json!({
        "apiVersion": "cp9.tidbcloud.com/v1alpha2",
        "kind": "Session",
        "name": "demo",
        "file": "/w/cp9.yaml",
        "controller": "embedded",
        "host": {"mode": "process"},
        "target": {"cloud": "local"},
        "appDelivery": {"repo": "/w/app-delivery", "env": "dev"},
        "tilt": {"mode": "up", "port": 10350},
        "services": services,
        "source_build_services": [],
        "retry": {"total": 5, "on_budget_exceeded": "abort"},
    });
    serde_json::from_value(value).expect("a resolved session file")
}
