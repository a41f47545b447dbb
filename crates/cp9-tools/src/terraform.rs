//! Terraform or `OpenTofu`: which one, what it is asked, what it answers. Commands are values; the answers
//! are read by pure functions from its machine-readable forms.

mod argv;
mod find;
mod ui;

pub use argv::{Place, Variables};
pub use find::{Found, MINIMA, Terraform, TerraformError};
pub use ui::{Line, Lock, Problem, parse_line};
