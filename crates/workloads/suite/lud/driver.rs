//! A matrix as the product of two triangles, tile by tile.

use crate::prelude::*;

const TILE: usize = 16;

pub fn run(run: &mut Run<'_>) -> Result {
    let tiles = run.size("tiles_on_side")?;
    let size = tiles * TILE;
    // Large on the diagonal, so that no rows have to change places.
    let mut matrix = run.rng.floats(size * size, -1.0, 1.0);
    (0..size).for_each(|i| matrix[i * size + i] += size as f32);
    let buffer = run.upload("matrix", &matrix)?;
    for done in 0..tiles {
        let args = [buffer.into(), (size as i32).into(), ((done * TILE) as i32).into()];
        run.launch("diagonal", 1, TILE, &args)?;
        let left = tiles - done - 1;
        if left > 0 {
            run.launch("perimeter", left, 2 * TILE, &args)?;
            run.launch("internal", (left, left), (TILE, TILE), &args)?;
        }
    }

    let mut want: Vec<f64> = matrix.iter().map(|v| f64::from(*v)).collect();
    for pivot in 0..size {
        let (above, below) = want.split_at_mut((pivot + 1) * size);
        let pivot_row = &above[pivot * size..];
        for row in below.chunks_exact_mut(size) {
            row[pivot] /= pivot_row[pivot];
            for column in pivot + 1..size {
                row[column] -= row[pivot] * pivot_row[column];
            }
        }
    }
    run.check("matrix", buffer, &want.iter().map(|v| *v as f32).collect::<Vec<_>>())
}
