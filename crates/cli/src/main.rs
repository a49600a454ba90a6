//! The command `raddle`, with the mechanisms that come with it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_cli::main_with(raddle_mech::registry())
}
