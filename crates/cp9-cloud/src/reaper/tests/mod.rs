//! The reaper on an account in memory, which refuses deletes by rules of its own and fails at random. It stands
//! at the trait on purpose: what is tested is the driver.

mod account;
mod cases;
mod random;
