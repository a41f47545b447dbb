//! The scripted program itself, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    cp9_testkit::fake::main()
}
