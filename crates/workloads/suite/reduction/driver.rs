//! The sum of many numbers, in as many launches as it takes.

use crate::prelude::*;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let mut count = run.size("numbers")?;
    let numbers: Vec<i32> = (0..count).map(|_| run.rng.next_u64() as i32).collect();
    let mut from = run.upload("numbers", &numbers)?;
    let mut want = numbers;
    while count > 1 {
        let blocks = count.div_ceil(2 * BLOCK);
        let sums = run.zeros::<i32>("sums", blocks)?;
        run.launch("reduce", blocks, BLOCK, &[from.into(), (count as i32).into(), sums.into()])?;
        want = want.chunks(2 * BLOCK).map(|part| part.iter().fold(0i32, |sum, n| sum.wrapping_add(*n))).collect();
        run.check("sums", sums, &want)?;
        (from, count) = (sums, blocks);
    }
    Ok(())
}
