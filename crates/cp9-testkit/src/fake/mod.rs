//! A program that plays a script in the place of a real one: it answers the calls that the script
//! expects, records every call, and fails at any other.
//!
//! The script `<name>.script.json` lies beside the program, under whose name it is linked or
//! copied, and the record `<name>.calls.jsonl` goes there too; so no environment variable has to
//! reach it.

mod play;
mod script;

pub use play::{Call, main, play};
pub(crate) use play::{calls_path, load_calls, load_script, script_path};
pub use script::{Line, Script, matches};

/// The exit code of a call that the script does not expect.
pub const UNSCRIPTED: u8 = 97;
