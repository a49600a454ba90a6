//! The page of the book that compares the preset `v100` with the reference simulator.

use super::Row;
use super::page::{rates, schedulers, summary, table};

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask accuracy` from runs of the timing model; do not edit. -->

# Accuracy of the V100

The timing model on the preset `v100`, beside GPGPU-Sim 4.2 with its configuration of the Quadro V100, PTX execution. The reference's
figures are in `tests/reference/v100`, with a description of its machine. GPGPU-Sim is a simulator too: this page says how
close we are to it.

The six kernels were held out: no value was set by looking at them. Values come from the reference's configuration. Two rules that no option
names were found afterwards. Decode takes what was fetched in the same cycle, except for the last fetch of a cycle: the `diverge_*` micro runs
and all small sizes were a cycle per redirect too slow. An input of the crossbar may send several packets in a cycle, to
different outputs: `st_stream` took 4.5 % too long. Before both, the kernels' mean was 2.4 % and their largest error 6.9 %.
";

const WHY: &str = "
## What is left

- **Many warps on one scheduler** (`f64_chain_32w`, `alu_chain_32w`, `fma_chain_32w`, `shared_conflict_*`, `matmul`). Two collector units
  serve a sub-core, and an instruction that finds none keeps those of other sub-cores that were issued after it. Which sub-core has the
  oldest instruction decides who waits, so one cycle long before changes the order. Single warps differ by less than 1 %.
- **`lrr` in `reduce` and `stencil`**: ours is 6 to 9 % faster. All warps load at the same time there, and in the reference more
  requests find their bank or their way to the L2 taken. The cause has not been found.
- The interconnect has five cycles of latency each way, where the reference has one and none, so that SMs can run apart from each other for
  five cycles. The delay before the L2 is nine cycles shorter for that.
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
    text += "\n## Micro runs\n\nEach isolates one property of the machine.\n\n";
    table(&mut text, micro);
    text + WHY
}
