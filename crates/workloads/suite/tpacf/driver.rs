//! Angles between galaxies of a catalogue, and between those and random ones.

use crate::prelude::*;

const BLOCK: usize = 256;
const BINS: usize = 20;

/// Places on a sphere, in planes; some are close to each other.
fn places(rng: &mut Rng, count: usize, clusters: usize) -> Vec<f32> {
    let middles: Vec<[f64; 3]> = (0..clusters).map(|_| [(); 3].map(|()| rng.unit() - 0.5)).collect();
    let mut planes = vec![0.0; 3 * count];
    for i in 0..count {
        let mut place = [(); 3].map(|()| rng.unit() - 0.5);
        if clusters > 0 && i % 2 == 0 {
            let middle = middles[rng.index(clusters)];
            place = [0, 1, 2].map(|axis| middle[axis] + 0.05 * place[axis]);
        }
        let length = place.iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-6);
        (0..3).for_each(|axis| planes[axis * count + i] = (place[axis] / length) as f32);
    }
    planes
}

pub fn run(run: &mut Run<'_>) -> Result {
    let count = run.size("points")?;
    let (galaxies, random) = (places(&mut run.rng, count, 12), places(&mut run.rng, count, 0));
    // From a hundredth of a degree to forty, each bin a fixed number of times the one before.
    let angle = |bin: usize| 0.01 * 4000f64.powf(bin as f64 / BINS as f64);
    let limits: Vec<f32> = (0..=BINS).map(|bin| angle(bin).to_radians().cos() as f32).collect();
    run.set_variable("limits", &limits)?;
    let galaxy_buffer = run.upload("galaxies", &galaxies)?;
    let random_buffer = run.upload("random", &random)?;
    let blocks = count.div_ceil(BLOCK);
    let histogram = run.zeros::<u32>("histograms", blocks * blocks * (BINS + 2))?;
    for is_same in [true, false] {
        let second = if is_same { galaxy_buffer } else { random_buffer };
        let numbers = [(count as i32).into(), i32::from(is_same).into()];
        let args = [&[galaxy_buffer.into(), second.into()][..], &numbers, &[histogram.into()]].concat();
        run.launch("angles", (blocks, blocks), BLOCK, &args)?;

        let others = if is_same { &galaxies } else { &random };
        let mut want = vec![0u32; blocks * blocks * (BINS + 2)];
        for a in 0..count {
            for b in if is_same { a + 1 } else { 0 }..count {
                let product = |axis: usize| (galaxies[axis * count + a], others[axis * count + b]);
                let ((ax, bx), (ay, by), (az, bz)) = (product(0), product(1), product(2));
                let cosine = ax.mul_add(bx, ay.mul_add(by, az * bz));
                let block = b / BLOCK * blocks + a / BLOCK;
                want[block * (BINS + 2) + limits.partition_point(|limit| cosine < *limit)] += 1;
            }
        }
        run.check("histograms", histogram, &want)?;
    }
    Ok(())
}
