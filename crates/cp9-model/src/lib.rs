//! The words and rules of cp9, as functions on values: names, owner, scope, the session file,
//! service graph, dev plan, lifecycle, error categories, exit codes and reports.
//! No I/O, no clock, no async.

pub mod config;
pub mod control;
pub mod devplan;
pub mod diagnostic;
pub mod digest;
pub mod exit;
pub mod explain;
pub mod facts;
pub mod generation;
pub mod graph;
pub mod host;
pub mod identity;
pub mod lifecycle;
pub mod name;
pub mod output;
pub mod reaper;
pub mod report;
pub mod scope;
pub mod substrate;
pub mod yaml;

pub use diagnostic::Diagnostic;
pub use exit::ExitCode;
pub use explain::{Category, Explain};
pub use name::{Owner, ServiceName, SessionName};
pub use scope::Scope;
