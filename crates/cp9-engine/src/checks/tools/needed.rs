//! Which programs a session file asks for, and where each is started.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::{ResolvedConfig, SourceService};
use cp9_tools::Doors;

use super::Need;

/// Files that make rustup start another toolchain below their folder.
const TOOLCHAIN: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];

/// A program that is asked for its version once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) need: Need,
    /// Where it is started.
    pub(super) folder: Utf8PathBuf,
    /// The folder that chooses its toolchain, if one does.
    pin: Option<Utf8PathBuf>,
}

/// What the session file asks for.
pub(super) fn of_session(doors: &Doors, config: &ResolvedConfig) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut versioned = config.app_delivery.as_ref().and_then(|delivery| {
        let repo = Utf8Path::new(&delivery.repo);
        let asks = delivery.git_ref.is_some() || doors.checkout_root(repo).is_some();
        asks.then(|| repo.to_owned())
    });
    for (service, source) in &config.services.source {
        let repo = Utf8Path::new(&source.repo);
        for name in programs(doors, source) {
            let pin = pin(doors, &name, repo);
            let same = wanted
                .iter_mut()
                .find(|other| other.name == name && other.pin == pin);
            match same.map(|other| &mut other.need) {
                Some(Need::Build(services)) => services.push(service.to_string()),
                _ => wanted.push(Wanted {
                    name,
                    need: Need::Build(vec![service.to_string()]),
                    folder: repo.to_owned(),
                    pin,
                }),
            }
        }
        if source.git_ref.is_some() || doors.checkout_root(repo).is_some() {
            versioned.get_or_insert_with(|| repo.to_owned());
        }
    }
    let git_builds = wanted.iter().any(|other| other.name == "git");
    if let Some(folder) = versioned.filter(|_| !git_builds) {
        wanted.push(Wanted {
            name: "git".into(),
            need: Need::Ask,
            folder,
            pin: None,
        });
    }
    wanted
}

/// What any session may ask for.
pub(super) fn of_none(folder: &Utf8Path) -> Vec<Wanted> {
    let names = super::MINIMA.iter().map(|(name, _)| Wanted {
        name: (*name).to_owned(),
        need: Need::Nothing,
        folder: folder.to_owned(),
        pin: None,
    });
    names.collect()
}

/// The programs that a build starts. One given by its path is the checkout's own.
fn programs(doors: &Doors, source: &SourceService) -> Vec<String> {
    if let Some(command) = &source.build.command {
        let first = command.first().filter(|word| !word.contains(['/', '$']));
        return first.cloned().into_iter().collect();
    }
    let Some(main) = source.build.main.as_deref().map(Utf8Path::new) else {
        return Vec::new();
    };
    match main.extension() {
        Some("go") => vec!["go".into()],
        Some("rs") => {
            let repo = Utf8Path::new(&source.repo);
            let mut above = main.ancestors().skip(1);
            if above.any(|dir| doors.exists(&repo.join(dir).join("Cargo.toml"))) {
                vec!["cargo".into(), "rustc".into()]
            } else {
                vec!["rustc".into()]
            }
        }
        _ => Vec::new(),
    }
}

fn pin(doors: &Doors, name: &str, repo: &Utf8Path) -> Option<Utf8PathBuf> {
    if !matches!(name, "rustc" | "cargo") {
        return None;
    }
    let pinned = |dir: &&Utf8Path| TOOLCHAIN.iter().any(|file| doors.exists(&dir.join(file)));
    repo.ancestors().find(pinned).map(Utf8Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_tools::{Clock, Environment};

    fn config(services: &str) -> ResolvedConfig {
        let text = format!(
            "apiVersion: cp9.tidbcloud.com/v1alpha2\nkind: Session\nname: demo\n\
             host: {{mode: process}}\ntarget: {{cloud: local}}\n\
             appDelivery: {{repo: ./delivery, env: dev}}\nservices:\n  source:\n{services}"
        );
        let loaded = cp9_model::config::load("/nowhere/at/all/cp9.yaml".into(), text.as_bytes());
        loaded.expect("a session file").resolved
    }

    fn service(name: &str, build: &str, more: &str) -> String {
        format!(
            "    {name}:\n      repo: ./{name}\n      build: {build}\n      app: {{registry: r.yaml, env: dev}}\n{more}"
        )
    }

    fn wanted(services: &str) -> Vec<(String, Need)> {
        let doors = Doors::new(Environment::default(), Clock::system(), false);
        let wanted = of_session(&doors, &config(services)).into_iter();
        wanted.map(|wanted| (wanted.name, wanted.need)).collect()
    }

    #[test]
    fn each_language_and_command_names_its_program_once() {
        let services = [
            service("a", "{main: main.go}", ""),
            service("b", "{main: cmd/b/main.go}", ""),
            service("c", "{main: src/main.rs}", ""),
            service("d", "{command: [make, '${output}']}", ""),
            service("e", "{command: [./build.sh, '${output}']}", ""),
        ];
        let build = |names: &[&str]| Need::Build(names.iter().map(|n| (*n).to_owned()).collect());
        assert_eq!(
            wanted(&services.concat()),
            [
                ("go".into(), build(&["a", "b"])),
                ("rustc".into(), build(&["c"])),
                ("make".into(), build(&["d"])),
            ]
        );
    }

    #[test]
    fn a_ref_asks_for_git() {
        let services = service("a", "{main: main.go}", "      ref: main\n");
        let wanted = wanted(&services);
        assert_eq!(wanted.last(), Some(&("git".into(), Need::Ask)));
    }
}
