//! Samples of a magnetic resonance image onto a grid.

use crate::prelude::*;
use raddle_runtime::device::Buffer;

const BLOCK: usize = 512;
const BIN: usize = 4;
const RADIX: usize = 16;
const TILE: (usize, usize) = (32, 16);
const WINDOW: usize = 128;
const HALF_WIDTH: f64 = 2.0;

pub fn run(run: &mut Run<'_>) -> Result {
    let (lines, per_line) = (run.size("lines")?, run.size("samples_per_line")?);
    let side = run.size("side")?;
    let count = lines * per_line;
    let samples = samples(&mut run.rng, lines, per_line, side);
    // Kaiser's window.
    let value = |i: usize| {
        let at = i as f64 / WINDOW as f64;
        bessel(8.0 * (1.0 - at * at).sqrt()) / bessel(8.0)
    };
    let window: Vec<f32> = (0..=WINDOW).map(|i| value(i) as f32).collect();
    run.set_variable("window", &window)?;

    let bins_per_side = side / BIN;
    let all_bins = bins_per_side * bins_per_side;
    let (n, blocks) = (count as i32, count.div_ceil(BLOCK));
    let samples_buffer = run.upload("samples", &samples.concat())?;
    let mut from = (run.zeros::<u32>("bins", count)?, run.zeros::<u32>("indices", count)?);
    let mut to = (run.zeros::<u32>("bins2", count)?, run.zeros::<u32>("indices2", count)?);
    let args = [samples_buffer.into(), from.0.into(), from.1.into(), n.into(), (bins_per_side as i32).into()];
    run.launch("bin_samples", blocks, BLOCK, &args)?;

    let counts = run.zeros::<u32>("counts", RADIX * blocks)?;
    let totals = run.zeros::<u32>("totals", (RADIX * blocks).div_ceil(BLOCK))?;
    let bits = (all_bins - 1).ilog2() + 1;
    for shift in (0..bits as i32).step_by(4) {
        let some = (bits as i32 - shift).min(4);
        let args = [from.0.into(), from.1.into(), counts.into(), shift.into(), some.into(), n.into()];
        run.launch("split_sort", blocks, BLOCK, &args)?;
        scan(run, counts, totals, RADIX * blocks)?;
        let args = [from.0.into(), from.1.into(), counts.into(), to.0.into(), to.1.into(), shift.into(), n.into()];
        run.launch("split_rearrange", blocks, BLOCK, &args)?;
        std::mem::swap(&mut from, &mut to);
    }

    let sorted = run.zeros::<f32>("sorted", 4 * count)?;
    let starts = run.zeros::<u32>("starts", all_bins + 1)?;
    let args = [
        samples_buffer.into(),
        from.0.into(),
        from.1.into(),
        sorted.into(),
        starts.into(),
        n.into(),
        (all_bins as i32).into(),
    ];
    run.launch("reorder", blocks, BLOCK, &args)?;
    let grid = run.zeros::<f32>("grid", 2 * side * side)?;
    let args = [sorted.into(), starts.into(), grid.into(), (side as i32).into(), (HALF_WIDTH as f32).into()];
    run.launch("grid_samples", (side / TILE.0, side / TILE.1), TILE, &args)?;

    // Samples in the same bin stay in order.
    let bin = |sample: &[f32; 4]| sample[1] as usize / BIN * bins_per_side + sample[0] as usize / BIN;
    let mut want = samples.clone();
    want.sort_by_key(bin);
    run.check_exact("sorted", sorted, &want.concat())?;
    let start = |b: usize| want.partition_point(|sample| bin(sample) < b) as u32;
    let want: Vec<u32> = (0..=all_bins).map(start).collect();
    run.check_exact("starts", starts, &want)?;
    run.check("grid", grid, &gridded(&samples, side))
}

/// Sums before each element.
fn scan(run: &mut Run<'_>, data: Buffer<u32>, totals: Buffer<u32>, count: usize) -> Result {
    let blocks = count.div_ceil(BLOCK);
    let n = count as i32;
    run.launch("scan_blocks", blocks, BLOCK, &[data.into(), totals.into(), n.into()])?;
    run.launch("scan_totals", 1, BLOCK, &[totals.into(), (blocks as i32).into()])?;
    run.launch("add_totals", blocks, BLOCK, &[data.into(), totals.into(), n.into()])
}

/// Places and values along lines through the middle, so that there are most samples.
fn samples(rng: &mut Rng, lines: usize, per_line: usize, side: usize) -> Vec<[f32; 4]> {
    let middle = side as f64 / 2.0;
    let mut samples = Vec::with_capacity(lines * per_line);
    for line in 0..lines {
        let angle = std::f64::consts::PI * (line as f64 + rng.unit()) / lines as f64;
        for i in 0..per_line {
            let radius = (middle - 1.0) * (2.0 * (i as f64 + rng.unit()) / per_line as f64 - 1.0);
            let (x, y) = (middle + radius * angle.cos(), middle + radius * angle.sin());
            samples.push([x as f32, y as f32, rng.between(-1.0, 1.0), rng.between(-1.0, 1.0)]);
        }
    }
    samples
}

/// The modified Bessel function of order 0, by its series.
fn bessel(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..40 {
        term *= (x / 2.0 / f64::from(k)).powi(2);
        sum += term;
    }
    sum
}

/// Adds each sample to the points around it.
fn gridded(samples: &[[f32; 4]], side: usize) -> Vec<f32> {
    let table: Vec<f64> =
        (0..=WINDOW).map(|i| bessel(8.0 * (1.0 - (i as f64 / WINDOW as f64).powi(2)).sqrt()) / bessel(8.0)).collect();
    let weight = |distance: f64| {
        let place = distance.abs() / HALF_WIDTH * WINDOW as f64;
        let step = place as usize;
        if step >= WINDOW { 0.0 } else { table[step] + place.fract() * (table[step + 1] - table[step]) }
    };
    let mut grid = vec![0.0; 2 * side * side];
    for [x, y, real, imaginary] in samples.iter().map(|s| s.map(f64::from)) {
        let around = |at: f64| {
            let low = (at - HALF_WIDTH).ceil().max(0.0) as usize;
            low..((at + HALF_WIDTH) as usize + 1).min(side)
        };
        for row in around(y) {
            for column in around(x) {
                let w = weight(x - column as f64) * weight(y - row as f64);
                grid[2 * (row * side + column)] += w * real;
                grid[2 * (row * side + column) + 1] += w * imaginary;
            }
        }
    }
    grid.iter().map(|v| *v as f32).collect()
}
