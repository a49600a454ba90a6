//! The cheapest ways through a grid, some rows with every launch.

use crate::prelude::*;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (columns, rows, steps) = (run.size("columns")?, run.size("rows")?, run.size("rows_at_once")?);
    let costs: Vec<i32> = (0..columns * rows).map(|_| run.rng.below(10) as i32).collect();
    let cost_buffer = run.upload("costs", &costs)?;
    let mut before = run.upload("first_row", &costs[..columns])?;
    let mut after = run.zeros::<i32>("way", columns)?;
    let mut row = 1;
    while row < rows {
        let now = steps.min(rows - row);
        let blocks = columns.div_ceil(BLOCK - 2 * now);
        let numbers = [columns, row, now].map(|n| (n as i32).into());
        let args = [&[cost_buffer.into(), before.into()][..], &numbers, &[after.into()]].concat();
        run.launch("rows", blocks, BLOCK, &args)?;
        std::mem::swap(&mut before, &mut after);
        row += now;
    }

    let mut want = costs[..columns].to_vec();
    for row in costs.chunks_exact(columns).skip(1) {
        let best = |i: usize| want[i.saturating_sub(1)..=(i + 1).min(columns - 1)].iter().min().copied();
        want = row.iter().enumerate().map(|(i, cost)| cost + best(i).unwrap_or(0)).collect();
    }
    run.check("way", before, &want)
}
