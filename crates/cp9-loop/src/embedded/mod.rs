//! The embedded controller: one background process of a session that executes its dev plan on
//! this machine and answers on a private socket. One task owns the state of every resource and
//! hears of everything through one channel; the rules are pure steps in `builder`, `service`,
//! `probe` and `supervise`.

mod adopt;
mod armed;
mod build;
mod builder;
mod check;
mod child;
mod client;
mod core;
mod debounce;
mod echo;
mod environment;
mod execute;
mod generation;
mod holder;
mod item;
mod lay;
mod lend;
mod links;
mod message;
mod oversight;
mod plan;
mod probe;
mod product;
mod proof;
mod reload;
mod runs;
mod serve;
mod service;
mod session;
mod socket;
mod sources;
mod start;
mod status;
mod supervise;
mod timers;
mod triggers;
mod watch;
mod watched;

pub use client::{Client, StatusStream};
pub use lend::{LoanQuestion, LoanQuestions};
pub use proof::{glance, measure};
pub use serve::serve;
pub use session::SessionFolderPaths;
