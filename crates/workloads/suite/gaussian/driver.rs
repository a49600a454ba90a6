//! Linear equations: elimination on the device, the rest on the host.

use crate::prelude::*;

const BLOCK: usize = 64;
const TILE: usize = 16;

pub fn run(run: &mut Run<'_>) -> Result {
    let size = run.size("equations")?;
    // Large on the diagonal, so that no rows have to change places.
    let mut matrix = run.rng.floats(size * size, -1.0, 1.0);
    (0..size).for_each(|i| matrix[i * size + i] += size as f32);
    let mut right = run.rng.floats(size, -1.0, 1.0);
    let matrix_buffer = run.upload("matrix", &matrix)?;
    let right_buffer = run.upload("right", &right)?;
    let factor_buffer = run.zeros::<f32>("factors", size * size)?;
    for pivot in 0..size - 1 {
        let numbers = [(size as i32).into(), (pivot as i32).into()];
        let args = [&[factor_buffer.into(), matrix_buffer.into()][..], &numbers].concat();
        run.launch("factors", (size - 1 - pivot).div_ceil(BLOCK), BLOCK, &args)?;
        let args = [&[factor_buffer.into(), matrix_buffer.into(), right_buffer.into()][..], &numbers].concat();
        let tiles = (size - pivot).div_ceil(TILE);
        run.launch("eliminate", (tiles, tiles), (TILE, TILE), &args)?;
    }

    let mut factors = vec![0.0; size * size];
    for pivot in 0..size - 1 {
        for row in pivot + 1..size {
            let part = matrix[row * size + pivot] / matrix[pivot * size + pivot];
            factors[row * size + pivot] = part;
            for column in pivot..size {
                let at = row * size + column;
                matrix[at] = (-part).mul_add(matrix[pivot * size + column], matrix[at]);
            }
            right[row] = (-part).mul_add(right[pivot], right[row]);
        }
    }
    run.check("factors", factor_buffer, &factors)?;
    run.check("matrix", matrix_buffer, &matrix)?;
    run.check("right", right_buffer, &right)
}
