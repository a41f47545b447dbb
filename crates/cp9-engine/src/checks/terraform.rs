//! The Terraform or `OpenTofu` of the substrate: there, and new enough.

use cp9_model::Explain as _;
use cp9_model::report::doctor::Finding;
use cp9_tools::terraform::{Terraform, TerraformError};

use super::context::Context;
use super::sheet::Gathered;

/// The check's name.
pub(super) const CHECK: &str = "terraform";

/// What was found.
pub(super) type Facts = Result<Terraform, TerraformError>;

/// Looks for it, if the session file asks for it.
pub(super) async fn gather(context: &Context<'_>) -> Gathered<Facts> {
    let wanted = context
        .config()
        .and_then(|config| config.terraform.as_ref());
    wanted.ok_or("no `terraform` block in the session file")?;
    Ok(context.engine.doors.terraform().await)
}

/// Judges it.
pub(super) fn judge(facts: &Facts) -> Vec<Finding> {
    vec![match facts {
        Ok(found) => Finding::ok(
            CHECK,
            "terraform-version",
            format!("`{}` {} in `{}`", found.name, found.version, found.program),
        ),
        Err(error) => {
            let finding = Finding::error(CHECK, error.code(), error.to_string());
            match error.remedy() {
                Some(remedy) => finding.remedy(remedy),
                None => finding,
            }
        }
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_and_what_is_not_has_a_remedy() {
        let found = Terraform {
            program: "/bin/tofu".into(),
            name: "tofu",
            version: "1.9.0".into(),
        };
        let good = &judge(&Ok(found))[0];
        assert_eq!(good.finding, "`tofu` 1.9.0 in `/bin/tofu`");
        let bad = &judge(&Err(TerraformError::Missing))[0];
        assert_eq!(bad.id, "terraform-missing");
        let remedy = bad.remedy.as_deref().expect("a remedy");
        assert!(remedy.contains("CP9_TERRAFORM"), "{remedy}");
    }
}
