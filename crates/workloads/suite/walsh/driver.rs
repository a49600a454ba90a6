//! Dyadic convolution by fast Walsh transforms: transform data and filter, multiply, transform back.

use crate::prelude::*;
use raddle_runtime::device::Buffer;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (levels, filter_levels) = (run.size("levels")?, run.size("filter_levels")?);
    // The most levels a block transforms in shared memory.
    let in_shared = run.size("shared_levels")?;
    let (length, filter_length) = (1 << levels, 1 << filter_levels);
    let data = run.rng.floats(length, 0.0, 1.0);
    let mut filter = run.rng.floats(filter_length, 0.0, 1.0);
    filter.resize(length, 0.0);

    let a = run.upload("data", &data)?;
    let b = run.upload("filter", &filter)?;
    transform(run, a, levels, in_shared)?;
    transform(run, b, levels, in_shared)?;
    run.launch("modulate", (length / BLOCK).clamp(1, 128), BLOCK, &[a.into(), b.into(), (length as i32).into()])?;
    transform(run, a, levels, in_shared)?;

    let term = |at: usize, i: usize| f64::from(data[at ^ i]) * f64::from(filter[i]);
    let want: Vec<f32> = (0..length).map(|at| (0..filter_length).map(|i| term(at, i)).sum::<f64>() as f32).collect();
    run.check("convolution", a, &want)
}

/// Transforms in place: two levels at a time in global memory, until the rest fits into shared memory.
fn transform(run: &mut Run<'_>, data: Buffer<f32>, levels: usize, in_shared: usize) -> Result {
    let mut left = levels;
    while left > in_shared {
        let stride = 1i32 << (left - 2);
        let threads = 1 << (levels - 2);
        run.launch("transform_global", threads / BLOCK, BLOCK, &[data.into(), data.into(), stride.into()])?;
        left -= 2;
    }
    let (blocks, length) = (1 << (levels - left), 1 << left);
    let args = [data.into(), data.into(), (left as i32).into()];
    run.launch_shared("transform_shared", blocks, length / 4, length * 4, &args)
}
