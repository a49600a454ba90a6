//! A launch under way: SMs and memory partitions, window by window.

use super::gaps::Gaps;
use super::sanitizing::Sanitizing;
use super::seat::{Parts, Seat};
use super::{Gpu, RunOptions, SmOrder};
use crate::event::Event;
use crate::kernel::TimedKernel;
use crate::logical_blocks::BlockCounter;
use crate::packet::Cycle;
use crate::parallel::{Crew, Sleep, Work, lock};
use crate::result::{Ending, LaunchResult};
use crate::seam::{Assignment, DispatchView, Dispatcher};
use crate::sm::Occupancy;
use crate::sm::build::Build;
use raddle_exec::Interrupt;
use raddle_exec::memory::{DeviceMemory, Merge};
use raddle_exec::printf::{self, MAX_KEPT};
use std::sync::{PoisonError, RwLock};

#[derive(Default)]
pub(super) struct Scratch {
    /// Blocks each SM can still take, and those it holds.
    room: Vec<u32>,
    resident: Vec<u32>,
    assignments: Vec<Assignment>,
    merge: Merge,
    order: Vec<usize>,
    events: Vec<Event>,
}

impl Scratch {
    /// Notes what an SM holds.
    fn note(&mut self, number: usize, occupancy: Occupancy) {
        if number >= self.room.len() {
            self.room.resize(number + 1, 0);
            self.resident.resize(number + 1, 0);
        }
        self.room[number] = occupancy.most - occupancy.resident;
        self.resident[number] = occupancy.resident;
    }
}

pub(super) struct Run<'r, 'm, 'k, 'o, B> {
    pub(super) gpu: &'r mut Gpu<'m>,
    pub(super) sms: &'r [Seat<'k, B>],
    pub(super) memory: &'r RwLock<&'r mut DeviceMemory>,
    pub(super) crew: &'r Crew,
    pub(super) work: &'r Parts<'r, 'k, B>,
    pub(super) dispatcher: Box<dyn Dispatcher>,
    /// What the dispatcher had counted before the launch.
    pub(super) dispatched_before: Vec<u64>,
    pub(super) window: Cycle,
    pub(super) start: Cycle,
    pub(super) total: u64,
    pub(super) logical: BlockCounter,
    pub(super) next: u64,
    pub(super) done: u64,
    pub(super) last_end: Cycle,
    pub(super) printed: Vec<(Cycle, u16, String)>,
    pub(super) printed_bytes: usize,
    /// An SM came to a fault.
    pub(super) has_fault: bool,
    pub(super) gaps: Gaps<'k>,
    /// When counters are next looked at, if somebody wants samples.
    pub(super) sampled: Option<Cycle>,
    pub(super) sanitizing: Sanitizing<'k>,
    pub(super) options: RunOptions<'o>,
    pub(super) scratch: Scratch,
    pub(super) residency: u32,
}

/// Windows between calls of the progress function.
const PROGRESS_WINDOWS: u64 = 4096;

impl<B: Build> Run<'_, '_, '_, '_, B> {
    /// Runs to the end; `None` when it was stopped before.
    pub(super) fn until_done(&mut self) -> Option<Ending> {
        let (mut windows, mut asks_at) = (0u64, 0u64);
        self.start_sampling();
        loop {
            if windows == asks_at {
                if !self.keep() {
                    return None;
                }
                asks_at += self.options.keeper.as_ref().map_or(u64::MAX, |keeper| keeper.windows().max(1));
            }
            let from = self.gpu.now;
            let mut to = from + self.window;
            if let Some(most) = self.options.max_cycles {
                to = to.min(self.start + most.max(1));
            }
            self.dispatch(from, to);
            if let Some(ending) = self.fill_gap(from) {
                return Some(ending);
            }
            self.run_parts(from, to);
            self.exchange(from, to);
            self.gpu.now = to;
            self.sample();
            windows += 1;
            if let Some(ending) = self.fault() {
                return Some(ending);
            }
            if self.done == self.total && self.is_drained() {
                return Some(Ending::Completed);
            }
            if self.options.max_cycles.is_some_and(|most| to - self.start >= most) {
                return Some(Ending::CycleLimit);
            }
            let insts = || self.sms.iter().map(|s| s.mail().thread_insts).sum::<u64>() + self.gaps.skipped().1;
            if self.options.max_thread_insts.is_some_and(|most| insts() >= most) {
                return Some(Ending::InstructionLimit(self.blocked()));
            }
            if windows.is_multiple_of(PROGRESS_WINDOWS) {
                let progress = self.progress();
                self.options.progress.iter_mut().for_each(|tell| tell(progress));
                if self.options.interrupt.is_some_and(Interrupt::is_wanted) {
                    return None;
                }
            }
            match self.next_move() {
                None => return Some(Ending::Deadlock(self.blocked())),
                Some(next) if !self.options.never_skip => self.jump(next),
                Some(_) => {}
            }
        }
    }

    /// Everything that was requested has come back.
    fn is_drained(&self) -> bool {
        self.sms.iter().all(|sm| sm.mail().is_idle)
    }

    /// Gives blocks to SMs for the cycles of a window.
    fn dispatch(&mut self, from: Cycle, to: Cycle) {
        if self.next >= self.total {
            if self.logical.are_just_given() {
                for sm in self.sms {
                    sm.mail().is_last = true;
                    sm.call();
                }
            }
            return;
        }
        if self.scratch.room.is_empty() {
            (0..self.sms.len()).for_each(|number| self.scratch.note(number, self.sms[number].mail().occupancy));
        }
        let Scratch { room, resident, assignments, .. } = &mut self.scratch;
        let most = self.gaps.limit(self.total);
        for now in from..to {
            if self.next >= most || room.iter().all(|r| *r == 0) {
                break;
            }
            assignments.clear();
            let view = DispatchView { now, room, resident, next: self.next, total: most };
            self.dispatcher.dispatch(&view, assignments);
            for &Assignment { sm, cta } in assignments.iter() {
                room[sm as usize] -= 1;
                resident[sm as usize] += 1;
                self.next += 1;
                self.sms[sm as usize].mail().starts.push((now, cta));
                self.sms[sm as usize].call();
            }
        }
    }

    /// Every part on its own.
    fn run_parts(&mut self, from: Cycle, to: Cycle) {
        self.wake(from, to);
        if self.crew.helpers() > 0 {
            self.crew.window(from, to, self.work);
        } else {
            self.arrange(from);
            let hold = self.work.hold();
            self.scratch.order.iter().for_each(|part| self.work.run(&hold, *part, from, to));
        }
    }

    /// Wakes SMs and partitions that have slept and move in a window, and tells them how far the network is.
    fn wake(&mut self, from: Cycle, to: Cycle) {
        self.gpu.memory.wake(to);
        for (number, sm) in (0..).zip(self.sms) {
            let until = sm.sleep.until();
            if until != Sleep::AWAKE && until < to {
                sm.mail().set_free_flits(self.gpu.memory.room(number), from);
                sm.sleep.set(Sleep::AWAKE);
            }
        }
    }

    /// What the parts tell each other after a window: the only thing one thread does while the others wait, and a
    /// function of its own so that a profile shows its share.
    #[inline(never)]
    fn exchange(&mut self, from: Cycle, to: Cycle) {
        let mut memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        // Observers are told of empty slots in the order of time, so nothing is put off for them.
        let may_sleep = |sm: &Seat<'_, B>| !self.options.never_skip && !sm.is_heard;
        let system = &mut self.gpu.memory;
        // Atomics first: a store of the same window is then seen to come after them, and is not lost.
        system.collect(to, &mut memory);
        let has_run = |sm: &Seat<'_, B>| sm.sleep.until() == Sleep::AWAKE;
        // What is printed in later windows comes after all there is.
        let is_printing = self.printed_bytes <= MAX_KEPT;
        for (id, sm) in (0u16..).zip(self.sms).filter(|(_, sm)| has_run(sm)) {
            let number = u32::from(id);
            let mail = &mut *sm.mail();
            self.has_fault |= mail.fault.is_some();
            self.scratch.merge.add(number, &mut mail.log);
            self.scratch.note(usize::from(id), mail.occupancy);
            system.set_credit(number, mail.reply_room);
            for (at, request) in mail.requests.drain(..) {
                system.send(number, at, request);
            }
            for (at, cta) in mail.ended.drain(..) {
                self.gaps.ended(cta, at - self.start);
                self.done += 1;
                self.last_end = self.last_end.max(at);
            }
            self.logical.ask(id, mail);
            if !mail.printed.is_empty() {
                let printed = mail.printed.drain(..).map(|(at, text)| (at, id, text));
                if is_printing {
                    self.printed.extend(printed.inspect(|(.., text)| self.printed_bytes += text.len()));
                }
            }
        }
        self.scratch.merge.finish(&mut memory);
        self.logical.give(self.window, |sm, block| self.sms[usize::from(sm)].mail().logical_blocks.push(block));
        system.exchange(from, to);
        for (number, sm) in (0..).zip(self.sms) {
            let first = system.receive(number);
            if first.is_none() && !has_run(sm) {
                continue;
            }
            let mail = &mut *sm.mail();
            mail.replies.extend(first);
            while let Some(reply) = system.receive(number) {
                mail.replies.push(reply);
            }
            mail.set_free_flits(system.room(number), to);
            sm.sleep.set(mail.sleeps_until().filter(|_| may_sleep(sm)).unwrap_or(Sleep::AWAKE));
        }
        drop(memory);
        self.observe();
        self.sanitizing.hear(self.sms);
    }

    fn arrange(&mut self, from: Cycle) {
        let order = &mut self.scratch.order;
        if order.is_empty() {
            order.extend(0..self.crew.parts());
            if self.options.order == SmOrder::Reverse {
                order.reverse();
            }
        }
        if let SmOrder::Shuffled(seed) = self.options.order {
            let mut state = seed ^ from.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for n in (1..order.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                order.swap(n, (state >> 33) as usize % (n + 1));
            }
        }
    }

    fn observe(&mut self) {
        let Some(observer) = &mut self.options.observer else { return };
        let events = &mut self.scratch.events;
        events.clear();
        self.sms.iter().for_each(|sm| events.append(&mut sm.mail().events));
        events.sort_by_key(|e| (e.at, e.sm));
        events.iter().for_each(|e| observer.event(e));
    }

    /// What ended the run on an SM: the first in the order of (time, SM).
    fn fault(&self) -> Option<Ending> {
        if !self.has_fault {
            return None;
        }
        let faults = self.sms.iter().filter_map(|sm| sm.mail().fault.clone());
        let (at, fault) = faults.min_by_key(|(at, _)| *at)?;
        Some(Ending::Fault(at - self.start, fault))
    }

    /// When something next moves, at the latest; `None` when nothing will ever move again.
    fn next_move(&mut self) -> Option<Cycle> {
        let now = self.gpu.now;
        if self.next < self.total && self.scratch.room.iter().any(|room| *room > 0) {
            return Some(now);
        }
        let mut earliest = self.gpu.memory.next_event(now);
        for sm in self.sms {
            earliest = earliest.into_iter().chain(sm.next_event()).min();
            if earliest.is_some_and(|e| e < now + self.window) {
                break;
            }
        }
        earliest
    }

    /// Skips the windows before the one in which something moves.
    fn jump(&mut self, next: Cycle) {
        let now = self.gpu.now;
        let mut to = now + (next - now) / self.window * self.window;
        if let Some(most) = self.options.max_cycles {
            to = to.min((self.start + most).max(now));
        }
        if let Some(at) = self.sampled {
            to = to.min(now + at.saturating_sub(now).div_ceil(self.window) * self.window);
        }
        if to > now {
            self.run_parts(now, to);
            self.gpu.now = to;
            self.sample();
        }
    }

    fn blocked(&self) -> Vec<crate::sm::BlockedWarp> {
        self.sms.iter().flat_map(|sm| lock(&sm.sm).blocked_warps(self.options.source)).collect()
    }

    pub(super) fn finish(mut self, ending: Ending, kernel: &TimedKernel<'_>) -> (LaunchResult, Box<dyn Dispatcher>) {
        let memory = self.work.hold();
        for seat in self.sms {
            let mut sm = lock(&seat.sm);
            sm.run_until(&mut seat.mail(), self.gpu.now, &memory);
            sm.settle(self.gpu.now);
        }
        drop(memory);
        self.gpu.memory.make_up(self.gpu.now);
        self.observe();
        let end = match &ending {
            Ending::Completed => self.last_end + 1,
            Ending::Fault(at, _) => self.start + at + 1,
            _ => self.gpu.now,
        };
        self.last_sample(end);
        self.printed.sort_by_key(|(at, sm, _)| (*at, *sm));
        let mut output = String::new();
        self.printed.iter().filter(|p| p.0 < end).for_each(|p| printf::keep(&mut output, &p.2));
        let trailing = self.gpu.now.saturating_sub(end);
        let completed = matches!(ending, Ending::Completed);
        let trailing = if completed { trailing } else { 0 };
        let findings = self.sanitizing.findings(&mut self.memory.write().unwrap_or_else(PoisonError::into_inner));
        let sms: Vec<_> = self.sms.iter().map(|seat| lock(&seat.sm)).collect();
        let result = LaunchResult::collect(
            &sms,
            &self.gpu.memory,
            crate::result::Summary {
                ending,
                cycles: end - self.start,
                trailing,
                ctas: self.done - self.gaps.skipped().0,
                residency: self.residency,
                output,
                skipped: self.gaps.finish(),
                findings,
            },
            kernel,
        );
        (result, self.dispatcher)
    }
}
