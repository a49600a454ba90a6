//! What a run did, as numbers that differ when anything does: every counter of every part, and every event with its
//! time.

use raddle_sim::event::{Event, EventKind};
use raddle_sim::gpu::Observer;
use raddle_sim::packet::Cycle;
use raddle_sim::result::{LaunchResult, SmResult};
use raddle_sim::stats::Counters;

/// Cycles whose events make one line of a trace of digests.
const STRETCH: Cycle = 1000;

/// FNV-1a over 64-bit words: equal only for equal words in equal order, as far as 64 bits can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes in a word.
    pub fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn add_all(&mut self, words: impl IntoIterator<Item = u64>) {
        words.into_iter().for_each(|word| self.add(word));
    }

    fn add_counters<C: Counters>(&mut self, counters: &C) {
        for (info, value) in C::INFO.iter().zip(counters.values()) {
            self.add_all(info.name.bytes().map(u64::from));
            self.add(value);
        }
    }

    /// Of every counter of a finished launch but those of mechanisms, which may come and go.
    #[must_use]
    pub fn of_counters(result: &LaunchResult) -> Self {
        let mut digest = Self::default();
        digest.add_all([result.cycles, result.ctas, u64::from(result.residency)]);
        for SmResult { sm, int, fp, l1i, l1d, l1c, l1t, own: _ } in &result.sms {
            digest.add_counters(sm);
            [int, fp].iter().for_each(|lanes| digest.add_counters(*lanes));
            [l1i, l1d, l1c, l1t].iter().for_each(|cache| digest.add_counters(*cache));
        }
        result.l2.iter().for_each(|slice| digest.add_counters(slice));
        result.dram.iter().for_each(|channel| digest.add_counters(channel));
        [&result.up, &result.down].iter().for_each(|network| digest.add_counters(*network));
        digest.add_all(result.pcs.iter().flatten().copied());
        digest
    }
}

/// Listens to everything and keeps a digest of it.
#[derive(Debug, Default)]
pub struct Listener {
    digest: Digest,
    /// The digest at the end of each stretch of cycles that had events.
    stretches: Vec<(Cycle, Digest)>,
    /// The stretch of cycles that is listened to.
    current: Cycle,
}

impl Listener {
    /// Of all events so far.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// A line for each stretch of cycles: of two runs, the first line that differs says when they part.
    #[must_use]
    pub fn trace(&self) -> String {
        let last = (self.current, self.digest);
        let all = self.stretches.iter().chain([&last]);
        all.map(|(stretch, digest)| format!("{:>10} {:016x}\n", stretch * STRETCH, digest.0)).collect()
    }
}

impl Observer for Listener {
    fn event(&mut self, event: &Event) {
        let stretch = event.at / STRETCH;
        if stretch != self.current {
            self.stretches.push((self.current, self.digest));
            self.current = stretch;
        }
        let d = &mut self.digest;
        d.add_all([event.at, u64::from(event.sm)]);
        match event.kind {
            EventKind::Gangs { sizes } => d.add_all([1].into_iter().chain(sizes.map(u64::from))),
            EventKind::CtaStart { cta, slot } => d.add_all([2, cta, slot.into()]),
            EventKind::CtaEnd { cta, slot } => d.add_all([3, cta, slot.into()]),
            EventKind::WarpStart { warp, slot, lanes } => d.add_all([4, warp.into(), slot.into(), lanes.into()]),
            EventKind::WarpExit { warp, slot, warp_insts, thread_insts } => {
                d.add_all([5, warp.into(), slot.into(), warp_insts, thread_insts]);
            }
            EventKind::Thread { warp, lane, slot, thread } => {
                d.add_all([6, warp.into(), lane.into(), slot.into(), thread.into()]);
            }
            EventKind::Issue { warp, pc, at, lanes } => {
                d.add_all([7, warp.into(), pc.into(), at.into(), lanes.into()]);
            }
            // Empty slots are told in stretches, whose ends are up to the simulator; counters have their sums.
            EventKind::Stall { .. } => {}
            EventKind::BarrierArrive { warp, slot, number, .. } => {
                d.add_all([8, warp.into(), slot.into(), number.into()]);
            }
            EventKind::BarrierLeave { warp, slot, number } => {
                d.add_all([9, warp.into(), slot.into(), number.into()]);
            }
            // Told only to those who ask for it.
            EventKind::State { .. } => {}
            EventKind::Request { address, bytes, write } => d.add_all([10, address, bytes.into(), write.into()]),
            // Told only to who asks, which this one does not.
            EventKind::Access(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_that_differs_makes_another_digest() {
        let issue = |at, pc| Event { at, sm: 0, kind: EventKind::Issue { warp: 1, pc, at: 1, lanes: 1 } };
        let listen = |events: &[Event]| {
            let mut listener = Listener::default();
            events.iter().for_each(|event| listener.event(event));
            listener
        };
        let one = listen(&[issue(5, 7), issue(2500, 8)]);
        assert_eq!(one.digest(), listen(&[issue(5, 7), issue(2500, 8)]).digest());
        assert_ne!(one.digest(), listen(&[issue(6, 7), issue(2500, 8)]).digest());
        let late = listen(&[issue(5, 7), issue(2500, 9)]);
        let (one, late) = (one.trace(), late.trace());
        let (one, late): (Vec<_>, Vec<_>) = (one.lines().collect(), late.lines().collect());
        assert_eq!((one[0], one.len()), (late[0], 2));
        assert_ne!(one[1], late[1]);
    }
}
