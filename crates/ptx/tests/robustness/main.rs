//! The front end on hostile input: nothing panics, nothing hangs, and what is printed reads back as what it was.

mod exercise;
mod mutate;
mod programs;
mod round_trip;
mod scale;
mod sources;
mod trees;
