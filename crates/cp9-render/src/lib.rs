//! Values in, file trees out, byte-stable: reading Argo CD applications, the translation of their
//! manifests into processes, the generated patch layer, the context report and the dev plan.
//! No I/O, no clock, no async.

pub mod argo;
pub mod devplan;
pub mod envfile;
pub mod graph;
mod manifest;
mod merge;
mod nearest;
mod overrides;
mod problem;
pub mod process;
pub mod substrate;
mod tree;

pub use argo::ServiceInput;
pub use manifest::Manifest;
pub use overrides::{AppliedOverride, PatchKind};
pub use problem::{CODES, place_in};
pub use process::{Rendered, ports_wanted};
pub use tree::{AppTree, FileTree};
