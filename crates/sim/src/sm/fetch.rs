//! Fetch and decode: instruction cache, fetch buffer, instruction buffers.

use super::cache::{Answer, Cache};
use super::port::Port;
use super::{Build, Sm};
use crate::config::MachineConfig;
use crate::event::EventKind;
use crate::packet::{Cycle, Purpose};
use crate::seam::{FetchView, WarpId, WarpSet};
use raddle_ptx::num::{fit, low8, low16};
use std::collections::VecDeque;

/// Bytes of a line of a slice's cache.
const L0_LINE: u64 = 32;

/// Whom something is fetched for: a warp, or several of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Want {
    /// The first of them.
    warp: WarpId,
    /// The others: the `n`th bit is the warp `n` behind it.
    behind: u8,
}

impl Want {
    fn one(warp: WarpId) -> Self {
        Self { warp, behind: 0 }
    }

    fn token(self) -> u32 {
        u32::from(self.warp.0) | u32::from(self.behind) << 16
    }

    fn of(token: u32) -> Self {
        Self { warp: WarpId(low16(token.into())), behind: low8((token >> 16).into()) }
    }

    fn others(self) -> impl Iterator<Item = WarpId> {
        (0..8).filter(move |n| self.behind >> n & 1 != 0).map(move |n| WarpId(self.warp.0 + n))
    }
}

/// The instruction cache of a slice: lines, the one used last last.
#[derive(Clone, Debug, Default)]
struct L0 {
    lines: Vec<u64>,
}

impl L0 {
    /// Whether it has a line; it is then the one used last.
    fn has(&mut self, line: u64) -> bool {
        let Some(at) = self.lines.iter().position(|known| *known == line) else { return false };
        self.lines[at..].rotate_left(1);
        true
    }

    fn fill(&mut self, line: u64, most: usize) {
        if most == 0 || self.has(line) {
            return;
        }
        if self.lines.len() == most {
            self.lines.remove(0);
        }
        self.lines.push(line);
    }
}

/// The fetch stage of an SM.
pub struct Fetch {
    /// Instruction cache.
    pub cache: Cache,
    /// What has been fetched: the time it is there, for whom, and the operation. It is decoded in the cycle after that.
    buffer: VecDeque<(Cycle, Want, u32)>,
    sector: u32,
    l0: Vec<L0>,
    l0_lines: usize,
    /// Warps that one slice chooses from.
    wanting: WarpSet,
}

impl Fetch {
    pub(super) fn new(config: &MachineConfig, cache: Cache, slots: usize) -> Self {
        Self {
            cache,
            buffer: VecDeque::new(),
            sector: config.l2.sector,
            l0: vec![L0::default(); config.sm.slices as usize],
            l0_lines: (u64::from(config.sm.fetch.l0_bytes) / L0_LINE) as usize,
            wanting: WarpSet::new(slots),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.buffer.is_empty() || self.cache.has_ready()
    }

    pub(super) fn can_send(&self, port: &Port) -> bool {
        self.cache.queue.front().is_some_and(|r| port.accepts(r))
    }
}

impl<B: Build> Sm<'_, B> {
    /// Fetched instructions go to the buffers of their warps.
    pub(super) fn decode(&mut self, now: Cycle) {
        let width = self.config.sm.fetch.width;
        while let Some(&(at, want, pc)) = self.fetch.buffer.front()
            && at < now
        {
            self.fetch.buffer.pop_front();
            self.decode_for(want.warp, pc, width);
            if want.behind != 0 {
                want.others().for_each(|warp| self.decode_for(warp, pc, width));
            }
        }
    }

    #[inline]
    fn decode_for(&mut self, warp: WarpId, pc: u32, width: u32) {
        let front = &mut self.fronts[warp.index()];
        front.fetching = false;
        if self.table.get(warp).valid && !self.table.get(warp).ended {
            // What lies behind the program is fetched too: the warp is found to be elsewhere and drops it.
            for next in pc..pc + width {
                front.push(next);
            }
            front.next_pc = pc + width;
        }
        self.refresh(warp);
    }

    /// Chooses warps and looks their instructions up.
    pub(super) fn fetch_stage(&mut self, now: Cycle) {
        let ports = self.config.sm.fetch.warps_per_cycle;
        let comes_back = self.config.sm.fetch.refetch && self.fetch.cache.has_ready();
        if self.slices.len() > 1 {
            self.fetch_for_slices(now, ports);
        } else {
            for _ in 0..ports {
                if self.serve_waiting(now) {
                    continue;
                }
                if self.sets.wanting.is_empty() {
                    break;
                }
                let Some(warp) = self.pick_from(0, now) else { break };
                let answer = self.look_up_code(Want::one(warp), now);
                self.mechanisms.fetch[0].fetched(warp, answer == Answer::Hit);
            }
        }
        if comes_back && let Some(waiter) = self.fetch.cache.next_ready() {
            let want = Want::of(waiter);
            self.wants_again(want.warp);
            want.others().for_each(|warp| self.wants_again(warp));
        }
        if self.fetch.can_send(&self.port)
            && let Some(request) = self.fetch.cache.pop_request()
        {
            let kind = EventKind::Request { address: request.address, bytes: request.bytes, write: false };
            self.emit_slot(now, kind);
            self.port.send(request, self.fetch.sector, now);
        }
    }

    /// A line that has come serves those who wait for it first, unless they are fetched for again.
    #[inline]
    fn serve_waiting(&mut self, now: Cycle) -> bool {
        self.fetch.cache.has_ready() && !self.config.sm.fetch.refetch && self.serve_next(now)
    }

    /// The line of a warp has come: it takes its turn again.
    fn wants_again(&mut self, warp: WarpId) {
        self.fronts[warp.index()].fetching = false;
        self.refresh(warp);
    }

    fn serve_next(&mut self, now: Cycle) -> bool {
        let Some(waiter) = self.fetch.cache.next_ready() else { return false };
        let want = Want::of(waiter);
        let pc = self.fronts[want.warp.index()].next_pc;
        self.fill_l0(want, pc);
        self.fetch.buffer.push_back((now, want, pc));
        true
    }

    /// A warp that goes by itself leaves its line in the cache of its slice.
    #[inline]
    fn fill_l0(&mut self, want: Want, pc: u32) {
        if self.fetch.l0_lines > 0 && want.behind == 0 {
            self.fill_l0_of(self.slices.of(want.warp.index()), pc);
        }
    }

    fn fill_l0_of(&mut self, slice: usize, pc: u32) {
        let line = self.kernel.address(pc) / L0_LINE;
        self.fetch.l0[slice].fill(line, self.fetch.l0_lines);
    }

    /// Looks the next instruction of warps up in the L1.
    #[inline(always)]
    fn look_up_code(&mut self, want: Want, now: Cycle) -> Answer {
        let pc = self.fronts[want.warp.index()].next_pc;
        let address = self.kernel.address(pc);
        let present = self.fetch.cache.is_present();
        let answer =
            if present { self.fetch.cache.read(address, Purpose::Inst, want.token(), now) } else { Answer::Hit };
        match answer {
            Answer::Hit => {
                self.counters.fetches += 1;
                let latency = if present { self.fetch.cache.latency() } else { 0 };
                self.fill_l0(want, pc);
                self.fetch.buffer.push_back((now + Cycle::from(latency), want, pc));
            }
            Answer::Pending | Answer::Miss => self.counters.fetch_misses += 1,
            Answer::Fail => return answer,
        }
        self.is_fetched_for(want.warp);
        if want.behind != 0 {
            want.others().for_each(|warp| self.is_fetched_for(warp));
        }
        answer
    }

    #[inline]
    fn is_fetched_for(&mut self, warp: WarpId) {
        self.fronts[warp.index()].fetching = true;
        self.sets.wanting.set(warp, false);
    }

    /// Gangs are fetched for first, then slices in turn, as many as the L1 has ports; what the cache of a slice has needs
    /// none.
    fn fetch_for_slices(&mut self, now: Cycle, ports: u32) {
        let mut ports = ports;
        while ports > 0 && self.serve_waiting(now) {
            ports -= 1;
        }
        if self.sets.wanting.is_empty() {
            return;
        }
        if self.has_gangs() {
            for _ in 0..self.mechanisms.ganging.per_cycle() {
                let Some(want) = (ports > 0).then(|| self.pick_gang_fetch()).flatten() else { break };
                ports -= 1;
                self.look_up_code(want, now);
            }
        }
        let (count, wanting) = (self.slices.len(), self.slices_wanting());
        for step in 0..count {
            // Their number is a power of two.
            let slice: usize = fit((now + step as Cycle) & (count as Cycle - 1));
            if wanting >> slice & 1 == 0 {
                continue;
            }
            let Some(warp) = self.pick_fetch(slice, now) else { continue };
            let pc = self.fronts[warp.index()].next_pc;
            let line = self.kernel.address(pc) / L0_LINE;
            if self.fetch.l0_lines > 0 && self.fetch.l0[slice].has(line) {
                self.counters.fetches += 1;
                self.counters.fetches_l0 += 1;
                self.fetch.buffer.push_back((now, Want::one(warp), pc));
                self.is_fetched_for(warp);
                self.mechanisms.fetch[slice].fetched(warp, true);
            } else if ports > 0 {
                ports -= 1;
                let answer = self.look_up_code(Want::one(warp), now);
                self.mechanisms.fetch[slice].fetched(warp, answer == Answer::Hit);
            }
        }
    }

    /// The slices with a warp that goes by itself and wants instructions.
    fn slices_wanting(&self) -> u64 {
        let (wanting, members) = (&self.sets.wanting, &self.gangs.members);
        let mut all = (0..wanting.word_count()).fold(0, |all, n| all | wanting.word(n) & !members.word(n));
        let mut half = 32;
        while half >= self.slices.len() {
            all |= all >> half;
            half /= 2;
        }
        all
    }

    /// The next gang that wants instructions, in turn.
    fn pick_gang_fetch(&mut self) -> Option<Want> {
        if !self.sets.wanting.meets(&self.gangs.members) {
            return None;
        }
        let (sets, count) = (self.gangs.table.len(), self.slices.len());
        for step in 0..sets {
            let at = self.gangs.next_fetch + step;
            let set = if at < sets { at } else { at - sets };
            if self.bits(set, &self.sets.wanting) == 0 {
                continue;
            }
            for gang in self.gangs.table.gangs(set) {
                let warps = super::gang_table::slices(*gang).map(|slice| WarpId::at(set * count + slice));
                let mut wanting = warps.filter(|warp| self.sets.wanting.contains(*warp));
                let Some(warp) = wanting.next() else { continue };
                let pc = self.fronts[warp.index()].next_pc;
                let alike = wanting.filter(|other| self.fronts[other.index()].next_pc == pc);
                let behind = alike.fold(0, |mask, other| mask | 1 << (other.0 - warp.0));
                let last = self.gangs.table.gangs(set).last() == Some(gang);
                self.gangs.next_fetch = if last { (set + 1) % sets } else { set };
                return Some(Want { warp, behind });
            }
        }
        None
    }

    /// The warp to fetch for in one of several slices.
    fn pick_fetch(&mut self, slice: usize, now: Cycle) -> Option<WarpId> {
        let count = self.slices.len();
        // Every bit that is a multiple of the number of slices, from the first one of this slice on.
        let own = (u64::MAX / ((1 << count) - 1)) << slice;
        let mut any = 0;
        for n in 0..self.fetch.wanting.word_count() {
            let alone = if self.has_gangs() { !self.gangs.members.word(n) } else { u64::MAX };
            let word = self.sets.wanting.word(n) & own & alone;
            self.fetch.wanting.set_word(n, word);
            any |= word;
        }
        if any == 0 { None } else { self.pick_from(slice, now) }
    }

    /// What the fetch scheduler of a slice says.
    #[inline(always)]
    fn pick_from(&mut self, slice: usize, now: Cycle) -> Option<WarpId> {
        let several = self.slices.len() > 1;
        let (used, sets, table) = (&self.scheduler_used, &self.sets, &self.table);
        let (ages, issued, kernel) = (&self.ages, &self.issued, self.kernel);
        let (blocks, fronts) = (self.phases.blocks(), &self.fronts);
        let view = FetchView {
            now,
            wanting: if several { &self.fetch.wanting } else { &sets.wanting },
            entries: &|warp| fronts[warp.index()].decoded(),
            slots: self.fronts.len(),
            issue: &self.mechanisms.issue,
            issue_view: &|n, f| f(&super::view(n, now, used, sets, table, ages, issued, blocks, kernel)),
        };
        self.mechanisms.fetch[slice].pick(&view)
    }
}
