//! Scores of all alignments of two sequences: a launch for each diagonal of tiles.

use crate::prelude::*;

const TILE: usize = 16;
const KINDS: usize = 24;
const PENALTY: i32 = 10;

pub fn run(run: &mut Run<'_>) -> Result {
    let tiles = run.size("tiles_on_side")?;
    let length = tiles * TILE;
    let sequence = |rng: &mut Rng| (0..length).map(|_| rng.index(KINDS) as u8).collect::<Vec<u8>>();
    let (down, across) = (sequence(&mut run.rng), sequence(&mut run.rng));
    // What it is worth to have one kind beside another: the same is best.
    let worth = |rng: &mut Rng, i: usize| if i / KINDS == i % KINDS { 6 } else { 0 } + rng.below(7) as i32 - 4;
    let likeness: Vec<i32> = (0..KINDS * KINDS).map(|i| worth(&mut run.rng, i)).collect();
    let width = length + 1;
    let mut want = vec![0; width * width];
    for i in 0..width {
        want[i] = -PENALTY * i as i32;
        want[i * width] = -PENALTY * i as i32;
    }

    let down_buffer = run.upload("down", &down)?;
    let across_buffer = run.upload("across", &across)?;
    let like_buffer = run.upload("likeness", &likeness)?;
    let scores = run.upload("scores", &want)?;
    for diagonal in 0..2 * tiles - 1 {
        let first_x = (diagonal + 1).saturating_sub(tiles);
        let blocks = diagonal.min(tiles - 1) - first_x + 1;
        let sequences = [down_buffer.into(), across_buffer.into(), like_buffer.into()];
        let numbers = [KINDS, width, first_x, diagonal - first_x].map(|n| (n as i32).into());
        let args = [&sequences[..], &numbers, &[PENALTY.into(), scores.into()]].concat();
        run.launch("align_tiles", blocks, TILE, &args)?;
    }

    for row in 1..width {
        for column in 1..width {
            let at = row * width + column;
            let like = likeness[down[row - 1] as usize * KINDS + across[column - 1] as usize];
            let beside = want[at - 1].max(want[at - width]) - PENALTY;
            want[at] = beside.max(want[at - width - 1] + like);
        }
    }
    run.check("scores", scores, &want)
}
