//! Pages by how often they are seen: lines of URL and views, sorted on the device.

use crate::prelude::*;
use crate::web;

const BLOCK: usize = 256;
const TILE: usize = 2 * BLOCK;

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, pages) = (run.size("lines")?, run.size("pages")?);
    let urls = web::pages(&mut run.rng, pages);
    // The number of views of a line is small more often than not.
    let views: Vec<u32> = (0..count).map(|_| 1_000_000f64.powf(run.rng.unit()) as u32).collect();
    let text: Vec<String> = views.iter().map(|views| format!("{}\t{views}\n", urls[run.rng.index(pages)])).collect();
    let mut lines = Vec::with_capacity(count);
    let mut at = 0;
    for line in &text {
        lines.push(at);
        at += line.len() as u32;
    }

    let room = count.next_multiple_of(TILE).next_power_of_two();
    let text_buffer = run.upload("text", text.concat().as_bytes())?;
    let line_buffer = run.upload("lines", &lines)?;
    let mut keys = run.zeros::<u64>("keys", room)?;
    let mut other = run.zeros::<u64>("other", room)?;
    let args = [text_buffer.into(), line_buffer.into(), (count as i32).into(), keys.into()];
    run.launch("map_views", room / BLOCK, BLOCK, &args)?;
    run.launch("sort_tiles", room / TILE, BLOCK, &[keys.into()])?;
    let mut sorted = TILE;
    while sorted < room {
        run.launch("merge_runs", room / TILE, BLOCK, &[keys.into(), other.into(), (sorted as i32).into()])?;
        std::mem::swap(&mut keys, &mut other);
        sorted *= 2;
    }
    let rank_lines = run.zeros::<u32>("rank_lines", count)?;
    let rank_views = run.zeros::<u32>("rank_views", count)?;
    let args = [keys.into(), (count as i32).into(), rank_lines.into(), rank_views.into()];
    run.launch("write_ranks", count.div_ceil(BLOCK), BLOCK, &args)?;

    let mut order: Vec<u32> = (0..count as u32).collect();
    order.sort_by_key(|line| std::cmp::Reverse(views[*line as usize]));
    let want_views: Vec<u32> = order.iter().map(|line| views[*line as usize]).collect();
    run.check("rank_lines", rank_lines, &order)?;
    run.check("rank_views", rank_views, &want_views)
}
