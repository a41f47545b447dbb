//! Where a program is.

use camino::Utf8PathBuf;

use crate::Doors;

impl Doors {
    /// The path of a program by the environment's PATH; none if it is not there.
    pub fn which(&self, program: &str) -> Option<Utf8PathBuf> {
        let found = which::which_in(program, Some(self.env.path()), "/").ok()?;
        Utf8PathBuf::from_path_buf(found).ok()
    }
}
