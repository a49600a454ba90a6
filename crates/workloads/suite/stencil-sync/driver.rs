//! Jacobi steps on a grid of points, all in one launch.

use crate::prelude::*;

const BLOCK: usize = 512;

pub fn run(run: &mut Run<'_>) -> Result {
    let (blocks, steps) = (run.size("blocks")?, run.size("steps")?);
    let (columns, rows) = (run.size("columns")?, run.size("rows")?);
    let start = run.rng.floats(columns * rows, 0.0, 1.0);
    let source = run.rng.floats(columns * rows, -0.1, 0.1);
    let a = run.upload("a", &start)?;
    let b = run.upload("b", &start)?;
    let source_buffer = run.upload("source", &source)?;
    let arrived = run.zeros::<u32>("arrived", 1)?;
    let args = [
        a.into(),
        b.into(),
        source_buffer.into(),
        (columns as i32).into(),
        (rows as i32).into(),
        (steps as i32).into(),
        arrived.into(),
    ];
    run.launch("stencil_sync", blocks, BLOCK, &args)?;

    let mut want: Vec<f64> = start.iter().map(|v| f64::from(*v)).collect();
    for _ in 0..steps {
        let old = want.clone();
        let inner = (1..rows - 1).flat_map(|y| (1..columns - 1).map(move |x| y * columns + x));
        for at in inner {
            let around = old[at - columns] + old[at + columns] + old[at - 1] + old[at + 1];
            want[at] = (around + f64::from(source[at])) / 4.0;
        }
    }
    let want: Vec<f32> = want.iter().map(|v| *v as f32).collect();
    run.check("points", if steps % 2 == 0 { a } else { b }, &want)?;
    run.check_exact("arrived", arrived, &[(blocks * steps) as u32])
}
