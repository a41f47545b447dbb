//! `owner_identity_ready`: who the session belongs to. On AWS it is who the credentials prove. On the `local`
//! cloud there is no principal: the owner is `CP9_OWNER`, else what the session already has, else the word
//! `local`; it proves nobody.

use cp9_cloud::aws;
use cp9_model::lifecycle::Event;
use cp9_model::{Category, Explain, Owner};
use thiserror::Error;

use crate::error::EngineError;
use crate::identity::{self, ENV_CLAIM};
use crate::profile;
use crate::run::{Ran, Run};

/// The owner changed while the session lives.
#[derive(Debug, Error)]
#[error("session `{session}` belongs to `{has}`, not to `{wants}`")]
struct OwnerChanged {
    session: String,
    has: Owner,
    wants: Owner,
    /// True where a cloud says who wants it.
    proven: bool,
}

impl Explain for OwnerChanged {
    fn category(&self) -> Category {
        Category::Config
    }
    fn code(&self) -> &'static str {
        "owner-changed"
    }
    fn remedy(&self) -> Option<String> {
        Some(if self.proven {
            format!(
                "sign in as `{}`, or choose another `name` in a folder of your own",
                self.has
            )
        } else {
            format!(
                "set CP9_OWNER={}, or run `cp9 destroy --session {}` first",
                self.has, self.session
            )
        })
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
            proven: false,
        }
        .into()),
        (Some(owner), _) => Ok(owner),
        (None, Some(has)) => Ok(has.clone()),
        (None, None) => Ok(Owner::new(Owner::LOCAL)),
    }
}

pub(crate) fn input(run: &Run<'_>) -> String {
    super::digest(&(
        &run.config.target,
        &run.config.ci,
        run.engine.doors.env.get(ENV_CLAIM),
    ))
}

pub(crate) async fn run(run: &mut Run<'_>) -> Result<Ran, EngineError> {
    let (owner, evidence) = match identity::question(run.engine, &run.config) {
        Some((client, wishes)) => {
            profile::refuse_own(run.engine, &run.session.folder)?;
            let known = Box::pin(aws::identify(client, &wishes)).await?;
            let has = run.session.state.owner.as_ref();
            refuse_other(&run.session.folder.name, has, &known.owner)?;
            let evidence = format!("owner {}, proven by {}", known.owner, known.principal);
            let owner = known.owner.clone();
            run.made.identified = Some(known);
            (owner, evidence)
        }
        None => on_this_machine(run)?,
    };
    run.session.event(Event::Owned {
        owner: owner.clone(),
    })?;
    run.made.owner = Some(owner);
    Ok(Ran::with(evidence))
}

fn on_this_machine(run: &Run<'_>) -> Result<(Owner, String), EngineError> {
    let asked = run.engine.doors.env.get(ENV_CLAIM);
    let has = run.session.state.owner.as_ref();
    let owner = decide(asked, has, &run.session.folder.name)?;
    let evidence = format!("owner {owner}, on this machine alone");
    Ok((owner, evidence))
}

/// What a session has begun as one owner's, no other may go on with.
pub(crate) fn refuse_other(
    session: &str,
    has: Option<&Owner>,
    proven: &Owner,
) -> Result<(), EngineError> {
    match has {
        Some(has) if has != proven => Err(OwnerChanged {
            session: session.into(),
            has: has.clone(),
            wants: proven.clone(),
            proven: true,
        }
        .into()),
        _ => Ok(()),
    }
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
