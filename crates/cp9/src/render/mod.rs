//! Reports as text for people: one file per report. Values in, text out.

pub(crate) mod deploy;
pub(crate) mod destroy;
pub(crate) mod doctor;
pub(crate) mod logs;
pub(crate) mod pause;
pub(crate) mod services;
pub(crate) mod setup;
pub(crate) mod states;
pub(crate) mod status;
pub(crate) mod stub;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod up;

#[cfg(test)]
mod tests;
