//! Which operation a request is for: path templates, sorted literal before parameter.

mod percent;
mod table;
mod template;

#[cfg(test)]
mod tests;

pub(crate) use percent::percent_decode;
pub(crate) use table::{Found, Table};
pub(crate) use template::Template;
