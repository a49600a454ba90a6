//! Tests of the crate as its users see it.

mod early_exit;
mod forms;
mod gtx480;
mod stretches;
