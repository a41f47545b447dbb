//! `owner_identity_ready`: who the session belongs to. On the `local` cloud there is no principal: the
//! owner is `CP9_OWNER`, else what the session already has, else the word `local`; it proves nobody.

use cp9_model::config::resolved::CloudName;
use cp9_model::lifecycle::Event;
use cp9_model::{Category, Explain, Owner};
use thiserror::Error;

use crate::error::EngineError;
use crate::run::{Ran, Run};

/// The owner changed while the session lives.
#[derive(Debug, Error)]
#[error("session `{session}` belongs to `{has}`, not to `{wants}`")]
struct OwnerChanged {
    session: String,
    has: Owner,
    wants: Owner,
}

impl Explain for OwnerChanged {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "owner-changed"
    }
    fn remedy(&self) -> Option<String> {
        Some(format!(
            "set CP9_OWNER={}, or run `cp9 destroy --session {}` first",
            self.has, self.session
        ))
    }
}

/// The owner of a session on this machine.
fn decide(asked: Option<&str>, has: Option<&Owner>, session: &str) -> Result<Owner, EngineError> {
    let asked = asked
        .map(Owner::new)
        .filter(|owner| !owner.as_str().is_empty());
    match (asked, has) {
        (Some(wants), Some(has)) if wants != *has => Err(OwnerChanged {
            session: session.into(),
            has: has.clone(),
            wants,
        }
        .into()),
        (Some(owner), _) => Ok(owner),
        (None, Some(has)) => Ok(has.clone()),
        (None, None) => Ok(Owner::new(Owner::LOCAL)),
    }
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        run.config.target.cloud == CloudName::Local,
        run.engine.doors.env.get("CP9_OWNER"),
    ))
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let asked = run.engine.doors.env.get("CP9_OWNER");
    let owner = decide(
        asked,
        run.session.state.owner.as_ref(),
        &run.session.folder.name,
    )?;
    run.session.event(Event::Owned {
        owner: owner.clone(),
    })?;
    let evidence = format!("owner {owner}, on this machine alone");
    run.made.owner = Some(owner);
    Ok(Ran::with(evidence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_asked_kept_or_local() {
        let alice = Owner::new("alice@example.com");
        assert_eq!(decide(None, None, "s").expect("local").as_str(), "local");
        assert_eq!(
            decide(Some("Alice@Example.com"), None, "s").expect("asked"),
            alice
        );
        assert_eq!(decide(None, Some(&alice), "s").expect("kept"), alice);
        assert_eq!(
            decide(Some(""), Some(&alice), "s").expect("empty is unset"),
            alice
        );
        let err = decide(Some("bob"), Some(&alice), "s").expect_err("changed");
        assert_eq!(
            err.source.to_string(),
            "session `s` belongs to `alice@example.com`, not to `bob`"
        );
    }
}
