//! What is known of a kind of object, and what a refused delete means.

use std::time::Duration;

/// What a cloud's table says about a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule<'a> {
    /// Kinds of which nothing may be left before one of this kind can go, where no description says which
    /// object uses which.
    pub after: &'a [String],
    /// How long one object may take from its first delete call until it is gone.
    pub budget: Duration,
    /// How long to wait between two looks at one that is on its way out.
    pub poll: Duration,
    /// How many of this kind may be deleted at the same time in one region.
    pub at_once: usize,
}

/// What the error of a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// There is no such thing: done.
    Gone,
    /// Something else must go first, or it is a matter of time: try again.
    Retry,
    /// Its deletion is under way already: wait.
    Wait,
    /// Too many calls: try again, and everything slower.
    Throttled,
    /// Something protects it and only a person may take that away.
    Protected,
    /// The permission is missing.
    Denied,
    /// It will never work.
    Permanent,
}
