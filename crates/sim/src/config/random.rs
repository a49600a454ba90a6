//! Random machines, for tests: small, odd, and valid.

use super::{
    CacheConfig, Choice, Coalescing, CollectorConfig, DramConfig, DramScheduler, FetchConfig, FirstSide, L2Config,
    LatencyConfig, Machine, MachineConfig, OpTiming, SetIndex, Source, TextureCacheConfig, UnitsConfig, WritePolicy,
};
use raddle_ptx::num::fit;

/// A random valid machine, the same for the same seed.
///
/// It has 1 to 4 SMs of at most 1024 threads, and warps of every width. Caches have from a single line to some
/// kilobytes, with and without L1D and L2. Queues start at the smallest size that is allowed. Every kind of fetch
/// occurs, one or several instructions of a warp in flight, with and without operand collector, half and whole warps,
/// and clocks in odd ratios. Mechanisms are `pdom`, `gto` or `lrr`, `lrr`, `round-robin` and `none`. There are at least
/// 32 KB of shared memory and 16,384 registers, so that kernels of ordinary size fit.
#[must_use]
pub fn random(seed: u64) -> MachineConfig {
    let Ok(machine) = Machine::load(Source::default(), &[""; 0]) else {
        unreachable!("the default preset is valid, a test says so");
    };
    let mut config = machine.config;
    let mut pick = Pick(seed ^ 0x9e37_79b9_7f4a_7c15);
    sm(&mut config, &mut pick);
    memory(&mut config, &mut pick);
    config.mechanism.issue = Choice::Name(pick.of(&["gto", "lrr"]).to_owned());
    config.sm.issue.rotate = pick.once_in(2);
    let l1i = &config.sm.l1i;
    config.sm.fetch.refetch = !l1i.allocate_on_miss && l1i.ways > l1i.mshr_entries && pick.once_in(2);
    config.sm.units.sfu_int_mul = config.sm.units.sfu > 0 && pick.once_in(2);
    config.sm.units.unified = config.sm.issue.per_warp == 1 && pick.once_in(3);
    config.interconnect.reply_header_bytes = pick.of(&[0, config.interconnect.header_bytes]);
    config.interconnect.write_replies = !pick.once_in(3);
    let LatencyConfig { bits, f16_add, f16_max, f16_mul, f16_fma, f64_sqrt, .. } = &mut config.sm.latency;
    draw([bits, f16_add, f16_max, f16_mul, f16_fma, f64_sqrt], &mut pick);
    config
}

/// A generator of numbers: splitmix64.
struct Pick(u64);

impl Pick {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `min` to `max`.
    fn from(&mut self, min: u32, max: u32) -> u32 {
        let values = u64::from(max.saturating_sub(min)) + 1;
        min + u32::try_from(self.next() % values).unwrap_or(0)
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[fit::<usize, _>(self.next() % choices.len() as u64)]
    }

    /// Yes, once in `n`.
    fn once_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    /// A queue: often tiny.
    fn queue(&mut self, min: u32) -> u32 {
        self.of(&[min, min, min + 1, 4, 8, 64]).max(min)
    }
}

fn sm(config: &mut MachineConfig, pick: &mut Pick) {
    config.gpu.sms = pick.from(1, 4);
    let sm = &mut config.sm;
    sm.warp_width = pick.of(&[4, 8, 16, 32, 32, 32]);
    sm.simd_width = sm.warp_width >> pick.from(0, 2);
    sm.threads = pick.of(&[256, 512, 768, 1024]);
    sm.ctas = pick.from(1, 16);
    sm.registers = pick.of(&[16_384, 32_768, 65_536]);
    sm.register_grain = pick.of(&[1, 2, 4, 8]);
    sm.shared_bytes = pick.of(&[32_768, 49_152]);
    sm.single_in_flight = pick.once_in(4);
    sm.coalescing = pick.of(&[Coalescing::WholeWarp, Coalescing::WholeWarp, Coalescing::HalfWarp]);
    sm.first_side = pick.of(&[FirstSide::Taken, FirstSide::LowLanes]);
    sm.fence_waits_for_stores = pick.once_in(2);
    sm.fence_empties_l1d = pick.once_in(2);
    sm.response_queue = pick.queue(1);
    sm.ejection_buffer = pick.queue(1);
    sm.issue.schedulers = pick.from(1, 4);
    sm.issue.per_warp = pick.from(1, 2);
    sm.shared.banks = pick.of(&[1, 8, 16, 32]);
    sm.shared.latency = pick.from(1, 30);
    sm.shared.groups = pick.of(&[1, 1, 2, 4]);
    sm.fetch = fetch(pick);
    sm.units = units(pick);
    sm.units.sp_lanes = if sm.issue.per_warp == 2 { sm.simd_width } else { sm.simd_width.div_ceil(2) };
    sm.collector = collector(pick);
    latencies(&mut sm.latency, pick);
}

fn fetch(pick: &mut Pick) -> FetchConfig {
    let ibuffer = pick.from(1, 4);
    FetchConfig {
        ideal: pick.once_in(4),
        ibuffer,
        width: pick.from(1, ibuffer),
        warps_per_cycle: pick.from(1, 2),
        decode_at_once: false,
        only_when_empty: pick.once_in(2),
        instruction_bytes: pick.of(&[4, 8, 16]),
        refetch: false,
        l0_bytes: 0,
    }
}

fn units(pick: &mut Pick) -> UnitsConfig {
    UnitsConfig {
        sp: pick.from(1, 3),
        sp_lanes: 1,
        sfu: pick.from(0, 2),
        int: 0,
        dp: 0,
        tensor: 0,
        sp_issue: pick.from(1, 3),
        sfu_issue: pick.from(1, 2),
        mem_issue: pick.from(1, 2),
        writeback: pick.from(1, 3),
        result_cycles: 2,
        sfu_int_mul: false,
        unified: false,
    }
}

fn collector(pick: &mut Pick) -> CollectorConfig {
    CollectorConfig {
        enabled: !pick.once_in(3),
        banks: pick.of(&[1, 4, 16, 32]),
        sp_units: pick.from(1, 6),
        sfu_units: pick.from(1, 8),
        mem_units: pick.from(1, 4),
        sp_ports: pick.from(1, 2),
        sfu_ports: pick.from(1, 2),
        mem_ports: pick.from(1, 2),
        any_units: 0,
        steps: 1,
    }
}

fn latencies(latency: &mut LatencyConfig, pick: &mut Pick) {
    let LatencyConfig { simple, int_add, int_max, int_mul, int_mad, int_div, .. } = latency;
    let mut timings = vec![simple, int_add, int_max, int_mul, int_mad, int_div];
    let LatencyConfig { f32_add, f32_max, f32_mul, f32_mad, f32_fma, f32_div, .. } = latency;
    timings.extend([f32_add, f32_max, f32_mul, f32_mad, f32_fma, f32_div]);
    let LatencyConfig { f64_add, f64_max, f64_mul, f64_mad, f64_fma, f64_div, .. } = latency;
    timings.extend([f64_add, f64_max, f64_mul, f64_mad, f64_fma, f64_div]);
    let LatencyConfig { transcendental, shuffle, .. } = latency;
    timings.extend([transcendental, shuffle]);
    draw(timings, pick);
}

fn draw<'a>(timings: impl IntoIterator<Item = &'a mut OpTiming>, pick: &mut Pick) {
    for timing in timings {
        let latency = pick.of(&[1, 1, 2, 4, 13, 40]);
        *timing = OpTiming { latency, interval: pick.from(1, latency.min(8)) };
    }
}

fn memory(config: &mut MachineConfig, pick: &mut Pick) {
    let clock = &mut config.clock;
    for frequency in [&mut clock.core, &mut clock.interconnect, &mut clock.l2, &mut clock.dram] {
        *frequency = pick.of(&[400, 650, 700, 924, 1300]);
    }
    let net = &mut config.interconnect;
    net.flit_bytes = pick.of(&[16, 32, 40, 64]);
    net.header_bytes = pick.from(1, 16);
    let packet = (net.header_bytes + 128).div_ceil(net.flit_bytes);
    net.injection_buffer = packet + pick.of(&[0, 1, 16]);
    net.input_buffer = packet + pick.of(&[0, 1, 16]);
    net.output_buffer = packet + pick.of(&[0, 1, 16]);
    net.speedup = pick.from(1, 3);
    net.latency = pick.from(4, 20);
    let core_cycles = net.latency * config.clock.core / config.clock.interconnect;
    config.gpu.window = pick.from(1, core_cycles.clamp(1, 16));

    l2(&mut config.l2, pick);
    let (line, sector) = (config.l2.line, config.l2.sector);
    let has_l1d = !pick.once_in(4);
    let sm = &mut config.sm;
    for cache in [&mut sm.l1i, &mut sm.l1c] {
        *cache = self::cache(pick, sector, line, WritePolicy::ReadOnly);
    }
    let CacheConfig { sets, line: bytes, ways, .. } = cache(pick, sector, line, WritePolicy::ReadOnly);
    sm.l1t = TextureCacheConfig {
        sets,
        line: bytes,
        ways,
        fragments: pick.of(&[1, 2, 16, 128]),
        requests: pick.from(1, 8),
        reorder: pick.of(&[1, 2, 16, 128]),
        results: pick.from(1, 4),
    };
    let write = pick.of(&[WritePolicy::GlobalThroughLocalBack, WritePolicy::GlobalThroughLocalBack, WritePolicy::Back]);
    sm.l1d = cache(pick, sector, line, write);
    if !has_l1d {
        sm.l1d = CacheConfig { sets: 0, index: SetIndex::Linear, ..sm.l1d.clone() };
    }
    dram(&mut config.dram, &config.l2, pick);
}

fn l2(l2: &mut L2Config, pick: &mut Pick) {
    l2.slices = pick.of(&[1, 1, 2, 4]);
    l2.line = pick.of(&[64, 128, 128]);
    l2.sector = pick.of(&[32, 32, 16, 64]);
    l2.sets = pick.of(&[0, 1, 8, 64]);
    l2.ways = pick.from(1, 8);
    l2.mshr_entries = pick.queue(1);
    l2.mshr_merges = pick.queue(1);
    l2.miss_queue = pick.queue(2);
    l2.rop_latency = pick.of(&[0, 1, 20, 120]);
    l2.rop_for_textures = pick.once_in(2);
    l2.input_queue = pick.queue(1);
    l2.to_dram_queue = pick.queue(1);
    l2.from_dram_queue = pick.queue(1);
    l2.output_queue = pick.queue(1);
}

fn cache(pick: &mut Pick, sector: u32, l2_line: u32, write: WritePolicy) -> CacheConfig {
    let line = pick.of(&[32, 64, 128, 128]).clamp(sector, l2_line);
    let sets = pick.of(&[1, 4, 32]);
    let fermi = sets == 32 && line == 128 && pick.once_in(2);
    CacheConfig {
        sets,
        line,
        ways: pick.from(1, 6),
        index: if fermi { SetIndex::Fermi } else { SetIndex::Linear },
        write,
        mshr_entries: pick.queue(1),
        mshr_merges: pick.queue(1),
        miss_queue: pick.queue(2),
        latency: pick.of(&[0, 1, 4, 35]),
        allocate_on_miss: pick.once_in(2),
    }
}

fn dram(dram: &mut DramConfig, l2: &L2Config, pick: &mut Pick) {
    let line_bits = l2.line.trailing_zeros();
    let burst_bits = pick.from(4, 6);
    let bank_bits = pick.from(l2.slices.trailing_zeros(), 4);
    dram.channels = pick.from(1, 6);
    dram.burst_bytes = 1 << burst_bits;
    dram.latency = pick.of(&[0, 1, 20, 100]);
    dram.queue = pick.queue(1);
    dram.return_queue = pick.queue(1);
    dram.scheduler = pick.of(&[DramScheduler::Fifo, DramScheduler::FrFcfs]);
    dram.banks = 1 << bank_bits;
    dram.bank_groups = 1 << pick.from(0, bank_bits);
    dram.address.channel_shift = pick.from(line_bits, 12);
    let low = "C".repeat((line_bits - burst_bits.min(line_bits)) as usize);
    let (banks, columns) = ("B".repeat(bank_bits as usize), "C".repeat(pick.from(0, 5) as usize));
    let middle = if pick.once_in(2) { banks + &columns } else { columns + &banks };
    dram.address.fields = format!("RRRRRRRRRRRR.{middle}.{low}{}", "S".repeat(burst_bits as usize));
    let t = &mut dram.timing;
    t.burst = pick.from(1, 4);
    t.ccd = t.burst + pick.from(0, 2);
    t.ccdl = pick.of(&[0, t.ccd, t.ccd + 1]);
    let rest = [&mut t.rrd, &mut t.rcd, &mut t.rcdwr, &mut t.rp, &mut t.cl, &mut t.wl, &mut t.cdlr, &mut t.wr];
    for time in rest {
        *time = pick.from(1, 14);
    }
    t.ras = t.rcd + pick.from(1, 20);
    t.rc = t.ras + t.rp;
    t.rtpl = pick.from(0, 3);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::validate;

    #[test]
    fn random_machines_are_valid() {
        for seed in 0..5000 {
            let config = random(seed);
            assert_eq!(validate(&config), Ok(()), "seed {seed}");
        }
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
    }
}
