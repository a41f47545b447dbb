//! Checkouts: there, at the ref that the session file asks for, and what is uncommitted in them.

use camino::{Utf8Path, Utf8PathBuf};
use cp9_model::config::resolved::ResolvedConfig;
use cp9_model::report::doctor::Finding;
use cp9_tools::Doors;
use cp9_tools::git::Checkout;
use tokio::task::JoinSet;

use super::context::Context;
use super::sheet::Gathered;
use crate::commands::quote;

/// The check's name.
pub(super) const CHECK: &str = "sources";
/// More changed files than this are only counted.
const MOST_DIGESTED: usize = 1000;
/// How much of a commit or digest people are shown.
const SHORT: usize = 12;

/// A folder that the session reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The service, or `appDelivery`.
    what: String,
    folder: Utf8PathBuf,
    wanted: Option<String>,
    exists: bool,
    /// `build.main`, if it is missing.
    missing: Option<Utf8PathBuf>,
    version: Versioned,
}

/// What git says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Versioned {
    /// It lies in no checkout.
    No,
    /// Git could not be asked, and why; nothing where there is no git.
    Unknown(Option<String>),
    /// What it is at.
    At {
        checkout: Checkout,
        /// The commit of the wanted ref, if the checkout knows it.
        wanted: Option<String>,
        /// What tells the uncommitted state from another one.
        digest: Option<String>,
    },
}

/// Looks at every folder at once.
pub(super) async fn gather(context: &Context<'_>) -> Gathered<Vec<Place>> {
    let config = context.needs_config()?;
    let mut asked = JoinSet::new();
    for (order, mut place) in places(&context.engine.doors, config)
        .into_iter()
        .enumerate()
    {
        let doors = context.engine.doors.clone();
        asked.spawn(async move {
            if place.exists {
                place.version = version(&doors, &place).await;
            }
            (order, place)
        });
    }
    let mut places = asked.join_all().await;
    places.sort_by_key(|(order, _)| *order);
    if places.is_empty() {
        return Err("the session file names no checkout".to_owned());
    }
    Ok(places.into_iter().map(|(_, place)| place).collect())
}

fn places(doors: &Doors, config: &ResolvedConfig) -> Vec<Place> {
    let place = |what: &str, repo: &str, git_ref: &Option<String>, main: Option<&str>| {
        let folder = Utf8PathBuf::from(repo);
        let exists = doors.exists(&folder);
        let main = main.map(|main| folder.join(main));
        Place {
            what: what.to_owned(),
            wanted: git_ref.clone(),
            missing: main.filter(|main| exists && !doors.exists(main)),
            exists,
            folder,
            version: Versioned::No,
        }
    };
    let delivery = config.app_delivery.iter();
    let delivery = delivery.map(|it| place("appDelivery", &it.repo, &it.git_ref, None));
    let source = config.services.source.iter().map(|(name, it)| {
        let main = it.build.main.as_deref();
        place(name.as_str(), &it.repo, &it.git_ref, main)
    });
    // What is not a local folder is cloned into the session.
    let local = |place: &Place| place.folder.is_absolute();
    delivery.chain(source).filter(local).collect()
}

async fn version(doors: &Doors, place: &Place) -> Versioned {
    let folder: &Utf8Path = &place.folder;
    let Some(root) = doors.checkout_root(folder) else {
        return Versioned::No;
    };
    if doors.which("git").is_none() {
        return Versioned::Unknown(None);
    }
    match ask(doors, folder, &root, place.wanted.as_deref()).await {
        Ok(at) => at,
        Err(error) => {
            let last = error.last_lines().last().cloned();
            Versioned::Unknown(Some(last.unwrap_or_else(|| error.to_string())))
        }
    }
}

async fn ask(
    doors: &Doors,
    folder: &Utf8Path,
    root: &Utf8Path,
    wanted: Option<&str>,
) -> Result<Versioned, cp9_tools::ProgramError> {
    let checkout = doors.checkout(folder).await?;
    let wanted = match wanted {
        Some(git_ref) => doors.commit_of(folder, git_ref).await?,
        None => None,
    };
    let countable = (1..=MOST_DIGESTED).contains(&checkout.changed.len());
    Ok(Versioned::At {
        digest: countable.then(|| doors.dirty_digest(root, &checkout.changed)),
        checkout,
        wanted,
    })
}

/// Judges the folders.
pub(super) fn judge(places: &[Place]) -> Vec<Finding> {
    places.iter().flat_map(one).collect()
}

fn one(place: &Place) -> Vec<Finding> {
    let folder = &place.folder;
    if !place.exists {
        let text = format!("folder `{folder}` of `{}` does not exist", place.what);
        let missing = Finding::error(CHECK, "source-missing", text).about(&place.what);
        return vec![missing.remedy("mend the path; it is relative to the session file")];
    }
    let mut findings = Vec::new();
    if let Some(main) = &place.missing {
        let text = format!(
            "file `{main}`, the `build.main` of `{}`, does not exist",
            place.what
        );
        let missing = Finding::error(CHECK, "main-missing", text).about(&place.what);
        findings.push(missing.remedy("mend `build.main`; it is relative to `repo`"));
    }
    findings.extend(versioned(place));
    findings
}

fn versioned(place: &Place) -> Vec<Finding> {
    let (what, folder) = (&place.what, &place.folder);
    let finding = match (&place.version, &place.wanted) {
        (Versioned::No, Some(git_ref)) => {
            let text = format!("`{what}` asks for `{git_ref}`, and `{folder}` is no git checkout");
            Finding::warning(CHECK, "source-unversioned", text)
                .remedy("name the checkout, or remove `ref`")
        }
        (Versioned::No, None) => {
            let text = format!("`{folder}` is no git checkout and asks for no ref");
            Finding::ok(CHECK, "source-unversioned", text)
        }
        // The check of the programs tells that git is missing.
        (Versioned::Unknown(None), _) => {
            Finding::ok(CHECK, "source-unknown", "without git nobody can tell")
        }
        (Versioned::Unknown(Some(why)), _) => {
            let text = format!("git does not tell what `{folder}` is at: {why}");
            Finding::warning(CHECK, "source-unknown", text).remedy(format!(
                "see what `git -C {} status` says",
                quote(folder.as_str())
            ))
        }
        (
            Versioned::At {
                checkout,
                wanted,
                digest,
            },
            git_ref,
        ) => {
            let at = git_ref
                .as_deref()
                .map(|git_ref| at_ref(place, checkout, git_ref, wanted.as_deref()));
            let dirty =
                (!checkout.changed.is_empty()).then(|| dirty(place, checkout, digest.as_deref()));
            let clean = || at_commit(place, checkout);
            let found = at.into_iter().chain(dirty).collect::<Vec<_>>();
            return if found.is_empty() {
                vec![clean()]
            } else {
                found
            };
        }
    };
    vec![finding.about(what)]
}

fn at_ref(place: &Place, checkout: &Checkout, git_ref: &str, wanted: Option<&str>) -> Finding {
    let (what, folder) = (&place.what, &place.folder);
    let head = checkout.commit.as_deref().unwrap_or("no commit");
    let finding = match wanted {
        None => {
            let text = format!("the checkout of `{what}` does not know `{git_ref}`");
            Finding::warning(CHECK, "source-ref-unknown", text).remedy(format!(
                "`git -C {} fetch`, or mend `ref`",
                quote(folder.as_str())
            ))
        }
        Some(wanted) if Some(wanted) == checkout.commit.as_deref() => {
            let text = format!("`{what}` is at `{git_ref}` ({})", short(head));
            Finding::ok(CHECK, "source-at-ref", text)
        }
        Some(wanted) => {
            let text = format!(
                "`{what}` is at {}, not at `{git_ref}` ({}); it is built as it stands",
                position(checkout),
                short(wanted)
            );
            Finding::warning(CHECK, "source-not-at-ref", text).remedy(format!(
                "`git -C {} checkout {}`, or mend `ref`",
                quote(folder.as_str()),
                quote(git_ref)
            ))
        }
    };
    finding.about(what)
}

fn position(checkout: &Checkout) -> String {
    let commit = checkout.commit.as_deref().map_or("no commit", short);
    match &checkout.branch {
        Some(branch) => format!("`{branch}` ({commit})"),
        None => commit.to_owned(),
    }
}

fn dirty(place: &Place, checkout: &Checkout, digest: Option<&str>) -> Finding {
    let files = match checkout.changed.len() {
        1 => "1 uncommitted file".to_owned(),
        count => format!("{count} uncommitted files"),
    };
    let digest = digest
        .map(|digest| format!(", digest {}", short(digest)))
        .unwrap_or_default();
    let text = format!(
        "`{}` has {files} on {}{digest}",
        place.what,
        position(checkout)
    );
    Finding::shown(CHECK, "source-dirty", text).about(&place.what)
}

fn at_commit(place: &Place, checkout: &Checkout) -> Finding {
    let text = format!(
        "`{}` is at {}, all committed",
        place.what,
        position(checkout)
    );
    Finding::ok(CHECK, "source-clean", text).about(&place.what)
}

fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cp9_model::report::doctor::Severity;

    fn place(wanted: Option<&str>, version: Versioned) -> Place {
        Place {
            what: "api".into(),
            folder: "/w/api".into(),
            wanted: wanted.map(str::to_owned),
            exists: true,
            missing: None,
            version,
        }
    }

    fn at(commit: &str, changed: &[&str], wanted: Option<&str>) -> Versioned {
        Versioned::At {
            checkout: Checkout {
                commit: Some(commit.into()),
                branch: Some("main".into()),
                changed: changed.iter().map(|name| (*name).into()).collect(),
            },
            wanted: wanted.map(str::to_owned),
            digest: (!changed.is_empty()).then(|| "d1".into()),
        }
    }

    fn ids(place: Place) -> Vec<(String, Severity, bool)> {
        let found = judge(&[place]).into_iter();
        found.map(|f| (f.id, f.severity, f.shown)).collect()
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let mut gone = place(None, Versioned::No);
        gone.exists = false;
        assert_eq!(
            ids(gone),
            [("source-missing".into(), Severity::Error, false)]
        );
        let mut main = place(None, Versioned::No);
        main.missing = Some("/w/api/main.go".into());
        assert_eq!(
            ids(main)[0],
            ("main-missing".into(), Severity::Error, false)
        );
    }

    #[test]
    fn a_head_that_is_not_at_the_ref_is_a_warning() {
        let other = ids(place(Some("v1"), at("aaa", &[], Some("bbb"))));
        assert_eq!(
            other,
            [("source-not-at-ref".into(), Severity::Warning, false)]
        );
        let same = ids(place(Some("v1"), at("aaa", &[], Some("aaa"))));
        assert_eq!(same, [("source-at-ref".into(), Severity::Ok, false)]);
        let unknown = ids(place(Some("v1"), at("aaa", &[], None)));
        assert_eq!(
            unknown,
            [("source-ref-unknown".into(), Severity::Warning, false)]
        );
        let none = ids(place(Some("v1"), Versioned::No));
        assert_eq!(
            none,
            [("source-unversioned".into(), Severity::Warning, false)]
        );
    }

    #[test]
    fn uncommitted_files_are_shown_with_their_digest() {
        let found = judge(&[place(Some("v1"), at("aaa", &["x", "y"], Some("aaa")))]);
        assert_eq!(
            found[1].finding,
            "`api` has 2 uncommitted files on `main` (aaa), digest d1"
        );
        assert!(found[1].shown && found[1].severity == Severity::Ok);
        let clean = ids(place(None, at("aaa", &[], None)));
        assert_eq!(clean, [("source-clean".into(), Severity::Ok, false)]);
    }

    #[test]
    fn git_that_is_missing_is_told_once_and_git_that_fails_here() {
        let missing = ids(place(None, Versioned::Unknown(None)));
        assert_eq!(missing[0].1, Severity::Ok);
        let failed = ids(place(
            None,
            Versioned::Unknown(Some("dubious ownership".into())),
        ));
        assert_eq!(
            failed,
            [("source-unknown".into(), Severity::Warning, false)]
        );
    }
}
