//! One direction of the interconnect.

use crate::config::MachineConfig;
use crate::mem::crossbar::Crossbar;
use crate::mem::test_machine::gtx480;
use crate::packet::Cycle;
use proptest::prelude::*;

fn crossbar<T>(machine: &MachineConfig, sources: u32, destinations: u32) -> Crossbar<T> {
    Crossbar::new(&machine.interconnect, &machine.clock, sources, destinations)
}

#[test]
fn latency_without_load() {
    let machine = gtx480();
    for (bytes, flits) in [(8, 1), (40, 1), (136, 4)] {
        let mut crossbar = crossbar(&machine, 15, 12);
        assert_eq!(crossbar.next_event(0), None);
        crossbar.push(3, 7, 5, bytes, "packet");
        assert_eq!((crossbar.next_event(0), crossbar.in_flight()), (Some(8), 1));
        crossbar.step(0, 100);
        assert_eq!(crossbar.pop(5), Some((7 + flits + 5, "packet")));
        assert_eq!((crossbar.pop(5), crossbar.in_flight()), (None, 0));
        let counters = crossbar.counters();
        assert_eq!((counters.packets, counters.flits, counters.bytes), (1, flits, u64::from(bytes)));
    }
}

#[test]
fn a_slower_clock_takes_longer() {
    let mut machine = gtx480();
    machine.clock.interconnect = machine.clock.core / 2;
    let mut crossbar = crossbar(&machine, 1, 1);
    crossbar.push(0, 7, 0, 8, ());
    crossbar.step(0, 100);
    // The first tick after cycle 7 is in cycle 9; five ticks are ten cycles.
    assert_eq!(crossbar.pop(0), Some((9 + 10, ())));
}

/// Pushes for `cycles` whenever there is room and returns the packets each destination got, by source.
fn saturate(machine: &MachineConfig, sources: u32, to: impl Fn(u32, u32) -> u32, cycles: Cycle) -> Vec<Vec<u32>> {
    let mut crossbar = crossbar(machine, sources, 4);
    let mut sent = vec![0; sources as usize];
    let mut got = vec![vec![0; sources as usize]; 4];
    for now in (0..cycles).step_by(5) {
        for source in 0..sources {
            while crossbar.can_push(source, 1) {
                let count = &mut sent[source as usize];
                crossbar.push(source, now, to(source, *count), 40, source);
                *count += 1;
            }
        }
        crossbar.step(now, now + 5);
        for (destination, got) in got.iter_mut().enumerate() {
            while let Some((at, source)) = crossbar.pop(destination as u32) {
                assert!(at >= now + 5, "delivered after the window");
                got[source as usize] += 1;
            }
        }
    }
    got
}

#[test]
fn an_output_passes_one_flit_a_cycle_and_is_fair() {
    let got = saturate(&gtx480(), 6, |_, _| 2, 1200);
    let (least, most) = (got[2].iter().min().unwrap(), got[2].iter().max().unwrap());
    assert_eq!(got[2].iter().sum::<u32>(), 1199);
    // The output buffer fills at twice the rate at which it drains; the turns stay even.
    assert!(most - least <= 1, "{got:?}");
}

#[test]
fn different_outputs_do_not_disturb_each_other() {
    let got = saturate(&gtx480(), 4, |source, _| source, 1000);
    for (source, got) in got.iter().enumerate() {
        assert_eq!(got[source], 999);
    }
}

#[test]
fn the_head_of_a_queue_holds_up_the_rest() {
    let machine = gtx480();
    let mut crossbar = crossbar(&machine, 1, 2);
    crossbar.set_credit(0, 0);
    for n in 0..70 {
        crossbar.push(0, n, 0, 40, n);
        crossbar.step(n, n + 1);
    }
    crossbar.push(0, 70, 1, 40, 70);
    crossbar.step(70, 200);
    // 64 packets wait in the output buffer; the one for destination 1 is after the others in the input.
    assert_eq!((crossbar.pop(0), crossbar.pop(1)), (None, None));
    assert!(crossbar.counters().blocked > 0 && crossbar.counters().refused > 0);
    crossbar.set_credit(0, 10);
    crossbar.step(200, 300);
    assert_eq!(std::iter::from_fn(|| crossbar.pop(0)).count(), 10);
    assert!(crossbar.pop(1).is_some());
    assert_eq!(crossbar.in_flight(), 60);
}

#[test]
fn a_full_injection_buffer_refuses() {
    let mut machine = gtx480();
    machine.interconnect.injection_buffer = 4;
    let mut crossbar = crossbar(&machine, 1, 1);
    assert!(crossbar.can_push(0, 5), "larger than the buffer, but it is empty");
    crossbar.push(0, 0, 0, 120, ());
    assert!(crossbar.can_push(0, 1) && !crossbar.can_push(0, 2));
    assert_eq!(crossbar.room(0), 1);
}

proptest! {
    #[test]
    fn nothing_is_lost_or_reordered(
        buffers in (1u32..6, 1u32..6, 1u32..6, 1u32..3),
        clock in 100u32..1500,
        packets in prop::collection::vec((0u32..3, 0u32..3, 1u32..200), 1..120),
        credit in 1u32..4,
    ) {
        let mut machine = gtx480();
        let network = &mut machine.interconnect;
        (network.injection_buffer, network.input_buffer, network.output_buffer, network.speedup) = buffers;
        machine.clock.interconnect = clock;
        let mut crossbar = crossbar(&machine, 3, 3);
        let mut waiting = packets.iter().enumerate().peekable();
        let mut got = vec![Vec::new(); 3];
        let mut now = 0;
        let window = crossbar.latency();
        while waiting.peek().is_some() || crossbar.in_flight() > 0 {
            while let Some(&(n, &(source, to, bytes))) = waiting.peek() {
                if !crossbar.can_push(source, crossbar.flits(bytes)) {
                    break;
                }
                crossbar.push(source, now, to, bytes, n);
                waiting.next();
            }
            for to in 0..3 {
                crossbar.set_credit(to, credit);
            }
            crossbar.step(now, now + window);
            for (to, got) in got.iter_mut().enumerate() {
                let before = got.len();
                while let Some((at, n)) = crossbar.pop(to as u32) {
                    prop_assert!(at >= now + window && got.last().is_none_or(|&(last, _)| last <= at));
                    got.push((at, n));
                }
                prop_assert!(got.len() - before <= credit as usize);
            }
            now += window;
            prop_assert!(now < 4_000_000, "stuck");
        }
        // Packets from one source to one destination stay in order, and all arrive.
        for (to, got) in got.iter().enumerate() {
            for source in 0..3 {
                let sent = packets.iter().enumerate().filter(|(_, p)| p.0 == source && p.1 == to as u32).map(|(n, _)| n);
                prop_assert!(sent.eq(got.iter().map(|&(_, n)| n).filter(|&n| packets[n].0 == source)));
            }
        }
    }
}
