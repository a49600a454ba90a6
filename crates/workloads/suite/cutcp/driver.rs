//! The potential of charges on a grid.

use crate::prelude::*;

const SIDE: usize = 8;
const THREADS: usize = 128;
const CHARGES: usize = 8;
const SPACING: f32 = 0.5;

pub fn run(run: &mut Run<'_>) -> Result {
    let cells = [run.size("cells_x")?, run.size("cells_y")?, run.size("cells_z")?];
    let [cells_x, cells_y, cells_z] = cells;
    let (count, side) = (cells_x * cells_y * cells_z, SIDE as f32 * SPACING);
    // As far as a cell is large.
    let cutoff = side;
    let mut charges = vec![[0.0f32; 4]; count * CHARGES];
    for cell in 0..count {
        let corner = [cell % cells_x, cell / cells_x % cells_y, cell / (cells_x * cells_y)].map(|c| c as f32 * side);
        for i in 0..3 + run.rng.index(CHARGES - 2) {
            // Not on a point of the grid.
            let place = corner.map(|c| c + (run.rng.index(SIDE) as f32 + run.rng.between(0.2, 0.8)) * SPACING);
            let charge = run.rng.between(0.1, 1.0) * if run.rng.below(2) == 0 { 1.0 } else { -1.0 };
            charges[cell * CHARGES + i] = [place[0], place[1], place[2], charge];
        }
    }
    let charge_buffer = run.upload("charges", charges.as_flattened())?;
    let grid = run.zeros::<f32>("grid", count * SIDE * SIDE * SIDE)?;
    let sizes = cells.map(|n| (n as i32).into());
    let floats = [SPACING, cutoff * cutoff, 1.0 / (cutoff * cutoff)].map(Into::into);
    let args = [&[charge_buffer.into()][..], &sizes, &floats, &[grid.into()]].concat();
    run.launch("potential", count, THREADS, &args)?;

    // Every charge adds to all points around it.
    let size = cells.map(|n| n * SIDE);
    let mut want = vec![0.0f64; count * SIDE * SIDE * SIDE];
    let (spacing, cutoff) = (f64::from(SPACING), f64::from(cutoff));
    for &[x, y, z, charge] in charges.iter().filter(|c| c[3] != 0.0) {
        let place = [x, y, z].map(f64::from);
        let range = |axis: usize| {
            let end = |v: f64| (v / spacing).clamp(0.0, size[axis] as f64 - 1.0) as usize;
            end(place[axis] - cutoff)..=end(place[axis] + cutoff)
        };
        for k in range(2) {
            for j in range(1) {
                for i in range(0) {
                    let by = [i, j, k].into_iter().zip(place).map(|(i, v)| (i as f64 * spacing - v).powi(2));
                    let far2: f64 = by.sum();
                    if far2 < cutoff * cutoff {
                        let fade = 1.0 - far2 / (cutoff * cutoff);
                        want[(k * size[1] + j) * size[0] + i] += f64::from(charge) / far2.sqrt() * fade * fade;
                    }
                }
            }
        }
    }
    run.check("grid", grid, &want.iter().map(|v| *v as f32).collect::<Vec<_>>())
}
