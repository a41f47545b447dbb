//! Files that are links: the places they lead over, whose changes are changes of the file.

use std::path::{Path, PathBuf};

/// More links in a row than systems follow.
const LONGEST: usize = 40;

/// Every place that a link leads over, its end included, whether that is there or not. Nothing for a
/// link to a folder: what lies in it is not source.
pub(super) fn places(link: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    if link.is_dir() {
        return places;
    }
    let mut at = link.to_owned();
    while let Ok(to) = std::fs::read_link(&at) {
        at = real(&at.parent().map_or_else(|| to.clone(), |dir| dir.join(&to)));
        if places.contains(&at) || places.len() == LONGEST {
            break;
        }
        places.push(at.clone());
    }
    places
}

/// The path by which the system tells of a place: without links among its folders, as far as those
/// are there.
fn real(path: &Path) -> PathBuf {
    for dir in path.ancestors().skip(1) {
        if let (Ok(dir_there), Ok(tail)) = (dir.canonicalize(), path.strip_prefix(dir)) {
            return dir_there.join(tail);
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn places_are_those_on_the_way_and_loops_end() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("its name");
        std::fs::create_dir(root.join("real")).expect("a folder");
        symlink("real", root.join("folder")).expect("a link");
        symlink("second", root.join("first")).expect("a link");
        symlink("folder/file", root.join("second")).expect("a link");
        let real_file = root.join("real/file");
        assert_eq!(
            places(&root.join("first")),
            [root.join("second"), real_file.clone()],
            "it dangles"
        );
        tempfile::NamedTempFile::new_in(root.join("real"))
            .and_then(|file| file.persist(&real_file).map_err(|error| error.error))
            .expect("a file");
        assert_eq!(
            places(&root.join("first")),
            [root.join("second"), real_file]
        );
        assert!(places(&root.join("folder")).is_empty(), "a folder");
        symlink("b", root.join("a")).expect("a link");
        symlink("a", root.join("b")).expect("a link");
        assert_eq!(places(&root.join("a")), [root.join("b"), root.join("a")]);
        symlink("gone/../x", root.join("c")).expect("a link");
        assert_eq!(places(&root.join("c")).len(), 1);
    }
}
