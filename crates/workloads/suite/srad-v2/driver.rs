//! Speckle reducing anisotropic diffusion of a square image.

use crate::prelude::*;

const TILE: usize = 16;
const LAMBDA: f32 = 0.5;
/// Side of the corner in which the speckle is measured.
const CORNER: usize = 32;

pub fn run(run: &mut Run<'_>) -> Result {
    let (side, steps) = (run.size("side")?, run.size("steps")?);
    let image: Vec<f32> = run.rng.floats(side * side, 0.0, 1.0).iter().map(|v| v.exp()).collect();
    let image_buffer = run.upload("image", &image)?;
    let mut buffers = Vec::new();
    for name in ["north", "south", "west", "east", "coefficient"] {
        buffers.push(run.zeros::<f32>(name, side * side)?);
    }
    let [north, south, west, east, coefficient] = buffers[..] else { unreachable!("five names") };

    let mut want: Vec<f64> = image.iter().map(|v| f64::from(*v)).collect();
    let (grid, block) = ((side / TILE, side / TILE), (TILE, TILE));
    for _ in 0..steps {
        let now: Vec<f64> = run.download(image_buffer).iter().map(|v| f64::from(*v)).collect();
        let q0_squared = speckle(&now, side) as f32;
        let length = side as i32;
        let mut args = vec![image_buffer.into(), north.into(), south.into(), west.into(), east.into()];
        args.extend([coefficient.into(), length.into(), length.into()]);
        run.launch("srad_coefficient", grid, block, &[&args[..], &[q0_squared.into()]].concat())?;
        run.launch("srad_diffuse", grid, block, &[&args[..], &[LAMBDA.into()]].concat())?;
        want = step(&want, side);
    }
    let want: Vec<f32> = want.iter().map(|v| *v as f32).collect();
    run.check("image", image_buffer, &want)
}

/// Variance of the corner over the square of its mean.
fn speckle(image: &[f64], side: usize) -> f64 {
    let corner = || image.chunks(side).take(CORNER).flat_map(|row| &row[..CORNER]);
    let count = (CORNER * CORNER) as f64;
    let mean = corner().sum::<f64>() / count;
    let variance = corner().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    variance / (mean * mean)
}

/// A step of diffusion.
fn step(image: &[f64], side: usize) -> Vec<f64> {
    let q0 = speckle(image, side);
    let last = side as isize - 1;
    // The image goes on past its border with the value at the border.
    let index = |x: isize, y: isize| y.clamp(0, last) as usize * side + x.clamp(0, last) as usize;
    let differences = |x: isize, y: isize| {
        let neighbours = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)];
        neighbours.map(|(to_x, to_y)| image[index(to_x, to_y)] - image[index(x, y)])
    };
    let points = || (0..side as isize).flat_map(|y| (0..side as isize).map(move |x| (x, y)));
    let coefficient = |(x, y): (isize, isize)| {
        let here = image[index(x, y)];
        let d = differences(x, y).map(|d| d / here);
        let (squares, sum) = (d.iter().map(|d| d * d).sum::<f64>(), d.iter().sum::<f64>());
        let q = (squares / 2.0 - sum * sum / 16.0) / (1.0 + sum / 4.0).powi(2);
        (1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))).clamp(0.0, 1.0)
    };
    let c: Vec<f64> = points().map(coefficient).collect();
    let moved = |(x, y): (isize, isize)| {
        let [north, south, west, east] = differences(x, y);
        let flow = c[index(x, y)] * (north + west) + c[index(x, y + 1)] * south + c[index(x + 1, y)] * east;
        image[index(x, y)] + f64::from(LAMBDA) / 4.0 * flow
    };
    points().map(moved).collect()
}
