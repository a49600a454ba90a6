//! Particles in an octree: a launch for each level, with the tasks that the one before has left.

use crate::prelude::*;

const BLOCK: usize = 256;
const BITS: usize = 16;

/// Half of the particles are in a few clouds.
fn particles(rng: &mut Rng, count: usize) -> Vec<[u32; 3]> {
    let clouds: Vec<[f64; 4]> = (0..5).map(|_| [(); 4].map(|()| rng.unit())).collect();
    let one = |i: usize| {
        let cloud = clouds[rng.index(clouds.len())];
        let anywhere = [(); 3].map(|()| rng.unit());
        let place = |axis: usize| {
            let near = cloud[axis] + (anywhere[axis] - 0.5) * 0.1 * cloud[3];
            let at = if i.is_multiple_of(2) { anywhere[axis] } else { near.clamp(0.0, 0.999_99) };
            (at * f64::from(1 << BITS)) as u32
        };
        [0, 1, 2].map(place)
    };
    (0..count).map(one).collect()
}

/// Where each particle's box begins in the order of boxes, and how deep it is.
fn leaves(all: &[[u32; 3]], members: &[usize], begin: usize, depth: usize, most: usize, leaves: &mut [[i32; 2]]) {
    let level = BITS - depth;
    let part = |p: [u32; 3]| (0..3).map(|axis| (p[axis] >> level & 1) << axis).sum::<u32>();
    let mut at = begin;
    for octant in 0..8 {
        let inside: Vec<usize> = members.iter().copied().filter(|i| part(all[*i]) == octant).collect();
        if inside.len() > most && level > 0 {
            self::leaves(all, &inside, at, depth + 1, most, leaves);
        } else {
            inside.iter().for_each(|i| leaves[*i] = [at as i32, depth as i32]);
        }
        at += inside.len();
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, most, blocks) = (run.size("particles")?, run.size("most_in_a_box")?, run.size("blocks")?);
    let places = particles(&mut run.rng, count);
    let words: Vec<[u32; 4]> = places.iter().zip(0..).map(|(&[x, y, z], index)| [x, y, z, index]).collect();
    let mut from = run.upload("particles", words.as_flattened())?;
    let mut to = run.zeros::<u32>("sorted", count * 4)?;
    let mut tasks = run.upload("tasks", &[vec![0, count as i32], vec![0; 2 * count]].concat())?;
    let mut new_tasks = run.zeros::<i32>("new_tasks", 2 * count + 2)?;
    let counters = run.zeros::<i32>("counters", 2)?;
    let leaf_buffer = run.zeros::<i32>("leaves", count * 2)?;
    let mut open = 1;
    for depth in 1..=BITS {
        run.write(counters, &[0, 0]);
        let args = [
            from.into(),
            to.into(),
            tasks.into(),
            open.into(),
            run.address(counters, 0).into(),
            new_tasks.into(),
            run.address(counters, 1).into(),
            ((BITS - depth) as i32).into(),
            (depth as i32).into(),
            (most as i32).into(),
            leaf_buffer.into(),
        ];
        run.launch("partition", blocks.min(open as usize), BLOCK, &args)?;
        open = run.download(counters)[1];
        std::mem::swap(&mut from, &mut to);
        std::mem::swap(&mut tasks, &mut new_tasks);
        if open == 0 {
            break;
        }
    }
    let mut want = vec![[0; 2]; count];
    leaves(&places, &(0..count).collect::<Vec<_>>(), 0, 1, most, &mut want);
    run.check("leaves", leaf_buffer, want.as_flattened())
}
