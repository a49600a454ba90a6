//! A piece of the Mandelbrot set's edge.

use crate::prelude::*;

const BLOCK: (usize, usize) = (32, 8);
/// Between pixels.
const STEP: i32 = 400;

fn escape(real: f32, imaginary: f32, most: i32) -> i32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    for n in 0..most {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return n;
        }
        (x, y) = (xx - yy + real, (x + x).mul_add(y, imaginary));
    }
    most
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height, most) = (run.size("width")?, run.size("height")?, run.size("steps")? as i32);
    // A window where the edge is ragged, in parts of 2^-24.
    let corner =
        |middle: i32, pixels: usize, rng: &mut Rng| middle - pixels as i32 * STEP / 2 + rng.below(20_000) as i32;
    let (left, top) = (corner(-12_503_900, width, &mut run.rng), corner(1_890_800, height, &mut run.rng));
    let steps = run.zeros::<i32>("steps", width * height)?;
    let numbers = [width as i32, height as i32, left, top, STEP, most].map(Into::into);
    let grid = (width.div_ceil(BLOCK.0), height.div_ceil(BLOCK.1));
    run.launch("escape", grid, BLOCK, &[&numbers[..], &[steps.into()]].concat())?;

    let at = |from: i32, i: usize| (from + i as i32 * STEP) as f32 * (1.0 / 16_777_216.0);
    let pixel = |i: usize| escape(at(left, i % width), at(top, i / width), most);
    run.check("steps", steps, &(0..width * height).map(pixel).collect::<Vec<_>>())
}
