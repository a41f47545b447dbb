//! The `cp9` binary: everything lies in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    cp9::run()
}
