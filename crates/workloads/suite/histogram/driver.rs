//! Histogram of the bytes of an image.

use crate::prelude::*;

const MOST_BINS: usize = 256;
const MERGERS: usize = 256;
/// Threads that share counters, and how many such groups a block has.
const GROUP: usize = 32;
const GROUPS: usize = 16;

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height) = (run.size("width")?, run.size("height")?);
    let (blocks, bins) = (run.size("blocks")?, run.size("bins")?);
    let shift = (MOST_BINS / bins).ilog2() as i32;
    let image = image(&mut run.rng, width, height);
    let words: Vec<u32> = image.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let input = run.upload("image", &words)?;
    let partial = run.zeros::<u32>("partial", blocks * bins)?;
    let histogram = run.zeros::<u32>("histogram", bins)?;
    let args =
        [input.into(), partial.into(), ((width / 4) as i32).into(), ((height / GROUPS) as i32).into(), shift.into()];
    run.launch("histogram_blocks", blocks, GROUP * GROUPS, &args)?;
    let args = [partial.into(), histogram.into(), (blocks as i32).into()];
    run.launch("histogram_merge", bins, MERGERS, &args)?;

    let mut want = vec![0; bins];
    for byte in image {
        want[usize::from(byte) * bins / MOST_BINS] += 1;
    }
    run.check("histogram", histogram, &want)
}

/// Bright spots on a dark ground, with noise; much of it is black, some is white.
fn image(rng: &mut Rng, width: usize, height: usize) -> Vec<u8> {
    let mut spot = || {
        let (x, y) = (rng.between(0.0, width as f32), rng.between(0.0, height as f32));
        (x, y, rng.between(0.02, 0.1) * width as f32, rng.between(100.0, 600.0))
    };
    let spots: Vec<_> = (0..12).map(|_| spot()).collect();
    let mut image = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let light = |(at_x, at_y, radius, light): &(f32, f32, f32, f32)| {
                let (dx, dy) = ((x as f32 - at_x) / radius, (y as f32 - at_y) / radius);
                light / (1.0 + dx * dx + dy * dy)
            };
            let value = spots.iter().map(light).sum::<f32>() + rng.between(-40.0, -20.0);
            image.push(value.clamp(0.0, 255.0) as u8);
        }
    }
    image
}
