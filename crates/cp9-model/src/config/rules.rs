//! Pass 2: what a schema cannot say. Every rule adds its findings; none stops another.

mod cycles;
mod duration;
mod lists;
mod names;
mod run;
mod secrets;
mod services;
mod target;
mod trace;

pub(super) use names::KINDS;

pub(crate) use duration::seconds;

use super::check::Check;
use super::raw::Session;

/// Adds what is wrong with a session whose shape is right.
pub(crate) fn check(check: &mut Check<'_>, session: &Session) {
    names::check(check, session);
    target::check(check, session);
    services::check(check, session);
    cycles::check(check);
    run::check(check, session);
    secrets::check(check, session);
    trace::check(check, session);
    lists::check(check);
    duration::check(check, session);
}

/// True for a name that every shell and every program takes for a variable.
pub(crate) fn is_env_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
