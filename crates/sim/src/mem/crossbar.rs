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

use std::collections::VecDeque;

use crate::config::{ClockConfig, InterconnectConfig};
use crate::counters;
use crate::mem::clock::Clock;
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

#[derive(Debug)]
struct Packet<T> {
    at: Cycle,
    to: u32,
    flits: u32,
    payload: T,
}

#[derive(Debug)]
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

#[derive(Debug)]
struct Output<T> {
    /// Inputs whose head packet is for this output, one bit each.
    wanted: u128,
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
    /// Sources with packets, one bit each.
    pushing: u128,
    /// Inputs with flits, one bit each.
    waiting: u128,
    /// Outputs with flits, one bit each.
    leaving: u128,
    /// Outputs some input has flits for, one bit each.
    wanted: u128,
    inside: usize,
    /// What it did.
    pub counters: CrossbarCounters,
}

impl<T> Crossbar<T> {
    /// An empty crossbar.
    ///
    /// # Panics
    /// When there are more than 128 sources or destinations.
    #[must_use]
    pub fn new(config: &InterconnectConfig, clocks: &ClockConfig, sources: u32, destinations: u32) -> Self {
        assert!(sources <= 128 && destinations <= 128, "at most 128 ports on a side");
        let clock = Clock::new(clocks.interconnect, clocks.core);
        let source =
            |_| Source { packets: VecDeque::new(), injecting: 0, front: 0, front_flits: 0, buffered: 0, sent: 0 };
        let output = |_| Output {
            wanted: 0,
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
            pushing: 0,
            waiting: 0,
            leaving: 0,
            wanted: 0,
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
        self.pushing |= 1 << source;
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
        if self.waiting | self.leaving != 0 {
            return Some(now);
        }
        bits(self.pushing)
            .filter_map(|source| self.sources[source].packets.front())
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
                self.switch();
                self.leave(now);
            }
            now += 1;
        }
    }

    /// One flit of each source goes from the injection to the input buffer.
    fn inject(&mut self, now: Cycle) {
        for number in bits(self.pushing) {
            let source = &mut self.sources[number];
            let Some(packet) = source.packets.get(source.front).filter(|packet| packet.at < now) else { continue };
            if source.buffered >= self.input_buffer {
                continue;
            }
            source.front_flits += 1;
            source.injecting -= 1;
            source.buffered += 1;
            if source.buffered == 1 {
                let to = source.packets[0].to as usize;
                self.outputs[to].wanted |= 1 << number;
                self.wanted |= 1 << to;
                self.waiting |= 1 << number;
            }
            if source.front_flits == packet.flits {
                source.front += 1;
                source.front_flits = 0;
            }
        }
    }

    /// Up to `speedup` flits of each input go to their outputs.
    fn switch(&mut self) {
        let mut blocked = self.waiting;
        for _ in 0..self.speedup {
            // An input sends to one output at a time, even if its next packet is for another one.
            let mut free = !0u128;
            for to in bits(self.wanted) {
                let output = &self.outputs[to];
                let candidates = output.wanted & free & output.holder.map_or(!0, |holder| 1 << holder);
                if candidates == 0 || output.buffered >= self.output_buffer {
                    continue;
                }
                let input = first(candidates, output.turn);
                free &= !(1 << input);
                self.forward(input, to);
            }
            blocked &= free;
        }
        self.counters.blocked += u64::from(blocked.count_ones());
    }

    /// One flit goes from an input to its output.
    fn forward(&mut self, input: u32, to: usize) {
        let source = &mut self.sources[input as usize];
        let output = &mut self.outputs[to];
        source.buffered -= 1;
        source.sent += 1;
        output.buffered += 1;
        self.leaving |= 1 << to;
        if source.sent == 1 {
            output.holder = Some(input);
            output.turn = (input + 1) % self.sources.len() as u32;
        }
        let source = &mut self.sources[input as usize];
        let last = source.sent == source.packets[0].flits;
        if last {
            source.sent = 0;
            source.front -= 1;
            output.holder = None;
            output.packets.extend(source.packets.pop_front().map(|packet| (packet.flits, packet.payload)));
            if source.packets.is_empty() {
                self.pushing &= !(1 << input);
            }
        }
        if last || source.buffered == 0 {
            output.wanted &= !(1 << input);
            if output.wanted == 0 {
                self.wanted &= !(1 << to);
            }
        }
        if source.buffered == 0 {
            self.waiting &= !(1 << input);
        } else if last {
            let next = source.packets[0].to as usize;
            self.outputs[next].wanted |= 1 << input;
            self.wanted |= 1 << next;
        }
    }

    /// One flit of each output leaves.
    fn leave(&mut self, now: Cycle) {
        for number in bits(self.leaving) {
            let output = &mut self.outputs[number];
            let last = output.packets.front().is_some_and(|packet| packet.0 == output.left + 1);
            if last && output.credit == 0 {
                self.counters.refused += 1;
                continue;
            }
            output.buffered -= 1;
            output.left += 1;
            self.counters.flits += 1;
            if output.buffered == 0 {
                self.leaving &= !(1 << number);
            }
            if last {
                output.credit -= 1;
                output.left = 0;
                self.inside -= 1;
                self.counters.packets += 1;
                let latency = self.latency;
                output.delivered.extend(output.packets.pop_front().map(|packet| (now + latency, packet.1)));
            }
        }
    }
}

/// Numbers of the bits that are set, lowest first.
fn bits(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(bit)
    })
}

/// The first set bit at or after `from`, going round; some bit is set.
fn first(set: u128, from: u32) -> u32 {
    let ahead = set >> from << from;
    if ahead == 0 { set.trailing_zeros() } else { ahead.trailing_zeros() }
}
