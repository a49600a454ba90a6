//! Waiting: barriers of a thread block, and operations for which the lanes of a warp come together.

use super::warp::{Group, Split, State, Warp};
use super::{Block, Ran, Runner};
use crate::core::{LaneFault, Lanes, lanes_in, lanes_of};
use crate::decode::{BarrierOp, MEMBERS, WarpOp};
use crate::fault::FaultKind;
use crate::op::{CONST, NONE, Op};

/// Lanes that come to a barrier together.
struct Arrival {
    number: u32,
    /// Threads it waits for, when the program says so.
    expected: Option<u32>,
    mask: u32,
}

impl Runner<'_> {
    pub(super) fn collective(&mut self, warp: &mut Warp, split: usize, active: u32) {
        let s = warp.splits[split];
        let op = &self.program.ops[s.pc as usize];
        let homes = warp.homes.clone();
        let lanes = Warp::lanes(warp.row, homes.as_ref());
        let members = if active == 0 { None } else { self.core.uniform(op, MEMBERS, lanes, active) };
        let wanted = members.map_or(0, |m| (m & lanes_of(self.options.warp_width)) << warp.base & warp.live);
        if wanted & !s.mask != 0 {
            warp.splits[split].state = State::Sync(wanted);
            self.release_syncs(warp);
            return;
        }
        if active != 0 {
            self.core.collective(op, lanes, active, warp.base);
        }
        warp.splits[split].pc = s.pc + 1;
    }

    /// Executes warp-wide operations whose members have all come.
    pub(super) fn release_syncs(&mut self, warp: &mut Warp) {
        while let Some(group) = self.complete_sync(warp) {
            let homes = warp.homes.clone();
            let lanes = Warp::lanes(warp.row, homes.as_ref());
            let op = &self.program.ops[warp.splits[group[0]].pc as usize];
            let together = group.iter().fold(0, |m, i| m | warp.splits[*i].mask);
            let active = self.core.guarded(op, lanes, together);
            self.core.collective(op, lanes, active, warp.base);
            for i in group {
                warp.splits[i].pc += 1;
                warp.splits[i].state = State::Ready;
            }
        }
    }

    /// Parts of a warp that wait for each other and have all come.
    fn complete_sync(&self, warp: &Warp) -> Option<Vec<usize>> {
        let ops = &self.program.ops;
        let sync = WarpOp::Sync as u8;
        for s in &warp.splits {
            let State::Sync(wanted) = s.state else { continue };
            let variant = ops[s.pc as usize].variant;
            // `bar.warp.sync` counts wherever it stands, the others must be the same instruction.
            let together = |o: &Split| {
                let same = o.pc == s.pc || variant == sync && ops[o.pc as usize].variant == sync;
                matches!(o.state, State::Sync(_)) && same
            };
            let group: Vec<usize> = (0..warp.splits.len()).filter(|i| together(&warp.splits[*i])).collect();
            let here = group.iter().fold(0, |m, i| m | warp.splits[*i].mask);
            if wanted & warp.live & !here == 0 {
                return Some(group.into_iter().filter(|i| warp.splits[*i].mask & wanted != 0).collect());
            }
        }
        None
    }

    pub(super) fn end_threads(&mut self, slot: u32, lanes: Lanes<'_>, mask: u32) {
        let mut gone = std::mem::take(&mut self.core.ctas[slot as usize].gone);
        self.core.for_each_static(slot, lanes, mask, |warp, bits| gone[warp] |= bits);
        let cta = &mut self.core.ctas[slot as usize];
        cta.gone = gone;
        cta.live_threads -= mask.count_ones();
    }

    pub(super) fn barrier(&mut self, block: &mut Block, index: usize, split: usize, active: u32) -> Ran<()> {
        let warp = &mut block.warps[index];
        let s = warp.splits[split];
        let op = &self.program.ops[s.pc as usize];
        let homes = warp.homes.clone();
        let lanes = Warp::lanes(warp.row, homes.as_ref());
        let arrivals = self.arrivals(op, lanes, active);
        if let Some(Arrival { number, mask, .. }) = arrivals.iter().find(|a| a.number >= 16) {
            let text = format!("barrier {number} does not exist; they are numbered 0 to 15");
            let fault = LaneFault { lane: mask.trailing_zeros() as usize, kind: FaultKind::BadTarget(text) };
            return Err(Box::new(self.core.fault(s.pc, lanes, fault)));
        }
        for arrival in &arrivals {
            self.arrive(block.slot, op, lanes, arrival);
        }
        if op.variant == BarrierOp::Arrive as u8 {
            warp.splits[split].pc = s.pc + 1;
        } else if let [Arrival { number, mask, .. }] = arrivals[..]
            && mask == s.mask
        {
            warp.splits[split].state = State::Barrier(number as u8);
        } else {
            // Lanes whose guard is false do not wait, and those at different barriers wait apart.
            let mut parts = vec![Group { pc: s.pc + 1, mask: s.mask & !active, depth: s.depth }];
            parts.extend(arrivals.iter().map(|a| Group { pc: s.pc, mask: a.mask, depth: s.depth }));
            warp.diverge(split, &parts, s.pc + 1);
            for Arrival { number, mask, .. } in arrivals {
                if let Some(part) = warp.splits.iter_mut().find(|p| p.pc == s.pc && p.mask == mask) {
                    part.state = State::Barrier(number as u8);
                }
            }
        }
        self.release_barriers(block);
        Ok(())
    }

    /// The lanes of `active` by the barrier they are at.
    fn arrivals(&mut self, op: &Op, lanes: Lanes<'_>, active: u32) -> Vec<Arrival> {
        let mut arrivals: Vec<Arrival> = Vec::new();
        if [op.s[0], op.s[1]].iter().all(|s| s & CONST != 0) {
            let number = self.core.uniform(op, 0, lanes, active).unwrap_or(0);
            let expected = self.core.uniform(op, 1, lanes, active).filter(|count| *count > 0);
            return vec![Arrival { number, expected, mask: active }];
        }
        for lane in lanes_in(active) {
            let number = self.core.uniform(op, 0, lanes, 1 << lane).unwrap_or(0);
            let expected = self.core.uniform(op, 1, lanes, 1 << lane).filter(|count| *count > 0);
            match arrivals.iter_mut().find(|a| (a.number, a.expected) == (number, expected)) {
                Some(arrival) => arrival.mask |= 1 << lane,
                None => arrivals.push(Arrival { number, expected, mask: 1 << lane }),
            }
        }
        arrivals
    }

    fn arrive(&mut self, slot: u32, op: &Op, lanes: Lanes<'_>, arrival: &Arrival) {
        let &Arrival { number, expected, mask } = arrival;
        let trues = if op.s[2] == NONE { 0 } else { self.core.count_true(op, 2, lanes, mask) };
        let cta = &mut self.core.ctas[slot as usize];
        let warps = cta.gone.len();
        let mut barrier = std::mem::take(&mut cta.barriers[number as usize]);
        if expected.is_some() {
            barrier.lanes.resize(warps, 0);
            self.core.for_each_static(slot, lanes, mask, |warp, bits| barrier.lanes[warp] |= bits);
        }
        barrier.arrived += mask.count_ones();
        barrier.expected = expected;
        barrier.trues += trues;
        barrier.falses += mask.count_ones() - trues;
        self.core.ctas[slot as usize].barriers[number as usize] = barrier;
    }

    /// Lets go everyone at barriers that are complete.
    pub(super) fn release_barriers(&mut self, block: &mut Block) {
        for number in 0..16u8 {
            let cta = &mut self.core.ctas[block.slot as usize];
            if !cta.barriers[usize::from(number)].is_complete(cta.live_threads, &cta.gone) {
                continue;
            }
            let barrier = std::mem::take(&mut cta.barriers[usize::from(number)]);
            for warp in &mut block.warps {
                let homes = warp.homes.clone();
                let lanes = Warp::lanes(warp.row, homes.as_ref());
                for s in warp.splits.iter_mut().filter(|s| s.state == State::Barrier(number)) {
                    let op = &self.program.ops[s.pc as usize];
                    if op.d[0] != NONE {
                        let result = barrier.result(BarrierOp::ALL[usize::from(op.variant)]);
                        self.core.broadcast(op, lanes, s.mask, result);
                    }
                    s.state = State::Ready;
                    s.pc += 1;
                }
            }
        }
    }
}
