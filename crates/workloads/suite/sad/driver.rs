//! Differences between two pictures of a film, for parts of all sizes.

use crate::prelude::*;

const THREADS: usize = 61;

pub fn run(run: &mut Run<'_>) -> Result {
    let (columns, rows, reach) = (run.size("columns")?, run.size("rows")?, run.size("reach")?);
    let (width, height, across) = (columns * 16, rows * 16, 2 * reach + 1);
    let places = across * across;
    // The second picture is the first a little further, with some noise.
    let other: Vec<u8> = (0..width * height).map(|_| run.rng.below(250) as u8).collect();
    let moved = |i: usize| other[(i / width + 1).min(height - 1) * width + (i % width + 2).min(width - 1)];
    let picture: Vec<u8> = (0..width * height).map(|i| moved(i) + run.rng.below(6) as u8).collect();

    let macros = columns * rows;
    let picture_buffer = run.upload("picture", &picture)?;
    let other_buffer = run.upload("other", &other)?;
    let differences = run.zeros::<u16>("differences", macros * 16 * places)?;
    let wide = run.zeros::<u16>("wide", macros * 8 * places)?;
    let high = run.zeros::<u16>("high", macros * 8 * places)?;
    let both = run.zeros::<u16>("both", macros * 4 * places)?;
    let whole = run.zeros::<u32>("whole", macros * places)?;
    let best = run.zeros::<u32>("best", macros)?;
    let numbers = [width, height, reach, places.div_ceil(THREADS)].map(|n| (n as i32).into());
    let args = [&[picture_buffer.into(), other_buffer.into()][..], &numbers, &[differences.into()]].concat();
    run.launch("part_differences", [columns as u32, rows as u32, 16], THREADS, &args)?;
    let count = (places as i32).into();
    let args = [differences.into(), count, wide.into(), high.into(), both.into()];
    run.launch("larger_parts_8", (columns, rows), 128, &args)?;
    let count = (places as i32).into();
    run.launch("larger_parts_16", (columns, rows), 128, &[both.into(), count, whole.into(), best.into()])?;

    // The difference of a rectangle of a macroblock at a place, pixel by pixel.
    let difference = |index: usize, width_of: usize, height_of: usize| {
        let (part, place) = (index / places, index % places);
        let (per_row, per_macro) = (16 / width_of, 256 / (width_of * height_of));
        let (corner, inside) = (part / per_macro, part % per_macro);
        let (x, y) =
            (corner % columns * 16 + inside % per_row * width_of, corner / columns * 16 + inside / per_row * height_of);
        let at = |from: usize, by: usize, end: usize| (from + by).saturating_sub(reach).min(end - 1);
        let pixel = |i: usize| {
            let (x, y) = (x + i % width_of, y + i / width_of);
            let there = at(y, place / across, height) * width + at(x, place % across, width);
            u32::from(picture[y * width + x].abs_diff(other[there]))
        };
        (0..width_of * height_of).map(pixel).sum::<u32>()
    };
    let all = |parts: usize, width: usize, height: usize| {
        (0..macros * parts * places).map(|i| difference(i, width, height)).collect::<Vec<u32>>()
    };
    let short = |values: Vec<u32>| values.into_iter().map(|v| v as u16).collect::<Vec<_>>();
    run.check("differences", differences, &short(all(16, 4, 4)))?;
    // Parts of a quarter come one after the other, in this order.
    let by_quarter = |values: Vec<u32>, order: [usize; 8]| {
        let parts: Vec<&[u32]> = values.chunks_exact(places).collect();
        parts.chunks_exact(8).flat_map(|part| order.map(|i| part[i])).flatten().copied().collect::<Vec<u32>>()
    };
    run.check("wide", wide, &short(by_quarter(all(8, 8, 4), [0, 2, 1, 3, 4, 6, 5, 7])))?;
    run.check("high", high, &short(by_quarter(all(8, 4, 8), [0, 1, 2, 3, 4, 5, 6, 7])))?;
    run.check("both", both, &short(all(4, 8, 8)))?;
    let want = all(1, 16, 16);
    run.check("whole", whole, &want)?;
    let least = |part: &[u32]| part.iter().zip(0..).map(|(sum, place)| sum << 12 | place).min().unwrap_or(0);
    run.check("best", best, &want.chunks_exact(places).map(least).collect::<Vec<_>>())
}
