//! Which binary of a Cargo package `build.main` is.

use camino::{Utf8Path, Utf8PathBuf};

/// The package that governs a service's `build.main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoTarget {
    /// The Cargo.toml, relative to the service's repo.
    pub manifest: Utf8PathBuf,
    /// The binary target.
    pub bin: String,
}

/// The binary target of `main` in the package of `manifest`; both relative to the repo. None if
/// the manifest names no package, as that of a mere workspace does.
pub fn cargo_target(manifest: &Utf8Path, text: &str, main: &Utf8Path) -> Option<CargoTarget> {
    let main = main.strip_prefix(manifest.parent()?).unwrap_or(main);
    let sections = sections(text);
    let package = sections
        .iter()
        .find(|section| section.header == "[package]")?
        .value("name")?;
    let declared = sections
        .iter()
        .filter(|section| section.header == "[[bin]]")
        .find(|section| section.value("path").as_deref() == Some(main.as_str()))
        .and_then(|section| section.value("name"));
    let bin = declared.or_else(|| discovered(main)).unwrap_or(package);
    Some(CargoTarget {
        manifest: manifest.to_owned(),
        bin,
    })
}

/// `src/bin/NAME.rs` and `src/bin/NAME/main.rs`.
fn discovered(main: &Utf8Path) -> Option<String> {
    let rest = main.strip_prefix("src/bin").ok()?;
    let name = if rest.file_name() == Some("main.rs") {
        rest.parent()?.as_str()
    } else {
        rest.file_stem()?
    };
    (!name.is_empty()).then(|| name.to_owned())
}

struct Section<'a> {
    header: &'a str,
    lines: Vec<&'a str>,
}

impl Section<'_> {
    /// A string value on a line of its own.
    fn value(&self, key: &str) -> Option<String> {
        self.lines.iter().find_map(|line| {
            let (name, value) = line.split_once('=')?;
            let value = value.trim();
            let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let text = value[1..].split(quote).next()?;
            (name.trim() == key).then(|| text.to_owned())
        })
    }
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections = vec![Section {
        header: "",
        lines: Vec::new(),
    }];
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            let header = line.split('#').next().unwrap_or(line).trim();
            sections.push(Section {
                header,
                lines: Vec::new(),
            });
        } else if let Some(section) = sections.last_mut() {
            section.lines.push(line);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"demo\" # x\n[lib]\nname = \"other\"\n[[bin]]\nname = 'tool'\npath = \"cmd/tool.rs\"\n";

    fn bin(main: &str) -> Option<String> {
        cargo_target("a/Cargo.toml".into(), MANIFEST, main.into()).map(|target| target.bin)
    }

    #[test]
    fn binaries_are_found_as_cargo_does() {
        assert_eq!(bin("a/src/main.rs").as_deref(), Some("demo"));
        assert_eq!(bin("a/cmd/tool.rs").as_deref(), Some("tool"));
        assert_eq!(bin("a/src/bin/x.rs").as_deref(), Some("x"));
        assert_eq!(bin("a/src/bin/y/main.rs").as_deref(), Some("y"));
    }

    #[test]
    fn a_mere_workspace_governs_nothing() {
        assert_eq!(
            cargo_target(
                "Cargo.toml".into(),
                "[workspace]\nmembers = []\n",
                "src/main.rs".into()
            ),
            None
        );
    }
}
