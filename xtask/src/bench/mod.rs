//! `cargo xtask bench`: the figures that cp9 promises, measured on the release build.

mod edit;
mod figure;
mod http;
mod idle;
mod measure;
mod sandbox;

pub(crate) use measure::run;
