//! Tags of cloud resources: not audited here. The `local` cloud has none, and on AWS a destroy looks.

use cp9_model::config::resolved::CloudName;

use super::context::Context;

/// The check's name.
pub(super) const CHECK: &str = "tags";

/// Why it is skipped.
pub(super) fn reason(context: &Context<'_>) -> String {
    match context.needs_config() {
        Ok(config) if config.target.cloud != CloudName::Local => {
            "resources of a cloud are only looked at by `cp9 destroy`".to_owned()
        }
        Ok(_) => "nothing outside this machine is written to".to_owned(),
        Err(reason) => reason,
    }
}
