//! The page of the book that compares the preset `v100` with the reference simulator.

use super::Row;
use super::page::{rates, schedulers, summary, table};

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask accuracy` from runs of the timing model; do not edit. -->

# Accuracy of the V100

This page compares the timing model, on the preset `v100`, with GPGPU-Sim 4.2 and its configuration of the Quadro V100,
in PTX execution. The figures of this reference are in `tests/reference/v100`, with a description of its machine.
GPGPU-Sim is a simulator too: the page says how close we are to it.

The six kernels were held out: no value was set by looking at them. Values come from the configuration of the reference.
Two rules for which it has no option were found afterwards:

- Decode accepts what was fetched in the same cycle, except for the last fetch of a cycle. Without this rule, the
  `diverge_*` micro runs and all small sizes took a cycle per redirect too long.
- An input of the crossbar may send several packets in a cycle, to different outputs. Without this rule, `st_stream`
  took 4.5 % too long.

Before both, the mean error of the kernels was 2.4 % and their largest error 6.9 %.
";

const WHY: &str = "
## What differs

- **Many warps on one scheduler** (`f64_chain_32w`, `alu_chain_32w`, `fma_chain_32w`, `shared_conflict_*`, `matmul`).
  Two collector units serve a sub-core. An instruction that finds none free holds up instructions of other sub-cores
  that issued after it. The sub-core with the oldest instruction decides who waits, so a difference of one cycle, long
  before, changes the order. Runs of single warps differ by less than 1 %.
- **`lrr` in `reduce` and `stencil`.** Our runs are 6 to 9 % faster. All warps load at the same time there. In the
  reference, more requests find their bank or their path to the L2 busy. The cause has not been found.
- **The interconnect** has five cycles of latency each way, where the reference has one and none. SMs can therefore run
  independently for five cycles. In return, the delay before the L2 is nine cycles shorter.
";

/// The whole page.
#[must_use]
pub fn v100_page(kernels: &[Row], small: &[Row], micro: &[Row]) -> String {
    let mut text = INTRODUCTION.to_owned();
    summary(&mut text, kernels, small, micro);
    text += "\n## The six kernels\n\nAt full size, with both schedulers.\n\n";
    table(&mut text, kernels);
    schedulers(&mut text, kernels);
    text += "\n## Cache misses\n\nMisses per access in percent. Accesses are sectors of 32 bytes.\n";
    rates(&mut text, kernels);
    text += "\n## Smaller sizes\n\n";
    table(&mut text, small);
    text += "\n## Micro runs\n\nEach run isolates one property of the machine.\n\n";
    table(&mut text, micro);
    text + WHY
}
