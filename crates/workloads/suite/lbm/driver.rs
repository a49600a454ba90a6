//! A fluid that flows around spheres.

use crate::prelude::*;

const DIRECTIONS: usize = 19;
const RELAX: f64 = 1.2;

/// The directions in the kernel's order: each odd one and the next are opposite.
fn directions() -> Vec<[i32; 3]> {
    let half = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]];
    let both = half.into_iter().flat_map(|d: [i32; 3]| [d, d.map(|v| -v)]);
    std::iter::once([0; 3]).chain(both).collect()
}

/// The density along a direction when nothing changes any more.
fn rest(direction: [i32; 3], density: f64, speed: [f64; 3]) -> f64 {
    let part = [12.0, 2.0, 1.0][direction.iter().map(|v| v.unsigned_abs() as usize).sum::<usize>()] / 36.0;
    let along: f64 = direction.iter().zip(speed).map(|(d, v)| f64::from(*d) * v).sum();
    let square: f64 = speed.iter().map(|v| v * v).sum();
    part * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * square)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let size = [run.size("width")?, run.size("height")?, run.size("depth")?];
    let [width, height, depth] = size;
    let steps = run.size("steps")?;
    let cells = width * height * depth;
    let directions = directions();
    let mut is_wall = vec![0u8; cells];
    for _ in 0..cells / 2000 + 1 {
        let middle = size.map(|n| run.rng.unit() * n as f64);
        let radius = 1.0 + run.rng.unit() * 4.0;
        for (cell, wall) in is_wall.iter_mut().enumerate() {
            let place = [cell % width, cell / width % height, cell / (width * height)];
            let far2: f64 = place.iter().zip(middle).map(|(p, m)| (*p as f64 - m).powi(2)).sum();
            *wall |= u8::from(far2 < radius * radius);
        }
    }
    let mut fluid = vec![0.0f32; DIRECTIONS * cells];
    for cell in 0..cells {
        let density = run.rng.unit() * 0.1 + 0.95;
        let speed = [0.05 + run.rng.unit() * 0.02, run.rng.unit() * 0.02, run.rng.unit() * 0.02];
        for (i, direction) in directions.iter().enumerate() {
            fluid[i * cells + cell] = rest(*direction, density, speed) as f32;
        }
    }

    let wall_buffer = run.upload("walls", &is_wall)?;
    let mut from = run.upload("fluid", &fluid)?;
    let mut to = run.zeros::<f32>("next_fluid", DIRECTIONS * cells)?;
    let mut now: Vec<f64> = fluid.iter().map(|v| f64::from(*v)).collect();
    for _ in 0..steps {
        run.launch("stream_and_collide", (height, depth), width, &[from.into(), wall_buffer.into(), to.into()])?;
        std::mem::swap(&mut from, &mut to);

        let mut next = vec![0.0; now.len()];
        for cell in 0..cells {
            let place = [cell % width, cell / width % height, cell / (width * height)];
            let comes = |i: usize| {
                let by = directions[i];
                let [x, y, z] = [0, 1, 2].map(|a| (place[a] as i32 - by[a]).rem_euclid(size[a] as i32) as usize);
                now[i * cells + (z * height + y) * width + x]
            };
            let f: Vec<f64> = (0..DIRECTIONS).map(comes).collect();
            let density: f64 = f.iter().sum();
            let axis = |a: usize| f.iter().zip(&directions).map(|(f, d)| f * f64::from(d[a])).sum::<f64>() / density;
            let speed = [axis(0), axis(1), axis(2)];
            for (i, direction) in directions.iter().enumerate() {
                let back = if i == 0 { 0 } else { ((i - 1) ^ 1) + 1 };
                let gone =
                    if is_wall[cell] != 0 { f[back] } else { f[i] + RELAX * (rest(*direction, density, speed) - f[i]) };
                next[i * cells + cell] = gone;
            }
        }
        now = next;
    }
    run.check("fluid", from, &now.iter().map(|v| *v as f32).collect::<Vec<_>>())
}
