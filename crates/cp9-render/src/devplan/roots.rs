//! The folders that a plan may speak of, by name; every other absolute path of the session file
//! is brought below one of them where it can be.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::ServiceName;
use indexmap::IndexMap;

/// The absolute folders of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The session folder, `.cp9/<name>`.
    pub session: Utf8PathBuf,
    /// cp9's cache folder of this user.
    pub cache: Utf8PathBuf,
    /// The executable of cp9, which serves stubs.
    pub exe: Utf8PathBuf,
    /// The checkout of each source service.
    pub sources: BTreeMap<ServiceName, Utf8PathBuf>,
}

/// The root of cp9's own executable. It is there only for stubs, and no other path is brought
/// below it: what else lies beside cp9 differs from machine to machine.
const BIN: &str = "bin";

/// Roots by the name that stands in `${…}`.
pub(super) struct Table {
    roots: IndexMap<String, String>,
    exe: Utf8PathBuf,
}

impl Table {
    pub(super) fn new(roots: &Roots) -> Self {
        let mut table = IndexMap::new();
        table.insert("session".to_owned(), clean(&roots.session));
        table.insert("cache".to_owned(), clean(&roots.cache));
        for (service, folder) in &roots.sources {
            table.insert(format!("src-{service}"), clean(folder));
        }
        Self {
            roots: table,
            exe: roots.exe.clone(),
        }
    }

    /// cp9's own executable.
    pub(super) fn exe(&mut self) -> String {
        let folder = self.exe.parent().unwrap_or(Utf8Path::new(""));
        self.roots.insert(BIN.to_owned(), clean(folder));
        format!("${{{BIN}}}/{}", self.exe.file_name().unwrap_or("cp9"))
    }

    /// The folder below a root; one outside of them becomes a root of its own, `work-<svc>`.
    pub(super) fn folder(&mut self, service: &ServiceName, folder: &str) -> String {
        if !folder.starts_with('/') {
            return folder.to_owned();
        }
        if let Some(below) = self.below(folder) {
            return below;
        }
        let key = format!("work-{service}");
        self.roots.insert(key.clone(), clean(Utf8Path::new(folder)));
        format!("${{{key}}}")
    }

    /// A text with a root's folder, at its start or after `=`, replaced by the root.
    pub(super) fn text(&self, text: &str) -> String {
        if let Some((head, path)) = text.split_once("=/") {
            let path = format!("/{path}");
            return match self.below(&path) {
                Some(below) => format!("{head}={below}"),
                None => text.to_owned(),
            };
        }
        if text.starts_with('/') {
            self.below(text).unwrap_or_else(|| text.to_owned())
        } else {
            text.to_owned()
        }
    }

    /// The path below the root that holds it; of several the deepest.
    fn below(&self, path: &str) -> Option<String> {
        let holding = self
            .roots
            .iter()
            .filter(|(key, _)| *key != BIN)
            .filter(|(_, folder)| Utf8Path::new(path).starts_with(folder.as_str()));
        let (key, folder) =
            holding.max_by_key(|(key, folder)| (folder.len(), std::cmp::Reverse(key.as_str())))?;
        Some(format!("${{{key}}}{}", &path[folder.len()..]))
    }

    pub(super) fn into_map(self) -> IndexMap<String, String> {
        self.roots
    }
}

fn clean(folder: &Utf8Path) -> String {
    folder.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let sources = BTreeMap::from([("api".parse().expect("a name"), "/w/api".into())]);
        Table::new(&Roots {
            session: "/w/.cp9/demo".into(),
            cache: "/home/u/.cache/cp9/".into(),
            exe: "/w/tool/cp9-dev".into(),
            sources,
        })
    }

    #[test]
    fn paths_come_below_the_deepest_root() {
        let table = table();
        for (from, to) in [
            ("/w/api/x", "${src-api}/x"),
            ("/w/api", "${src-api}"),
            ("/w/apis", "/w/apis"),
            ("--c=/w/.cp9/demo/a", "--c=${session}/a"),
            ("/usr/bin/python3", "/usr/bin/python3"),
            ("plain", "plain"),
        ] {
            assert_eq!(table.text(from), to);
        }
    }

    #[test]
    fn cp9_has_its_name_and_nothing_else_lies_below_its_root() {
        let mut table = table();
        assert_eq!(table.exe(), "${bin}/cp9-dev");
        assert_eq!(table.text("/w/tool/cp9-dev"), "/w/tool/cp9-dev");
        let roots = table.into_map();
        assert_eq!(roots.get("bin").map(String::as_str), Some("/w/tool"));
    }

    #[test]
    fn a_folder_elsewhere_becomes_a_root() {
        let mut table = table();
        assert_eq!(
            table.folder(&"api".parse().expect("a name"), "/srv/data/"),
            "${work-api}"
        );
        assert_eq!(
            table.into_map().get("work-api").map(String::as_str),
            Some("/srv/data")
        );
    }
}
