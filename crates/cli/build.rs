//! Puts `libcudart.so` into the program, if it is named: releases are one file.

use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-env-changed=RADDLE_EMBED_CUDART");
    let text = match std::env::var("RADDLE_EMBED_CUDART") {
        Ok(path) => {
            println!("cargo:rerun-if-changed={path}");
            format!("Some(include_bytes!({path:?}))\n")
        }
        Err(_) => "None\n".to_owned(),
    };
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it")).join("embedded.rs");
    std::fs::write(out, text).expect("the folder of the build can be written");
}
