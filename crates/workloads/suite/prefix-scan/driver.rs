//! Sums of all numbers before each: tiles, then the tiles' totals in the same way.

use crate::prelude::*;
use raddle_runtime::device::Buffer;

const BLOCK: usize = 256;
const TILE: usize = 2 * BLOCK;

/// Leaves the sums in a new buffer.
fn scan(run: &mut Run<'_>, numbers: Buffer<u32>, count: usize) -> Result<Buffer<u32>> {
    let tiles = count.div_ceil(TILE);
    let before = run.zeros::<u32>("before", count)?;
    let totals = run.zeros::<u32>("totals", tiles)?;
    let args = [numbers.into(), before.into(), totals.into(), (count as i32).into()];
    run.launch("scan_tiles", tiles, BLOCK, &args)?;
    if tiles > 1 {
        let above = scan(run, totals, tiles)?;
        run.launch("add_totals", tiles, BLOCK, &[before.into(), above.into(), (count as i32).into()])?;
    }
    Ok(before)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let count = run.size("numbers")?;
    let numbers: Vec<u32> = (0..count).map(|_| run.rng.next_u64() as u32).collect();
    let buffer = run.upload("numbers", &numbers)?;
    let before = scan(run, buffer, count)?;
    let mut want = vec![0u32];
    numbers[1..].iter().zip(&numbers).for_each(|(_, n)| want.push(want[want.len() - 1].wrapping_add(*n)));
    run.check("before", before, &want)
}
