//! The multiprocessor.

use super::{Check, MAX_LATENCY, MAX_LINE, MIN_LINE};
use crate::config::{
    CacheConfig, Coalescing, FetchConfig, LatencyConfig, MachineConfig, OpTiming, TextureCacheConfig, WritePolicy,
};
use crate::seam::MAX_WARPS;
use crate::sm::collector::MAX_WIDTH;
use crate::sm::units::HORIZON_CYCLES;
use crate::sm::units::MAX_PIPELINES;
use crate::sm::warps::front::MAX_IBUFFER;
use crate::sm::warps::places::MAX_SCHEDULERS;

/// Checks `[sm]` and the tables in it.
pub fn check(check: &mut Check, config: &MachineConfig) {
    let sm = &config.sm;
    check.range("sm.arch", sm.arch, 0, 999);
    let has_width = check.rule([4, 8, 16, 32].contains(&sm.warp_width), "sm.warp_width", || {
        format!("must be 4, 8, 16 or 32, not {}", sm.warp_width)
    });
    let has_threads = check.range("sm.threads", sm.threads, 1, 65_536);
    if has_width {
        check.rule(sm.simd_width > 0 && sm.warp_width.is_multiple_of(sm.simd_width), "sm.simd_width", || {
            format!("must divide `sm.warp_width`, {}, and {} does not", sm.warp_width, sm.simd_width)
        });
        check.rule(sm.threads.is_multiple_of(sm.warp_width), "sm.threads", || {
            format!("must be a multiple of `sm.warp_width`, {}, not {}", sm.warp_width, sm.threads)
        });
        slices(check, config);
        check.rule(sm.shared.groups > 0 && sm.warp_width.is_multiple_of(sm.shared.groups), "sm.shared.groups", || {
            format!("must divide `sm.warp_width`, {}, and {} does not", sm.warp_width, sm.shared.groups)
        });
    }
    subcores(check, config);
    check.range("sm.ctas", sm.ctas, 1, 4096);
    check.range("sm.registers", sm.registers, 1, 1 << 24);
    check.range("sm.register_grain", sm.register_grain, 1, 256);
    check.range("sm.shared_bytes", sm.shared_bytes, 0, 1 << 24);
    check.queue("sm.response_queue", sm.response_queue);
    check.queue("sm.ejection_buffer", sm.ejection_buffer);
    check.power("sm.shared.banks", sm.shared.banks, 1, 64);
    check.range("sm.shared.latency", sm.shared.latency, 1, MAX_LATENCY);
    if check.range("sm.issue.schedulers", sm.issue.schedulers, 1, 64) && has_width && has_threads {
        let warps = sm.threads / sm.warp_width;
        let slices = sm.slices.clamp(1, 8);
        check.rule(warps as usize <= MAX_WARPS, "sm.threads", || {
            format!("are {warps} warps of `sm.warp_width`, {}; an SM has at most {MAX_WARPS}", sm.warp_width)
        });
        check.rule(sm.issue.schedulers * slices <= warps, "sm.issue.schedulers", || match slices {
            1 => format!("is {}, more than the {warps} warps of an SM", sm.issue.schedulers),
            _ => format!("is {} in each of {slices} slices, more than the {warps} warps of an SM", sm.issue.schedulers),
        });
        check.rule((sm.issue.schedulers * slices) as usize <= MAX_SCHEDULERS, "sm.issue.schedulers", || {
            format!("is {} in each of {slices} slices; an SM has at most {MAX_SCHEDULERS}", sm.issue.schedulers)
        });
    }
    check.range("sm.issue.per_warp", sm.issue.per_warp, 1, 8);
    fetch(check, &sm.fetch, &sm.l1i);
    units(check, config);
    latencies(check, &sm.latency);
    caches(check, config);
}

/// Slices, and what does not go with them.
fn slices(check: &mut Check, config: &MachineConfig) {
    let sm = &config.sm;
    let whole = 32 / sm.warp_width;
    let fits = check.rule(sm.slices == 1 || sm.slices == whole, "sm.slices", || {
        format!("must be 1, or {whole} as that many warps of `sm.warp_width`, {}, make 32 lanes", sm.warp_width)
    });
    if !fits || sm.slices == 1 {
        return;
    }
    check.rule(sm.threads.is_multiple_of(32), "sm.threads", || {
        format!("must be a multiple of 32 when there are slices, not {}", sm.threads)
    });
}

/// Sub-cores, and what does not go with them.
fn subcores(check: &mut Check, config: &MachineConfig) {
    let sm = &config.sm;
    if !check.range("sm.subcores", sm.subcores, 1, 16) || sm.subcores == 1 {
        return;
    }
    check.rule(sm.issue.schedulers.is_multiple_of(sm.subcores), "sm.subcores", || {
        format!("must divide `sm.issue.schedulers`, {}, and {} does not", sm.issue.schedulers, sm.subcores)
    });
    check.rule(sm.slices == 1, "sm.subcores", || {
        format!("is {}, and `sm.slices` is {}: warps are either of slices or of sub-cores", sm.subcores, sm.slices)
    });
    check.rule(!sm.units.unified, "sm.units.unified", || {
        format!("is one pipeline for all warps, and `sm.subcores` is {}", sm.subcores)
    });
}

fn fetch(check: &mut Check, fetch: &FetchConfig, l1i: &CacheConfig) {
    check.range("sm.fetch.warps_per_cycle", fetch.warps_per_cycle, 1, 64);
    check.range("sm.fetch.l0_bytes", fetch.l0_bytes, 0, 1 << 20);
    check.range("sm.fetch.ibuffer", fetch.ibuffer, 1, MAX_IBUFFER.into());
    if check.range("sm.fetch.width", fetch.width, 1, 64) {
        check.rule(fetch.width <= fetch.ibuffer, "sm.fetch.width", || {
            format!("is {}, more than `sm.fetch.ibuffer`, {}, holds", fetch.width, fetch.ibuffer)
        });
    }
    // Otherwise lines could replace each other for ever before the warps that wait for them have their turn.
    let stays = !l1i.allocate_on_miss && l1i.ways > l1i.mshr_entries;
    check.rule(!fetch.refetch || fetch.ideal || stays, "sm.fetch.refetch", || {
        "needs lines that stay: `sm.l1i.allocate_on_miss` must be false and `sm.l1i.ways` more than \
         `sm.l1i.mshr_entries`"
            .to_owned()
    });
    if check.power("sm.fetch.instruction_bytes", fetch.instruction_bytes, 1, MAX_LINE) {
        check.rule(fetch.instruction_bytes <= l1i.line, "sm.fetch.instruction_bytes", || {
            format!("is {}, more than a line of the instruction cache, {}", fetch.instruction_bytes, l1i.line)
        });
    }
}

/// Units, and the collectors in front of them.
fn units(check: &mut Check, config: &MachineConfig) {
    let (units, collector) = (&config.sm.units, &config.sm.collector);
    check.range("sm.units.sp", units.sp, 1, 64);
    check.range("sm.units.sp_lanes", units.sp_lanes, 1, 32);
    check.range("sm.units.sfu", units.sfu, 0, 64);
    let others = [("sfu", units.sfu), ("int", units.int), ("dp", units.dp), ("tensor", units.tensor)];
    for (name, count) in &others[1..] {
        check.range(&format!("sm.units.{name}"), *count, 0, 64);
    }
    let all = others.iter().fold(units.sp, |all, (_, count)| all.saturating_add(*count));
    check.rule(all <= MAX_PIPELINES, "sm.units.sp", || {
        format!("is {}, which makes {all} pipelines with the others, more than {MAX_PIPELINES}", units.sp)
    });
    check.range("sm.collector.any_units", collector.any_units, 0, 64);
    check.range("sm.collector.steps", collector.steps, 1, 4);
    check.rule(!units.sfu_int_mul || units.sfu > 0, "sm.units.sfu_int_mul", || {
        "sends integer multiplications to the SFUs, and `sm.units.sfu` is 0".to_owned()
    });
    if units.unified {
        let per_warp = config.sm.issue.per_warp;
        check.rule(per_warp == 1, "sm.issue.per_warp", || {
            format!("is {per_warp}, but one pipeline (`sm.units.unified`) takes one instruction at a time")
        });
        check.rule(config.sm.slices == 1, "sm.units.unified", || {
            format!("is one pipeline for the whole warp, and `sm.slices` is {}", config.sm.slices)
        });
    }
    let has_sfus = [units.sfu, units.dp, units.tensor] != [0; 3];
    check.range("sm.units.sp_issue", units.sp_issue, 1, MAX_WIDTH.into());
    check.range("sm.units.mem_issue", units.mem_issue, 1, MAX_WIDTH.into());
    check.range("sm.units.sfu_issue", units.sfu_issue, u32::from(has_sfus), MAX_WIDTH.into());
    check.range("sm.units.writeback", units.writeback, 1, 64);
    check.range("sm.units.result_cycles", units.result_cycles, 0, MAX_RESULT_CYCLES);
    let has_own = collector.enabled && collector.any_units == 0;
    let least = u32::from(collector.enabled);
    let (least_own, least_sfu) = (u32::from(has_own), u32::from(has_own && has_sfus));
    check.range("sm.collector.banks", collector.banks, least, 64);
    for (name, value, least) in [
        ("sp_units", collector.sp_units, least_own),
        ("sfu_units", collector.sfu_units, least_sfu),
        ("mem_units", collector.mem_units, least_own),
        ("sp_ports", collector.sp_ports, least_own),
        ("sfu_ports", collector.sfu_ports, least_sfu),
        ("mem_ports", collector.mem_ports, least_own),
    ] {
        check.range(&format!("sm.collector.{name}"), value, least, 64);
    }
    let (sps, sfus) = (1 + u32::from(units.int > 0), 1 + u32::from(units.dp > 0) + u32::from(units.tensor > 0));
    let all = collector.sp_units.saturating_mul(sps).saturating_add(collector.sfu_units.saturating_mul(sfus));
    let all = if collector.any_units == 0 { all.saturating_add(collector.mem_units) } else { 0 };
    check.rule(all <= 64, "sm.collector.sp_units", || {
        format!("`sp_units`, `sfu_units` and `mem_units` are {all} together, more than 64")
    });
}

/// What the pipelines' calendar holds, with room for narrow pipelines and gating.
const MAX_OP_LATENCY: u32 = HORIZON_CYCLES - 128;
/// Longest way of a result to the registers: with the latency and what mechanisms add it stays below the horizon.
const MAX_RESULT_CYCLES: u32 = 16;

fn latencies(check: &mut Check, latency: &LatencyConfig) {
    for (name, OpTiming { latency, interval }) in latency.named() {
        let path = format!("sm.latency.{name}");
        check.range(&format!("{path}.latency"), latency, 1, MAX_OP_LATENCY);
        if check.range(&format!("{path}.interval"), interval, 1, MAX_LATENCY) {
            check.rule(interval <= latency, &format!("{path}.interval"), || {
                format!("is {interval}, longer than the {latency} cycles the instruction takes")
            });
        }
    }
}

impl LatencyConfig {
    /// Every kind of instruction with its key.
    #[must_use]
    pub fn named(&self) -> [(&'static str, OpTiming); 27] {
        [
            ("simple", self.simple),
            ("bits", self.bits),
            ("int_add", self.int_add),
            ("int_max", self.int_max),
            ("int_mul", self.int_mul),
            ("int_mad", self.int_mad),
            ("int_div", self.int_div),
            ("f32_add", self.f32_add),
            ("f32_max", self.f32_max),
            ("f32_mul", self.f32_mul),
            ("f32_mad", self.f32_mad),
            ("f32_fma", self.f32_fma),
            ("f32_div", self.f32_div),
            ("f16_add", self.f16_add),
            ("f16_max", self.f16_max),
            ("f16_mul", self.f16_mul),
            ("f16_fma", self.f16_fma),
            ("f64_add", self.f64_add),
            ("f64_max", self.f64_max),
            ("f64_mul", self.f64_mul),
            ("f64_mad", self.f64_mad),
            ("f64_fma", self.f64_fma),
            ("f64_div", self.f64_div),
            ("f64_sqrt", self.f64_sqrt),
            ("transcendental", self.transcendental),
            ("shuffle", self.shuffle),
            ("tensor", self.tensor),
        ]
    }
}

fn caches(check: &mut Check, config: &MachineConfig) {
    let sm = &config.sm;
    cache(check, "l1i", &sm.l1i, config);
    cache(check, "l1d", &sm.l1d, config);
    cache(check, "l1c", &sm.l1c, config);
    texture_cache(check, &sm.l1t, config);
    data_cache(check, config);
    for (name, cache) in [("l1i", &sm.l1i), ("l1c", &sm.l1c)] {
        check.rule(cache.write == WritePolicy::ReadOnly, &format!("sm.{name}.write"), || {
            "must be \"read-only\": nothing is stored through this cache".to_owned()
        });
    }
    check.rule(sm.l1d.write != WritePolicy::ReadOnly, "sm.l1d.write", || {
        "is \"read-only\", but stores go through this cache".to_owned()
    });
}

/// What only the data cache has.
fn data_cache(check: &mut Check, config: &MachineConfig) {
    let (data, l1d) = (&config.sm.data, &config.sm.l1d);
    check.power("sm.data.banks", data.banks, 1, 32);
    check.range("sm.data.modified_percent", data.modified_percent, 0, 100);
    let has_sectors = data.sector > 0 && data.sector < l1d.line;
    if data.sector > 0 {
        check.rule(data.sector == config.l2.sector || data.sector == l1d.line, "sm.data.sector", || {
            let (line, sector) = (l1d.line, config.l2.sector);
            format!("must be 0, the line, {line}, or a sector of the L2 (`l2.sector`), {sector}, not {}", data.sector)
        });
    }
    let stays = l1d.write == WritePolicy::ThroughAllocate;
    check.rule(l1d.sets == 0 || stays == has_sectors, "sm.l1d.write", || match stays {
        true => "is \"through-allocate\", which needs sectors (`sm.data.sector`)".to_owned(),
        false => "must be \"through-allocate\" where a miss fetches a sector (`sm.data.sector`)".to_owned(),
    });
    check.rule(!has_sectors || config.sm.coalescing == Coalescing::Sectors, "sm.coalescing", || {
        "must be \"sectors\" where the data cache has them (`sm.data.sector`)".to_owned()
    });
    check.rule(!has_sectors || l1d.allocate_on_miss, "sm.l1d.allocate_on_miss", || {
        "must be true where a miss fetches a sector (`sm.data.sector`)".to_owned()
    });
    let options = data.options();
    check.rule(options.as_ref().is_some_and(|all| all.is_sorted()), "sm.data.shared_options", || {
        format!("must be kilobytes, ascending, as in \"0 8 16\", not \"{}\"", data.shared_options)
    });
    check.range("sm.data.unified_bytes", data.unified_bytes, 0, 1 << 24);
    check.rule(
        data.unified_bytes == 0 || config.sm.shared_bytes <= data.unified_bytes,
        "sm.data.unified_bytes",
        || format!("is {}, less than `sm.shared_bytes`, {}", data.unified_bytes, config.sm.shared_bytes),
    );
}

/// A cache of the SM. The line counts without a cache, too: it is what a request is cut to.
fn cache(check: &mut Check, name: &str, cache: &CacheConfig, config: &MachineConfig) {
    let path = |key: &str| format!("sm.{name}.{key}");
    line_of(check, &path("line"), cache.line, config);
    check.misses(&format!("sm.{name}"), cache.mshr_entries, cache.mshr_merges);
    check.latency(&path("latency"), cache.latency);
    let least = 1 + u32::from(cache.write != WritePolicy::ReadOnly);
    if check.queue(&path("miss_queue"), cache.miss_queue) {
        check.rule(cache.miss_queue >= least, &path("miss_queue"), || {
            "is 1, but a miss may need room for the line it replaces and for its own request".to_owned()
        });
    }
    if cache.sets == 0 {
        check.range(&path("ways"), cache.ways, 0, 1024);
        return;
    }
    size_of(check, name, cache.sets, cache.ways);
    check.index(&path("index"), cache.index, cache.sets, cache.line);
}

/// A line of a cache of the SM.
fn line_of(check: &mut Check, path: &str, line: u32, config: &MachineConfig) {
    if check.power(path, line, MIN_LINE, MAX_LINE) {
        check.rule(line >= config.l2.sector, path, || {
            format!("is {line}, less than a sector of the L2 (`l2.sector`), {}", config.l2.sector)
        });
        check.rule(line <= config.l2.line, path, || {
            format!("is {line}, but a request must fit in a line of the L2 (`l2.line`), {}", config.l2.line)
        });
    }
}

/// Sets and ways of a cache that is there.
fn size_of(check: &mut Check, name: &str, sets: u32, ways: u32) {
    let path = |key: &str| format!("sm.{name}.{key}");
    check.power(&path("sets"), sets, 1, 1 << 16);
    check.range(&path("ways"), ways, 1, 1024);
    let lines = u64::from(sets) * u64::from(ways);
    check.rule(lines <= 1 << 18, &path("ways"), || {
        format!("makes {lines} lines with `sm.{name}.sets`, which is too many")
    });
}

fn texture_cache(check: &mut Check, cache: &TextureCacheConfig, config: &MachineConfig) {
    let TextureCacheConfig { sets, line, ways, fragments, requests, reorder, results } = *cache;
    line_of(check, "sm.l1t.line", line, config);
    let present = check.rule(sets > 0, "sm.l1t.sets", || "is 0, and only the others can be left out".to_owned());
    if present {
        size_of(check, "l1t", sets, ways);
    }
    for (key, entries) in [("fragments", fragments), ("requests", requests), ("reorder", reorder), ("results", results)]
    {
        check.queue(&format!("sm.l1t.{key}"), entries);
    }
}
