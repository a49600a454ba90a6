//! `libcudart.so`: the CUDA runtime, with a simulated GPU behind it.
//!
//! ```text
//!  host code of a program ──calls──► runtime/: one file for each part of the API
//!                                        │
//!                                        ▼
//!                                    Context: device, launches, handles ──► raddle_runtime::Device
//! ```
//!
//! Everything happens in the program's process and at once: a launch returns when the kernel has ended. Streams, events
//! and asynchronous copies are then trivially in order; time is that of the simulated GPU, which moves when kernels run.
//!
//! * `abi`: what C hands over, and the only places where its pointers are followed.
//! * `context`: the state of the process; `registered`: what programs announce before `main`.
//! * `addresses`: ranges that are kept free of the program's own memory; `mappings`: what the process has where.
//! * `host_memory`: memory that host code and kernels share; `managed`: variables of that kind.
//! * `names`: functions that are others under another name, or do nothing.
//! * `runtime`: the functions, whose names are those of the documentation; `driver`: those of `libcuda.so`.
//!
//! `unsafe` is here because the interface is one of C: functions are exported by name, and pointers come from outside.
#![allow(non_snake_case, non_camel_case_types, reason = "names are given by the interface")]

mod abi;
mod addresses;
mod context;
mod driver;
mod error;
mod host_memory;
mod managed;
mod mappings;
mod names;
mod registered;
mod runtime;
