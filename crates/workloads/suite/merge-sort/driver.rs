//! Merge sort of keys with values; keys that are equal stay in order.

use crate::prelude::*;

const BLOCK: usize = 256;
const TILE: usize = 2 * BLOCK;
const STRIDE: usize = BLOCK;

pub fn run(run: &mut Run<'_>) -> Result {
    let count = run.size("keys")?;
    let tiles = count / TILE;
    // Few enough that some come several times.
    let keys: Vec<u32> = (0..count).map(|_| run.rng.below(4 * count as u64) as u32).collect();
    let values: Vec<u32> = (0..count as u32).collect();
    let mut from = (run.upload("keys", &keys)?, run.upload("values", &values)?);
    let mut to = (run.zeros::<u32>("keys2", count)?, run.zeros::<u32>("values2", count)?);
    let pieces = count / STRIDE;
    let limits = run.zeros::<i32>("limits", 2 * pieces)?;
    run.launch("sort_tiles", tiles, BLOCK, &[from.0.into(), from.1.into(), to.0.into(), to.1.into()])?;
    std::mem::swap(&mut from, &mut to);

    let mut length = TILE;
    while length < count {
        let runs = length as i32;
        let args = [from.0.into(), limits.into(), runs.into(), (pieces as i32).into()];
        run.launch("rank_splitters", pieces.div_ceil(BLOCK), BLOCK, &args)?;
        let args = [from.0.into(), from.1.into(), to.0.into(), to.1.into(), limits.into(), runs.into()];
        run.launch("merge_pieces", pieces, BLOCK, &args)?;
        std::mem::swap(&mut from, &mut to);
        length *= 2;
    }

    let mut want: Vec<(u32, u32)> = keys.into_iter().zip(values).collect();
    want.sort_by_key(|pair| pair.0);
    let (keys, values): (Vec<u32>, Vec<u32>) = want.into_iter().unzip();
    run.check("keys", from.0, &keys)?;
    run.check("values", from.1, &values)
}
