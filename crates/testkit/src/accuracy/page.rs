//! The page of the book that compares the timing model with the reference simulator.

use super::{Difference, Row, differences, mean_and_max};
use std::fmt::Write;

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask accuracy` from runs of the timing model; do not edit. -->

# Accuracy

This page compares the timing model, on the preset `gtx480`, with GPGPU-Sim 4 and its configuration of the same GPU. The
figures of this reference are in `tests/reference`, with the kernels, their inputs and how they were measured. GPGPU-Sim
is a simulator too: the page says how close we are to it, not how close either is to a GPU.

Every run starts with cold caches and uses as many registers per thread as the reference did; its results are checked.
An error is our cycles divided by those of the reference, minus one.
";

const HISTORY: &str = "
This page once stated 0.7 %, the error on the six kernels with which the model was calibrated. On runs that had not been
used before, the mean error was 6.7 % and the largest 54 %. The table lists the causes; each was found by changing one
thing:

| what was wrong | worst run | error before | error after |
| --- | --- | --: | --: |
| `rem` took one cycle on the SPs; it takes as long as `div` | int_div, gto | -54.3 % | -0.7 % |
| Instruction, constant and texture caches were cold in every launch, all kernels lay at one address, and the first block always went to the first SM | gaussian, gto | 36.2 % | -0.2 % |
| The arrival of a line counted as a use; only an access does | column_160, lrr | -32.5 % | 1.9 % |
| Local memory was laid out by SM; it is laid out by block place, for as many places as a grid fills | local_array, gto | 17.8 % | -0.5 % |
| `ld.volatile` bypassed the L1; it is looked up there | page-view-count, gto | -20.9 % | -2.6 % |
| A fence waited for stores and did not touch the L1D; it waits for loads and empties the L1D | stencil-sync, lrr | 8.0 % | -1.0 % |
| The side of a branch with the lower lanes ran first; it is the side that jumps | switch_diverge, lrr | -4.9 % | 0.6 % |
| Parameters were in other DRAM banks than code; they share banks with it, so rows are closed and opened | runs of one warp | 19 to 33 cycles | 0 to 3 cycles |
| Fetch began with warp 0, and schedulers took turns by the clock; fetch begins with warp 1, and schedulers take turns in cycles with a block | `diverge_2` | the order of the first issues | the same |

Stores that find their line now count as hits, as in the reference.
";

const TEXTURES: &str = "
## Textures

These kernels read textures. They did not exist when the model was made. The texture cache follows the manual and the
source of the reference. Fetches leave it in the order in which they arrived: hits and misses, of all warps of the SM. A
line counts as present from the cycle in which it is requested. Before, the model had a cache like that of constants,
and textures of several rows were stored row by row. The mean error of these runs was then 24.9 %, and the largest
88.5 %.
";

const TEXTURES_WHY: &str = "
These differences remain:

- `tex_again` and `tex_bytes`: all SMs request the same lines at the same time. The L2 accepts four requests for an
  outstanding sector and refuses the next. Which one is refused depends on which arrived a cycle earlier. With room for
  64 (`l2.mshr_merges`) in both simulators, `tex_again` differs by -1.9 % and 0.5 %.
- `tex_2d` and its variants, which count in no mean: in the reference, the blocks of a texture with several rows hold
  128 bytes but lie 64 bytes apart. They overlap, so a texture takes half the lines that it should. Here they do not
  overlap. In a copy of our model with the addresses of the reference, the numbers of accesses are exactly equal, and
  the mean error of the eight runs is 3.3 %.
";

const RATES: &str = "
## Cache misses

The table shows misses per access in percent, and the difference in percentage points. Raddle counts as the reference
does. A store to the L1D is an access, and a hit when it finds its line. A pending hit is an access and not a miss. L2
misses are those of lines and of sectors.
";

const CALIBRATED: &str = "
## What was calibrated

Sizes, latencies and queue lengths come from the configuration of the reference or from its defaults; the preset says
which. The following values were set by looking at micro runs:

| value | seen in |
| --- | --- |
| `interconnect.latency` = 5, and with it `gpu.window` = 5 | the cycles of a step in `ld_chain_l2_1pass` and `ld_chain_l2_4pass` |
| `interconnect.speedup` = 1, where the reference's configuration has 2 | `st_stream`: ports saturate as with one queue per input and no speed-up |
| `sm.latency.f32_fma` as `mad`: 5, 1 | `fma_chain_1w` |
| `sm.latency.f64_fma` as `mad`: 8, 8 | `f64_chain_1w` |
| The order of stages: operands are collected after the load-store unit has run | the cycles of a step in `shared_chain_1w` and `ld_chain_l1_16pass` |
| A request enters the network in the cycle after the SM sends it | the cycles of a step in `ld_chain_l2_4pass` |

To try another value, run `cargo run --release -p raddle-benches --bin timing micro st_stream interconnect.speedup=2`.
";

const DEVIATIONS: &str = "
## Where the models are known to differ

From the reference simulator:

- **Blocks start at window edges.** The free room of an SM is checked once per window of `gpu.window` cycles. Room that
  a block leaves is assigned in the next window, so a block may start up to a window later than it could.
- **Back-pressure is seen a window late.** An SM knows exactly what it has sent. It learns only at the next window what
  the network has accepted from its port. In the same way, the network learns how many replies an SM can accept.
- **The crossbar is simpler.** Each input has one queue, and each output serves the waiting inputs in turn. The
  reference has virtual channels and the iSLIP allocator. The speed-up of the crossbar therefore has another value here,
  see above.
- **Order within a cycle.** Two schedulers may compete in every cycle for the one place in front of the load-store unit.
  A difference of one cycle, long before, then decides which of them waits. We have found no other reason why
  `big_blocks` differs.
- **The second half of a line of constants** is fetched from memory. In the reference, its request has the address of
  the first half.
- **Splits that wait.** If a split waits at a barrier or for other lanes of its warp, the warp continues with its next
  split. The reference runs only the top of its stack.
- **Conflicts of wide accesses to shared memory** are counted by the first word of each lane. Accesses of 8 and 16 bytes
  take as long as those of 4.
- **Accesses through generic addresses.** If some lanes access global and others local memory, only the global lanes
  make requests. Constants reached through a generic address use the data cache.
- **Texture fetches** are looked up by the line of their first texel, in the texture cache and in memory, as in the
  reference. Blocks of textures with several rows do not overlap.

From hardware, like the reference:

- **Stale lines are never read.** Caches hold tags and no data; values come from the one memory of the program. A load
  sees a store of another SM from the next window on, even where the L1 of a GPU would return the old value.
- **Instructions are PTX instructions** of eight bytes each. There is no machine code.
- **The bank of a register** follows from its warp and the number in its name, so `%r1` and `%f1` of a warp share one.
";

/// Everything the page is made of.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Runs the model was not calibrated with.
    pub held: Vec<Row>,
    /// Those that were made to take causes apart.
    pub apart: Vec<Row>,
    /// Which of `held` have several launches.
    pub several: Vec<String>,
    /// Runs that read textures of one row.
    pub rows_of_texels: Vec<Row>,
    /// Runs that read textures of several.
    pub blocks_of_texels: Vec<Row>,
    /// The six kernels at full size.
    pub kernels: Vec<Row>,
    /// The same, smaller.
    pub small: Vec<Row>,
    /// Runs that isolate one property each.
    pub micro: Vec<Row>,
}

/// The whole page.
#[must_use]
pub fn page(measured: &Measured) -> String {
    let Measured { held, apart, several, rows_of_texels, blocks_of_texels, kernels, small, micro } = measured;
    let mut text = INTRODUCTION.to_owned();
    headline(&mut text, held, several);
    text += HISTORY;
    text += "\n### Runs\n\n";
    table(&mut text, held);
    text += "\n### Cache misses of these runs\n";
    rate_summary(&mut text, held);
    text += L2_WHY;
    rates(&mut text, held);
    text += "\n### Runs that isolate single causes\n\nThese runs count in no mean.\n\n";
    table(&mut text, apart);
    text += TEXTURES;
    textures(&mut text, rows_of_texels, blocks_of_texels);
    text += "\n## Kernels the model was calibrated with\n";
    summary(&mut text, kernels, small, micro);
    text += "\n## The six kernels\n\nAt full size, with both schedulers.\n\n";
    table(&mut text, kernels);
    schedulers(&mut text, kernels);
    text += RATES;
    rates(&mut text, kernels);
    text += "\n## Smaller sizes\n\nRuns with cold caches, from a fraction of an SM to a full machine.\n\n";
    table(&mut text, small);
    text += "\n## Micro runs\n\nEach run isolates one property of the machine.\n\n";
    constant(&mut text, micro);
    table(&mut text, micro);
    text += CALIBRATED;
    text + DEVIATIONS
}

/// What the page is about.
fn headline(text: &mut String, held: &[Row], several: &[String]) {
    let (mean, max) = mean_and_max(held);
    let of_several: Vec<Row> = held.iter().filter(|row| several.contains(&row.name)).cloned().collect();
    let mut errors: Vec<f64> = held.iter().map(|row| row.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let median = errors.get(errors.len() / 2).copied().unwrap_or(0.0);
    let largest = held.iter().max_by(|a, b| a.error().abs().total_cmp(&b.error().abs()));
    let largest = largest.map_or_else(String::new, |row| format!("`{}` under `{}`", row.name, row.scheduler));
    let _ = writeln!(
        text,
        "\n## Kernels the model was not calibrated on\n\n**The mean absolute error is {mean:.1} %** over {} runs. The median is {median:.1} %, the \
         largest error {max:.1} %\n({largest}). For programs with several launches the mean is {:.1} %.",
        held.len(),
        mean_and_max(&of_several).0
    );
    let odd: Vec<String> = held
        .iter()
        .filter(|row| !row.same_instructions())
        .map(|row| {
            format!(
                "- `{}` under `{}`: {:+}",
                row.name,
                row.scheduler,
                row.ours.warp_insts as i64 - row.theirs.warp_insts as i64
            )
        })
        .collect();
    let _ = writeln!(
        text,
        "\nWarp- and thread-instructions equal the reference's in {} of them. In the others, our count of warp-instructions differs by:\n\n\
         {}\n\n\
         In atom_cas and stencil-sync, which warp gets a lock or a place first decides how often others try again. In page-view-count\n\
         the reference computed something else. In octree it issues what we do, line by line. But its statistics count a load of four\n\
         registers that hits in the L1D four times; in fft they count loads of two registers twice. With that loop changed in a copy\n\
         of the reference, the counts of octree are equal.",
        held.len() - odd.len(),
        odd.join("\n")
    );
}

/// Runs that read textures; only those of one row count.
fn textures(text: &mut String, rows: &[Row], blocks: &[Row]) {
    let (mean, max) = mean_and_max(rows);
    let _ = writeln!(text, "\nNow the mean error of {} runs is {mean:.1} %, and the largest {max:.1} %.\n", rows.len());
    *text += "| run | issue | ours | reference | cycles more | error | misses of the L1T | reference |\n";
    *text += "| --- | --- | --: | --: | --: | --: | --: | --: |\n";
    for row in rows.iter().chain(blocks) {
        let (ours, theirs) = (&row.ours, &row.theirs);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} % | {} of {} | {} of {} |",
            row.name,
            row.scheduler,
            ours.cycles,
            theirs.cycles,
            ours.cycles as i64 - theirs.cycles as i64,
            tenths(row.error()),
            ours.l1t[1],
            ours.l1t[0],
            theirs.l1t[1],
            theirs.l1t[0]
        );
    }
    *text += TEXTURES_WHY;
}

/// Mean and largest difference of miss rates.
fn rate_summary(text: &mut String, rows: &[Row]) {
    let points = |of: fn(&Row) -> [[u64; 2]; 2]| {
        let points = rows.iter().map(|row| {
            let [ours, theirs] = of(row).map(rate);
            (ours - theirs).abs()
        });
        (points.clone().sum::<f64>() / rows.len().max(1) as f64, points.fold(0.0, f64::max))
    };
    let (l1d, l2) = (points(|row| [row.ours.l1d, row.theirs.l1d]), points(|row| [row.ours.l2, row.theirs.l2]));
    let _ = writeln!(
        text,
        "\nMiss rates of the L1D differ by {:.1} points on average and by {:.1} at most, those of the L2 by {:.1} and {:.1}.",
        l1d.0, l1d.1, l2.0, l2.1
    );
}

const L2_WHY: &str = "
Where the L2 differs, the reference does one of three things that we do not copy. We changed them in a copy of the
reference, one at a time and together. With all three changed, backprop, hotspot, octree and local_array have exactly
our misses and our DRAM reads:

- A store to the upper half of a line is filed under the next line (backprop, hotspot, octree, local_array). Its address
  counts from the half and not from the line.
- A line that the L1D writes back goes to the partition of the access that needed the room (local_array).
- A vector store counts as if it wrote only its first register, so the sector is fetched when it is read (octree).
";

/// Misses per access, in percent.
fn rate([accesses, misses]: [u64; 2]) -> f64 {
    100.0 * misses as f64 / accesses.max(1) as f64
}

pub(super) fn summary(text: &mut String, kernels: &[Row], small: &[Row], micro: &[Row]) {
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

pub(super) fn table(text: &mut String, rows: &[Row]) {
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

pub(super) fn schedulers(text: &mut String, rows: &[Row]) {
    let found = differences(rows);
    let relevant: Vec<&Difference> = found.iter().filter(|d| d.is_relevant()).collect();
    let agree = relevant.iter().filter(|d| d.agrees()).count();
    let limit = Difference::RELEVANT;
    let _ = writeln!(
        text,
        "\nThe table shows how many more cycles `lrr` takes than `gto`. Where they differ by more than {limit:.0} % in the reference,\n\
         in {} kernels, the direction is the same in {agree}.\n\n| kernel | ours | reference |\n| --- | --: | --: |",
        relevant.len()
    );
    for Difference { name, ours, theirs } in &found {
        let _ = writeln!(text, "| {name} | {} % | {} % |", tenths(*ours), tenths(*theirs));
    }
}

pub(super) fn rates(text: &mut String, rows: &[Row]) {
    *text += "\n| kernel | issue | L1D ours | reference | points | L2 ours | reference | points |\n";
    *text += "| --- | --- | --: | --: | --: | --: | --: | --: |\n";
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
        "In the {runs} runs of a single warp, the reference takes {low} to {high} cycles more than we do, however long they run. The most\n\
         frequent value is {usual}, in {} runs.\n",
        count(usual)
    );
}
