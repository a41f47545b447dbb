//! What AWS has: a table of its types as data, and the functions that read it. Nothing is asked here: rows
//! become calls, answers become objects, errors get their meaning.

mod arn;
mod class;
mod fill;
mod item;
mod read;
mod row;
mod step;
mod table;

#[cfg(test)]
mod lint_tests;
#[cfg(test)]
mod sample_tests;

pub use arn::{ArnPattern, Parts};
pub use class::{blocker, class_of, permission};
pub use fill::{Filling, call_of, paging};
pub use item::{Shown, items, show, tags};
pub use read::TableError;
pub use row::{
    Ask, BlockedBy, Container, Errors, Find, Is, Mark, OneOrMany, Row, Scope, Service, TagSource,
    Wire,
};
pub use step::{Ends, Other, Procedure, Step};
pub use table::{Place, Table, Type};
