//! What the tests of the command line stand on: a private place to run `cp9` in, scripted programs
//! in place of real ones, and outputs with everything accidental taken out.
//! Reports by panic; a developer's crate, never shipped.

#![expect(
    clippy::disallowed_methods,
    reason = "the doors are for the product, and this stands outside of it"
)]
#![expect(
    clippy::missing_panics_doc,
    reason = "a failed expectation is a panic, everywhere here"
)]

pub mod artefacts;
pub mod aws;
pub mod fake;
pub mod http;
pub mod leftovers;
pub mod normalise;
pub mod run;
pub mod sandbox;
pub mod skip;
pub mod wait;

mod capture;

pub use artefacts::{artefacts, assert_same};
pub use http::{HttpReply, http, http_get, http_post};
pub use leftovers::{Leftover, leftovers};
pub use nix::sys::signal::Signal;
pub use normalise::Normaliser;
pub use run::{Background, Invocation, Run};
pub use sandbox::Sandbox;
pub use skip::skip;
pub use wait::wait_until;
