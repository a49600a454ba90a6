//! Sound waves in a block of elements, one Runge-Kutta step of up to five stages.

use crate::prelude::*;

const NODES: usize = 84;
const FACES: usize = 4;
const FACE_NODES: usize = 28;
const LINKS: usize = FACES * FACE_NODES;
const STEP: f32 = 0.01;
/// What each stage keeps of the one before, and how much of it counts: Carpenter and Kennedy, 1994.
const STAGES: [(f32, f32); 5] = [
    (0.0, 0.149_659_02),
    (-0.417_890_47, 0.379_210_32),
    (-1.192_151_7, 0.822_955),
    (-1.697_784_7, 0.699_450_44),
    (-1.514_183_4, 0.153_057_25),
];

/// Elements and what belongs to them.
struct Mesh {
    /// For each pair of nodes, factors along three directions and a zero.
    derivatives: Vec<[f32; 4]>,
    /// Nine numbers for each element.
    shapes: Vec<f32>,
    /// For each node of a face, itself and the one on the other side, which is itself at a wall.
    links: Vec<[i32; 2]>,
    /// For each face, the direction outwards and how large it is for its element.
    normals: Vec<[f32; 4]>,
    /// For each node of a face and node of the element, how one comes to the other.
    lift: Vec<f32>,
}

impl Mesh {
    /// Faces 0 and 1 lead to the elements before and after, faces 2 and 3 to those a row away.
    fn new(rng: &mut Rng, elements: usize) -> Self {
        let scale = 1.0 / NODES as f32;
        let mut factors = |n: usize| rng.floats(n, -scale, scale);
        let numbers = factors(NODES * NODES * 3);
        let lift = factors(LINKS * NODES);
        let derivatives = numbers.as_chunks::<3>().0.iter().map(|[x, y, z]| [*x, *y, *z, 0.0]).collect();
        let shapes = rng.floats(elements * 9, -1.0, 1.0);
        let row = elements.isqrt().max(1);
        let (mut links, mut normals) = (Vec::new(), Vec::new());
        for element in 0..elements {
            for face in 0..FACES {
                let by = if face < 2 { 1 } else { row };
                let other = if face % 2 == 0 { element.checked_sub(by) } else { Some(element + by) };
                let other = other.filter(|other| *other < elements);
                let node = |face: usize, i: usize| face * 18 + i;
                for i in 0..FACE_NODES {
                    let here = element * NODES + node(face, i);
                    let there = other.map_or(here, |other| other * NODES + node(face ^ 1, i));
                    links.push([here as i32, there as i32]);
                }
                let [x, y, z] = [(); 3].map(|()| rng.between(-1.0, 1.0));
                let length = (x * x + y * y + z * z).sqrt().max(0.01);
                normals.push([x / length, y / length, z / length, rng.between(0.5, 2.0)]);
            }
        }
        Self { derivatives, shapes, links, normals, lift }
    }

    /// What the waves change by, in double precision.
    fn changes(&self, waves: &[[f64; 4]]) -> Vec<[f64; 4]> {
        let mut changes = Vec::with_capacity(waves.len());
        for (element, nodes) in waves.as_chunks::<NODES>().0.iter().enumerate() {
            let shape = &self.shapes[element * 9..][..9];
            let flux: Vec<[f64; 4]> = (0..LINKS).map(|i| self.flux(waves, element, i)).collect();
            for node in 0..NODES {
                let mut along = [[0.0; 4]; 3];
                for (m, wave) in nodes.iter().enumerate() {
                    let factors = self.derivatives[m * NODES + node];
                    for (along, factor) in along.iter_mut().zip(factors) {
                        along.iter_mut().zip(wave).for_each(|(sum, w)| *sum += f64::from(factor) * w);
                    }
                }
                // The derivative of a field along an axis of space.
                let slope = |axis: usize, field: usize| {
                    (0..3).map(|d| f64::from(shape[axis * 3 + d]) * along[d][field]).sum::<f64>()
                };
                let mut change = [-(slope(0, 1) + slope(1, 2) + slope(2, 3)), -slope(0, 0), -slope(1, 0), -slope(2, 0)];
                for (m, flux) in flux.iter().enumerate() {
                    let lift = f64::from(self.lift[m * NODES + node]);
                    change.iter_mut().zip(flux).for_each(|(sum, f)| *sum += lift * f);
                }
                changes.push(change);
            }
        }
        changes
    }

    fn flux(&self, waves: &[[f64; 4]], element: usize, i: usize) -> [f64; 4] {
        let [here, there] = self.links[element * LINKS + i].map(|node| waves[node as usize]);
        let [x, y, z, size] = self.normals[element * FACES + i / FACE_NODES].map(f64::from);
        let outwards = |wave: [f64; 4]| x * wave[1] + y * wave[2] + z * wave[3];
        let is_wall = self.links[element * LINKS + i][0] == self.links[element * LINKS + i][1];
        let speed = if is_wall { -2.0 * outwards(here) } else { outwards(there) - outwards(here) };
        let push = 0.5 * size * (speed - (there[0] - here[0]));
        [-push, push * x, push * y, push * z]
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (elements, stages) = (run.size("elements")?, run.size("stages")?);
    let mesh = Mesh::new(&mut run.rng, elements);
    let count = elements * NODES * 4;
    let waves = run.rng.floats(count, -1.0, 1.0);

    let wave_buffer = run.upload("waves", &waves)?;
    run.bind_texture("derivatives", &mesh.derivatives)?;
    run.bind_texture("shapes", &mesh.shapes)?;
    let link_buffer = run.upload("links", mesh.links.as_flattened())?;
    run.bind_texture("normals", &mesh.normals)?;
    run.bind_texture("lift", &mesh.lift)?;
    let change_buffer = run.zeros::<f32>("changes", count)?;
    let kept_buffer = run.zeros::<f32>("kept", count)?;
    for (keep, weight) in STAGES.iter().take(stages) {
        run.launch("volume", elements, NODES, &[wave_buffer.into(), change_buffer.into()])?;
        let args = [wave_buffer.into(), link_buffer.into(), change_buffer.into()];
        run.launch("surface", elements, LINKS, &args)?;
        let numbers = [(count as i32).into(), (*keep).into(), STEP.into(), (*weight).into()];
        let args = [&numbers[..], &[change_buffer.into(), kept_buffer.into(), wave_buffer.into()]].concat();
        run.launch("stage", count.div_ceil(256), 256, &args)?;
    }

    let mut want: Vec<[f64; 4]> = waves.as_chunks::<4>().0.iter().map(|wave| wave.map(f64::from)).collect();
    let mut kept = vec![[0.0; 4]; want.len()];
    let mut changes = Vec::new();
    for (keep, weight) in STAGES.iter().take(stages) {
        changes = mesh.changes(&want);
        for ((wave, kept), change) in want.iter_mut().zip(&mut kept).zip(&changes) {
            for i in 0..4 {
                kept[i] = f64::from(*keep) * kept[i] + f64::from(STEP) * change[i];
                wave[i] += f64::from(*weight) * kept[i];
            }
        }
    }
    let single = |values: &[[f64; 4]]| values.as_flattened().iter().map(|v| *v as f32).collect::<Vec<_>>();
    run.check("changes", change_buffer, &single(&changes))?;
    run.check("waves", wave_buffer, &single(&want))
}
