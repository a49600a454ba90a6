//! The state machine of power gating and its account.
//!
//! A **domain** is what one switch cuts off: all lanes of an SP's integer or floating-point pipelines, or one lane of
//! them. It is busy while an instruction is in it. After enough idle cycles it is gated; when it is requested again, it
//! wakes. The account is computed from these events, never by counting cycles. So it covers skipped cycles as if they
//! had been run.

use raddle_exec::core::lanes_in;
use raddle_sim::config::MachineConfig;
use raddle_sim::kernel::Pipe;
use raddle_sim::packet::Cycle;
use raddle_sim::saved;
use raddle_sim::seam::Entry;
use raddle_sim::sm::lanes::LaneCounters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Times of a power switch, in core cycles.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Idle cycles before lanes are gated.
    #[schemars(range(min = 1, max = 100_000))]
    pub idle_detect: u32,
    /// Gated cycles whose saving equals the cost of switching.
    #[schemars(range(min = 0, max = 100_000))]
    pub break_even: u32,
    /// Cycles from request to power.
    #[schemars(range(min = 0, max = 100_000))]
    pub wake_up: u32,
}

impl Default for Times {
    fn default() -> Self {
        Self { idle_detect: 5, break_even: 14, wake_up: 3 }
    }
}

/// What one switch cuts off.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Domain {
    /// The first cycle in which no instruction is in it; may lie ahead.
    idle_from: Cycle,
    /// Since when it is gated.
    gated_at: Option<Cycle>,
    /// Since when it is waking.
    woken_at: Option<Cycle>,
    account: Account,
}

/// Cycles of a domain that are settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Account {
    active: u64,
    idle: u64,
    uncompensated: u64,
    compensated: u64,
    waking: u64,
    gatings: u64,
    early: u64,
}

impl Account {
    fn gated(&mut self, cycles: u64, break_even: u64) {
        self.gatings += 1;
        self.uncompensated += cycles.min(break_even);
        self.compensated += cycles.saturating_sub(break_even);
    }
}

impl Domain {
    fn has_power(&self) -> bool {
        self.gated_at.is_none()
    }

    fn is_idle(&self, now: Cycle) -> bool {
        self.idle_from <= now
    }

    /// Cycles until it has power, if it is requested from now on.
    fn ready_in(&self, now: Cycle, times: &Times, held: bool) -> Cycle {
        let wake_up = Cycle::from(times.wake_up);
        match (self.gated_at, self.woken_at) {
            (None, _) => 0,
            (Some(gated), _) if gated == now => 0,
            (_, Some(woken)) => (woken + wake_up).saturating_sub(now),
            (Some(gated), None) if held => (gated + Cycle::from(times.break_even)).saturating_sub(now) + wake_up,
            (Some(_), None) => wake_up,
        }
    }

    /// Requests power. `held` keeps it gated until break-even. True when it has power now.
    fn want(&mut self, now: Cycle, times: &Times, held: bool) -> bool {
        let Some(gated) = self.gated_at else { return true };
        if gated == now {
            // Requested in the very cycle in which it would be gated: it stays powered.
            self.gated_at = None;
            return true;
        }
        let even = gated + Cycle::from(times.break_even);
        if self.woken_at.is_none() && (!held || now >= even) {
            self.woken_at = Some(now);
            self.account.early += u64::from(now < even);
        }
        self.wake(now, times)
    }

    /// Ends waking when its time has come. True when it has power now.
    fn wake(&mut self, now: Cycle, times: &Times) -> bool {
        let (Some(gated), Some(woken)) = (self.gated_at, self.woken_at) else { return self.has_power() };
        let on = woken + Cycle::from(times.wake_up);
        if now < on {
            return false;
        }
        self.account.idle += gated - self.idle_from;
        self.account.gated(woken - gated, u64::from(times.break_even));
        self.account.waking += on - woken;
        (self.idle_from, self.gated_at, self.woken_at) = (on, None, None);
        true
    }

    /// An instruction is in it from now to `until`.
    fn occupy(&mut self, now: Cycle, until: Cycle) {
        self.account.idle += now.saturating_sub(self.idle_from);
        let from = now.max(self.idle_from);
        self.account.active += until.saturating_sub(from);
        self.idle_from = from.max(until);
    }

    /// The account up to a cycle after which nothing happened.
    fn close(&self, end: Cycle, times: &Times) -> Account {
        let mut account = self.account;
        match self.gated_at.filter(|gated| *gated < end) {
            None => {
                account.idle += end.saturating_sub(self.idle_from);
                account.active -= self.idle_from.saturating_sub(end).min(account.active);
            }
            Some(gated) => {
                let woken = self.woken_at.unwrap_or(end).min(end);
                let waking = (end - woken).min(Cycle::from(times.wake_up));
                account.idle += gated - self.idle_from + (end - woken - waking);
                account.gated(woken - gated, u64::from(times.break_even));
                account.waking += waking;
            }
        }
        account
    }
}

/// The pipelines of one kind in one SP, as the place where instructions enter sees them.
#[derive(Clone, Debug, Default)]
struct Door {
    /// When the next instruction could enter.
    open_from: Cycle,
    counters: LaneCounters,
}

saved!(Door { values: open_from; parts: counters });

/// All domains of an SM's SPs.
#[derive(Clone, Debug)]
pub struct Power {
    pub(super) times: Times,
    /// Once gated, a domain stays gated until break-even.
    pub(super) held: bool,
    /// When the first call came.
    start: Option<Cycle>,
    sps: usize,
    /// Domains of the pipelines of one kind in one SP.
    groups: usize,
    /// Lanes of a domain.
    weight: u64,
    domains: Vec<Domain>,
    /// Which domains of the pipelines of one kind in one SP are gated, as bits.
    off: Vec<u32>,
    /// Those of them that wake.
    waking: Vec<u32>,
    doors: Vec<Door>,
    /// Instructions issued that have not entered, by kind, and the lanes they need.
    on_way: [(u32, u32); 2],
    /// Something happened since the domains were last checked.
    changed: bool,
}

saved!(Power {
    values: start, domains, off, waking, on_way, changed;
    parts: doors;
    fixed: times, held, sps, groups, weight;
});

impl Power {
    /// Everything powered. With `by_lane` every lane has a switch of its own.
    #[must_use]
    pub fn new(times: Times, machine: &MachineConfig, by_lane: bool) -> Self {
        let units = &machine.sm.units;
        let (sps, lanes) = (machine.sm.sps() as usize, units.sp_lanes.clamp(1, 32) as usize);
        let groups = if by_lane { lanes } else { 1 };
        Self {
            times,
            held: false,
            start: None,
            sps,
            groups,
            weight: (lanes / groups) as u64,
            domains: vec![Domain::default(); sps * 2 * groups],
            off: vec![0; sps * 2],
            waking: vec![0; sps * 2],
            doors: vec![Door::default(); sps * 2],
            on_way: [(0, 0); 2],
            changed: true,
        }
    }

    /// The first cycle there is.
    pub(super) fn begin(&mut self, now: Cycle) {
        if self.start.is_none() {
            self.start = Some(now);
            self.domains.iter_mut().for_each(|d| d.idle_from = now);
            self.doors.iter_mut().for_each(|d| d.open_from = now);
        }
    }

    fn domains(&self, sp: usize, pipe: Pipe) -> &[Domain] {
        let first = (sp * 2 + pipe as usize) * self.groups;
        &self.domains[first..first + self.groups]
    }

    fn domains_mut(&mut self, sp: usize, pipe: Pipe) -> &mut [Domain] {
        let first = (sp * 2 + pipe as usize) * self.groups;
        &mut self.domains[first..first + self.groups]
    }

    /// The domains that have lanes among these, as bits.
    fn among(&self, lanes: u32) -> u32 {
        if self.groups == 1 { 1 } else { lanes & self.all() }
    }

    /// All domains of the pipelines of one kind in one SP.
    fn all(&self) -> u32 {
        u32::MAX >> (32 - self.groups)
    }

    /// Those of them that have lanes among these and are gated.
    fn missing(&self, sp: usize, pipe: Pipe, lanes: u32) -> u32 {
        self.off[sp * 2 + pipe as usize] & self.among(lanes)
    }

    /// Whether all domains of an SP's pipelines of a kind are gated, and none is waking.
    pub(super) fn is_off(&self, sp: usize, pipe: Pipe) -> bool {
        let place = sp * 2 + pipe as usize;
        self.off[place] == self.all() && self.waking[place] == 0
    }

    /// Requests lanes of an SP.
    fn want(&mut self, sp: usize, pipe: Pipe, lanes: u32, now: Cycle) {
        let (times, held) = (self.times, self.held);
        let (missing, place) = (self.missing(sp, pipe, lanes), sp * 2 + pipe as usize);
        for group in lanes_in(missing) {
            let domain = &mut self.domains[place * self.groups + group];
            if domain.want(now, &times, held) {
                self.off[place] &= !(1 << group);
                self.waking[place] &= !(1 << group);
            } else if domain.woken_at.is_some() {
                self.waking[place] |= 1 << group;
            }
        }
        self.changed = true;
    }

    /// Whether an SP has all of these lanes.
    pub(super) fn has_any(&self, pipe: Pipe, lanes: u32) -> bool {
        (0..self.sps).any(|sp| self.missing(sp, pipe, lanes) == 0)
    }

    /// Requests lanes for an instruction about to issue. If no SP has all of them powered, the SP that can have them
    /// soonest is woken; of several, the one that lacks fewest. Requesting again in every cycle does not delay it. If
    /// only the number of missing lanes counted, two warps could take an SP from each other forever.
    pub(super) fn want_any(&mut self, pipe: Pipe, lanes: u32, now: Cycle) {
        self.changed = true;
        if self.has_any(pipe, lanes) {
            return;
        }
        let rank = |sp: &usize| (self.ready_in(*sp, pipe, lanes, now), self.missing(*sp, pipe, lanes).count_ones());
        let best = (0..self.sps).min_by_key(rank).unwrap_or(0);
        self.want(best, pipe, lanes, now);
    }

    /// Cycles until an SP has power for all of these lanes, if they are requested from now on.
    fn ready_in(&self, sp: usize, pipe: Pipe, lanes: u32, now: Cycle) -> Cycle {
        let domains = lanes_in(self.missing(sp, pipe, lanes)).map(|group| &self.domains(sp, pipe)[group]);
        domains.map(|domain| domain.ready_in(now, &self.times, self.held)).max().unwrap_or(0)
    }

    /// An instruction for these lanes was issued.
    pub(super) fn coming(&mut self, pipe: Pipe, lanes: u32) {
        let (count, all) = &mut self.on_way[pipe as usize];
        *count += 1;
        *all |= lanes;
    }

    /// Whether an instruction may enter an SP.
    pub(super) fn may_enter(&self, entry: &Entry<'_>) -> bool {
        self.missing(entry.sp, entry.pipe, entry.shape.lanes) == 0
    }

    /// An instruction at the entry to an SP requests its lanes.
    pub(super) fn wants_to_enter(&mut self, entry: &Entry<'_>) {
        self.want(entry.sp, entry.pipe, entry.shape.lanes, entry.now);
    }

    /// An instruction has entered.
    pub(super) fn entered(&mut self, entry: &Entry<'_>) {
        let (count, lanes) = &mut self.on_way[entry.pipe as usize];
        *count = count.saturating_sub(1);
        if *count == 0 {
            *lanes = 0;
        }
        let (among, leaves) = (self.among(entry.shape.lanes), entry.leaves());
        let domains = self.domains_mut(entry.sp, entry.pipe);
        lanes_in(among).for_each(|group| domains[group].occupy(entry.now, leaves));
        let door = &mut self.doors[entry.sp * 2 + entry.pipe as usize];
        let gap = entry.now.saturating_sub(door.open_from);
        if gap > 0 {
            *door.counters.bubble(gap) += gap;
        }
        door.open_from = entry.next();
        door.counters.entries += 1;
        door.counters.folded += u64::from(entry.shape.passes > 1);
        self.changed = true;
    }

    /// Ends waking where its time has come.
    pub(super) fn settle(&mut self, now: Cycle) {
        let times = &self.times;
        for (place, waking) in self.waking.iter_mut().enumerate().filter(|(_, waking)| **waking != 0) {
            for group in lanes_in(*waking) {
                if self.domains[place * self.groups + group].wake(now, times) {
                    *waking &= !(1 << group);
                    self.off[place] &= !(1 << group);
                }
            }
        }
        self.changed = false;
    }

    /// Gates every domain that has been idle for at least `patience(sp, pipe, lane)` cycles and that no instruction in
    /// flight needs. If `patience` gives none, the domain stays as it is.
    pub(super) fn gate(&mut self, now: Cycle, mut patience: impl FnMut(&Self, usize, Pipe, usize) -> Option<u32>) {
        for sp in 0..self.sps {
            for pipe in Pipe::ALL {
                for group in lanes_in(self.all() & !self.off[sp * 2 + pipe as usize]) {
                    let domain = &self.domains(sp, pipe)[group];
                    if !domain.is_idle(now) {
                        continue;
                    }
                    let idle = now - domain.idle_from;
                    let due = patience(self, sp, pipe, group).is_some_and(|cycles| idle >= Cycle::from(cycles));
                    if due && !self.is_needed(sp, pipe, group) {
                        self.domains_mut(sp, pipe)[group].gated_at = Some(now);
                        self.off[sp * 2 + pipe as usize] |= 1 << group;
                        self.changed = true;
                    }
                }
            }
        }
    }

    /// Whether an instruction in flight would find no SP with the lanes it needs if this domain were gated.
    fn is_needed(&self, sp: usize, pipe: Pipe, group: usize) -> bool {
        let (count, lanes) = self.on_way[pipe as usize];
        let others = || (0..self.sps).filter(|other| *other != sp).all(|other| self.missing(other, pipe, lanes) != 0);
        count > 0 && self.among(lanes) >> group & 1 != 0 && others()
    }

    /// When a powered domain is next due to be gated, if it stays idle, with at most `patience` cycles to wait; `now`
    /// when the domains have to be checked again.
    pub(super) fn next_due(
        &self,
        now: Cycle,
        patience: impl Fn(&Self, usize, Pipe, usize) -> Option<u32>,
    ) -> Option<Cycle> {
        let mut next: Option<Cycle> = None;
        let mut at = |time: Cycle| next = Some(next.map_or(time, |n| n.min(time)));
        for sp in 0..self.sps {
            for pipe in Pipe::ALL {
                for (group, domain) in self.domains(sp, pipe).iter().enumerate() {
                    if let Some(woken) = domain.woken_at {
                        at((woken + Cycle::from(self.times.wake_up)).max(now));
                    } else if domain.has_power() {
                        let Some(cycles) = patience(self, sp, pipe, group) else { continue };
                        let due = domain.idle_from + Cycle::from(cycles);
                        if due >= now || self.changed {
                            at(due.max(now));
                        }
                    }
                }
            }
        }
        next
    }

    /// Whether some domain has power.
    pub(super) fn has_some(&self) -> bool {
        self.off.iter().any(|off| *off != self.all())
    }

    /// Lanes of an SP.
    pub(super) fn lanes(&self) -> usize {
        self.groups * self.weight as usize
    }

    /// SPs.
    pub(super) fn sps(&self) -> usize {
        self.sps
    }

    /// The account of the first `cycles` cycles.
    pub(super) fn account(&self, cycles: Cycle) -> [LaneCounters; 2] {
        let end = self.start.unwrap_or(0) + cycles;
        Pipe::ALL.map(|pipe| {
            let mut sum = LaneCounters::default();
            for sp in 0..self.sps {
                let door = &self.doors[sp * 2 + pipe as usize];
                let mut counters = door.counters.clone();
                let gap = end.saturating_sub(door.open_from);
                if gap > 0 {
                    *counters.bubble(gap) += gap;
                }
                counters.pipe_cycles = cycles;
                counters.lane_cycles = cycles * self.lanes() as u64;
                for domain in self.domains(sp, pipe) {
                    let account = if self.start.is_some() {
                        domain.close(end, &self.times)
                    } else {
                        Account { idle: cycles, ..Account::default() }
                    };
                    counters.active += account.active * self.weight;
                    counters.idle_detect += account.idle * self.weight;
                    counters.uncompensated += account.uncompensated * self.weight;
                    counters.compensated += account.compensated * self.weight;
                    counters.waking += account.waking * self.weight;
                    counters.gatings += account.gatings * self.weight;
                    counters.early_wakes += account.early * self.weight;
                }
                counters.overhead = counters.gatings * u64::from(self.times.break_even);
                raddle_sim::stats::Counters::add(&mut sum, &counters);
            }
            sum
        })
    }
}

/// The lanes of an SP that threads of a warp are on.
#[must_use]
pub fn lanes_of(mask: u32, lanes: usize) -> u32 {
    let (mut rest, mut used) = (u64::from(mask), 0);
    while rest != 0 {
        used |= rest as u32 & ((1u64 << lanes) - 1) as u32;
        rest >>= lanes;
    }
    used
}
