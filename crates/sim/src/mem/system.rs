//! Everything beyond the SMs: both crossbars, the L2 slices and the DRAM channels.

use super::address::{AddressError, AddressMap};
use super::crossbar::{Crossbar, CrossbarCounters};
use super::partition::Partition;
use crate::config::MachineConfig;
use crate::packet::{Cycle, Reply, Request};
use crate::parallel::lock;
use raddle_exec::memory::{DeviceMemory, Merge};
use std::sync::{Arc, Mutex};

/// The memory system of a GPU. It outlives launches: the L2 keeps its lines.
pub struct MemorySystem {
    map: AddressMap,
    up: Crossbar<Request>,
    down: Crossbar<Reply>,
    /// Each behind a lock, so that host threads can run them at once.
    partitions: Arc<[Mutex<Partition>]>,
    slices: u32,
    header_bytes: u32,
    sector: u32,
    /// Stores of atomics at the edge of a window.
    merge: Merge,
    /// When a partition next moves by itself, at the edge of a window.
    next: Option<Cycle>,
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
            partitions: (0..machine.dram.channels).map(|c| Mutex::new(Partition::new(machine, c))).collect(),
            slices: machine.l2.slices,
            header_bytes: machine.interconnect.header_bytes,
            sector: machine.l2.sector,
            merge: Merge::default(),
            next: None,
        })
    }

    /// Runs every cycle instead of skipping those in which nothing moves.
    pub fn never_skip(&mut self) {
        self.partitions.iter().for_each(|p| lock(p).set_skipping(false));
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
    pub fn partitions(&self) -> Arc<[Mutex<Partition>]> {
        Arc::clone(&self.partitions)
    }

    /// Takes what the partitions have to tell after a window: replies, and what atomics wrote, which becomes visible to all.
    pub fn collect(&mut self, memory: &mut DeviceMemory) {
        let slices = self.slices;
        for (channel, partition) in self.partitions.iter().enumerate() {
            let mut partition = lock(partition);
            self.merge.add(channel as u32, partition.log());
            for local in 0..slices {
                let slice = channel as u32 * slices + local;
                while let Some((at, reply)) = partition.pop_reply(local) {
                    let bytes = self.header_bytes + if reply.purpose.is_write() { 0 } else { self.sector };
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
        self.next = None;
        for (channel, partition) in self.partitions.iter().enumerate() {
            let mut partition = lock(partition);
            for local in 0..slices {
                let slice = channel as u32 * slices + local;
                while let Some((at, request)) = self.up.pop(slice) {
                    partition.deliver(local, at, request);
                }
                partition.set_reply_credit(local, self.down.room(slice));
            }
            self.next = self.next.into_iter().chain(partition.next_event(to)).min();
        }
    }

    /// When something in it next moves by itself, after [`MemorySystem::exchange`] up to `now`.
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        [self.up.next_event(now), self.down.next_event(now), self.next].into_iter().flatten().min()
    }

    /// Counts what the partitions have put off counting, up to `now`.
    pub fn make_up(&mut self, now: Cycle) {
        self.partitions.iter().for_each(|p| lock(p).make_up(now));
    }

    /// Requests and replies in it.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.up.in_flight() + self.down.in_flight() + self.partitions.iter().map(|p| lock(p).in_flight()).sum::<usize>()
    }

    /// Counters of the networks: to memory, and back.
    #[must_use]
    pub fn networks(&self) -> [&CrossbarCounters; 2] {
        [&self.up.counters, &self.down.counters]
    }
}
