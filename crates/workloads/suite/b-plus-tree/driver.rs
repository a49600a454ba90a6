//! Searches in a B+ tree: single keys, then ranges.

use crate::prelude::*;

const ORDER: usize = 256;
/// Numbers of a node: its keys, then its links.
const NODE: usize = 2 * ORDER;

pub fn run(run: &mut Run<'_>) -> Result {
    let (records, single, ranges) = (run.size("records")?, run.size("keys")?, run.size("ranges")?);
    let mut keys = Vec::with_capacity(records);
    let mut key = 0;
    for _ in 0..records {
        key += 1 + run.rng.below(4) as i32;
        keys.push(key);
    }
    let values: Vec<i32> = (0..records).map(|_| run.rng.below(1 << 30) as i32).collect();
    let (nodes, height) = tree(&mut run.rng, &keys);
    let nodes = run.upload("nodes", &nodes)?;
    let records_buffer = run.upload("records", &values)?;
    let height = height as i32;

    // Some of them are not there.
    let wanted: Vec<i32> = (0..single).map(|_| 1 + run.rng.below(key as u64 + 10) as i32).collect();
    let wanted_buffer = run.upload("wanted", &wanted)?;
    let answers = run.upload("answers", &vec![-1i32; single])?;
    let args = [nodes.into(), records_buffer.into(), wanted_buffer.into(), answers.into(), height.into()];
    run.launch("find_k", single, ORDER, &args)?;
    let answer = |key: &i32| keys.binary_search(key).map_or(-1, |at| values[at]);
    let want: Vec<i32> = wanted.iter().map(answer).collect();
    run.check("answers", answers, &want)?;

    let mut range = || {
        let first = run.rng.index(records);
        (first, 1 + run.rng.index(1000.min(records - first)))
    };
    let want: Vec<(usize, usize)> = (0..ranges).map(|_| range()).collect();
    let starts: Vec<i32> = want.iter().map(|(first, _)| keys[*first]).collect();
    let ends: Vec<i32> = want.iter().map(|(first, length)| keys[first + length - 1]).collect();
    let starts_buffer = run.upload("starts", &starts)?;
    let ends_buffer = run.upload("ends", &ends)?;
    let firsts = run.zeros::<i32>("firsts", ranges)?;
    let lengths = run.zeros::<i32>("lengths", ranges)?;
    let args = [nodes.into(), starts_buffer.into(), ends_buffer.into(), firsts.into(), lengths.into(), height.into()];
    run.launch("find_range_k", ranges, ORDER, &args)?;
    let (want_firsts, want_lengths): (Vec<i32>, Vec<i32>) =
        want.iter().map(|(first, length)| (*first as i32, *length as i32)).unzip();
    run.check("firsts", firsts, &want_firsts)?;
    run.check("lengths", lengths, &want_lengths)
}

/// The nodes of a tree, the root first, and its height. Keys are their own records' places.
fn tree(rng: &mut Rng, keys: &[i32]) -> (Vec<i32>, usize) {
    // From the leaves up: each level has the smallest keys of the nodes below, which are numbered within their level.
    let mut levels: Vec<Vec<[i32; NODE]>> = Vec::new();
    let mut entries = keys.to_vec();
    loop {
        let mut level = Vec::new();
        let mut smallest = Vec::new();
        let mut at = 0;
        while at < entries.len() {
            let count = (ORDER / 2 + rng.index(ORDER / 2 + 1)).min(entries.len() - at);
            let mut node = [i32::MAX; NODE];
            node[..count].copy_from_slice(&entries[at..at + count]);
            for i in 0..count {
                node[ORDER + i] = (at + i) as i32;
            }
            // Keys that are smaller than all also go to the first child.
            if !levels.is_empty() && at == 0 {
                node[0] = i32::MIN;
            }
            smallest.push(entries[at]);
            level.push(node);
            at += count;
        }
        let is_root = level.len() == 1;
        levels.push(level);
        if is_root {
            break;
        }
        entries = smallest;
    }
    // From the root down: a level's links lead to where the next begins.
    let height = levels.len();
    let mut all = Vec::new();
    let mut end = 0;
    for (i, level) in levels.iter().enumerate().rev() {
        end += level.len() as i32;
        for node in level {
            let used = node[..ORDER].iter().filter(|key| **key != i32::MAX).count();
            let base = if i > 0 { end } else { 0 };
            let link = |at: usize| if at < used { node[ORDER + at] + base } else { 0 };
            all.extend_from_slice(&node[..ORDER]);
            all.extend((0..ORDER).map(link));
        }
    }
    (all, height)
}
