//! The SM's port to the interconnect: requests out, replies in.

use crate::config::InterconnectConfig;
use crate::mem::cache::MAX_LINE;
use crate::mem::ring::Ring;
use crate::packet::{Cycle, Reply, Request};
use crate::saved;

/// The port. Within a window the SM knows what it sends itself; what the network takes is seen in the next.
#[derive(Debug)]
pub struct Port {
    header_bytes: u32,
    /// Flits of packets by their bytes, up to the longest.
    flits: Box<[u32]>,
    /// Flits that can still be sent in this window.
    pub free_flits: u32,
    /// Requests sent in this window, with their time.
    pub outbox: Vec<(Cycle, Request)>,
    /// Replies with the time they arrive, in order.
    pub inbox: Ring<(Cycle, Reply)>,
    /// Requests sent and sectors they ask for, replies taken: for the balance at the end.
    pub sent: u64,
    /// Replies expected for what was sent.
    pub expected: u64,
    /// Replies that have come.
    pub received: u64,
}

saved!(Port {
    values: free_flits, outbox, inbox, sent, expected, received;
    fixed: header_bytes, flits;
});

impl Port {
    /// A port with nothing in it.
    #[must_use]
    pub fn new(config: &InterconnectConfig) -> Self {
        Self {
            header_bytes: config.header_bytes,
            flits: (0..=config.header_bytes + MAX_LINE).map(|bytes| bytes.div_ceil(config.flit_bytes)).collect(),
            free_flits: config.injection_buffer,
            outbox: Vec::new(),
            inbox: Ring::new(16),
            sent: 0,
            expected: 0,
            received: 0,
        }
    }

    /// Flits of a request.
    #[must_use]
    pub fn flits(&self, request: &Request) -> u32 {
        self.flits[request.packet_bytes(self.header_bytes) as usize]
    }

    /// Whether a request can be sent now.
    #[must_use]
    pub fn accepts(&self, request: &Request) -> bool {
        self.flits(request) <= self.free_flits
    }

    /// A reply that has arrived.
    #[inline]
    pub fn take_reply(&mut self, now: Cycle) -> Option<Reply> {
        let has_come = self.inbox.front().is_some_and(|r| r.0 <= now);
        if has_come { self.inbox.pop().map(|r| r.1) } else { None }
    }

    /// Sends a request that is accepted.
    pub fn send(&mut self, request: Request, sector: u32, now: Cycle) {
        self.free_flits -= self.flits(&request);
        self.sent += 1;
        if !request.posted {
            self.expected += u64::from(request.bytes.div_ceil(sector));
        }
        self.outbox.push((now, request));
    }
}
