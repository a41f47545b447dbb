//! Runs every static check.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::{headers, layering, licences, listed, sizes, words};
use crate::report::{Checks, Finding};
use crate::tree::{self, SourceFile};
use crate::{cargo, outside};

/// `cargo xtask lint`.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let mut checks = Checks::new(outside::say);
    all(root, &cargo::metadata(root)?, &mut checks)?;
    if checks.ok() {
        outside::say("all static checks passed");
    }
    Ok(checks.ok())
}

/// Every check of this folder, in order.
pub(crate) fn all(root: &Path, metadata: &Value, checks: &mut Checks) -> Result<()> {
    let files = tree::load(root)?;
    let checkout = root.to_string_lossy().into_owned();
    checks.run("forbidden words", || {
        Ok(each(&files, |file| {
            words::check(&file.path, &file.text, &checkout)
        }))
    });
    checks.run("layering", || {
        let page = std::fs::read_to_string(root.join(layering::PAGE))?;
        Ok(layering::check(&page, metadata))
    });
    checks.run("sizes", || {
        Ok(each(&files, |file| sizes::check(&file.path, &file.text)))
    });
    checks.run("file headers", || {
        Ok(each(&files, |file| headers::check(&file.path, &file.text)))
    });
    checks.run("listed tests", || Ok(listed::check(&files)));
    checks.run("licences", || {
        let deny = std::fs::read_to_string(root.join(licences::FILE))?;
        licences::check(&deny, &cargo::metadata_of_all(root)?)
    });
    Ok(())
}

fn each(files: &[SourceFile], rule: impl Fn(&SourceFile) -> Vec<Finding>) -> Vec<Finding> {
    files.iter().flat_map(rule).collect()
}
