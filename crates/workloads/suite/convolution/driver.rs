//! A picture, smoothed in both directions.

use crate::prelude::*;

const RADIUS: i32 = 8;
const EACH: usize = 8;

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height) = (run.size("width")?, run.size("height")?);
    let picture = run.rng.floats(width * height, 0.0, 1.0);
    let weights = run.rng.floats(2 * RADIUS as usize + 1, 0.0, 0.1);
    run.set_variable("weights", &weights)?;
    let from = run.upload("picture", &picture)?;
    let between = run.zeros::<f32>("between", width * height)?;
    let to = run.zeros::<f32>("smooth", width * height)?;
    let grid = (width.div_ceil(16 * EACH), height / 4);
    run.launch("along_rows", grid, (16, 4), &[from.into(), (width as i32).into(), between.into()])?;
    let grid = (width / 16, height.div_ceil(8 * EACH));
    let args = [between.into(), (width as i32).into(), (height as i32).into(), to.into()];
    run.launch("along_columns", grid, (16, 8), &args)?;

    // Sums are fused and in the kernels' order.
    let smooth = |from: &[f32], step: (i32, i32)| {
        let pixel = |i: usize| {
            let (x, y) = ((i % width) as i32, (i / width) as i32);
            (-RADIUS..=RADIUS).fold(0.0f32, |sum, by| {
                let (x, y) = (x + by * step.0, y + by * step.1);
                let is_inside = (0..width as i32).contains(&x) && (0..height as i32).contains(&y);
                let value = if is_inside { from[y as usize * width + x as usize] } else { 0.0 };
                weights[(RADIUS - by) as usize].mul_add(value, sum)
            })
        };
        (0..width * height).map(pixel).collect::<Vec<f32>>()
    };
    let want_between = smooth(&picture, (1, 0));
    run.check("between", between, &want_between)?;
    run.check("smooth", to, &smooth(&want_between, (0, 1)))
}
