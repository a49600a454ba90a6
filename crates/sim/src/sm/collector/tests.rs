use super::*;
use crate::mem::test_machine::gtx480;
use crate::sm::build::Plain;

fn collector() -> Collector {
    let sm = gtx480().sm;
    Collector::new(&sm.collector, &sm.units)
}

/// Cycles until instruction 0 comes out.
fn cycles(registers: &[u16]) -> u32 {
    let mut c = collector();
    c.push(UnitKind::Sp, InstId(0));
    for cycle in 1..50 {
        c.cycle::<Plain>(|_| (registers, 0));
        if c.take(UnitKind::Sp).is_some() {
            assert!(c.is_empty());
            return cycle;
        }
    }
    panic!("it never came out");
}

#[test]
fn operands_cost_a_cycle_and_conflicts_one_more_each() {
    assert_eq!(cycles(&[]), 2);
    assert_eq!(cycles(&[1]), 3);
    assert_eq!(cycles(&[1, 2, 3]), 3);
    assert_eq!(cycles(&[1, 17]), 4);
    assert_eq!(cycles(&[1, 17, 33]), 5);
}

#[test]
fn writes_go_before_reads() {
    let mut c = collector();
    c.push(UnitKind::Sp, InstId(0));
    c.cycle::<Plain>(|_| (&[3], 0));
    assert!(c.write(19, 0), "same bank as register 3");
    assert!(!c.write(3, 0), "one write in a cycle");
    c.cycle::<Plain>(|_| (&[3], 0));
    assert_eq!(c.conflicts, 1);
    c.cycle::<Plain>(|_| (&[3], 0));
    c.cycle::<Plain>(|_| (&[3], 0));
    assert_eq!(c.take(UnitKind::Sp), Some(InstId(0)));
}
