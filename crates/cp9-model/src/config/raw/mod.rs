//! The session file as written: one type per block. The comments of these types are the
//! descriptions of the published schema. Nothing here goes further than `config`.

mod delivery;
mod place;
mod scope;
mod services;
mod session;
mod values;

pub(crate) use delivery::{AppDelivery, Terraform, Tilt, TiltMode};
pub(crate) use place::{Aws, Cloud, Controller, Host, HostMode, Target};
pub(crate) use scope::{Ci, Clouds};
pub(crate) use services::{App, Build, Live, Run, Services, Source, Stub, StubKind};
pub(crate) use session::Session;
pub(crate) use values::{Retry, Trace};
