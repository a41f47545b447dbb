//! Logs of a session: children write raw files, the controller indexes them line by line, and
//! readers merge the index with whatever raw lines it does not hold yet.

mod archive;
mod index;
mod mask;
mod parse;
mod query;
mod raw;
mod record;
mod trace;

pub(crate) use index::Indexer;
pub use parse::Level;
pub(crate) use raw::ends_unfinished;
pub(crate) use record::clean;

pub use query::{LogsError, Query, follow, read};
pub use trace::{NoTraceId, TraceId};
