//! Tests of the memory side as a whole.

mod crossbar;
mod dram;
mod l2_trace;
mod latency;
mod network;
mod traffic;

use raddle_exec::memory::{DeviceMemory, Global};

use crate::config::MachineConfig;
use crate::mem::partition::Partition;
use crate::packet::{Cycle, NO_ORIGIN, Purpose, Reply, Request, Token};

/// A request of SM 0 for a number of bytes.
pub(super) fn request(token: u32, purpose: Purpose, address: u64, bytes: u32) -> Request {
    let (token, byte_mask) = (Token(token), !0);
    Request { sm: 0, token, purpose, address, bytes, posted: false, byte_mask, atomic: None, origin: NO_ORIGIN }
}

/// The reference machine with one channel and one slice, so that every address is in it, and equal clocks.
pub(super) fn one_slice() -> MachineConfig {
    let mut machine = crate::mem::test_machine::gtx480();
    machine.dram.channels = 1;
    machine.l2.slices = 1;
    machine.clock.dram = machine.clock.core;
    machine
}

/// A partition with its memory and the time.
pub(super) struct Bench {
    pub(super) partition: Partition,
    pub(super) memory: DeviceMemory,
    pub(super) now: Cycle,
}

impl Bench {
    pub(super) fn new(machine: &MachineConfig) -> Self {
        Self { partition: Partition::new(machine, 0), memory: DeviceMemory::new(), now: 0 }
    }

    /// Delivers a request to slice 0 now.
    pub(super) fn send(&mut self, request: Request) {
        self.partition.deliver(0, self.now, request);
    }

    /// Runs until nothing is left inside, with room for every reply, and returns the replies of slice 0.
    pub(super) fn drain(&mut self) -> Vec<(Cycle, Reply)> {
        let mut replies = Vec::new();
        let start = self.now;
        while !self.partition.is_idle() {
            self.partition.set_reply_credit(0, 1000);
            self.partition.run(self.now, self.now + 5, &mut Global::Direct(&mut self.memory));
            self.now += 5;
            replies.extend(std::iter::from_fn(|| self.partition.pop_reply(0)));
            assert!(self.now < start + 1_000_000, "no progress");
        }
        replies
    }

    /// Sends one request alone and returns the cycles until its last reply.
    pub(super) fn alone(&mut self, request: Request) -> Cycle {
        let start = self.now;
        self.send(request);
        self.drain().last().expect("a reply").0 - start
    }
}
