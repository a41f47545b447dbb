//! Zero values: for a list of schemas the plainest value that meets all of them. The rules build
//! candidates, the validator has the last word.

mod budget;
mod compound;
mod format;
mod number;
mod pattern;
mod search;
mod shape;
mod text;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use number::exact_i64;
pub(crate) use search::Search;
