//! Events of what memory instructions ask for, lane by lane, from the same functions that time them.

use super::super::build::Build;
use super::super::footprint::Footprint;
use super::super::in_flight::InstId;
use super::super::shared::Shared;
use super::coalesce::{Traffic, bank, distinct_bytes, each_bank_cycle};
use crate::event::{AccessPart, EventKind};
use raddle_exec::core::lanes_in;
use raddle_exec::memory::{Region, region};
use raddle_ptx::num::{fit, low32};

/// Tells what lanes touch, and the requests that have been made of it. Each lane asks for what the operation says, or for
/// so many bytes.
pub(super) fn tell<B: Build>(on: &mut Shared<'_, B>, inst: InstId, footprint: &Footprint, lane_bytes: Option<u32>) {
    let Footprint { addresses, spaces, .. } = footprint;
    if spaces.global | spaces.shared == 0 {
        return;
    }
    let (now, entry) = (on.warps.table().now(), on.insts.get(inst));
    let (config, timed) = (on.facts.config, on.facts.op(entry.pc));
    let lane_bytes = lane_bytes.unwrap_or(u32::from(timed.bytes) * u32::from(timed.count));
    let mut tell = |part| on.account.emit(now, EventKind::Access(part));
    let bytes = distinct_bytes(addresses, spaces.global, lane_bytes);
    let traffic = Traffic::of(&entry.accesses, bytes, config.l2.sector);
    tell(AccessPart::Start {
        warp: entry.warp,
        pc: entry.pc,
        lane_bytes: fit(lane_bytes),
        sectors: fit(traffic.sectors),
        least_sectors: fit(traffic.least_sectors),
        bank_cycles: fit(if spaces.shared == 0 { 0 } else { entry.bank_cycles }),
    });
    for lane in lanes_in(spaces.global) {
        tell(AccessPart::Global { lane: fit(lane), address: addresses[lane] });
    }
    if spaces.global != 0 {
        for access in &entry.accesses {
            tell(AccessPart::Request { address: access.address, bytes: access.bytes, lanes: access.lanes });
        }
    }
    let shared = &config.sm.shared;
    let mut cycle = 0;
    each_bank_cycle(addresses, spaces.shared, shared.banks, shared.groups, |served| {
        for lane in lanes_in(served) {
            let offset = match region(addresses[lane]) {
                Region::Shared(offset) => offset,
                _ => addresses[lane],
            };
            let bank = bank(low32(addresses[lane] / 4), shared.banks);
            tell(AccessPart::Shared { lane: fit(lane), offset: low32(offset), bank: fit(bank), cycle });
        }
        cycle += u8::from(!config.sm.ideal.banks);
    });
}
