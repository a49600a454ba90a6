//! Product of two matrices.

use crate::prelude::*;

const TILE: usize = 16;

pub fn run(run: &mut Run<'_>) -> Result {
    let (rows, inner, columns) = (run.size("rows")?, run.size("inner")?, run.size("columns")?);
    let a = run.rng.floats(rows * inner, -1.0, 1.0);
    let b = run.rng.floats(inner * columns, -1.0, 1.0);
    let a_buffer = run.upload("a", &a)?;
    let b_buffer = run.upload("b", &b)?;
    let c = run.zeros::<f32>("c", rows * columns)?;
    let args = [c.into(), a_buffer.into(), b_buffer.into(), (inner as i32).into(), (columns as i32).into()];
    run.launch("matmul", (columns / TILE, rows / TILE), (TILE, TILE), &args)?;

    // Row by row: the sum of rows of b, each times an element of a.
    let mut want = Vec::with_capacity(rows * columns);
    for a_row in a.chunks(inner) {
        let mut sums = vec![0.0f64; columns];
        for (factor, b_row) in a_row.iter().zip(b.chunks(columns)) {
            for (sum, value) in sums.iter_mut().zip(b_row) {
                *sum += f64::from(*factor) * f64::from(*value);
            }
        }
        want.extend(sums.iter().map(|sum| *sum as f32));
    }
    run.check("c", c, &want)
}
