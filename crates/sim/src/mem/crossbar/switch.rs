//! The buffers of a crossbar, and how flits go through them.

use super::CrossbarCounters;
use super::packets::{List, Packet, Packets};
use crate::config::{ClockConfig, InterconnectConfig};
use crate::mem::clock::Clock;
use crate::mem::ports::PortSet;
use crate::packet::Cycle;
use crate::saved;
use serde::{Serialize, de::DeserializeOwned};

/// No packet, no input.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Source {
    /// Packets with flits in the injection or the input buffer.
    packets: List,
    /// The packet whose flits are leaving the injection buffer, and how many of them have.
    front: u32,
    front_flits: u32,
    /// Flits in the injection buffer.
    injecting: u32,
    /// Flits in the input buffer.
    buffered: u32,
    /// Flits of the first packet that its output has.
    sent: u32,
    /// The tick in which it last sent a flit.
    sent_in: u64,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Output<P> {
    /// Inputs whose head packet is for this output.
    wanted: P,
    /// The input whose packet has begun and not ended.
    holder: u32,
    turn: u32,
    buffered: u32,
    /// Packets whose last flit is in the output buffer.
    packets: List,
    /// Flits of the first packet that have left.
    left: u32,
    credit: u32,
    delivered: List,
}

/// One direction of the interconnect, carrying `T`, with its sets of ports kept as `P`.
#[derive(Debug)]
pub(super) struct Switch<T, P> {
    clock: Clock,
    latency: Cycle,
    flit_bytes: u32,
    /// Flits of packets by their bytes, up to some size.
    flits: Box<[u32]>,
    injection_buffer: u32,
    input_buffer: u32,
    output_buffer: u32,
    speedup: u32,
    several_outputs: bool,
    sources: Vec<Source>,
    outputs: Vec<Output<P>>,
    packets: Packets<T>,
    /// Sources with flits in their injection buffer.
    pushing: P,
    /// Inputs with flits.
    waiting: P,
    /// Outputs with flits.
    leaving: P,
    /// Outputs some input has flits for.
    wanted: P,
    /// Inputs whose packet has ended in this step of a tick and that have flits of another one.
    turned: Vec<u32>,
    pub(super) inside: usize,
    pub(super) counters: CrossbarCounters,
}

saved!(impl[T: Serialize + DeserializeOwned, P: PortSet] Switch<T, P> {
    values: sources, outputs, packets, pushing, waiting, leaving, wanted, turned, inside;
    parts: counters;
    fixed: clock, latency, flit_bytes, flits, injection_buffer, input_buffer, output_buffer, speedup, several_outputs;
});

impl<T, P: PortSet> Switch<T, P> {
    pub(super) fn new(config: &InterconnectConfig, clocks: &ClockConfig, sources: u32, destinations: u32) -> Self {
        let clock = Clock::new(clocks.interconnect, clocks.core);
        let source = |_| Source {
            packets: List::EMPTY,
            front: NONE,
            front_flits: 0,
            injecting: 0,
            buffered: 0,
            sent: 0,
            sent_in: u64::MAX,
        };
        let output = |_| Output {
            wanted: P::default(),
            holder: NONE,
            turn: 0,
            buffered: 0,
            packets: List::EMPTY,
            left: 0,
            credit: u32::MAX,
            delivered: List::EMPTY,
        };
        Self {
            clock,
            latency: clock.core_cycles(u64::from(config.latency)),
            flit_bytes: config.flit_bytes,
            flits: (0..256u32).map(|bytes| bytes.div_ceil(config.flit_bytes)).collect(),
            injection_buffer: config.injection_buffer,
            input_buffer: config.input_buffer,
            output_buffer: config.output_buffer,
            speedup: config.speedup,
            several_outputs: config.several_outputs,
            sources: (0..sources).map(source).collect(),
            outputs: (0..destinations).map(output).collect(),
            packets: Packets { all: Vec::new(), free: NONE },
            pushing: P::default(),
            waiting: P::default(),
            leaving: P::default(),
            wanted: P::default(),
            turned: Vec::new(),
            inside: 0,
            counters: CrossbarCounters::default(),
        }
    }

    pub(super) fn latency(&self) -> Cycle {
        self.latency
    }

    pub(super) fn flits(&self, bytes: u32) -> u32 {
        self.flits.get(bytes as usize).copied().unwrap_or_else(|| bytes.div_ceil(self.flit_bytes))
    }

    pub(super) fn room(&self, source: u32) -> u32 {
        self.injection_buffer.saturating_sub(self.sources[source as usize].injecting)
    }

    pub(super) fn can_push(&self, source: u32, flits: u32) -> bool {
        self.room(source) >= flits.min(self.injection_buffer)
    }

    pub(super) fn push(&mut self, source: u32, at: Cycle, to: u32, bytes: u32, payload: T) {
        let flits = self.flits(bytes);
        debug_assert!(flits > 0 && self.can_push(source, flits), "the source looks for room first");
        let port = &mut self.sources[source as usize];
        let is_first = port.packets.first == NONE;
        debug_assert!(is_first || self.packets.get(port.packets.last).at <= at);
        let number = self.packets.add(Packet { at, to, flits, next: NONE, payload: Some(payload) });
        self.packets.push(&mut port.packets, number);
        if port.front == NONE {
            port.front = number;
        }
        port.injecting += flits;
        self.pushing.insert(source);
        self.inside += 1;
        self.counters.bytes += u64::from(bytes);
    }

    pub(super) fn set_credit(&mut self, destination: u32, packets: u32) {
        self.outputs[destination as usize].credit = packets;
    }

    #[inline]
    pub(super) fn pop(&mut self, destination: u32) -> Option<(Cycle, T)> {
        let list = &mut self.outputs[destination as usize].delivered;
        if list.first == NONE {
            return None;
        }
        let number = self.packets.pop(list);
        let packet = &mut self.packets.all[number as usize];
        packet.next = std::mem::replace(&mut self.packets.free, number);
        packet.payload.take().map(|payload| (packet.at, payload))
    }

    #[inline]
    pub(super) fn has_delivered(&self, destination: u32) -> bool {
        self.outputs[destination as usize].delivered.first != NONE
    }

    #[inline]
    pub(super) fn next_event(&self, now: Cycle) -> Option<Cycle> {
        if self.inside == 0 {
            return None;
        }
        if !(self.waiting.is_empty() && self.leaving.is_empty()) {
            return Some(now);
        }
        let first = |source: u32| self.packets.get(self.sources[source as usize].front);
        self.pushing.members().map(|source| (first(source).at + 1).max(now)).min()
    }

    pub(super) fn step(&mut self, from: Cycle, to: Cycle) {
        let mut now = from;
        while let Some(next) = self.next_event(now).filter(|&next| next < to) {
            now = next;
            for tick in self.clock.ticks_before(now)..self.clock.ticks_before(now + 1) {
                self.inject(now);
                if !self.waiting.is_empty() {
                    self.switch(tick, now);
                }
                self.leave(now);
            }
            now += 1;
        }
    }

    /// One flit of each source goes from the injection to the input buffer.
    fn inject(&mut self, now: Cycle) {
        for number in self.pushing.members() {
            let source = &mut self.sources[number as usize];
            let packet = self.packets.get(source.front);
            if packet.at >= now || source.buffered >= self.input_buffer {
                continue;
            }
            source.buffered += 1;
            if source.buffered == 1 {
                // It is of the first packet: those before it have left.
                self.outputs[packet.to as usize].wanted.insert(number);
                self.wanted.insert(packet.to);
                self.waiting.insert(number);
            }
            source.front_flits += 1;
            if source.front_flits == packet.flits {
                source.front = packet.next;
                source.front_flits = 0;
            }
            source.injecting -= 1;
            if source.injecting == 0 {
                self.pushing.remove(number);
            }
        }
    }

    /// Up to `speedup` flits of each input go to their outputs.
    fn switch(&mut self, tick: u64, now: Cycle) {
        let waiting = self.waiting.len();
        let mut senders = 0;
        for _ in 0..self.speedup {
            if self.several_outputs {
                senders += self.serve_in_turn(tick, now);
            } else {
                for to in self.wanted.members() {
                    senders += self.serve(to, tick, now);
                }
            }
            // An input sends to one output at a time, even if its next packet is for another one.
            self.turn();
        }
        // Who sends was waiting before: nothing enters an input buffer here.
        self.counters.blocked += u64::from(waiting - senders);
    }

    /// Outputs take a flit each, one after the other: an input whose packet has left may be served again by one that follows.
    fn serve_in_turn(&mut self, tick: u64, now: Cycle) -> u32 {
        let mut senders = 0;
        let mut next = self.wanted.first_from(0);
        while let Some(to) = next {
            senders += self.serve(to, tick, now);
            self.turn();
            let has_more = to as usize + 1 < self.outputs.len();
            next = if has_more { self.wanted.first_from(to + 1).filter(|found| *found > to) } else { None };
        }
        senders
    }

    /// An output takes a flit, if it has room and an input has one for it; one if it is the first that input sends in this tick.
    #[inline(always)]
    fn serve(&mut self, to: u32, tick: u64, now: Cycle) -> u32 {
        let output = &self.outputs[to as usize];
        if output.buffered >= self.output_buffer {
            return 0;
        }
        let input = match output.holder {
            NONE => output.wanted.first_from(output.turn),
            holder => output.wanted.contains(holder).then_some(holder),
        };
        input.map_or(0, |input| u32::from(self.forward(input, to, tick, now)))
    }

    /// Inputs whose packet has left show the next one.
    #[inline]
    fn turn(&mut self) {
        while let Some(input) = self.turned.pop() {
            let next = self.packets.get(self.sources[input as usize].packets.first).to;
            self.outputs[next as usize].wanted.insert(input);
            self.wanted.insert(next);
        }
    }

    /// One flit goes from an input to its output; whether it is the first of this tick.
    #[inline]
    fn forward(&mut self, input: u32, to: u32, tick: u64, now: Cycle) -> bool {
        let sources = self.sources.len();
        let source = &mut self.sources[input as usize];
        let output = &mut self.outputs[to as usize];
        source.buffered -= 1;
        source.sent += 1;
        if source.sent == 1 {
            output.holder = input;
            output.turn = if input as usize + 1 == sources { 0 } else { input + 1 };
        }
        let flits = self.packets.get(source.packets.first).flits;
        let last = source.sent == flits;
        if last {
            source.sent = 0;
            output.holder = NONE;
            let number = self.packets.pop(&mut source.packets);
            if flits == 1 && output.buffered == 0 && output.credit > 0 && self.speedup == 1 {
                // Nothing is before it: it leaves in this tick.
                output.credit -= 1;
                self.counters.flits += 1;
                self.counters.packets += 1;
                self.inside -= 1;
                self.packets.all[number as usize].at = now + self.latency;
                self.packets.push(&mut output.delivered, number);
            } else {
                output.buffered += 1;
                self.leaving.insert(to);
                self.packets.push(&mut output.packets, number);
            }
        } else {
            output.buffered += 1;
            self.leaving.insert(to);
        }
        if last || source.buffered == 0 {
            output.wanted.remove(input);
            if output.wanted.is_empty() {
                self.wanted.remove(to);
            }
        }
        if source.buffered == 0 {
            self.waiting.remove(input);
        } else if last {
            self.turned.push(input);
        }
        std::mem::replace(&mut source.sent_in, tick) != tick
    }

    /// One flit of each output leaves.
    fn leave(&mut self, now: Cycle) {
        for number in self.leaving.members() {
            let output = &mut self.outputs[number as usize];
            let first = output.packets.first;
            if first != NONE && self.packets.get(first).flits == output.left + 1 {
                if output.credit == 0 {
                    self.counters.refused += 1;
                    continue;
                }
                output.credit -= 1;
                output.left = 0;
                self.packets.pop(&mut output.packets);
                self.packets.all[first as usize].at = now + self.latency;
                self.packets.push(&mut output.delivered, first);
                self.inside -= 1;
                self.counters.packets += 1;
            } else {
                output.left += 1;
            }
            self.counters.flits += 1;
            output.buffered -= 1;
            if output.buffered == 0 {
                self.leaving.remove(number);
            }
        }
    }
}
