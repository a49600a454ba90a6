//! One direction of the interconnect: a crossbar with buffered inputs and outputs.
//!
//! ```text
//!  source: injection buffer ─1─► input buffer ─speedup─► output buffer ─1─► latency ─► delivered
//! ```
//! Numbers are flits per interconnect tick. Buffers are first in, first out, so the packet at the head of an input
//! holds up those behind it. Once an output has taken a packet's first flit it takes no other packet until the last
//! flit (wormhole). An output that is free takes the waiting input next in turn; the turn moves past an input when
//! its packet begins. An output lets the last flit of a packet leave only when the destination has room for it.
//!
//! # Time
//! In each tick the stages run from the source to the destination, so a flit that nothing holds up passes all three
//! in one tick. A packet of `n` flits pushed in core cycle `t` into an idle crossbar leaves with the interconnect
//! tick of cycle `t + n` and is delivered at
//!
//! `t + n + latency` (all clocks equal), in general: cycle of the n-th tick after cycle `t`, plus `latency` ticks in
//! core cycles, rounded up.
//!
//! A packet pushed in a window `[T, T + L)` leaves in that window or later, so with `latency` of at least `L` core
//! cycles it is delivered at `T + L` or later: after the window in which it was sent.

use crate::saved;
use std::collections::VecDeque;

use crate::config::{ClockConfig, InterconnectConfig};
use crate::counters;
use crate::mem::clock::Clock;
use crate::mem::ports::{MAX_PORTS, Ports};
use crate::packet::Cycle;

counters! {
    /// What one direction of the interconnect did.
    pub struct CrossbarCounters {
        packets: Events, "packets delivered";
        flits: Events, "flits delivered";
        bytes: Bytes, "bytes of the packets sent";
        blocked: Cycles, "interconnect cycles in which an input with a flit could not send any, summed over inputs";
        refused: Cycles, "interconnect cycles in which an output waited for room at its destination";
    }
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Packet<T> {
    at: Cycle,
    to: u32,
    flits: u32,
    payload: T,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Source<T> {
    /// Packets with flits in the injection or the input buffer.
    packets: VecDeque<Packet<T>>,
    /// Flits in the injection buffer.
    injecting: u32,
    /// The packet whose flits are leaving the injection buffer, and how many of them have.
    front: usize,
    front_flits: u32,
    /// Flits in the input buffer.
    buffered: u32,
    /// Flits of the first packet that its output has.
    sent: u32,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Output<T> {
    /// Inputs whose head packet is for this output.
    wanted: Ports,
    holder: Option<u32>,
    turn: u32,
    buffered: u32,
    /// Packets whose last flit is in the output buffer.
    packets: VecDeque<(u32, T)>,
    /// Flits of the first packet that have left.
    left: u32,
    credit: u32,
    delivered: VecDeque<(Cycle, T)>,
}

/// One direction of the interconnect, carrying `T`.
#[derive(Debug)]
pub struct Crossbar<T> {
    clock: Clock,
    latency: Cycle,
    flit_bytes: u32,
    injection_buffer: u32,
    input_buffer: u32,
    output_buffer: u32,
    speedup: u32,
    sources: Vec<Source<T>>,
    outputs: Vec<Output<T>>,
    /// Sources with packets.
    pushing: Ports,
    /// Inputs with flits.
    waiting: Ports,
    /// Outputs with flits.
    leaving: Ports,
    /// Outputs some input has flits for.
    wanted: Ports,
    /// Inputs that have sent a flit in this step of a tick, and in this tick.
    sent: Ports,
    all_sent: Ports,
    inside: usize,
    /// What it did.
    pub counters: CrossbarCounters,
}

saved!(impl[T: serde::Serialize + serde::de::DeserializeOwned] Crossbar<T> {
    values: sources, outputs, pushing, waiting, leaving, wanted, sent, all_sent, inside;
    parts: counters;
    fixed: clock, latency, flit_bytes, injection_buffer, input_buffer, output_buffer, speedup;
});

impl<T> Crossbar<T> {
    /// An empty crossbar.
    ///
    /// # Panics
    /// When there are more than 1024 sources or destinations.
    #[must_use]
    pub fn new(config: &InterconnectConfig, clocks: &ClockConfig, sources: u32, destinations: u32) -> Self {
        assert!(sources.max(destinations) <= MAX_PORTS, "at most {MAX_PORTS} ports on a side");
        let clock = Clock::new(clocks.interconnect, clocks.core);
        let source =
            |_| Source { packets: VecDeque::new(), injecting: 0, front: 0, front_flits: 0, buffered: 0, sent: 0 };
        let output = |_| Output {
            wanted: Ports::default(),
            holder: None,
            turn: 0,
            buffered: 0,
            packets: VecDeque::new(),
            left: 0,
            credit: u32::MAX,
            delivered: VecDeque::new(),
        };
        Self {
            clock,
            latency: clock.core_cycles(u64::from(config.latency)),
            flit_bytes: config.flit_bytes,
            injection_buffer: config.injection_buffer,
            input_buffer: config.input_buffer,
            output_buffer: config.output_buffer,
            speedup: config.speedup,
            sources: (0..sources).map(source).collect(),
            outputs: (0..destinations).map(output).collect(),
            pushing: Ports::default(),
            waiting: Ports::default(),
            leaving: Ports::default(),
            wanted: Ports::default(),
            sent: Ports::default(),
            all_sent: Ports::default(),
            inside: 0,
            counters: CrossbarCounters::default(),
        }
    }

    /// Core cycles from leaving the crossbar to the destination: the longest window the machine can have.
    #[must_use]
    pub fn latency(&self) -> Cycle {
        self.latency
    }

    /// Flits a packet of so many bytes has.
    #[must_use]
    pub fn flits(&self, bytes: u32) -> u32 {
        bytes.div_ceil(self.flit_bytes)
    }

    /// Flits a source's injection buffer can still take.
    #[must_use]
    pub fn room(&self, source: u32) -> u32 {
        self.injection_buffer.saturating_sub(self.sources[source as usize].injecting)
    }

    /// Whether a source can push a packet of so many flits. One that is larger than the buffer fits when it is empty.
    #[must_use]
    pub fn can_push(&self, source: u32, flits: u32) -> bool {
        self.room(source) >= flits.min(self.injection_buffer)
    }

    /// Sends a packet of `bytes` from a source in core cycle `at`; a source's packets come in order of time.
    pub fn push(&mut self, source: u32, at: Cycle, to: u32, bytes: u32, payload: T) {
        let flits = self.flits(bytes);
        debug_assert!(flits > 0 && self.can_push(source, flits), "the source looks for room first");
        let port = &mut self.sources[source as usize];
        debug_assert!(port.packets.back().is_none_or(|last| last.at <= at));
        port.injecting += flits;
        port.packets.push_back(Packet { at, to, flits, payload });
        self.pushing.insert(source);
        self.inside += 1;
        self.counters.bytes += u64::from(bytes);
    }

    /// Says how many packets a destination can still take, those already delivered to it left out.
    pub fn set_credit(&mut self, destination: u32, packets: u32) {
        self.outputs[destination as usize].credit = packets;
    }

    /// Takes the next packet delivered to a destination, with the core cycle at which it arrives.
    pub fn pop(&mut self, destination: u32) -> Option<(Cycle, T)> {
        self.outputs[destination as usize].delivered.pop_front()
    }

    /// Whether a destination has packets to take.
    #[inline]
    #[must_use]
    pub fn has_delivered(&self, destination: u32) -> bool {
        !self.outputs[destination as usize].delivered.is_empty()
    }

    /// Packets inside that have not been delivered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.inside
    }

    /// The first core cycle, `now` or later, in which a flit can move; `None` when it is empty.
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        if self.inside == 0 {
            return None;
        }
        if !(self.waiting.is_empty() && self.leaving.is_empty()) {
            return Some(now);
        }
        (self.pushing.iter())
            .filter_map(|source| self.sources[source as usize].packets.front())
            .map(|packet| (packet.at + 1).max(now))
            .min()
    }

    /// Simulates the core cycles from `from` to before `to`.
    pub fn step(&mut self, from: Cycle, to: Cycle) {
        let mut now = from;
        while let Some(next) = self.next_event(now).filter(|&next| next < to) {
            now = next;
            for _ in self.clock.ticks_before(now)..self.clock.ticks_before(now + 1) {
                self.inject(now);
                if !self.waiting.is_empty() {
                    self.switch();
                }
                self.leave(now);
            }
            now += 1;
        }
    }

    /// One flit of each source goes from the injection to the input buffer.
    fn inject(&mut self, now: Cycle) {
        for number in self.pushing.iter() {
            let source = &mut self.sources[number as usize];
            let Some(packet) = source.packets.get(source.front).filter(|packet| packet.at < now) else { continue };
            if source.buffered >= self.input_buffer {
                continue;
            }
            source.front_flits += 1;
            source.injecting -= 1;
            source.buffered += 1;
            if source.buffered == 1 {
                let to = source.packets[0].to;
                self.outputs[to as usize].wanted.insert(number);
                self.wanted.insert(to);
                self.waiting.insert(number);
            }
            if source.front_flits == packet.flits {
                source.front += 1;
                source.front_flits = 0;
            }
        }
    }

    /// Up to `speedup` flits of each input go to their outputs.
    fn switch(&mut self) {
        let waiting = self.waiting.len();
        self.all_sent.clear();
        for _ in 0..self.speedup {
            // An input sends to one output at a time, even if its next packet is for another one.
            self.sent.clear();
            let mut next = self.wanted.next(0);
            while let Some(to) = next {
                next = self.wanted.next(to + 1);
                let output = &self.outputs[to as usize];
                if output.buffered >= self.output_buffer {
                    continue;
                }
                let input = match output.holder {
                    Some(holder) => (output.wanted.contains(holder) && !self.sent.contains(holder)).then_some(holder),
                    None => output.wanted.first_without(&self.sent, output.turn),
                };
                let Some(input) = input else { continue };
                self.sent.insert(input);
                self.all_sent.insert(input);
                self.forward(input, to);
            }
        }
        // Who sends was waiting before: nothing enters an input buffer here.
        self.counters.blocked += u64::from(waiting - self.all_sent.len());
    }

    /// One flit goes from an input to its output.
    fn forward(&mut self, input: u32, to: u32) {
        let source = &mut self.sources[input as usize];
        let output = &mut self.outputs[to as usize];
        source.buffered -= 1;
        source.sent += 1;
        output.buffered += 1;
        self.leaving.insert(to);
        if source.sent == 1 {
            output.holder = Some(input);
            let next = input + 1;
            output.turn = if next as usize == self.sources.len() { 0 } else { next };
        }
        let source = &mut self.sources[input as usize];
        let last = source.sent == source.packets[0].flits;
        if last {
            source.sent = 0;
            source.front -= 1;
            output.holder = None;
            if let Some(packet) = source.packets.pop_front() {
                output.packets.push_back((packet.flits, packet.payload));
            }
            if source.packets.is_empty() {
                self.pushing.remove(input);
            }
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
            let next = source.packets[0].to;
            self.outputs[next as usize].wanted.insert(input);
            self.wanted.insert(next);
        }
    }

    /// One flit of each output leaves.
    fn leave(&mut self, now: Cycle) {
        let mut next = self.leaving.next(0);
        while let Some(number) = next {
            next = self.leaving.next(number + 1);
            let output = &mut self.outputs[number as usize];
            let last = output.packets.front().is_some_and(|packet| packet.0 == output.left + 1);
            if last && output.credit == 0 {
                self.counters.refused += 1;
                continue;
            }
            output.buffered -= 1;
            output.left += 1;
            self.counters.flits += 1;
            if output.buffered == 0 {
                self.leaving.remove(number);
            }
            if last {
                output.credit -= 1;
                output.left = 0;
                self.inside -= 1;
                self.counters.packets += 1;
                if let Some((_, payload)) = output.packets.pop_front() {
                    output.delivered.push_back((now + self.latency, payload));
                }
            }
        }
    }
}
