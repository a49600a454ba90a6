//! Both crossbars and all partitions together, window by window, as a GPU drives them.

use super::request;
use crate::config::MachineConfig;
use crate::mem::address::AddressMap;
use crate::mem::crossbar::Crossbar;
use crate::mem::partition::Partition;
use crate::mem::test_machine::gtx480;
use crate::packet::{Cycle, Purpose, Reply, Request};
use raddle_exec::memory::{DeviceMemory, Global};

struct Memory {
    map: AddressMap,
    up: Crossbar<Request>,
    down: Crossbar<Reply>,
    partitions: Vec<Partition>,
    data: DeviceMemory,
    window: Cycle,
    now: Cycle,
    slices: u32,
}

impl Memory {
    fn new(machine: &MachineConfig) -> Self {
        let (sms, slices) = (machine.gpu.sms, machine.dram.channels * machine.l2.slices);
        Self {
            map: AddressMap::new(&machine.dram, &machine.l2).unwrap(),
            up: Crossbar::new(&machine.interconnect, &machine.clock, sms, slices),
            down: Crossbar::new(&machine.interconnect, &machine.clock, slices, sms),
            partitions: (0..machine.dram.channels).map(|channel| Partition::new(machine, channel)).collect(),
            data: DeviceMemory::new(),
            window: Cycle::from(machine.gpu.window),
            now: 0,
            slices: machine.l2.slices,
        }
    }

    /// Sends a request if the SM's port has room.
    fn push(&mut self, mut request: Request, sm: u32, at: Cycle) -> bool {
        request.sm = sm as u16;
        let bytes = if request.purpose.is_write() { 8 + request.bytes } else { 8 };
        let room = self.up.can_push(sm, self.up.flits(bytes));
        if room {
            self.up.push(sm, at, self.map.slice(request.address), bytes, request);
        }
        room
    }

    /// Runs one window and returns the replies with the cycle at which they reach their SM.
    fn window(&mut self) -> Vec<(Cycle, Reply)> {
        let (from, to) = (self.now, self.now + self.window);
        for partition in &mut self.partitions {
            partition.run(from, to, &mut Global::Direct(&mut self.data));
        }
        for slice in 0..self.slices * self.partitions.len() as u32 {
            let (partition, local) = (&mut self.partitions[(slice / self.slices) as usize], slice % self.slices);
            while let Some((at, reply)) = partition.pop_reply(local) {
                let bytes = if reply.purpose.is_write() { 8 } else { 40 };
                self.down.push(slice, at, u32::from(reply.sm), bytes, reply);
            }
            self.up.set_credit(slice, partition.inbox_room(local));
        }
        self.up.step(from, to);
        self.down.step(from, to);
        for slice in 0..self.slices * self.partitions.len() as u32 {
            let (partition, local) = (&mut self.partitions[(slice / self.slices) as usize], slice % self.slices);
            while let Some((at, request)) = self.up.pop(slice) {
                assert!(at >= to);
                partition.deliver(local, at, request);
            }
            partition.set_reply_credit(local, self.down.room(slice));
        }
        self.now = to;
        (0..15).flat_map(|sm| std::iter::from_fn(|| self.down.pop(sm)).collect::<Vec<_>>()).collect()
    }

    fn is_idle(&self) -> bool {
        self.up.in_flight() + self.down.in_flight() == 0 && self.partitions.iter().all(Partition::is_idle)
    }
}

#[test]
fn an_l2_hit_seen_from_an_sm() {
    let mut memory = Memory::new(&gtx480());
    let mut last = 0;
    for _ in 0..2 {
        let start = memory.now;
        assert!(memory.push(request(1, Purpose::GlobalRead, 0xC000_0000, 32), 4, start));
        while !memory.is_idle() {
            last = memory.window().first().map_or(last, |reply| reply.0 - start);
        }
    }
    // The network there (1 + 5), ROP delay, look-up, output queue, the network back (1 + 5).
    assert_eq!(last, 6 + 120 + 1 + 1 + 6);
}

fn soak(machine: &MachineConfig, requests: u64) -> (Vec<(Cycle, u32)>, Cycle) {
    let mut memory = Memory::new(machine);
    let mut replies = Vec::new();
    let mut next = 0;
    while next < requests || !memory.is_idle() {
        for sm in 0..15 {
            while next < requests {
                let purpose = if next % 3 == 0 { Purpose::GlobalWrite } else { Purpose::GlobalRead };
                let address = 0xC000_0000 + (next * 7919 % 509) * 128;
                let at = memory.now + u64::from(sm) % 5;
                if !memory.push(request(next as u32, purpose, address, 128), sm, at) {
                    break;
                }
                next += 1;
            }
        }
        replies.extend(memory.window().into_iter().map(|(at, reply)| (at, reply.token.0)));
        assert!(memory.now < 1_000_000, "stuck");
    }
    (replies, memory.now)
}

#[test]
fn everything_comes_back_through_small_buffers() {
    let mut machine = gtx480();
    let network = &mut machine.interconnect;
    (network.injection_buffer, network.input_buffer, network.output_buffer) = (4, 2, 1);
    (machine.l2.inbox, machine.l2.input_queue, machine.l2.output_queue) = (1, 1, 1);
    let (replies, end) = soak(&machine, 2000);
    assert_eq!(replies.len(), 8000);
    assert_eq!(soak(&machine, 2000), (replies, end));
    // Larger buffers are faster.
    assert!(soak(&gtx480(), 2000).1 < end);
}
