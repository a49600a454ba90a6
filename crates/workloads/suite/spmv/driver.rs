//! Sparse matrix times vector. Most rows are short, a few are long.

use crate::prelude::*;

const BLOCK: usize = 192;

pub fn run(run: &mut Run<'_>) -> Result {
    let (rows, longest) = (run.size("rows")?, run.size("longest_row")?);
    let mut first = vec![0u32];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        // Lengths follow a power law: half of the rows have one or two elements.
        let length = (1.0 / (1.0 - run.rng.unit())).min(longest as f64) as usize;
        let mut row: Vec<u32> = (0..length).map(|_| run.rng.index(rows) as u32).collect();
        row.sort_unstable();
        row.dedup();
        values.extend(run.rng.floats(row.len(), -1.0, 1.0));
        columns.extend(row);
        first.push(columns.len() as u32);
    }
    let x = run.rng.floats(rows, -1.0, 1.0);

    let first_buffer = run.upload("first", &first)?;
    let column_buffer = run.upload("column", &columns)?;
    let value_buffer = run.upload("value", &values)?;
    let x_buffer = run.upload("x", &x)?;
    let y = run.zeros::<f32>("y", rows)?;
    let args = [
        first_buffer.into(),
        column_buffer.into(),
        value_buffer.into(),
        x_buffer.into(),
        y.into(),
        (rows as i32).into(),
    ];
    run.launch("spmv_csr", rows.div_ceil(BLOCK), BLOCK, &args)?;

    // The compiler fuses multiplication and addition.
    let product = |sum: f32, i: usize| values[i].mul_add(x[columns[i] as usize], sum);
    let row = |ends: &[u32]| (ends[0] as usize..ends[1] as usize).fold(0.0, product);
    let want: Vec<f32> = first.windows(2).map(row).collect();
    run.check("y", y, &want)
}
