//! A device that programs use, and launch lists: which kernels run, on which buffers, and what must come out.
//!
//! ```text
//!  launch file (TOML) ──┐
//!                       ├──► Plan ──► Session: allocate, fill, launch in order, compare, write files
//!  command line --arg ──┘                │
//!                                        ▼
//!  programs with host code ──────────► Device: memory, variables, launches
//!                                        └──► engine, timing: the one place that calls the executors
//! ```
//!
//! * [`plan`]: what is to be done, wherever it was written down.
//! * [`file`](mod@file), [`arg`]: the two notations, a TOML file and the arguments of the command line.
//! * [`element`], [`fill`], [`npy`], [`data`]: values, contents of buffers and files of them.
//! * [`params`]: the arguments of a launch against the parameters the kernel declares.
//! * [`session`]: running a plan.
//! * [`device`], [`value`]: the device, and the types of Rust it takes; [`ptx_file`]: the module it loads.
//! * [`texture`]: textures that programs bind.
//! * [`virtual_blocks`]: launches of kernels that loop over logical blocks.
//! * [`engine`], [`timing`]: the executors under one name each, and the timing model.
//! * [`checkpoint`]: going on where a run was stopped.
//! * [`sample`](mod@sample): a part of a run in time, and what that says of the whole.
//! * [`numbers`]: numbers as people read them.
//! * [`outcome`]: what a run did; [`stats_table`]: its counters as a table; [`measure`]: how its warps waited;
//!   [`issue_record`]: what lanes did; [`access_record`]: what they asked memory for; [`profile`]: what is charged to source
//!   lines; [`advice`]: what slows a kernel down.
//!
//! Nothing here prints. What the user got wrong is an [`Error`] that knows its place in the launch
//! file, where there is one.
#![forbid(unsafe_code)]

pub mod access_record;
pub mod advice;
pub mod arg;
pub mod checkpoint;
pub mod compare;
pub mod condition;
pub mod data;
pub mod device;
pub mod element;
pub mod engine;
pub mod error;
pub mod file;
pub mod fill;
pub mod gang_record;
pub mod input;
pub mod issue_record;
pub mod measure;
pub mod npy;
pub mod numbers;
pub mod origin;
pub mod outcome;
pub mod params;
pub mod plan;
pub mod profile;
pub mod ptx_file;
pub mod sample;
pub mod session;
pub mod stats_table;
pub mod texture;
pub mod timing;
pub mod trace;
pub mod value;
pub mod virtual_blocks;

pub use device::{Device, Setup};
pub use element::Element;
pub use engine::{Engine, EngineOptions};
pub use error::{Error, Problem};
pub use outcome::Outcome;
pub use plan::Plan;
pub use ptx_file::PtxFile;
pub use session::Session;
