//! The requests of instructions that move matrices between registers and memory (`ldmatrix`, `wmma.load` and the like).
//!
//! Their lanes touch more than one place each. What they touch is moved in steps: of `ldmatrix` a matrix of 8 rows of 16
//! bytes, of others a register of every lane. In shared memory each step is an access, which takes as many cycles as its
//! words are in one bank; in global memory the instruction asks once for every segment that it touches in any step.

use super::super::account::Account;
use super::super::build::Build;
use super::super::facts::Facts;
use super::super::footprint::Spaces;
use super::super::in_flight::InFlight;
use super::coalesce::{Rules, bank_cycles, coalesce_moved};
use crate::kernel::{MemKind, TimedOp};
use raddle_exec::core::Moved;
use raddle_ptx::num::fit;

/// Words that a step has at most: one for each lane.
const WORDS: usize = 32;

/// Makes the requests of a matrix instruction for what it has moved, if anything.
pub(in super::super) fn make_requests<B: Build>(
    (facts, account): (&Facts<'_>, &mut Account<B>),
    entry: &mut InFlight,
    timed: &TimedOp,
    moved: &mut [Moved],
) {
    let Some(first) = moved.first() else { return };
    let is_write = timed.mem == MemKind::Store;
    let (config, counters) = (facts.config, &mut account.counters);
    if Spaces::of(timed.space, &[first.address; 32], 1).shared != 0 {
        let shared = &config.sm.shared;
        entry.bank_steps = fit(steps(moved).count());
        entry.bank_cycles = match config.sm.ideal.banks {
            true => entry.bank_steps,
            false => steps(moved).map(|step| cycles(step, shared.banks, shared.groups)).sum(),
        };
        counters.shared_accesses += u64::from(entry.bank_steps);
        entry.shared = true;
        if let Some(row) = account.row(entry.pc) {
            row.shared_accesses += u64::from(entry.bank_steps);
        }
        return;
    }
    let sector = config.l2.sector;
    let by_sector = config.sm.l1d.sets == 0 || config.sm.coalescing == crate::config::Coalescing::Sectors;
    let segment = if by_sector { sector } else { config.sm.l1d.line.min(config.l2.line) };
    let rules = Rules { coalescing: config.sm.coalescing, lane_bytes: 16, segment, sector, exclusive: false, is_write };
    if !config.sm.ideal.memory {
        coalesce_moved(rules, moved.iter().map(|part| (part.address, part.bytes, part.lane)), &mut entry.accesses);
    }
    super::access::count_global(counters, is_write, &entry.accesses, sector);
    entry.shared = entry.accesses.is_empty();
    if let Some(row) = account.row(entry.pc) {
        super::access::charge_requests(facts, row, &entry.accesses, distinct_bytes(moved));
    }
}

/// How many different bytes are moved.
fn distinct_bytes(moved: &mut [Moved]) -> u64 {
    moved.sort_unstable_by_key(|part| part.address);
    let (mut bytes, mut end) = (0, 0);
    for part in moved {
        let next = part.address + u64::from(part.bytes);
        bytes += next.saturating_sub(end.max(part.address));
        end = end.max(next);
    }
    bytes
}

/// What is moved, step by step.
fn steps(moved: &[Moved]) -> impl Iterator<Item = Vec<Moved>> {
    let last = moved.iter().map(|part| part.step).max().unwrap_or(0);
    (0..=last).map(|step| moved.iter().filter(|part| part.step == step).copied().collect())
}

/// Cycles that the banks take for a step, whose words go as those of 32 lanes.
fn cycles(step: Vec<Moved>, banks: u32, groups: u32) -> u32 {
    let mut words: Vec<u64> = Vec::new();
    for part in step {
        let last = part.address + u64::from(part.bytes) - 1;
        for word in part.address / 4..=last / 4 {
            if !words.contains(&word) {
                words.push(word);
            }
        }
    }
    words.chunks(WORDS).map(|words| bank_cycles(&addresses(words), mask(words.len()), banks, groups)).sum()
}

/// Where words are, as addresses of lanes.
fn addresses(words: &[u64]) -> [u64; WORDS] {
    std::array::from_fn(|lane| words.get(lane).map_or(0, |word| word * 4))
}

/// The first so many lanes.
fn mask(lanes: usize) -> u32 {
    u32::MAX >> (WORDS - lanes.clamp(1, WORDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of 16 bytes as `ldmatrix` moves them.
    fn rows(stride: u64) -> Vec<Moved> {
        (0..8).map(|row| Moved { step: 0, lane: row as usize, address: row * stride, bytes: 16 }).collect()
    }

    #[test]
    fn rows_of_a_matrix_conflict_as_their_banks_do() {
        assert_eq!(cycles(rows(16), 32, 1), 1, "side by side");
        assert_eq!(cycles(rows(144), 32, 1), 1, "rows of 128 bytes with a gap of one row of a matrix");
        assert_eq!(cycles(rows(128), 32, 1), 8, "rows of 128 bytes are all in the same banks");
        assert_eq!(cycles(rows(64), 32, 1), 4);
        assert_eq!(cycles(rows(0), 32, 1), 1, "one row for all");
    }

    #[test]
    fn bytes_that_are_moved_twice_count_once() {
        assert_eq!(distinct_bytes(&mut rows(16)), 128);
        assert_eq!(distinct_bytes(&mut rows(8)), 72);
        assert_eq!(distinct_bytes(&mut rows(0)), 16);
    }
}
