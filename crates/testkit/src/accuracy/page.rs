//! The page of the book that compares the timing model with the reference simulator.

use super::{Difference, Row, differences, mean_and_max};
use std::fmt::Write;

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask accuracy` from runs of the timing model; do not edit. -->

# Accuracy

The timing model on the preset `gtx480`, beside GPGPU-Sim 4 with its configuration of the same GPU. The reference's
figures are in `tests/reference/gtx480`, with the kernels, their inputs and how they were measured. GPGPU-Sim is a
simulator too: this page says how close we are to it, not how close either is to a GPU.

Every run starts with cold caches, takes the registers per thread that `ptxas` gave, and its results are checked. An
error is our cycles over the reference's, less one.
";

const RATES: &str = "
## Cache misses

Misses per access in percent, and the difference in points. As the reference counts: a write to the L1D is an access and
a miss, a pending hit is an access and no miss; L2 misses are those of lines and of sectors.
";

const CALIBRATED: &str = "
## What was calibrated

Sizes, latencies and queue lengths come from the reference's configuration or its defaults; the preset says which. These
were set by looking at micro runs:

| value | seen in |
| --- | --- |
| `interconnect.latency` = 5, and with it `gpu.window` = 5 | the cycles of a step in `ld_chain_l2_1pass` and `ld_chain_l2_4pass` |
| `interconnect.speedup` = 1, where the reference's configuration says 2 | `st_stream`: ports saturate as with one queue per input and no speed-up |
| `sm.latency.f32_fma` as `mad`: 5, 1 | `fma_chain_1w` |
| `sm.latency.f64_fma` as `mad`: 8, 8 | `f64_chain_1w` |
| The order of stages: operands are collected after the load-store unit has run | the cycles of a step in `shared_chain_1w` and `ld_chain_l1_16pass` |
| A request enters the network in the cycle after the SM sends it | the cycles of a step in `ld_chain_l2_4pass` |

A value can be tried out: `cargo run --release -p raddle-benches --bin timing micro st_stream interconnect.speedup=2`.
";

const DEVIATIONS: &str = "
## Where the models are known to differ

From the reference simulator:

- **The start or the end of a launch.** Runs of a single warp end a few dozen cycles earlier here, whether they are long
  or short; the [micro runs](#micro-runs) show how many. The cause was not found.
- **Blocks start at window edges.** How much room an SM has is looked at once per window of `gpu.window` cycles. The room
  a block leaves is given away in the next window, so a block may start up to a window later than it could.
- **Back-pressure is seen a window late.** An SM knows exactly what it has sent. What the network has taken from its
  port it learns at the next window, and the network learns in the same way how many replies an SM can take.
- **The crossbar is simpler.** Each input has one queue and each output takes the waiting input next in turn. The
  reference has virtual channels and the iSLIP allocator. So speed-up has another value here, see above.
- **The scoreboard knows lanes.** A register is pending for the lanes that will write it. In the reference it is pending
  for the warp, so there the parts of a diverged warp wait for each other's results, and here they do not.
- **A warp with parts that wait** at a barrier or for other lanes of the warp goes on with its next part. The reference
  runs the top of its stack only.
- **Conflicts of wide accesses to shared memory** are counted by the first word of each lane. Accesses of 8 and 16 bytes
  take as long as those of 4.
- **Accesses through generic addresses** of which some lanes are global and some local make the requests of the global
  lanes only. Constants reached through a generic address go through the data cache.
- **Texture fetches** go through the texture cache and to memory by the line their first texel is in; texels lie
  row by row. The reference keeps fetches in order and lays textures out in tiles.

From hardware, as the reference:

- **Stale lines are never read.** Caches hold tags and no data; values come from the one memory of the program. A load
  sees a store of another SM from the next window on, even where the L1 of a GPU would return what it had.
- **Instructions are PTX instructions**, of eight bytes each. There is no machine code.
- **A register's bank** comes from its warp and the number in its name, so `%r1` and `%f1` of a warp share one.
";

/// The whole page.
#[must_use]
pub fn page(kernels: &[Row], small: &[Row], micro: &[Row]) -> String {
    let mut text = INTRODUCTION.to_owned();
    summary(&mut text, kernels, small, micro);
    text += "\n## The six kernels\n\nAt full size, with both schedulers.\n\n";
    table(&mut text, kernels);
    schedulers(&mut text, kernels);
    text += RATES;
    rates(&mut text, kernels);
    text += "\n## Smaller sizes\n\nCold, from a fraction of an SM to a full machine.\n\n";
    table(&mut text, small);
    text += "\n## Micro runs\n\nEach isolates one property of the machine.\n\n";
    constant(&mut text, micro);
    table(&mut text, micro);
    text += CALIBRATED;
    text + DEVIATIONS
}

fn summary(text: &mut String, kernels: &[Row], small: &[Row], micro: &[Row]) {
    *text += "\n| runs | number | mean absolute error | largest |\n| --- | --: | --: | --: |\n";
    for (name, rows) in [("six kernels, two schedulers", kernels), ("smaller sizes", small), ("micro runs", micro)] {
        let (mean, max) = mean_and_max(rows);
        let _ = writeln!(text, "| {name} | {} | {mean:.1} % | {max:.1} % |", rows.len());
    }
    let counted: Vec<&Row> = kernels.iter().chain(micro).collect();
    let odd: Vec<String> = counted.iter().filter(|r| !r.same_instructions()).map(|r| format!("`{}`", r.name)).collect();
    let _ = match &odd[..] {
        [] => writeln!(
            text,
            "\nWarp- and thread-instructions equal the reference's in all {} runs for which it reports them.",
            counted.len()
        ),
        _ => writeln!(
            text,
            "\nWarp- and thread-instructions equal the reference's in {} of {} runs; they differ in {}.",
            counted.len() - odd.len(),
            counted.len(),
            odd.join(", ")
        ),
    };
}

fn table(text: &mut String, rows: &[Row]) {
    *text += "| run | issue | ours | reference | cycles more | error |\n| --- | --- | --: | --: | --: | --: |\n";
    for row in rows {
        let (ours, theirs) = (row.ours.cycles, row.theirs.cycles);
        let more = ours as i64 - theirs as i64;
        let (name, scheduler, error) = (&row.name, &row.scheduler, row.error());
        let error = tenths(error);
        let _ = writeln!(text, "| {name} | {scheduler} | {ours} | {theirs} | {more} | {error} % |");
    }
}

/// With one digit, and zero without a sign.
fn tenths(value: f64) -> String {
    let text = format!("{value:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

fn schedulers(text: &mut String, rows: &[Row]) {
    let found = differences(rows);
    let relevant: Vec<&Difference> = found.iter().filter(|d| d.is_relevant()).collect();
    let agree = relevant.iter().filter(|d| d.agrees()).count();
    let limit = Difference::RELEVANT;
    let _ = writeln!(
        text,
        "\nWhat `lrr` takes more than `gto`. Where the reference sees more than {limit:.0} %, in {} kernels, the direction\n\
         is the same in {agree}.\n\n| kernel | ours | reference |\n| --- | --: | --: |",
        relevant.len()
    );
    for Difference { name, ours, theirs } in &found {
        let _ = writeln!(text, "| {name} | {} % | {} % |", tenths(*ours), tenths(*theirs));
    }
}

fn rates(text: &mut String, rows: &[Row]) {
    *text += "\n| kernel | issue | L1D ours | reference | points | L2 ours | reference | points |\n";
    *text += "| --- | --- | --: | --: | --: | --: | --: | --: |\n";
    let rate = |[accesses, misses]: [u64; 2]| 100.0 * misses as f64 / accesses.max(1) as f64;
    for row in rows {
        let [a, b, c, d] = [row.ours.l1d, row.theirs.l1d, row.ours.l2, row.theirs.l2].map(rate);
        let (name, scheduler) = (&row.name, &row.scheduler);
        let _ = writeln!(
            text,
            "| {name} | {scheduler} | {a:.1} | {b:.1} | {} | {c:.1} | {d:.1} | {} |",
            tenths(a - b),
            tenths(c - d)
        );
    }
}

/// What the reference takes more in runs of a single warp: the same in most of them.
fn constant(text: &mut String, rows: &[Row]) {
    let single = rows.iter().filter(|r| r.single_warp);
    let mut missing: Vec<i64> = single.map(|r| r.theirs.cycles as i64 - r.ours.cycles as i64).collect();
    missing.sort_unstable();
    let runs = missing.len();
    let count = |cycles: i64| missing.iter().filter(|m| **m == cycles).count();
    let Some(usual) = missing.iter().copied().max_by_key(|cycles| count(*cycles)) else { return };
    let (low, high) = (missing[0], missing[runs - 1]);
    let _ = writeln!(
        text,
        "In the {runs} runs of a single warp the reference takes {low} to {high} cycles more than we do, most often {usual} ({}\n\
         runs), however long they run.\n",
        count(usual)
    );
}
