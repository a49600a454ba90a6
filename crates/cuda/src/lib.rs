//! CUDA programs without the vendor's tools: everything but the library they call.
//!
//! ```text
//!  a.cu ──nvcc's options──► clang ──ptxas, fatbinary──► program with PTX in a fat binary
//!            (nvcc)        (toolkit)     (tools)              (fat_binary)
//! ```
//!
//! * [`toolkit`]: a folder that looks like a CUDA toolkit, from files that are inside the program.
//! * [`clang`]: the compiler, found on this machine, and the device library made with it.
//! * [`nvcc`]: nvcc's command line in clang's words.
//! * [`compile_options`]: the options that a program file may have.
//! * [`launches`]: launches written as nvcc takes them and clang does not.
//! * [`relocatable`]: kernels of several files that are linked together.
//! * [`tools`]: what clang calls when it compiles CUDA.
//! * [`fat_binary`]: the container in which programs carry their kernels.
//! * [`names`]: names of C++ as people write them.
//!
//! The library that programs call, `libcudart.so`, is a crate of its own.
#![forbid(unsafe_code)]

pub mod clang;
pub mod compile_options;
pub mod fat_binary;
pub mod launches;
pub mod names;
pub mod nvcc;
pub mod relocatable;
pub mod toolkit;
pub mod tools;
