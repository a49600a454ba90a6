//! The command `raddle`.
fn main() {}
