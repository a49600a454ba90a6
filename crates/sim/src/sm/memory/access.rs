//! The requests of a memory instruction: what its lanes touch, put together.

use super::super::account::Account;
use super::super::build::Build;
use super::super::counters::SmCounters;
use super::super::facts::Facts;
use super::super::footprint::{Footprint, Spaces};
use super::super::in_flight::InFlight;
use super::super::in_flight::InstId;
use super::super::shared::{Issuing, Shared};
use super::access_events::tell;
use super::coalesce::{Access, Rules, Traffic, bank_cycles, coalesce, distinct_bytes, pack};
use crate::config::{Coalescing, IdealConfig};
use crate::kernel::MemKind;
use crate::profile::PcCounters;
use raddle_exec::core::LaneFault;
use raddle_exec::memory::Global;
use raddle_exec::op::Class;
use raddle_ptx::num::fit;

/// Makes the requests of what an instruction touches.
pub(super) fn make_requests<B: Build>(
    facts: &Facts<'_>,
    account: &mut Account<B>,
    entry: &mut InFlight,
    footprint: &Footprint,
) {
    let Footprint { addresses, spaces, fixed } = footprint;
    let (config, counters) = (facts.config, &mut account.counters);
    let timed = facts.op(entry.pc);
    if let Some(address) = *fixed {
        let (bytes, lanes) = (config.sm.l1c.line, spaces.constant);
        entry.accesses.push(Access { address, bytes, lanes, byte_mask: u128::MAX });
        return;
    }
    let ideal = &config.sm.ideal;
    if spaces.shared != 0 {
        let shared = &config.sm.shared;
        entry.bank_cycles = match ideal.banks {
            true => 1,
            false => bank_cycles(addresses, spaces.shared, shared.banks, shared.groups),
        };
        counters.shared_accesses += 1;
    }
    let is_write = timed.mem == MemKind::Store;
    let lane_bytes = u32::from(timed.bytes) * u32::from(timed.count);
    let (coalescing, sector) = (config.sm.coalescing, config.l2.sector);
    let rules = |lane_bytes, segment| Rules { coalescing, lane_bytes, segment, sector, exclusive: false, is_write };
    if spaces.texture != 0 {
        let rules = rules(4, config.sm.l1t.line);
        coalesce(rules, addresses, spaces.texture, &mut entry.accesses);
        idealise(ideal, rules, addresses, spaces.texture, &mut entry.accesses);
        counters.texture_loads += entry.accesses.len() as u64;
    }
    if spaces.constant != 0 {
        coalesce(rules(4, config.sm.l1c.line), addresses, spaces.constant, &mut entry.accesses);
    }
    if spaces.global != 0 {
        let past = timed.bypass_l1 || config.sm.l1d.sets == 0 || coalescing == Coalescing::Sectors;
        let segment = if past { sector } else { config.sm.l1d.line.min(config.l2.line) };
        let rules = rules(lane_bytes, segment);
        coalesce(rules, addresses, spaces.global, &mut entry.accesses);
        idealise(ideal, rules, addresses, spaces.global, &mut entry.accesses);
        count_global(counters, is_write, &entry.accesses, sector);
    } else if spaces.local != 0 {
        entry.local = true;
        let by_sector = config.sm.l1d.sets == 0 || coalescing == Coalescing::Sectors;
        let segment = if by_sector { sector } else { config.sm.l1d.line };
        for word in 0..lane_bytes.div_ceil(4) {
            let own = addresses.map(|address| address + u64::from(word) * facts.local_stride);
            coalesce(rules(4, segment), &own, spaces.local, &mut entry.accesses);
        }
        if ideal.local || ideal.memory {
            entry.accesses.clear();
        }
        let count = entry.accesses.len() as u64;
        *(if is_write { &mut counters.local_stores } else { &mut counters.local_loads }) += count;
    }
    // Where the machine is ideal, memory without requests takes as long as shared memory.
    entry.shared = entry.accesses.is_empty();
    if B::PROFILED {
        charge(facts, account.row(entry.pc), footprint, entry, lane_bytes);
    }
}

/// Counts an access to global memory and its requests, each of which is a whole number of sectors.
pub(super) fn count_global(counters: &mut SmCounters, is_write: bool, requests: &[Access], sector: u32) {
    let sectors = |request: &Access| u64::from(request.bytes >> sector.trailing_zeros());
    counters.global_accesses += 1;
    counters.global_sectors += requests.iter().map(sectors).sum::<u64>();
    *(if is_write { &mut counters.global_stores } else { &mut counters.global_loads }) += requests.len() as u64;
}

/// Leaves of the requests of an access what an ideal machine makes: none, or as many as its bytes would fill.
fn idealise(ideal: &IdealConfig, rules: Rules, addresses: &[u64; 32], mask: u32, accesses: &mut Vec<Access>) {
    if ideal.memory {
        accesses.clear();
    } else if ideal.coalescing {
        pack(accesses, distinct_bytes(addresses, mask, rules.lane_bytes), rules);
    }
}

/// Charges the requests of an instruction to its operation; each lane asked for so many bytes.
fn charge(facts: &Facts<'_>, row: Option<&mut PcCounters>, footprint: &Footprint, entry: &InFlight, lane_bytes: u32) {
    let Some(row) = row else { return };
    let Footprint { addresses, spaces, .. } = footprint;
    row.shared_accesses += u64::from(spaces.shared != 0);
    let bytes = match spaces {
        Spaces { global: 0, texture: 0, local: 0, .. } => return,
        Spaces { global: 0, texture: 0, local, .. } => u64::from(local.count_ones() * lane_bytes),
        Spaces { global: 0, texture, .. } => distinct_bytes(addresses, *texture, 4),
        Spaces { global, .. } => distinct_bytes(addresses, *global, lane_bytes),
    };
    row.local_requests += if entry.local { entry.accesses.len() as u64 } else { 0 };
    charge_requests(facts, row, &entry.accesses, bytes);
}

/// Charges requests for so many different bytes.
pub(super) fn charge_requests(facts: &Facts<'_>, row: &mut PcCounters, accesses: &[Access], bytes: u64) {
    let Traffic { requests, sectors, least_sectors } = Traffic::of(accesses, bytes, facts.config.l2.sector);
    row.accesses += 1;
    row.requests += requests;
    row.sectors += sectors;
    row.least_sectors += least_sectors;
}

/// Executes a memory instruction in the cycle it issues. Its requests are made at once, or, `later`, with those of other
/// slices when it comes to the load-store unit.
pub(in super::super) fn execute<B: Build>(
    on: &mut Shared<'_, B>,
    inst: InstId,
    issuing: Issuing<'_>,
    later: bool,
) -> Result<(), LaneFault> {
    let lanes = on.warps.lanes(issuing.warp);
    if on.threads.is_global_atomic(issuing, lanes) {
        return prepare_atomic(on, inst, issuing);
    }
    if on.threads.touch::<B>(&on.facts, issuing, lanes)? {
        if later {
            *on.insts.get_mut(inst).footprint = Some(on.threads.footprint);
        } else {
            make_requests(&on.facts, &mut on.account, on.insts.get_mut(inst), &on.threads.footprint);
            if on.account.hears_accesses() {
                let footprint = on.threads.footprint;
                tell(on, inst, &footprint, None);
            }
        }
    }
    Ok(())
}

/// Global atomics are executed at the memory partition: the requests carry what to do.
fn prepare_atomic<B: Build>(on: &mut Shared<'_, B>, inst: InstId, issuing: Issuing<'_>) -> Result<(), LaneFault> {
    let Issuing { warp, op, pc, active, now, memory, .. } = issuing;
    let (insts, config) = (&mut on.insts, on.facts.config);
    let mut all = insts.spare_work.pop().unwrap_or_default();
    let global = &mut Global::Logged(memory, &mut on.threads.log);
    let lanes = on.warps.lanes(warp);
    let prepared = match op.class {
        Class::Call => {
            on.threads.core.prepare_heap_call(global, op, lanes, active, &mut all);
            Ok(())
        }
        _ => on.threads.core.prepare_atomic(global, op, lanes, active, &mut all),
    };
    if op.class == Class::Atomic {
        on.threads.note::<B>(|notes, core| notes.executed(core, (now, pc), (lanes, active), &all.address));
    }
    let rules = Rules {
        coalescing: config.sm.coalescing,
        lane_bytes: u32::from(all.bytes),
        segment: config.l2.sector,
        sector: config.l2.sector,
        exclusive: !config.sm.ideal.atomics,
        is_write: false,
    };
    let mut accesses = std::mem::take(&mut insts.get_mut(inst).accesses);
    coalesce(rules, &all.address, all.mask, &mut accesses);
    for access in &accesses {
        let mut part = insts.spare_work.pop().unwrap_or_default();
        part.clone_from(&all);
        part.mask = access.lanes;
        insts.get_mut(inst).work.push(part);
    }
    let count: u32 = fit(accesses.len());
    on.account.counters.atomics += u64::from(count);
    if let Some(row) = on.account.row(pc) {
        let bytes = distinct_bytes(&all.address, all.mask, rules.lane_bytes);
        row.atomic_requests += u64::from(count);
        charge_requests(&on.facts, row, &accesses, bytes);
    }
    on.warps.front_mut(warp).begin_atomics(count);
    insts.get_mut(inst).accesses = accesses;
    if on.account.hears_accesses() {
        let spaces = Spaces { global: all.mask, ..Spaces::default() };
        tell(on, inst, &Footprint { addresses: all.address, spaces, fixed: None }, Some(rules.lane_bytes));
    }
    on.insts.spare_work.push(all);
    prepared
}
