//! One direction of the interconnect: a crossbar with buffered inputs and outputs.
//!
//! ```text
//!  source: injection buffer ─1─► input buffer ─speedup─► output buffer ─1─► latency ─► delivered
//! ```
//! Numbers are flits per interconnect tick. Buffers are first in, first out, so the packet at the head of an input
//! holds up those after it. Once an output has taken a packet's first flit it takes no other packet until the last
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

use crate::saved::{Error, Pass, Saved};
use serde::{Serialize, de::DeserializeOwned};
mod packets;
mod switch;

use crate::config::{ClockConfig, InterconnectConfig};
use crate::counters;
use crate::mem::ports::{FewPorts, MAX_PORTS, ManyPorts};
use crate::packet::Cycle;
use switch::Switch;

counters! {
    /// What one direction of the interconnect did.
    pub struct CrossbarCounters {
        packets: Events, "packets delivered";
        flits: Events, "flits delivered";
        bytes: Bytes, "bytes of the packets sent";
        blocked: Cycles, "interconnect cycles in which an input that had a flit could not send one, summed over inputs";
        refused: Cycles, "interconnect cycles in which an output waited for room at its destination";
    }
}

/// One direction of the interconnect, carrying `T`.
#[derive(Debug)]
pub struct Crossbar<T>(Size<T>);

/// Sets of up to 64 ports are one word.
#[derive(Debug)]
enum Size<T> {
    Few(Box<Switch<T, FewPorts>>),
    Many(Box<Switch<T, ManyPorts>>),
}

/// Calls a method of either.
macro_rules! either {
    ($size:expr, $switch:ident => $call:expr) => {
        match $size {
            Size::Few($switch) => $call,
            Size::Many($switch) => $call,
        }
    };
}

impl<T: Serialize + DeserializeOwned> Saved for Crossbar<T> {
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), Error> {
        either!(&mut self.0, switch => switch.visit(pass))
    }
}

impl<T> Crossbar<T> {
    /// An empty crossbar.
    ///
    /// # Panics
    /// When there are more than 1024 sources or destinations.
    #[must_use]
    pub fn new(config: &InterconnectConfig, clocks: &ClockConfig, sources: u32, destinations: u32) -> Self {
        let most = sources.max(destinations);
        assert!(most <= MAX_PORTS, "at most {MAX_PORTS} ports on a side");
        Self(match most {
            0..=64 => Size::Few(Box::new(Switch::new(config, clocks, sources, destinations))),
            _ => Size::Many(Box::new(Switch::new(config, clocks, sources, destinations))),
        })
    }

    /// Core cycles from leaving the crossbar to the destination: the longest window the machine can have.
    #[must_use]
    pub fn latency(&self) -> Cycle {
        either!(&self.0, switch => switch.latency())
    }

    /// Flits a packet of so many bytes has.
    #[must_use]
    pub fn flits(&self, bytes: u32) -> u32 {
        either!(&self.0, switch => switch.flits(bytes))
    }

    /// Flits a source's injection buffer can still take.
    #[inline]
    #[must_use]
    pub fn room(&self, source: u32) -> u32 {
        either!(&self.0, switch => switch.room(source))
    }

    /// Whether a source can push a packet of so many flits. One that is larger than the buffer fits when it is empty.
    #[must_use]
    pub fn can_push(&self, source: u32, flits: u32) -> bool {
        either!(&self.0, switch => switch.can_push(source, flits))
    }

    /// Sends a packet of `bytes` from a source in core cycle `at`; a source's packets come in order of time.
    #[inline]
    pub fn push(&mut self, source: u32, at: Cycle, to: u32, bytes: u32, payload: T) {
        either!(&mut self.0, switch => switch.push(source, at, to, bytes, payload));
    }

    /// Says how many packets a destination can still take, those already delivered to it left out.
    #[inline]
    pub fn set_credit(&mut self, destination: u32, packets: u32) {
        either!(&mut self.0, switch => switch.set_credit(destination, packets));
    }

    /// Takes the next packet delivered to a destination, with the core cycle at which it arrives.
    #[inline]
    pub fn pop(&mut self, destination: u32) -> Option<(Cycle, T)> {
        either!(&mut self.0, switch => switch.pop(destination))
    }

    /// Whether a destination has packets to take.
    #[inline]
    #[must_use]
    pub fn has_delivered(&self, destination: u32) -> bool {
        either!(&self.0, switch => switch.has_delivered(destination))
    }

    /// Packets inside that have not been delivered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        either!(&self.0, switch => switch.inside)
    }

    /// The first core cycle, `now` or later, in which a flit can move; `None` when it is empty.
    #[inline]
    #[must_use]
    pub fn next_event(&self, now: Cycle) -> Option<Cycle> {
        either!(&self.0, switch => switch.next_event(now))
    }

    /// Simulates the core cycles from `from` to before `to`.
    pub fn step(&mut self, from: Cycle, to: Cycle) {
        either!(&mut self.0, switch => switch.step(from, to));
    }

    /// What it did.
    #[must_use]
    pub fn counters(&self) -> &CrossbarCounters {
        either!(&self.0, switch => &switch.counters)
    }
}
