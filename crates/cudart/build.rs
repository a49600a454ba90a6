//! How the library is linked.

fn main() {
    // What a program has closed may still be called when the program ends, and the addresses that it keeps stay its own.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rerun-if-changed=build.rs");
}
