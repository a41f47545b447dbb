//! The stub as its clients see it: over HTTP, in this process or in one that is killed.

#![expect(
    clippy::disallowed_methods,
    reason = "tests write definitions and start the program"
)]

mod client;
mod corpus;
mod hostile;
mod independent;
mod process;
mod recorder;
mod serving;
