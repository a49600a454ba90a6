//! Flow over a plate, in a box of tetrahedra; the reference goes through faces instead of cells.

use crate::prelude::*;

const BLOCK: usize = 192;
const STAGES: usize = 3;
const GAMMA: f64 = 1.4;
const SMOOTHING: f64 = 0.2;
const COURANT: f64 = 0.5;
const WALL: i32 = -1;
const FAR: i32 = -2;
/// Cells that are near each other in memory are in random order up to here.
const STRETCH: usize = 128;

/// Density, momentum and energy.
type Flow = [f64; 5];

pub fn run(run: &mut Run<'_>) -> Result {
    let size = [run.size("x")?, run.size("y")?, run.size("z")?];
    let iterations = run.size("iterations")?;
    let mesh = Mesh::new(&mut run.rng, size);
    let count = mesh.centres.len();
    // Faster than sound, a little towards the wall.
    let far = [1.4f32, 1.4 * 1.19, 0.0, -1.4 * 0.12, 3.52];

    let blocks = count.div_ceil(BLOCK);
    let n = count as i32;
    run.set_variable("far_field", &far)?;
    let neighbours = run.upload("neighbours", &mesh.neighbours())?;
    let normals = run.upload("normals", &mesh.normals())?;
    let areas = mesh.areas();
    let area_buffer = run.upload("areas", &areas)?;
    let variables = run.zeros::<f32>("variables", 5 * count)?;
    let old = run.zeros::<f32>("old", 5 * count)?;
    let fluxes = run.zeros::<f32>("fluxes", 5 * count)?;
    let step_factors = run.zeros::<f32>("step_factors", count)?;
    run.launch("initialize_variables", blocks, BLOCK, &[variables.into(), n.into()])?;
    let uniform: Vec<f32> = (0..5 * count).map(|at| far[at / count]).collect();
    run.check_exact("variables", variables, &uniform)?;

    // Denser, with more pressure, around the middle of the box.
    let mut start = uniform;
    for (cell, centre) in mesh.centres.iter().enumerate() {
        let square: f64 = (0..3).map(|i| (centre[i] - size[i] as f64 / 2.0).powi(2)).sum();
        let pulse = (1.0 + 0.4 / (1.0 + square / 6.0)) as f32;
        start[cell] *= pulse;
        start[4 * count + cell] *= pulse;
    }
    run.write(variables, &start);
    for _ in 0..iterations {
        let copy = run.download(variables);
        run.write(old, &copy);
        let args = [variables.into(), area_buffer.into(), step_factors.into(), n.into()];
        run.launch("compute_step_factor", blocks, BLOCK, &args)?;
        for stage in 0..STAGES {
            let args = [neighbours.into(), normals.into(), variables.into(), fluxes.into(), n.into()];
            run.launch("compute_flux", blocks, BLOCK, &args)?;
            let left = (STAGES - stage) as i32;
            let args = [old.into(), variables.into(), step_factors.into(), fluxes.into(), n.into(), left.into()];
            run.launch("time_step", blocks, BLOCK, &args)?;
        }
    }

    let far = far.map(f64::from);
    let cell_flow = |cell: usize| std::array::from_fn(|i| f64::from(start[i * count + cell]));
    let mut flows: Vec<Flow> = (0..count).map(cell_flow).collect();
    let mut steps = Vec::new();
    let mut sums = Vec::new();
    for _ in 0..iterations {
        let before = flows.clone();
        steps = before.iter().zip(&areas).map(|(flow, area)| COURANT / (f64::from(*area) * fastest(flow))).collect();
        for stage in 0..STAGES {
            sums = mesh.fluxes(&flows, &far);
            for cell in 0..count {
                let factor: f64 = steps[cell] / (STAGES - stage) as f64;
                flows[cell] = std::array::from_fn(|i| before[cell][i] - factor * sums[cell][i]);
            }
        }
    }
    let by_variable =
        |flows: &[Flow]| (0..5 * count).map(|at| flows[at % count][at / count] as f32).collect::<Vec<_>>();
    run.check("step_factors", step_factors, &steps.iter().map(|s| *s as f32).collect::<Vec<_>>())?;
    run.check("fluxes", fluxes, &by_variable(&sums))?;
    run.check("variables", variables, &by_variable(&flows))
}

fn pressure(flow: &Flow) -> f64 {
    let [density, x, y, z, energy] = *flow;
    (GAMMA - 1.0) * (energy - (x * x + y * y + z * z) / (2.0 * density))
}

/// The speed of the flow and of sound in it.
fn fastest(flow: &Flow) -> f64 {
    let [density, x, y, z, _] = *flow;
    (x * x + y * y + z * z).sqrt() / density + (GAMMA * pressure(flow) / density).sqrt()
}

/// What flows through a face.
fn through(flow: &Flow, normal: &[f64; 3]) -> Flow {
    let [density, x, y, z, energy] = *flow;
    let volume = (x * normal[0] + y * normal[1] + z * normal[2]) / density;
    let p = pressure(flow);
    let push = [0.0, p * normal[0], p * normal[1], p * normal[2], p * volume];
    let carried = [density, x, y, z, energy];
    std::array::from_fn(|i| carried[i] * volume + push[i])
}

struct Face {
    /// The cell it belongs to, and which of its four faces it is.
    cell: (usize, usize),
    /// The same beyond it, or what is there instead.
    beyond: std::result::Result<(usize, usize), i32>,
    /// Out of the cell, as long as the face is large.
    normal: [f64; 3],
}

struct Mesh {
    centres: Vec<[f64; 3]>,
    faces: Vec<Face>,
}

impl Mesh {
    /// Six tetrahedra in each cube of a box, with the inner corners moved about.
    fn new(rng: &mut Rng, size: [usize; 3]) -> Self {
        let corners = size.map(|n| n + 1);
        let mut points = Vec::new();
        for at in 0..corners.iter().product() {
            let place = [at % corners[0], at / corners[0] % corners[1], at / corners[0] / corners[1]];
            let is_inside = (0..3).all(|i| (1..size[i]).contains(&place[i]));
            let mut moved = |i: usize| place[i] as f64 + if is_inside { 0.3 * rng.unit() - 0.15 } else { 0.0 };
            points.push([moved(0), moved(1), moved(2)]);
        }
        let strides = [1, corners[0], corners[0] * corners[1]];
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let mut cells = Vec::new();
        for cube in 0..size.iter().product() {
            let corner = cube % size[0] + cube / size[0] % size[1] * strides[1] + cube / size[0] / size[1] * strides[2];
            // Along three edges of the cube, from this corner to the opposite one.
            for [a, b, _] in orders {
                let second = corner + strides[a];
                cells.push([corner, second, second + strides[b], corner + strides.iter().sum::<usize>()]);
            }
        }
        cells.chunks_mut(STRETCH).for_each(|stretch| rng.shuffle(stretch));

        // The corners of all faces in order, each with its cell: those of two cells are side by side.
        let mut sides = Vec::with_capacity(4 * cells.len());
        for (cell, tetrahedron) in cells.iter().enumerate() {
            for face in 0..4 {
                let mut key = [1, 2, 3].map(|i| tetrahedron[(face + i) % 4]);
                key.sort_unstable();
                sides.push((key, cell, face));
            }
        }
        sides.sort_unstable();
        let make = |same: &[([usize; 3], usize, usize)]| {
            let (key, cell, face) = same[0];
            let [a, b, c] = key.map(|i| points[i]);
            let is_ground = [a, b, c].iter().all(|point| point[2] == 0.0);
            let instead = if is_ground { WALL } else { FAR };
            let beyond = same.get(1).map(|(_, cell, face)| (*cell, *face)).ok_or(instead);
            let normal = outwards(a, b, c, points[cells[cell][face]]);
            Face { cell: (cell, face), beyond, normal }
        };
        let faces = sides.chunk_by(|a, b| a.0 == b.0).map(make).collect();
        let centre = |cell: &[usize; 4]| std::array::from_fn(|i| cell.iter().map(|p| points[*p][i]).sum::<f64>() / 4.0);
        Self { centres: cells.iter().map(centre).collect(), faces }
    }

    /// Calls this for each face of each cell, with what is beyond it and its normal.
    fn each_side(&self, mut f: impl FnMut((usize, usize), i32, [f64; 3])) {
        for face in &self.faces {
            f(face.cell, face.beyond.map_or_else(|code| code, |(cell, _)| cell as i32), face.normal);
            if let Ok(beyond) = face.beyond {
                f(beyond, face.cell.0 as i32, face.normal.map(|n| -n));
            }
        }
    }

    fn neighbours(&self) -> Vec<i32> {
        let count = self.centres.len();
        let mut neighbours = vec![0; 4 * count];
        self.each_side(|(cell, face), beyond, _| neighbours[face * count + cell] = beyond);
        neighbours
    }

    fn normals(&self) -> Vec<f32> {
        let count = self.centres.len();
        let mut normals = vec![0.0; 12 * count];
        self.each_side(|(cell, face), _, normal| {
            (0..3).for_each(|i| normals[(3 * face + i) * count + cell] = normal[i] as f32);
        });
        normals
    }

    fn areas(&self) -> Vec<f32> {
        let mut areas = vec![0.0; self.centres.len()];
        self.each_side(|(cell, _), _, normal| areas[cell] += length(&normal) as f32);
        areas
    }

    /// What leaves each cell, all in all.
    fn fluxes(&self, flows: &[Flow], far: &Flow) -> Vec<Flow> {
        let mut sums = vec![[0.0; 5]; flows.len()];
        for face in &self.faces {
            let own = &flows[face.cell.0];
            let mean = |other: &Flow| {
                let (from, to) = (through(own, &face.normal), through(other, &face.normal));
                std::array::from_fn(|i| (from[i] + to[i]) / 2.0)
            };
            let flux: Flow = match face.beyond {
                Ok((beyond, _)) => {
                    let other = &flows[beyond];
                    let viscosity = SMOOTHING / 2.0 * length(&face.normal) * (fastest(own) + fastest(other));
                    let mean: Flow = mean(other);
                    std::array::from_fn(|i| mean[i] + viscosity * (own[i] - other[i]))
                }
                Err(WALL) => {
                    let [x, y, z] = face.normal.map(|n| n * pressure(own));
                    [0.0, x, y, z, 0.0]
                }
                Err(_) => mean(far),
            };
            (0..5).for_each(|i| sums[face.cell.0][i] += flux[i]);
            if let Ok((beyond, _)) = face.beyond {
                (0..5).for_each(|i| sums[beyond][i] -= flux[i]);
            }
        }
        sums
    }
}

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The normal of a triangle, as long as its area, away from a point.
fn outwards(a: [f64; 3], b: [f64; 3], c: [f64; 3], from: [f64; 3]) -> [f64; 3] {
    let to = |p: [f64; 3]| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    let (u, v, inner) = (to(b), to(c), to(from));
    let normal: [f64; 3] = std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        (u[j] * v[k] - u[k] * v[j]) / 2.0
    });
    let is_inwards = (0..3).map(|i| normal[i] * inner[i]).sum::<f64>() > 0.0;
    if is_inwards { normal.map(|n| -n) } else { normal }
}
