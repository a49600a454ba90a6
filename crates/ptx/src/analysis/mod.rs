//! Analyses over the IR, one file each.
