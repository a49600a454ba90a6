//! Packets in a crossbar: they stay where they are and go from list to list.

use super::switch::NONE;
use crate::packet::Cycle;
use raddle_ptx::num::fit;

/// A packet. It stays where it is and goes from list to list.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Packet<T> {
    /// When it was pushed; once delivered, when it arrives.
    pub(super) at: Cycle,
    pub(super) to: u32,
    pub(super) flits: u32,
    /// The one after it in its list.
    pub(super) next: u32,
    pub(super) payload: Option<T>,
}

/// Packets by number. A list of them is its first and its last one.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Packets<T> {
    pub(super) all: Vec<Packet<T>>,
    pub(super) free: u32,
}

/// A list of packets, first in, first out.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct List {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl List {
    /// None.
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };
}

impl<T> Packets<T> {
    #[inline]
    pub(super) fn get(&self, number: u32) -> &Packet<T> {
        &self.all[number as usize]
    }

    pub(super) fn add(&mut self, packet: Packet<T>) -> u32 {
        let number = self.free;
        if number == NONE {
            self.all.push(packet);
            return fit(self.all.len() - 1);
        }
        let place = &mut self.all[number as usize];
        self.free = place.next;
        *place = packet;
        number
    }

    /// Adds a packet to a list.
    #[inline]
    pub(super) fn push(&mut self, list: &mut List, number: u32) {
        if list.first == NONE {
            list.first = number;
        } else {
            self.all[list.last as usize].next = number;
        }
        list.last = number;
    }

    /// Takes the first packet, which is there, from a list.
    #[inline]
    pub(super) fn pop(&mut self, list: &mut List) -> u32 {
        let number = list.first;
        list.first = std::mem::replace(&mut self.all[number as usize].next, NONE);
        number
    }
}
