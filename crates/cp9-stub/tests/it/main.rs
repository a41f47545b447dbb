//! The stub as its clients see it: over HTTP, in this process or in one that is killed.

mod client;
mod corpus;
mod independent;
