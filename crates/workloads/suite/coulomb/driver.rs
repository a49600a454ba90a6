//! The electric potential of atoms on a slice of a grid; their positions go through constant memory chunk by chunk.

use crate::prelude::*;

const CHUNK: usize = 1024;
const POINTS: usize = 4;
const BLOCK: (usize, usize) = (16, 8);
const SPACING: f32 = 0.1;

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height, count) = (run.size("width")?, run.size("height")?, run.size("atoms")?);
    let (far_x, far_y) = (width as f32 * SPACING, height as f32 * SPACING);
    // No atom is in the slice itself, so that no distance is 0.
    let mut atom = || {
        let [x, y] = [far_x, far_y].map(|far| run.rng.between(0.0, far));
        let z = run.rng.between(0.5, 4.0);
        [x, y, z * z, run.rng.between(-1.0, 1.0)]
    };
    let atoms: Vec<[f32; 4]> = (0..count).map(|_| atom()).collect();

    let energy = run.zeros::<f32>("energy", width * height)?;
    let grid = (width / (BLOCK.0 * POINTS), height / BLOCK.1);
    for chunk in atoms.chunks(CHUNK) {
        run.set_variable("atoms", chunk.as_flattened())?;
        let args = [(chunk.len() as i32).into(), SPACING.into(), energy.into(), (width as i32).into()];
        run.launch("potential", grid, BLOCK, &args)?;
    }

    let spacing = f64::from(SPACING);
    let mut want = Vec::with_capacity(width * height);
    for row in 0..height {
        for column in 0..width {
            let (x, y) = (spacing * column as f64, spacing * row as f64);
            let term = |atom: &[f32; 4]| {
                let [ax, ay, z2, charge] = atom.map(f64::from);
                charge / ((x - ax).powi(2) + (y - ay).powi(2) + z2).sqrt()
            };
            want.push(atoms.iter().map(term).sum::<f64>() as f32);
        }
    }
    run.check("energy", energy, &want)
}
