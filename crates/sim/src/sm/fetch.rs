//! Fetch and decode: instruction cache, fetch buffer, instruction buffers.

use super::blocks::Blocks;
use super::build::Build;
use super::gangs::Gangs;
use super::issue::Schedulers;
use super::memory::cache::{Answer, Cache, CacheCounters};
use super::port::Port;
use super::shared::Shared;
use crate::config::MachineConfig;
use crate::packet::{Cycle, Purpose, Token};
use crate::saved;
use crate::seam::{FetchScheduler, FetchView, WarpId, WarpSet};
use raddle_ptx::num::{fit, low8, low16};
use std::collections::VecDeque;

/// Bytes of a line of a slice's cache.
const L0_LINE: u64 = 32;

/// Whom something is fetched for: a warp, or several of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Want {
    /// The first of them.
    warp: WarpId,
    /// The others: the `n`th bit is the warp `n` after it.
    behind: u8,
}

impl Want {
    fn one(warp: WarpId) -> Self {
        Self { warp, behind: 0 }
    }

    fn token(self) -> Token {
        Token(u32::from(self.warp.0) | u32::from(self.behind) << 16)
    }

    fn of(Token(token): Token) -> Self {
        Self { warp: WarpId(low16(token.into())), behind: low8((token >> 16).into()) }
    }

    fn all(self) -> impl Iterator<Item = WarpId> {
        std::iter::once(self.warp).chain(self.others())
    }

    fn others(self) -> impl Iterator<Item = WarpId> {
        (0..8).filter(move |n| self.behind >> n & 1 != 0).map(move |n| WarpId(self.warp.0 + n))
    }
}

/// The instruction cache of a slice: lines, the one used last last.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
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

/// What a slice last chose.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Choice {
    /// The warps it chose from.
    wanting: WarpSet,
    warp: Option<WarpId>,
    /// It would choose the same again.
    is_kept: bool,
    /// What its cache does not have.
    missing: Option<u64>,
}

impl Choice {
    fn new(slots: usize) -> Self {
        Self { wanting: WarpSet::new(slots), warp: None, is_kept: false, missing: None }
    }
}

/// The fetch stage of an SM.
pub(super) struct Fetch {
    /// One for each slice.
    policies: Vec<Box<dyn FetchScheduler>>,
    /// Instruction cache.
    cache: Cache,
    /// What has been fetched: the time it is there, for whom, and the operation. It is decoded in the cycle after that.
    buffer: VecDeque<(Cycle, Want, u32)>,
    sector: u32,
    /// Instructions of a fetch.
    width: u32,
    /// Look-ups in a cycle.
    ports: u32,
    /// All but the last of a cycle are decoded in it.
    decode_at_once: bool,
    /// Whoever waited for a line takes its turn again when it has come.
    refetch: bool,
    l0: Vec<L0>,
    l0_lines: usize,
    /// What each of several slices last chose.
    choices: Vec<Choice>,
    /// Warps of the first of several slices, in each word: every bit that is a multiple of their number.
    of_first: u64,
}

saved!(Fetch {
    values: buffer, l0, choices;
    parts: policies, cache;
    fixed: sector, width, ports, decode_at_once, refetch, l0_lines, of_first;
});

/// What the policies of the fetch stage may look at.
pub(super) struct Around<'a, 'k, B> {
    pub(super) on: &'a mut Shared<'k, B>,
    pub(super) schedulers: &'a Schedulers,
    pub(super) blocks: &'a Blocks,
    pub(super) now: Cycle,
}

impl Fetch {
    pub(super) fn new(
        config: &MachineConfig,
        policies: Vec<Box<dyn FetchScheduler>>,
        cache: Cache,
        slots: usize,
    ) -> Self {
        let fetch = &config.sm.fetch;
        Self {
            policies,
            cache,
            buffer: VecDeque::new(),
            sector: config.l2.sector,
            width: fetch.width,
            ports: fetch.warps_per_cycle,
            decode_at_once: fetch.decode_at_once,
            refetch: fetch.refetch,
            l0: vec![L0::default(); config.sm.slices as usize],
            l0_lines: (u64::from(fetch.l0_bytes) / L0_LINE) as usize,
            choices: vec![Choice::new(slots); config.sm.slices as usize],
            of_first: (0..64).step_by(config.sm.slices.max(1) as usize).fold(0, |all, bit| all | 1 << bit),
        }
    }

    /// What the next launch finds.
    pub(super) fn into_kept(self) -> Cache {
        self.cache
    }

    /// Its policies, one for each slice.
    pub(super) fn policies(&self) -> &[Box<dyn FetchScheduler>] {
        &self.policies
    }

    /// Counters of the instruction cache.
    pub(super) fn counters(&self) -> &CacheCounters {
        &self.cache.counters
    }

    /// Whether something in it moves in the next cycle.
    #[inline]
    pub(super) fn is_busy(&self) -> bool {
        !self.buffer.is_empty() || self.cache.has_ready()
    }

    /// Whether it wants to request a line.
    #[inline]
    pub(super) fn wants_to_send(&self) -> bool {
        !self.cache.queue.is_empty()
    }

    /// Whether it can.
    pub(super) fn can_send(&self, port: &Port) -> bool {
        self.cache.queue.front().is_some_and(|r| port.accepts(r))
    }

    /// A sector of a line will arrive; whether it is not the last, all of which count at once.
    pub(super) fn absorbs(&mut self, token: Token) -> bool {
        self.cache.absorb(token)
    }

    /// A line has come.
    pub(super) fn line_came(&mut self, token: Token, now: Cycle) {
        self.cache.fill(token, now);
    }

    /// Fetched instructions go to the buffers of their warps.
    #[inline(always)]
    pub(super) fn decode<B: Build>(&mut self, on: &mut Shared<'_, B>, now: Cycle) {
        while let Some(&(at, want, pc)) = self.buffer.front()
            && at < now
        {
            self.buffer.pop_front();
            on.warps.decode(want.warp, pc, self.width);
            if want.behind != 0 {
                want.others().for_each(|warp| on.warps.decode(warp, pc, self.width));
            }
        }
    }

    /// Whether warps want instructions, a line has come, or one is to be requested.
    #[inline]
    pub(super) fn has_work<B: Build>(&self, on: &Shared<'_, B>) -> bool {
        self.cache.has_ready() || self.wants_to_send() || !on.warps.sets().wanting.is_empty()
    }

    /// Chooses warps and looks their instructions up.
    pub(super) fn run<B: Build>(&mut self, around: &mut Around<'_, '_, B>, gangs: &mut Gangs, port: &mut Port) {
        let comes_back = self.refetch && self.cache.has_ready();
        if self.policies.len() > 1 {
            self.fetch_for_slices(around, gangs);
        } else {
            for port in 1..=self.ports {
                if self.serve_waiting(around) {
                    continue;
                }
                if around.on.warps.sets().wanting.is_empty() {
                    break;
                }
                let wanting = &around.on.warps.sets().wanting;
                let Some(warp) = pick(self.policies[0].as_mut(), wanting, around) else { break };
                let answer = self.look_up(around, Want::one(warp));
                self.policies[0].fetched(warp, answer == Answer::Hit);
                if !B::PLAIN && self.decode_at_once && port < self.ports {
                    // What was fetched in this cycle is decoded in it, and not in the next.
                    self.decode(around.on, around.now + 1);
                }
            }
        }
        if comes_back && let Some(waiter) = self.cache.next_ready() {
            let want = Want::of(waiter);
            around.on.warps.wants_again(want.warp);
            want.others().for_each(|warp| around.on.warps.wants_again(warp));
        }
        if self.can_send(port)
            && let Some(request) = self.cache.pop_request()
        {
            around.on.emit_request(around.now, &request);
            port.send(request, self.sector, around.now);
        }
    }

    /// A line that has come serves those who wait for it first, unless they are fetched for again.
    #[inline]
    fn serve_waiting<B: Build>(&mut self, around: &Around<'_, '_, B>) -> bool {
        if !self.cache.has_ready() || self.refetch {
            return false;
        }
        let Some(waiter) = self.cache.next_ready() else { return false };
        let want = Want::of(waiter);
        // The next fetch of a warp that has since left the path goes elsewhere; decode drops what is pushed for it.
        let current = want.all().find(|warp| !around.on.warps.front(*warp).fetches_stale());
        let pc = around.on.warps.front(current.unwrap_or(want.warp)).next_pc;
        if current.is_some() {
            self.fill_l0(around, want, pc);
        }
        self.buffer.push_back((around.now, want, pc));
        true
    }

    /// A warp that issues on its own leaves its line in the cache of its slice.
    #[inline]
    fn fill_l0<B: Build>(&mut self, around: &Around<'_, '_, B>, want: Want, pc: u32) {
        if self.l0_lines > 0 && want.behind == 0 {
            let slice = want.warp.index() % self.policies.len();
            self.choices[slice].missing = None;
            self.l0[slice].fill(around.on.facts.kernel.address(pc) / L0_LINE, self.l0_lines);
        }
    }

    /// Looks the next instruction of warps up in the L1.
    #[inline(always)]
    fn look_up<B: Build>(&mut self, around: &mut Around<'_, '_, B>, want: Want) -> Answer {
        let pc = around.on.warps.front(want.warp).next_pc;
        let address = around.on.facts.kernel.address(pc);
        let present = self.cache.is_present();
        let answer = match present {
            true => self.cache.read(address, Purpose::Inst, want.token(), around.now),
            false => Answer::Hit,
        };
        match answer {
            Answer::Hit => {
                around.on.account.counters.fetches += 1;
                let latency = if present { self.cache.latency() } else { 0 };
                self.fill_l0(around, want, pc);
                self.buffer.push_back((around.now + Cycle::from(latency), want, pc));
            }
            Answer::Pending | Answer::Miss => around.on.account.counters.fetch_misses += 1,
            Answer::Fail => return answer,
        }
        around.on.warps.is_fetched_for(want.warp);
        if want.behind != 0 {
            want.others().for_each(|warp| around.on.warps.is_fetched_for(warp));
        }
        answer
    }

    /// Gangs are fetched for first, then slices in turn, as many as the L1 has ports; what the cache of a slice has
    /// needs none.
    fn fetch_for_slices<B: Build>(&mut self, around: &mut Around<'_, '_, B>, gangs: &mut Gangs) {
        let mut ports = self.ports;
        while ports > 0 && self.serve_waiting(around) {
            ports -= 1;
        }
        if around.on.warps.sets().wanting.is_empty() {
            return;
        }
        if gangs.is_active::<B>() {
            for _ in 0..gangs.per_cycle() {
                let Some((warp, behind)) = (ports > 0).then(|| gangs.pick_fetch(around.on)).flatten() else { break };
                ports -= 1;
                self.look_up(around, Want { warp, behind });
            }
        }
        let (count, wanting) = (self.policies.len(), self.slices_wanting(around, gangs));
        for step in 0..count {
            // Their number is a power of two.
            let slice: usize = fit((around.now + step as Cycle) & (count as Cycle - 1));
            if wanting >> slice & 1 == 0 {
                continue;
            }
            let Some(warp) = self.pick_in_slice(around, gangs, slice) else { continue };
            let pc = around.on.warps.front(warp).next_pc;
            let line = around.on.facts.kernel.address(pc) / L0_LINE;
            let misses = self.l0_lines == 0 || self.choices[slice].missing == Some(line);
            if !misses && self.l0[slice].has(line) {
                around.on.account.counters.fetches += 1;
                around.on.account.counters.fetches_l0 += 1;
                self.buffer.push_back((around.now, Want::one(warp), pc));
                around.on.warps.is_fetched_for(warp);
                self.fetched(slice, warp, true);
                continue;
            }
            self.choices[slice].missing = Some(line);
            if ports > 0 {
                ports -= 1;
                let answer = self.look_up(around, Want::one(warp));
                self.fetched(slice, warp, answer == Answer::Hit);
            }
        }
    }

    /// The slices with a warp that issues on its own and wants instructions.
    fn slices_wanting<B: Build>(&self, around: &Around<'_, '_, B>, gangs: &Gangs) -> u64 {
        let (wanting, members) = (&around.on.warps.sets().wanting, gangs.members());
        let mut all = (0..wanting.word_count()).fold(0, |all, n| all | wanting.word(n) & !members.word(n));
        let mut half = 32;
        while half >= self.policies.len() {
            all |= all >> half;
            half /= 2;
        }
        all
    }

    /// A fetch was tried for the warp a slice had chosen.
    fn fetched(&mut self, slice: usize, warp: WarpId, hit: bool) {
        self.choices[slice].is_kept = false;
        self.policies[slice].fetched(warp, hit);
    }

    /// The warp to fetch for in one of several slices.
    fn pick_in_slice<B: Build>(&mut self, around: &Around<'_, '_, B>, gangs: &Gangs, slice: usize) -> Option<WarpId> {
        let (own, choice) = (self.of_first << slice, &mut self.choices[slice]);
        let (mut any, mut changed) = (0, 0);
        for n in 0..choice.wanting.word_count() {
            let alone = if gangs.is_active::<B>() { !gangs.members().word(n) } else { u64::MAX };
            let word = around.on.warps.sets().wanting.word(n) & own & alone;
            changed |= choice.wanting.word(n) ^ word;
            choice.wanting.set_word(n, word);
            any |= word;
        }
        if any == 0 {
            return None;
        }
        if changed != 0 || !choice.is_kept {
            let policy = &mut self.policies[slice];
            choice.warp = pick(policy.as_mut(), &choice.wanting, around);
            choice.is_kept = policy.chooses_by_wanting();
        }
        choice.warp
    }
}

/// What a policy says.
#[inline(always)]
fn pick<B: Build>(policy: &mut dyn FetchScheduler, wanting: &WarpSet, around: &Around<'_, '_, B>) -> Option<WarpId> {
    let (warps, now) = (&around.on.warps, around.now);
    policy.pick(&FetchView {
        now,
        wanting,
        entries: &|warp| warps.front(warp).decoded(),
        slots: warps.table().slots(),
        issue: around.schedulers.policies(),
        issue_view: &|n, f| f(&warps.view(n, now, around.blocks.seen())),
    })
}
