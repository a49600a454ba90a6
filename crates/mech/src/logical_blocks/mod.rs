//! Ways to take logical blocks.

mechanisms! { logical_blocks {
    vtw Vtw,
} }
