//! Everything beyond the SMs: both crossbars, the L2 slices and the DRAM channels.

use super::address::{AddressError, AddressMap};
use super::crossbar::{Crossbar, CrossbarCounters};
use super::partition::Partition;
use crate::config::MachineConfig;
use crate::packet::{Cycle, Reply, Request};
use crate::parallel::{Sleep, lock};
use crate::saved;
use crate::saved::{Pass, Saved};
use raddle_exec::memory::{DeviceMemory, Merge};
use std::sync::{Arc, Mutex, MutexGuard};

/// A partition, and how long it can be skipped.
pub struct Berth {
    /// Behind a lock, so that host threads can run several at once.
    partition: Mutex<Partition>,
    sleep: Sleep,
}

impl Berth {
    fn new(partition: Partition) -> Self {
        Self { partition: Mutex::new(partition), sleep: Sleep::new() }
    }

    /// The partition.
    pub fn lock(&self) -> MutexGuard<'_, Partition> {
        lock(&self.partition)
    }

    /// Whether a window that ends with this cycle need not run it.
    #[inline]
    #[must_use]
    pub fn sleeps_through(&self, to: Cycle) -> bool {
        self.sleep.lasts(to)
    }

    /// Runs it for a window. Not inline, so that those that sleep cost little.
    #[inline(never)]
    pub fn window(&self, from: Cycle, to: Cycle, memory: &DeviceMemory) {
        self.lock().run_logged(from, to, memory);
    }
}

/// The memory system of a GPU. It outlives launches: the L2 keeps its lines.
pub struct MemorySystem {
    map: AddressMap,
    up: Crossbar<Request>,
    down: Crossbar<Reply>,
    partitions: Arc<[Berth]>,
    /// When each of them next moves on its own.
    next: Vec<Option<Cycle>>,
    /// Which of them have not been told what room the network has.
    untold: Vec<bool>,
    slices: u32,
    header_bytes: u32,
    reply_header_bytes: u32,
    sector: u32,
    /// Stores of atomics at the edge of a window.
    merge: Merge,
}

impl Saved for MemorySystem {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        #[rustfmt::skip]
        let Self {
            up, down, partitions, next, untold,
            map: _, slices: _, header_bytes: _, reply_header_bytes: _, sector: _, merge: _,
        } = self;
        up.visit(pass)?;
        down.visit(pass)?;
        for Berth { partition, sleep } in partitions.iter() {
            lock(partition).visit(pass)?;
            sleep.visit(pass)?;
        }
        pass.value(next)?;
        pass.value(untold)
    }
}

impl MemorySystem {
    /// An empty one.
    ///
    /// # Errors
    /// When the address map makes no sense.
    pub fn new(machine: &MachineConfig) -> Result<Self, AddressError> {
        let (sms, slices) = (machine.gpu.sms, machine.dram.channels * machine.l2.slices);
        Ok(Self {
            map: AddressMap::new(&machine.dram, &machine.l2)?,
            up: Crossbar::new(&machine.interconnect, &machine.clock, sms, slices),
            down: Crossbar::new(&machine.interconnect, &machine.clock, slices, sms),
            partitions: (0..machine.dram.channels).map(|c| Berth::new(Partition::new(machine, c))).collect(),
            next: vec![None; machine.dram.channels as usize],
            untold: vec![false; machine.dram.channels as usize],
            slices: machine.l2.slices,
            header_bytes: machine.interconnect.header_bytes,
            reply_header_bytes: machine.interconnect.reply_header_bytes,
            sector: machine.l2.sector,
            merge: Merge::default(),
        })
    }

    /// Where addresses live.
    #[must_use]
    pub fn map(&self) -> &AddressMap {
        &self.map
    }

    /// Runs every cycle instead of skipping those in which nothing moves.
    pub fn never_skip(&mut self) {
        self.partitions.iter().for_each(|berth| berth.lock().set_skipping(false));
    }

    /// An SM sends a request; it has asked for [`MemorySystem::room`] before.
    pub fn send(&mut self, sm: u32, at: Cycle, request: Request) {
        let bytes = request.packet_bytes(self.header_bytes);
        // The SMs' turn in a cycle comes after the network's: it takes the request in the next.
        self.up.push(sm, at + 1, self.map.slice(request.address), bytes, request);
    }

    /// Flits an SM can send.
    #[must_use]
    pub fn room(&self, sm: u32) -> u32 {
        self.up.room(sm)
    }

    /// How many replies an SM can take.
    pub fn set_credit(&mut self, sm: u32, packets: u32) {
        self.down.set_credit(sm, packets);
    }

    /// Takes a reply for an SM, with the time it arrives.
    pub fn receive(&mut self, sm: u32) -> Option<(Cycle, Reply)> {
        self.down.pop(sm)
    }

    /// The partitions, to be run for a window each on its own.
    #[must_use]
    pub fn partitions(&self) -> Arc<[Berth]> {
        Arc::clone(&self.partitions)
    }

    /// Tells partitions that were skipped and move before `to` what room the network has.
    pub fn wake(&mut self, to: Cycle) {
        for (channel, berth) in (0..).zip(&*self.partitions) {
            if self.untold[channel as usize] && !berth.sleeps_through(to) {
                self.tell_room(channel, &mut berth.lock());
                self.untold[channel as usize] = false;
            }
        }
    }

    fn tell_room(&self, channel: u32, partition: &mut Partition) {
        for local in 0..self.slices {
            partition.set_reply_credit(local, self.down.room(channel * self.slices + local));
        }
    }

    /// Takes what the partitions have to tell after a window up to `to`: replies, and what atomics wrote, which becomes
    /// visible to all.
    pub fn collect(&mut self, to: Cycle, memory: &mut DeviceMemory) {
        let slices = self.slices;
        for (channel, berth) in (0..).zip(&*self.partitions).filter(|(_, berth)| !berth.sleeps_through(to)) {
            let mut partition = berth.lock();
            self.merge.add(channel, partition.log());
            for local in 0..slices {
                let slice = channel * slices + local;
                while let Some((at, reply)) = partition.pop_reply(local) {
                    let bytes = reply.packet_bytes(self.reply_header_bytes, self.sector);
                    self.down.push(slice, at, u32::from(reply.sm), bytes, reply);
                }
                self.up.set_credit(slice, partition.inbox_room(local));
            }
        }
        self.merge.finish(memory);
    }

    /// The networks carry what was sent in a window.
    pub fn exchange(&mut self, from: Cycle, to: Cycle) {
        let slices = self.slices;
        self.up.step(from, to);
        self.down.step(from, to);
        for (channel, berth) in (0..).zip(&*self.partitions) {
            let first = channel * slices;
            if berth.sleeps_through(to) && !(first..first + slices).any(|slice| self.up.has_delivered(slice)) {
                self.untold[channel as usize] = true;
                continue;
            }
            let mut partition = berth.lock();
            for local in 0..slices {
                while let Some((at, request)) = self.up.pop(first + local) {
                    partition.deliver(local, at, request);
                }
            }
            self.tell_room(channel, &mut partition);
            self.untold[channel as usize] = false;
            let next = partition.next_event(to);
            self.next[channel as usize] = next;
            let asleep = partition.can_be_left().then(|| next.unwrap_or(Cycle::MAX));
            berth.sleep.set(asleep.unwrap_or(Sleep::AWAKE));
        }
    }

    /// When something in it next moves on its own, after [`MemorySystem::exchange`] up to `now`.
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        [self.up.next_event(now), self.down.next_event(now)].iter().chain(&self.next).copied().flatten().min()
    }

    /// Counts what the partitions have put off counting, up to `now`.
    pub fn make_up(&mut self, now: Cycle) {
        self.partitions.iter().for_each(|berth| berth.lock().make_up(now));
    }

    /// Requests and replies in it.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        let inside: usize = self.partitions.iter().map(|berth| berth.lock().in_flight()).sum();
        self.up.in_flight() + self.down.in_flight() + inside
    }

    /// Counters of the networks: to memory, and back.
    #[must_use]
    pub fn networks(&self) -> [&CrossbarCounters; 2] {
        [self.up.counters(), self.down.counters()]
    }
}
