//! Many short lists, each sorted by a block.

use crate::prelude::*;

const BLOCK: usize = 512;

pub fn run(run: &mut Run<'_>) -> Result {
    let lists = run.size("lists")?;
    let mut keys: Vec<u32> = (0..lists * BLOCK).map(|_| run.rng.next_u64() as u32).collect();
    let key_buffer = run.upload("keys", &keys)?;
    let sorted = run.zeros::<u32>("sorted", keys.len())?;
    run.launch("sort_lists", lists, BLOCK, &[key_buffer.into(), sorted.into()])?;
    keys.chunks_exact_mut(BLOCK).for_each(<[u32]>::sort_unstable);
    run.check("sorted", sorted, &keys)
}
