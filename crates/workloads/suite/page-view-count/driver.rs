//! Page views in a log: how many addresses have seen each URL.

use crate::prelude::*;
use crate::web;
use std::collections::{BTreeMap, BTreeSet};

const BLOCK: usize = 256;
const TILE: usize = 2 * BLOCK;

pub fn run(run: &mut Run<'_>) -> Result {
    let count = run.size("lines")?;
    let (urls, addresses) = (run.size("urls")?, run.size("addresses")?);
    let log = log(&mut run.rng, count, urls, addresses);
    let mut lines = vec![0];
    lines.extend(log.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at as u32 + 1));
    lines.pop();

    let text = run.upload("text", log.as_bytes())?;
    let lines_buffer = run.upload("lines", &lines)?;
    let pairs = run.zeros::<u64>("pairs", count)?;
    let args = [text.into(), lines_buffer.into(), pairs.into(), (count as i32).into()];
    run.launch("map_lines", count / BLOCK, BLOCK, &args)?;

    run.launch("sort_tiles", count / TILE, BLOCK, &[pairs.into()])?;
    let mut size = 2 * TILE;
    while size <= count {
        let mut stride = size / 2;
        while stride >= TILE {
            let args = [pairs.into(), (size as i32).into(), (stride as i32).into()];
            run.launch("merge_global", count / TILE, BLOCK, &args)?;
            stride /= 2;
        }
        run.launch("merge_tiles", count / TILE, BLOCK, &[pairs.into(), (size as i32).into()])?;
        size *= 2;
    }

    let blocks = count / BLOCK;
    let counts = run.zeros::<u64>("counts", count)?;
    let totals = run.zeros::<u64>("totals", blocks)?;
    run.launch("scan_heads", blocks, BLOCK, &[pairs.into(), counts.into(), totals.into()])?;
    run.launch("scan_totals", 1, BLOCK, &[totals.into(), (blocks as i32).into()])?;

    // The log, read on the CPU.
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in log.lines() {
        let mut fields = line.split('\t');
        if let (Some(url), Some(address)) = (fields.next(), fields.next()) {
            seen.entry(url).or_default().insert(address);
        }
    }
    let want: BTreeMap<u32, u32> = seen.iter().map(|(url, by)| (web::hash(url), by.len() as u32)).collect();
    let found = want.len();

    let urls_buffer = run.zeros::<u32>("urls", found)?;
    let firsts = run.zeros::<u32>("firsts", found + 1)?;
    let views = run.zeros::<u32>("views", found)?;
    let args = [pairs.into(), counts.into(), totals.into(), urls_buffer.into(), firsts.into(), (count as i32).into()];
    run.launch("write_urls", blocks, BLOCK, &args)?;
    let args = [firsts.into(), views.into(), (found as i32).into()];
    run.launch("count_views", found.div_ceil(BLOCK), BLOCK, &args)?;

    let (hashes, numbers): (Vec<u32>, Vec<u32>) = want.into_iter().unzip();
    run.check("urls", urls_buffer, &hashes)?;
    run.check("views", views, &numbers)
}

/// Lines of URL, address and time. The `n`-th page is seen about a `n`-th as often as the first.
fn log(rng: &mut Rng, lines: usize, urls: usize, addresses: usize) -> String {
    let pages = web::pages(rng, urls);
    let part = |rng: &mut Rng| rng.below(256);
    let readers: Vec<String> =
        (0..addresses).map(|_| format!("{}.{}.{}.{}", part(rng), part(rng), part(rng), part(rng))).collect();
    let mut log = String::new();
    for line in 0..lines {
        let page = (urls as f64).powf(rng.unit()) as usize - 1;
        let reader = rng.index(addresses);
        log += &format!("{}\t{}\t{}\n", pages[page], readers[reader], 1_000_000_000 + line);
    }
    log
}
