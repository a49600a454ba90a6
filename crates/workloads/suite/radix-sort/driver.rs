//! Radix sort, four bits at a time.

use crate::prelude::*;

const BLOCK: usize = 256;
const BLOCK_KEYS: usize = 1024;
const DIGIT_BITS: usize = 4;
const DIGITS: usize = 1 << DIGIT_BITS;

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, bits) = (run.size("keys")?, run.size("bits")?);
    let mut keys: Vec<u32> = (0..count).map(|_| run.rng.below(1 << bits) as u32).collect();
    let blocks = count / BLOCK_KEYS;
    let entries = blocks * DIGITS;
    let scans = entries.div_ceil(BLOCK);

    let buffer = run.upload("keys", &keys)?;
    let sorted = run.zeros::<u32>("sorted", count)?;
    let starts = run.zeros::<u32>("starts", entries)?;
    let counts = run.zeros::<u32>("counts", entries)?;
    let sums = run.zeros::<u32>("sums", scans)?;
    let total = run.zeros::<u32>("total", 1)?;
    for shift in (0..bits).step_by(DIGIT_BITS) {
        let shift = shift as i32;
        run.launch("sort_blocks", blocks, BLOCK, &[buffer.into(), sorted.into(), shift.into()])?;
        run.launch("count_digits", blocks, BLOCK, &[sorted.into(), starts.into(), counts.into(), shift.into()])?;
        let entries = entries as i32;
        run.launch("scan_counts", scans, BLOCK, &[counts.into(), sums.into(), entries.into()])?;
        run.launch("scan_counts", 1, BLOCK, &[sums.into(), total.into(), (scans as i32).into()])?;
        run.launch("add_sums", scans, BLOCK, &[counts.into(), sums.into(), entries.into()])?;
        let args = [sorted.into(), starts.into(), counts.into(), buffer.into(), shift.into()];
        run.launch("scatter", blocks, BLOCK, &args)?;
    }

    keys.sort_unstable();
    run.check("keys", buffer, &keys)
}
