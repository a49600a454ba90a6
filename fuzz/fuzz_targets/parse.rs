//! Any bytes through the whole front end: lexer, parser, printer, resolver, checker and analyses.
#![no_main]

#[path = "../../crates/ptx/tests/robustness/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| exercise::exercise(&String::from_utf8_lossy(bytes)));
