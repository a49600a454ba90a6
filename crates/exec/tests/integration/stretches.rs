//! A launch executed a stretch of blocks at a time.

use raddle_exec::{RunOptions, Stretches, Touch};
use raddle_testkit::reference;

#[derive(Default)]
struct Seen {
    lanes: u32,
    lowest: Option<u64>,
}

impl Touch for Seen {
    fn touch(&mut self, _: u32, addresses: &[u64; 32], mask: u32) {
        self.lanes += mask.count_ones();
        let lowest = (0..32).filter(|lane| mask >> lane & 1 != 0).map(|lane| addresses[lane]).min();
        self.lowest = self.lowest.into_iter().chain(lowest).min();
    }
}

#[test]
fn stretches_are_the_whole() {
    let case = reference::vecadd(3_000);
    let (mut whole, mut pieces) = (case.prepare(), case.prepare());
    let (program, launch) = (whole.program(), whole.launch.clone());
    let all = raddle_exec::run(&program, &launch, &mut whole.memory, &RunOptions::default()).unwrap();
    let mut engine = Stretches::new(&program, &launch, RunOptions::default()).unwrap();
    let (mut seen, mut warp_insts, mut thread_insts) = (Seen::default(), 0, 0);
    for start in (0..launch.ctas()).step_by(5) {
        let mut blocks = start..launch.ctas().min(start + 5);
        assert!(engine.run(&mut blocks, &mut pieces.memory, u64::MAX, Some(&mut seen)).unwrap());
        assert!(blocks.is_empty());
        let report = engine.take_report(&pieces.memory);
        warp_insts += report.warp_insts;
        thread_insts += report.thread_insts;
        assert!(report.most_of_a_cta > 0 && report.most_of_a_cta <= report.warp_insts);
    }
    case.check(&pieces).unwrap();
    assert_eq!((warp_insts, thread_insts), (all.warp_insts, all.thread_insts));
    assert_eq!(seen.lanes, 3 * 3_000, "two loads and a store for each element");
    assert_eq!(seen.lowest, whole.memory.allocations().iter().map(|a| a.base).min());
}

/// Each block waits for the one before it.
const CHAIN: &str = ".version 6.0\n.target sm_50\n.address_size 64\n\
    .visible .entry chain(.param .u64 flags)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n.reg .pred %p;\n\
    ld.param.u64 %d1, [flags];\nmov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d2, %r1, 4;\nadd.s64 %d3, %d1, %d2;\n\
    AGAIN:\nld.volatile.global.u32 %r2, [%d3];\nsetp.eq.u32 %p, %r2, 0;\n@%p bra AGAIN;\n\
    st.volatile.global.u32 [%d3+4], %r2;\nret;\n}\n";

#[test]
fn blocks_that_wait_are_left_and_resumed() {
    let (module, problems) = raddle_ptx::load(CHAIN);
    assert!(problems.is_empty(), "{problems:?}");
    let mut memory = raddle_exec::DeviceMemory::new();
    let image = raddle_exec::Image::load(std::sync::Arc::new(module), &mut memory).unwrap();
    let flags = memory.alloc("flags", 4 * 9).unwrap();
    let program = raddle_exec::Program::new(&image, &image.kernel("chain").unwrap()).unwrap();
    let params = flags.to_le_bytes().to_vec();
    let launch = raddle_exec::Launch { grid: [8, 1, 1], block: [1, 1, 1], params, ..Default::default() };
    let mut engine = Stretches::new(&program, &launch, RunOptions::default()).unwrap();
    let mut blocks = 4..8;
    assert_eq!(engine.run(&mut blocks, &mut memory, 100_000, None), Ok(false), "nobody has set the flag of block 4");
    memory.write(flags + 16, &1u32.to_le_bytes()).unwrap();
    assert_eq!(engine.run(&mut blocks, &mut memory, 10_000_000, None), Ok(true));
    let mut last = [0; 4];
    memory.read(flags + 32, &mut last).unwrap();
    assert_eq!(last, [1, 0, 0, 0]);
}
