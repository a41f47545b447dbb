//! The session file and YAML, from the outside: golden diagnostics, hostile input, properties.

mod bad;
mod env_files;
mod good;
mod hostile;
mod schemas;
mod spans;
