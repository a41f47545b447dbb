//! The working copy laid out and initialised.

use cp9_model::digest;
use cp9_render::FileTree;
use cp9_render::substrate::WorkingCopy;

use super::call::Command;
use super::record::{self, InitRecord};
use super::work::{Tell, Work};
use crate::error::EngineError;

/// Terraform's own record of the providers that it chose.
const LOCK: &str = ".terraform.lock.hcl";

impl Work<'_> {
    /// True if the working copy is what it is made from, and was initialised.
    pub(crate) fn is_initialised(&self, copy: &WorkingCopy) -> bool {
        let doors = &self.engine.doors;
        let record: Option<InitRecord> = record::load(self.engine, &self.paths.init());
        let same = record.is_some_and(|record| record == self.init_record(copy));
        let tree = self.with_lock(copy);
        same && doors.exists(&self.paths.data())
            && doors
                .tree_equals(&self.paths.source(), &tree)
                .unwrap_or(false)
    }

    /// Lays out the working copy and initialises it.
    pub(crate) async fn init(
        &self,
        copy: &WorkingCopy,
        tell: Tell<'_>,
    ) -> Result<Vec<String>, EngineError> {
        let doors = &self.engine.doors;
        doors.create_private_dir(&self.paths.root)?;
        doors.create_private_dir(&self.paths.data())?;
        let whole = self.init_record(copy);
        let begun = InitRecord {
            digest: String::new(),
            ..whole.clone()
        };
        record::save(self.engine, &self.paths.init(), &begun)?;
        let tree = self.with_lock(copy);
        doors.sync_tree(&self.paths.source(), &tree, 0o600)?;
        tell("providers and modules");
        let cmd = self.terraform.init(&doors.env, &self.place);
        self.must(Command::Init, &cmd, &mut |_| ()).await?;
        record::save(self.engine, &self.paths.init(), &whole)?;
        Ok(vec![
            "terraform/source".into(),
            format!("{} {}", self.terraform.name, self.terraform.version),
        ])
    }

    fn init_record(&self, copy: &WorkingCopy) -> InitRecord {
        let digests: Vec<_> = copy
            .tree
            .iter()
            .map(|(path, bytes)| (path, digest::bytes(bytes)))
            .collect();
        InitRecord {
            root: copy.root.to_string(),
            var_file: copy.var_file.as_ref().map(|(name, _)| name.clone()),
            program: format!("{} {}", self.terraform.name, self.terraform.version),
            digest: digest::value(&digests).expect("paths and digests always serialise"),
        }
    }

    /// The providers that were chosen once stay chosen, where the checkout does not choose itself.
    fn with_lock(&self, copy: &WorkingCopy) -> FileTree {
        let mut tree = copy.tree.clone();
        let name = copy.root.join(LOCK);
        let chosen = self.engine.doors.read(&self.paths.source().join(&name));
        if let Ok(bytes) = chosen {
            // Terraform adds checksums to a lock file that the checkout has.
            tree.insert(name, bytes);
        }
        tree
    }

    /// Writes the values beside the working copy.
    pub(crate) fn write_values(&self, copy: &WorkingCopy) -> Result<(), EngineError> {
        let doors = &self.engine.doors;
        if let Some((name, bytes)) = &copy.var_file {
            doors.write_if_changed(&self.paths.root.join(name), bytes, 0o600)?;
        }
        doors.write_if_changed(&self.paths.values(), &copy.values, 0o600)?;
        Ok(())
    }
}
