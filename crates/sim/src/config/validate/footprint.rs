//! What a machine takes of the host's memory.

use super::Check;
use crate::config::{CacheConfig, MachineConfig};

/// The most it may take, in bytes.
pub const MAX: u64 = 4 << 30;

// About what one of each takes, in bytes.
const THREAD: u64 = 1024;
const LINE: u64 = 32;
const SECTORED_LINE: u64 = 96;
const MISS: u64 = 96;
const WAITER: u64 = 32;
const QUEUED: u64 = 64;

/// Refuses machines whose tables and queues would together take too much memory, although each size alone is possible.
pub fn check(check: &mut Check, config: &MachineConfig) {
    let parts = parts(config);
    let all: u64 = parts.iter().map(|part| part.1).sum();
    let Some((path, bytes)) = parts.into_iter().max_by_key(|part| part.1) else { return };
    let [gib, all_gib] = [bytes, all].map(|bytes| bytes.div_ceil(1 << 30));
    check.rule(all <= MAX, &path, || {
        format!(
            "and what multiplies it make a machine that needs about {all_gib} GiB of the host's memory, {gib} of them \
             for this; at most {} are allowed: make it smaller, or use fewer SMs (`gpu.sms`) or channels \
             (`dram.channels`)",
            MAX >> 30
        )
    });
}

/// What takes memory: the key most to blame, and the bytes in the whole machine.
fn parts(config: &MachineConfig) -> Vec<(String, u64)> {
    let (sm, l2, dram) = (&config.sm, &config.l2, &config.dram);
    let sms = u64::from(config.gpu.sms);
    let channels = u64::from(dram.channels);
    let slices = channels * u64::from(l2.slices);
    let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
    let mut parts = vec![("sm.threads".to_owned(), sms * u64::from(sm.threads) * THREAD)];
    for (name, cache) in [("l1i", &sm.l1i), ("l1d", &sm.l1d), ("l1c", &sm.l1c)] {
        let CacheConfig { sets, ways, mshr_entries, miss_queue, .. } = *cache;
        parts.push((format!("sm.{name}.sets"), sms * product(sets, ways) * LINE));
        parts.push((format!("sm.{name}.mshr_entries"), sms * u64::from(mshr_entries) * MISS));
        parts.push((format!("sm.{name}.miss_queue"), sms * u64::from(miss_queue) * QUEUED));
    }
    parts.push(("sm.l1t.sets".to_owned(), sms * product(sm.l1t.sets, sm.l1t.ways) * SECTORED_LINE));
    for (name, entries) in [("fragments", sm.l1t.fragments), ("requests", sm.l1t.requests), ("reorder", sm.l1t.reorder)]
    {
        parts.push((format!("sm.l1t.{name}"), sms * u64::from(entries) * QUEUED));
    }
    parts.push(("l2.sets".to_owned(), slices * product(l2.sets, l2.ways) * SECTORED_LINE));
    parts.push(("l2.mshr_entries".to_owned(), slices * u64::from(l2.mshr_entries) * MISS));
    parts.push(("l2.mshr_merges".to_owned(), slices * product(l2.mshr_entries, l2.mshr_merges) * WAITER));
    for (name, entries) in [
        ("inbox", l2.inbox),
        ("input_queue", l2.input_queue),
        ("miss_queue", l2.miss_queue),
        ("to_dram_queue", l2.to_dram_queue),
        ("from_dram_queue", l2.from_dram_queue),
        ("output_queue", l2.output_queue),
    ] {
        parts.push((format!("l2.{name}"), slices * u64::from(entries) * QUEUED));
    }
    parts.push(("dram.queue".to_owned(), channels * product(dram.queue, dram.banks) * QUEUED));
    parts.push(("dram.return_queue".to_owned(), channels * u64::from(dram.return_queue) * QUEUED));
    parts.push(("dram.timing.cl".to_owned(), channels * u64::from(dram.timing.cl) * QUEUED));
    parts
}
