//! From the addresses of a warp's lanes to memory requests and bank conflicts.

use crate::config::Coalescing;
use raddle_exec::core::lanes_in;
use raddle_ptx::num::{fit, low32};

/// One request a warp access becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Access {
    /// First byte.
    pub address: u64,
    /// Bytes: 32, 64 or 128, and no less than a sector.
    pub bytes: u32,
    /// Lanes it serves.
    pub lanes: u32,
    /// Bytes written; all ones for reads.
    pub byte_mask: u128,
}

/// How a kind of access is put together.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whole warp or half warps.
    pub coalescing: Coalescing,
    /// Bytes each lane accesses.
    pub lane_bytes: u32,
    /// Largest request: the line, or the sector for accesses that go past the L1.
    pub segment: u32,
    /// Smallest request: the sector, when it has more than 32 bytes.
    pub sector: u32,
    /// Lanes that touch the same bytes go in separate requests: atomics.
    pub exclusive: bool,
    /// Compute which bytes are written.
    pub is_write: bool,
}

impl Rules {
    /// Segments are smaller for small elements.
    fn segment(self) -> u32 {
        let by_size = match self.lane_bytes {
            1 => 32,
            2 => 64,
            _ => 128,
        };
        self.segment.min(by_size.max(self.sector))
    }
}

/// The requests of one access into `out`, by ascending address for each group of lanes.
pub fn coalesce(rules: Rules, addresses: &[u64; 32], mask: u32, out: &mut Vec<Access>) {
    if mask == u32::MAX && rules.coalescing != Coalescing::HalfWarp && !rules.exclusive && run(rules, addresses, out) {
        return;
    }
    match rules.coalescing {
        Coalescing::WholeWarp | Coalescing::Sectors => group(rules, addresses, mask, out),
        Coalescing::HalfWarp => {
            group(rules, addresses, mask & 0xffff, out);
            group(rules, addresses, mask & 0xffff_0000, out);
        }
    }
}

/// The requests of 32 lanes that access bytes side by side; false when they do not.
fn run(rules: Rules, addresses: &[u64; 32], out: &mut Vec<Access>) -> bool {
    let (segment, width) = (u64::from(rules.segment()), u64::from(rules.lane_bytes));
    let (first, mut expected, mut apart) = (addresses[0], addresses[0], 0);
    for address in addresses {
        apart |= address ^ expected;
        expected = expected.wrapping_add(width);
    }
    if apart != 0 || !width.is_power_of_two() || width > segment || first & (width - 1) != 0 || expected < first {
        return false;
    }
    let (mut at, mut lane) = (first, 0);
    while at < expected {
        let base = at & !(segment - 1);
        let end = expected.min(base + segment);
        let lanes: u32 = fit((end - at) / width);
        let touched = (u128::MAX >> (128 - (end - at).min(128))) << (at - base);
        let chunks = (u32::MAX >> (31 - (end - 1 - base) / 32)) & u32::MAX << ((at - base) / 32);
        let lane_mask = (u32::MAX >> (32 - lanes)) << lane;
        out.push(shrink(rules, lane_mask, base, chunks, touched));
        lane += lanes;
        at = end;
    }
    true
}

fn group(rules: Rules, addresses: &[u64; 32], mask: u32, out: &mut Vec<Access>) {
    // Segments, each followed by the number of its lane: sorted, lanes of a segment are next to each other.
    let bits = rules.segment().trailing_zeros();
    let mut all = [0; 32];
    let mut count = 0;
    for lane in lanes_in(mask) {
        all[count] = addresses[lane] >> bits << 5 | lane as u64;
        count += 1;
    }
    let mut left = &mut all[..count];
    left.sort_unstable();
    while let Some(&first) = left.first() {
        let segment = first >> 5;
        let same = left.iter().position(|key| key >> 5 != segment).unwrap_or(left.len());
        let (own, rest) = left.split_at_mut(same);
        let base = segment << bits;
        if rules.exclusive {
            let lanes = own.iter().fold(0, |lanes, key| lanes | 1 << (key & 31));
            exclusive(rules, addresses, lanes, base, out);
        } else {
            out.push(gather(rules, addresses, own.iter().map(|key| (key & 31) as usize), base));
        }
        left = rest;
    }
}

/// Lanes of one segment that touch the same bytes go one after another.
fn exclusive(rules: Rules, addresses: &[u64; 32], mut lanes: u32, base: u64, out: &mut Vec<Access>) {
    while lanes != 0 {
        let (mut bytes, mut taken) = (0u128, 0u32);
        for lane in lanes_in(lanes) {
            let own = byte_bits(addresses[lane] - base, rules.lane_bytes);
            if bytes & own == 0 {
                bytes |= own;
                taken |= 1 << lane;
            }
        }
        lanes &= !taken;
        out.push(gather(rules, addresses, lanes_in(taken), base));
    }
}

fn byte_bits(offset: u64, bytes: u32) -> u128 {
    (u128::MAX >> (128 - bytes.min(128))).checked_shl(fit(offset)).unwrap_or(0)
}

/// The request of some lanes for a segment.
fn gather(rules: Rules, addresses: &[u64; 32], lanes: impl Iterator<Item = usize>, base: u64) -> Access {
    let end = u64::from(rules.segment()) - 1;
    let (mut mask, mut chunks, mut written) = (0, 0, 0);
    for lane in lanes {
        let offset = addresses[lane] - base;
        let last = (offset + u64::from(rules.lane_bytes) - 1).min(end);
        mask |= 1 << lane;
        chunks |= 1 << (offset / 32) | 1 << (last / 32);
        if rules.is_write {
            written |= byte_bits(offset, rules.lane_bytes);
        }
    }
    shrink(rules, mask, base, chunks, written)
}

/// A request no larger than what is touched: halves that are not used are left out. `chunks` are of 32 bytes.
fn shrink(rules: Rules, lanes: u32, base: u64, chunks: u32, written: u128) -> Access {
    // The smallest aligned part that has the first and the last chunk.
    let (first, last) = (chunks.trailing_zeros(), chunks.ilog2());
    let parts = 1 << (u32::BITS - (first ^ last).leading_zeros());
    let bytes = (32 * parts).max(rules.sector).min(rules.segment());
    let start = (32 * first) & !(bytes - 1);
    let byte_mask = if rules.is_write { written >> start } else { u128::MAX };
    Access { address: base + u64::from(start), bytes, lanes, byte_mask }
}

/// The requests of an access as if its bytes lay side by side: as many as they fill, where the first of its requests
/// are.
pub fn pack(accesses: &mut Vec<Access>, bytes: u64, rules: Rules) {
    let segment = u64::from(rules.segment());
    let count = bytes.div_ceil(segment).max(1);
    if accesses.len() as u64 <= count {
        return;
    }
    let lanes = accesses.iter().fold(0, |all, access| all | access.lanes);
    accesses.truncate(fit(count));
    let mut left = bytes;
    for access in accesses.iter_mut() {
        let own: u32 = fit(left.min(segment).next_power_of_two().max(32));
        access.bytes = own.max(rules.sector).min(rules.segment());
        access.address &= !u64::from(access.bytes - 1);
        access.byte_mask = u128::MAX;
        left = left.saturating_sub(segment);
    }
    // Slices ask which lanes a request serves: the last serves all.
    if let Some(last) = accesses.last_mut() {
        last.lanes = lanes;
    }
}

/// The requests of an access whose lanes touch several places, each an address, a number of bytes and the lane, into
/// `out`, by ascending address: one for every segment.
pub fn coalesce_moved(rules: Rules, moved: impl Iterator<Item = (u64, u32, usize)>, out: &mut Vec<Access>) {
    let segment = u64::from(rules.segment());
    let mut parts: Vec<(u64, u32, u32, u128)> = Vec::new();
    for (address, bytes, lane) in moved {
        let end = address + u64::from(bytes);
        let mut at = address;
        while at < end {
            let base = at & !(segment - 1);
            let next = end.min(base + segment);
            let written = byte_bits(at - base, fit(next - at));
            let chunks = (u32::MAX >> (31 - (next - 1 - base) / 32)) & u32::MAX << ((at - base) / 32);
            parts.push((base, chunks, 1 << lane, written));
            at = next;
        }
    }
    parts.sort_unstable_by_key(|part| part.0);
    for same in parts.chunk_by(|a, b| a.0 == b.0) {
        let (chunks, lanes, written) =
            same.iter().fold((0, 0, 0), |all, part| (all.0 | part.1, all.1 | part.2, all.2 | part.3));
        out.push(shrink(rules, lanes, same[0].0, chunks, written));
    }
}

/// How many different bytes lanes ask for, `width` from each address on.
#[must_use]
pub fn distinct_bytes(addresses: &[u64; 32], mask: u32, width: u32) -> u64 {
    let (mut own, mut count) = ([0; 32], 0);
    for lane in lanes_in(mask) {
        own[count] = addresses[lane];
        count += 1;
    }
    let own = &mut own[..count];
    if !own.is_sorted() {
        own.sort_unstable();
    }
    let (mut bytes, mut end) = (0, 0);
    for address in own {
        let next = *address + u64::from(width);
        bytes += next - end.max(*address);
        end = next;
    }
    bytes
}

/// What the requests of an access come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Requests.
    pub requests: u64,
    /// Sectors they have.
    pub sectors: u64,
    /// Sectors that would do for the bytes.
    pub least_sectors: u64,
}

impl Traffic {
    /// Of requests for so many different bytes, with sectors of this size.
    #[must_use]
    pub fn of(accesses: &[Access], bytes: u64, sector: u32) -> Self {
        Self {
            requests: accesses.len() as u64,
            sectors: accesses.iter().map(|access| u64::from(access.bytes.div_ceil(sector))).sum(),
            least_sectors: bytes.div_ceil(u64::from(sector)),
        }
    }
}

/// Cycles the banks of shared memory take: the most different words of one bank, for each group of lanes.
#[must_use]
pub fn bank_cycles(addresses: &[u64; 32], mask: u32, banks: u32, groups: u32) -> u32 {
    let mut cycles = 0;
    each_bank_cycle(addresses, mask, banks, groups, |_| cycles += 1);
    cycles.max(1)
}

/// Calls `each` for every cycle the banks take, with the lanes that are served in it.
#[inline]
pub fn each_bank_cycle(addresses: &[u64; 32], mask: u32, banks: u32, groups: u32, mut each: impl FnMut(u32)) {
    let lanes = 32 / groups.clamp(1, 32);
    let banks = banks.clamp(1, 64);
    // All of shared memory differs in these bits; lanes that are not active may have any address.
    let words = addresses.map(|address| low32(address / 4));
    if mask == u32::MAX && lanes == 32 && banks >= 32 && is_regular(&words, banks) {
        return each(mask);
    }
    for first in (0..32).step_by(lanes as usize) {
        let mut left = mask & (u32::MAX >> (32 - lanes)) << first;
        while left != 0 {
            let waiting = serve(&words, left, banks);
            each(left & !waiting);
            left = waiting;
        }
    }
}

/// The bank of a word.
#[inline(always)]
#[must_use]
pub fn bank(word: u32, banks: u32) -> u32 {
    let banks = banks.clamp(1, 64);
    if banks.is_power_of_two() { word & (banks - 1) } else { word % banks }
}

/// Whether each half of the lanes wants one word, or words side by side, and the halves do not share a bank: as
/// most code does. All lanes are then served at once.
#[inline]
fn is_regular(words: &[u32; 32], banks: u32) -> bool {
    let run = |half: &[u32; 16]| {
        let (mut unequal, mut apart) = (0, 0);
        for (lane, word) in (0..16u32).zip(half) {
            unequal |= word ^ half[0];
            apart |= word.wrapping_sub(lane) ^ half[0];
        }
        (unequal == 0).then_some(1).or_else(|| (apart == 0).then_some(16))
    };
    let ([low, high], _) = words.as_chunks::<16>() else { return false };
    let (Some(first), Some(second)) = (run(low), run(high)) else { return false };
    let between = high[0].wrapping_sub(low[0]) & (banks - 1);
    low[0] == high[0] || banks.is_power_of_two() && between >= first && between + second <= banks
}

/// One cycle: each bank gives one word to all lanes that want it. Returns the lanes that have to wait.
fn serve(wanted: &[u32; 32], left: u32, banks: u32) -> u32 {
    let mut words = [u32::MAX; 64];
    let mut waiting = 0;
    for lane in lanes_in(left) {
        let word = wanted[lane];
        let held = &mut words[bank(word, banks) as usize & 63];
        if *held != u32::MAX && *held != word {
            waiting |= 1 << lane;
        } else {
            *held = word;
        }
    }
    waiting
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules {
        coalescing: Coalescing::WholeWarp,
        lane_bytes: 4,
        segment: 128,
        sector: 32,
        exclusive: false,
        is_write: false,
    };

    fn requests(bytes: u32, segment: u32, mask: u32, address: impl Fn(u64) -> u64) -> Vec<(u64, u32, u32)> {
        requests_by(Rules { lane_bytes: bytes, segment, ..RULES }, mask, address)
    }

    fn requests_by(rules: Rules, mask: u32, address: impl Fn(u64) -> u64) -> Vec<(u64, u32, u32)> {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        let mut out = Vec::new();
        coalesce(rules, &addresses, mask, &mut out);
        out.iter().map(|a| (a.address, a.bytes, a.lanes)).collect()
    }

    #[test]
    fn places_of_one_segment_are_one_request() {
        // Sixteen rows of 32 bytes, 64 apart: two of them are in a line.
        let rows = (0..16u64)
            .flat_map(|row| (0..8u64).map(move |n| (0x1000 + 64 * row + 4 * n, 4, (row * 2 + n / 4) as usize)));
        let mut out = Vec::new();
        coalesce_moved(RULES, rows.clone(), &mut out);
        let found: Vec<_> = out.iter().map(|a| (a.address, a.bytes, a.lanes)).collect();
        assert_eq!(found, (0..8).map(|n| (0x1000 + 128 * n, 128, 0b1111 << (4 * n))).collect::<Vec<_>>());
        out.clear();
        coalesce_moved(Rules { segment: 32, is_write: true, ..RULES }, rows, &mut out);
        assert!(out.iter().all(|a| a.bytes == 32 && a.byte_mask == u128::from(u32::MAX)), "{out:?}");
        assert_eq!(out.len(), 16);
    }

    #[test]
    fn consecutive_words_are_one_request() {
        assert_eq!(requests(4, 128, u32::MAX, |l| 0x1000 + 4 * l), [(0x1000, 128, u32::MAX)]);
        let shifted = requests(4, 128, u32::MAX, |l| 0x1040 + 4 * l);
        assert_eq!(shifted, [(0x1040, 64, 0xffff), (0x1080, 64, 0xffff_0000)]);
        assert_eq!(requests(4, 128, 0b110, |l| 0x1060 + 4 * l), [(0x1060, 32, 0b110)]);
        assert_eq!(requests(8, 128, u32::MAX, |l| 8 * l).len(), 2);
        assert_eq!(requests(4, 32, u32::MAX, |l| 4 * l).len(), 4, "past the L1, sectors");
        assert_eq!(requests(1, 128, u32::MAX, |l| 2 * l).len(), 2, "bytes in segments of 32");
    }

    #[test]
    fn requests_are_whole_sectors() {
        let rules = Rules { segment: 64, sector: 64, ..RULES };
        assert_eq!(requests_by(rules, 0b110, |l| 0x1060 + 4 * l), [(0x1040, 64, 0b110)]);
        let bytes = Rules { lane_bytes: 1, ..rules };
        assert_eq!(requests_by(bytes, u32::MAX, |l| 2 * l), [(0, 64, u32::MAX)]);
        let line = Rules { segment: 128, ..bytes };
        assert_eq!(requests_by(line, u32::MAX, |l| 4 * l).len(), 2);
        let small = Rules { segment: 128, sector: 16, ..RULES };
        assert_eq!(requests_by(small, 1, |_| 0), [(0, 32, 1)]);
    }

    #[test]
    fn side_by_side_is_as_lane_by_lane() {
        let mut rules = RULES;
        for (bytes, sector, is_write) in [1, 2, 4, 8, 16].into_iter().flat_map(|bytes| {
            [16, 32, 64, 128].into_iter().flat_map(move |sector| [(bytes, sector, false), (bytes, sector, true)])
        }) {
            (rules.lane_bytes, rules.sector, rules.is_write) = (bytes, sector, is_write);
            for (segment, start) in [sector, 128].into_iter().flat_map(|s| (0..300).map(move |start| (s, start))) {
                rules.segment = segment;
                let addresses = std::array::from_fn(|lane| 0x1000 + start + lane as u64 * u64::from(bytes));
                let (mut fast, mut slow) = (Vec::new(), Vec::new());
                group(rules, &addresses, u32::MAX, &mut slow);
                assert_eq!(run(rules, &addresses, &mut fast), start % u64::from(bytes) == 0);
                assert!(fast.is_empty() || fast == slow, "{rules:?} {start}");
            }
        }
    }

    #[test]
    fn strides_and_equal_addresses() {
        assert_eq!(requests(4, 128, u32::MAX, |l| 128 * l).len(), 32);
        assert_eq!(requests(4, 128, u32::MAX, |_| 0x2004), [(0x2000, 32, u32::MAX)]);
        let backwards = requests(4, 128, u32::MAX, |l| 128 * (31 - l));
        assert!(backwards.is_sorted());
    }

    #[test]
    fn atomics_on_one_word_go_one_by_one() {
        let rules = Rules { segment: 32, exclusive: true, ..RULES };
        let mut out = Vec::new();
        coalesce(rules, &[0x100; 32], u32::MAX, &mut out);
        assert_eq!(out.len(), 32);
        out.clear();
        coalesce(rules, &std::array::from_fn(|l| 0x100 + 4 * l as u64), u32::MAX, &mut out);
        assert_eq!(out.len(), 4);
    }

    #[test]
    fn bytes_are_counted_once() {
        let bytes = |width, address: fn(u64) -> u64| {
            distinct_bytes(&std::array::from_fn(|lane| address(lane as u64)), u32::MAX, width)
        };
        assert_eq!(bytes(4, |lane| 0x100 + 4 * lane), 128);
        assert_eq!(bytes(4, |lane| 0x1000 - 4 * lane), 128, "in any order");
        assert_eq!(bytes(4, |_| 0x100), 4);
        assert_eq!(bytes(4, |lane| 0x100 + 128 * lane), 128);
        assert_eq!(bytes(8, |lane| 0x100 + 4 * lane), 132, "they overlap");
        assert_eq!(distinct_bytes(&[0x100; 32], 0, 4), 0);
    }

    #[test]
    fn half_warps_are_apart() {
        let rules = Rules { coalescing: Coalescing::HalfWarp, is_write: true, ..RULES };
        let mut out = Vec::new();
        coalesce(rules, &std::array::from_fn(|l| 4 * l as u64), u32::MAX, &mut out);
        let shape: Vec<_> = out.iter().map(|a| (a.address, a.bytes, a.byte_mask.count_ones())).collect();
        assert_eq!(shape, [(0, 64, 64), (64, 64, 64)]);
    }

    #[test]
    fn regular_halves_are_served_at_once() {
        let half = |start: u32, step: u32, lane: usize| start + step * (lane % 16) as u32;
        for (steps, starts) in (0..4).flat_map(|n| (0..100).map(move |at| ([n % 2, n / 2], [40, at]))) {
            let words: [u32; 32] = std::array::from_fn(|lane| half(starts[lane / 16], steps[lane / 16], lane));
            for banks in [32, 33, 64] {
                if is_regular(&words, banks) {
                    assert_eq!(serve(&words, u32::MAX, banks), 0, "{steps:?} {starts:?} {banks}");
                }
            }
        }
        let tile = std::array::from_fn(|lane| half(if lane < 16 { 0 } else { 16 }, 1, lane));
        assert!(is_regular(&tile, 32) && !is_regular(&tile.map(|word| word * 2), 32));
    }

    #[test]
    fn every_lane_is_served_in_one_cycle() {
        for (stride, banks, groups) in [(1, 32, 1), (2, 32, 1), (33, 32, 2), (3, 24, 1), (0, 16, 2), (32, 32, 1)] {
            let addresses = std::array::from_fn(|lane| 4 * stride * lane as u64);
            for mask in [u32::MAX, 0x0f0f_00ff, 1, 0] {
                let (mut all, mut cycles) = (0, 0);
                each_bank_cycle(&addresses, mask, banks, groups, |served| {
                    assert_eq!(all & served, 0);
                    all |= served;
                    cycles += 1;
                    let mut words = [None; 64];
                    for lane in lanes_in(served) {
                        let word = (addresses[lane] / 4) as u32;
                        let held = words[bank(word, banks) as usize].get_or_insert(word);
                        assert_eq!(*held, word, "a bank gives one word in a cycle");
                    }
                });
                assert_eq!((all, cycles.max(1)), (mask, bank_cycles(&addresses, mask, banks, groups)));
            }
        }
    }

    #[test]
    fn bank_conflicts_count_different_words() {
        let cycles =
            |stride: u64, groups| bank_cycles(&std::array::from_fn(|l| 4 * stride * l as u64), u32::MAX, 32, groups);
        assert_eq!([1, 2, 4, 8, 16, 32].map(|s| cycles(s, 1)), [1, 2, 4, 8, 16, 32]);
        assert_eq!(cycles(0, 1), 1, "one word is broadcast");
        assert_eq!(cycles(33, 1), 1);
        assert_eq!((cycles(1, 2), cycles(2, 2)), (2, 2), "half warps take a cycle each");
    }

    #[test]
    fn packed_requests_hold_the_bytes_and_no_more() {
        let packed = |stride: u64, width: u32| {
            let rules = Rules { lane_bytes: width, ..RULES };
            let addresses = std::array::from_fn(|lane| 1000 * 128 + lane as u64 * stride);
            let mut out = Vec::new();
            coalesce(rules, &addresses, u32::MAX, &mut out);
            let before = out.len();
            pack(&mut out, distinct_bytes(&addresses, u32::MAX, width), rules);
            assert!(out.iter().all(|access| access.address.is_multiple_of(access.bytes.into())));
            assert_eq!(out.iter().fold(0, |all, access| all | access.lanes), u32::MAX);
            (before, out.len(), out.iter().map(|access| access.bytes).sum::<u32>())
        };
        assert_eq!(packed(4, 4), (1, 1, 128));
        assert_eq!(packed(128, 4), (32, 1, 128));
        assert_eq!(packed(128, 8), (32, 2, 256));
        assert_eq!(packed(8, 4), (2, 1, 128));
        assert_eq!(packed(0, 4), (1, 1, 32));
    }
}
