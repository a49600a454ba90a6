//! Caches: `N:32:128:4,L:L:m:N:H,S:64:8,8` is kind, sets, line, ways; replacement, writes, allocation, allocation by
//! writes, index; kind, entries and merges of the MSHRs; miss queue. Those of a texture cache end in its queues.

use super::{Out, Setting};

/// The caches with their keys.
const CACHES: [(&str, &str); 5] = [
    ("-gpgpu_cache:dl1", "sm.l1d"),
    ("-gpgpu_cache:il1", "sm.l1i"),
    ("-gpgpu_cache:dl2", "l2"),
    ("-gpgpu_tex_cache:l1", "sm.l1t"),
    ("-gpgpu_const_cache:l1", "sm.l1c"),
];

/// A cache option; `false` if it is none.
pub fn map(out: &mut Out, option: &Setting, all: &[Setting]) -> bool {
    let Some(&(_, path)) = CACHES.iter().find(|(name, _)| *name == option.name) else { return false };
    if option.value == "none" {
        out.count(&format!("{path}.sets"), 0);
        if !["l2", "sm.l1t"].contains(&path) {
            out.put(&format!("{path}.index"), "linear");
        }
    } else if cache(out, path, &option.value, all).is_none() {
        out.remark("this is not the description of a cache");
    }
    true
}

/// The number at this place of a list.
fn number(words: &[&str], at: usize) -> Option<u32> {
    words.get(at).and_then(|word| word.trim().parse().ok())
}

/// The kind of a cache, and its sets, line and ways: `N:32:128:4`, or as in version 3 without the kind.
fn size_of(text: &str) -> Option<(&str, [u32; 3])> {
    let words: Vec<&str> = text.trim().split(':').collect();
    let (kind, size) = if words.len() == 4 { (words[0], &words[1..]) } else { ("N", &words[..]) };
    Some((kind, [number(size, 0)?, number(size, 1)?, number(size, 2)?]))
}

/// The shortest line of the SM's caches; that of the preset's constant cache where the text has none.
fn shortest_line(all: &[Setting]) -> u32 {
    let lines = CACHES.iter().filter(|(_, path)| *path != "l2").filter_map(|(name, path)| {
        let option = all.iter().rev().find(|option| option.name == *name);
        let size = option.and_then(|option| size_of(option.value.split(',').next()?));
        size.map(|(_, [_, line, _])| line).or((*path == "sm.l1c").then_some(64))
    });
    lines.min().unwrap_or(64)
}

/// Takes a description apart; nothing is put if it is none.
fn cache(out: &mut Out, path: &str, value: &str, all: &[Setting]) -> Option<()> {
    let parts: Vec<Vec<&str>> = value.split(',').map(|part| part.trim().split(':').collect()).collect();
    let [_, policy, mshr, queue, ..] = parts.as_slice() else { return None };
    let (kind, [sets, line, ways]) = size_of(value.split(',').next()?)?;
    let (entries, merges, misses) = (number(mshr, 1)?, number(mshr, 2)?, number(queue, 0)?);
    // Of a texture cache the same numbers are the sizes of its queues, with one more.
    let texture = path == "sm.l1t";
    let keys =
        if texture { ["fragments", "requests", "reorder"] } else { ["mshr_entries", "mshr_merges", "miss_queue"] };
    for (key, value) in ["sets", "line", "ways"].into_iter().zip([sets, line, ways]) {
        out.count(&format!("{path}.{key}"), value);
    }
    for (key, value) in keys.into_iter().zip([entries, merges, misses]) {
        out.count(&format!("{path}.{key}"), value);
    }
    if let (true, Some(results)) = (texture, number(queue, 1)) {
        out.count("sm.l1t.results", results);
    }
    let letter = |at: usize| policy.get(at).copied().unwrap_or("");
    if letter(0) != "L" {
        out.remark("replacement is always LRU");
    }
    if path == "l2" {
        l2(out, kind, &[letter(1), letter(4)], line.min(shortest_line(all)), line);
    } else if texture {
        // Version 3 has no letter for the index.
        if !["L", ""].contains(&letter(4)) {
            out.remark("sets are selected by the bits above the line");
        }
    } else {
        l1(out, path, kind, &[letter(1), letter(2), letter(4)], sets == 32 && line == 128);
    }
    Some(())
}

/// A cache without sectors is one whose lines have one sector, as far as requests of the SM's caches fill it.
fn l2(out: &mut Out, kind: &str, [write, index]: &[&str; 2], whole: u32, line: u32) {
    out.count("l2.sector", if kind == "S" { 32 } else { whole });
    // A request in sectors is no longer known as a texture fetch when it comes to the delay.
    out.put("l2.rop_for_textures", kind == "S");
    if kind != "S" && whole < line {
        out.remark(format!("lines are fetched in sectors of {whole} bytes, the shortest line of the SM's caches"));
    }
    if *write != "B" {
        out.remark("the L2 is always written back");
    }
    // Version 3 has no letter for it.
    if !["L", ""].contains(index) {
        out.remark("the set is always selected by the bits above the line");
    }
}

fn l1(out: &mut Out, path: &str, kind: &str, [write, allocate, index]: &[&str; 3], is_fermi_size: bool) {
    if kind == "S" {
        out.remark("lines of the SM's caches have no sectors");
    }
    let key = |key: &str| format!("{path}.{key}");
    match (*write, path) {
        ("L", "sm.l1d") => out.put(&key("write"), "global-through-local-back"),
        ("B", "sm.l1d") => out.put(&key("write"), "back"),
        (_, "sm.l1d") => out.remark("of the ways to write, L (local back, global through) and B (back) are known"),
        ("R", _) => out.put(&key("write"), "read-only"),
        _ => out.remark("this cache is always read-only"),
    }
    match *allocate {
        "m" => out.put(&key("allocate_on_miss"), true),
        "f" => out.put(&key("allocate_on_miss"), false),
        _ => out.remark("of the ways to allocate, m (on miss) and f (on fill) are known"),
    }
    match *index {
        // Version 3 has no letter for it.
        "L" | "" => out.put(&key("index"), "linear"),
        "H" if is_fermi_size => out.put(&key("index"), "fermi"),
        _ => {
            out.put(&key("index"), "linear");
            out.remark("sets are selected by the bits above the line: other indices are for 32 sets of 128 bytes (H)");
        }
    }
}
