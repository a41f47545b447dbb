//! A stub server made from a contract at run time: OpenAPI 3.0 in, schema-valid zero values out;
//! recorders and a permissive server besides. It stands outside of cp9's doors because it is a
//! service of its own, so it reads its definition, the time and its port by itself.

mod answer;
mod clock;
mod config;
mod contract;
mod dispatch;
mod error;
mod log;
mod reason;
mod record;
mod route;
mod schema;
mod server;
mod trace;
mod zero;

pub use config::{Config, Kind};
pub use contract::{OperationFacts, Refusal, Survey, survey};
pub use error::StubError;
pub use log::Log;
pub use record::Hide;
pub use server::{Stub, serve};
