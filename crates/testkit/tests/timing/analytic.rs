//! Unloaded latencies and peak rates equal the formulas of `docs/src/timing.md`.
//!
//! Every figure is the difference between two lengths of a loop, and where that matters between two lengths of its
//! body, so start-up, first misses and the loop itself cancel. Formulas are computed from the machine's parameters.

use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::RunOptions;
use raddle_sim::result::{Ending, LaunchResult};
use raddle_testkit::kernel_file::run_timed;
use raddle_testkit::timing::machine;
use std::fmt::Write as _;

/// A loop; `body` is one round, `data` bytes of zeros are at `%rd0`, and 4 KB of shared memory at `%r3`.
struct Loop {
    grid: u32,
    block: u32,
    data: u32,
    setup: String,
    body: String,
}

impl Loop {
    /// One warp.
    fn one(setup: &str, body: String) -> Self {
        Self { grid: 1, block: 32, data: 1024, setup: setup.to_owned(), body }
    }

    fn text(&self, rounds: u32) -> String {
        let Self { grid, block, data, setup, body } = self;
        format!(
            "// run: grid={grid} block={block}\n// arg: data u32[{}] = zero\n.version 6.0\n.target sm_60\n\
             .address_size 64\n.const .b32 table[4] = {{0, 0, 0, 0}};\n.visible .entry k(.param .u64 data)\n{{\n\
             .reg .pred %p<4>;\n.reg .b32 %r<64>;\n.reg .f32 %f<16>;\n.reg .b64 %rd<16>;\n.shared .b32 box[1024];\n\
             ld.param.u64 %rd0, [data];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\n\
             mov.u32 %r3, box;\nmov.u32 %r60, 0;\n{setup}\nLOOP:\n{body}\nadd.u32 %r60, %r60, 1;\n\
             setp.lt.u32 %p0, %r60, {rounds};\n@%p0 bra LOOP;\nst.global.u32 [%rd0], %r10;\nret;\n}}\n",
            data / 4
        )
    }

    fn run(&self, config: &MachineConfig, rounds: u32) -> LaunchResult {
        let options = || RunOptions { max_cycles: Some(5_000_000), ..RunOptions::default() };
        let result = run_timed(&self.text(rounds), config, options).unwrap().remove(0).result;
        assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        result
    }

    /// Cycles of a round, in the long run.
    fn round(&self, config: &MachineConfig, rounds: [u32; 2]) -> f64 {
        let [few, many] = rounds.map(|n| self.run(config, n).cycles);
        (many - few) as f64 / f64::from(rounds[1] - rounds[0])
    }
}

/// Lines, each made from its number.
fn lines(count: u32, line: impl Fn(u32) -> String) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", line(n));
        text
    })
}

/// Cycles from one to the next of instructions that depend on each other: two bodies, two lengths.
fn chain(config: &MachineConfig, setup: &str, line: impl Fn(u32) -> String) -> f64 {
    let round = |count| Loop::one(setup, lines(count, &line)).round(config, [20, 60]);
    (round(40) - round(20)) / 20.0
}

#[track_caller]
fn equal(what: &str, measured: f64, formula: u32) {
    assert!((measured - f64::from(formula)).abs() < 1e-9, "{what}: measured {measured}, formula {formula}");
}

#[track_caller]
fn close(what: &str, measured: f64, formula: f64, tolerance: f64) {
    let off = (measured - formula).abs() / formula;
    assert!(off <= tolerance, "{what}: measured {measured}, formula {formula}");
}

/// Issue to hand-out by the load-store unit: collector unit, operand read, to the unit, hand-out.
const TO_LOAD_STORE: u32 = 5;
/// Arrival of a reply at the port to issue of an instruction that needs it: port, SM, write-back.
const FROM_REPLY: u32 = 3;

/// Integer addition that depends on the one before.
fn alu(config: &MachineConfig) -> u32 {
    config.sm.latency.int_add.latency + 6
}

/// One sector from an L2 slice and back, one flit each way, with all clocks equal.
fn l2_hit(config: &MachineConfig) -> u32 {
    TO_LOAD_STORE + 2 * (1 + config.interconnect.latency) + 1 + config.l2.rop_latency + 2 + FROM_REPLY
}

/// One sector from an open row, with all clocks equal: look-up, miss queue, to-DRAM queue, latency queue, scheduler,
/// column command, return queue, response, instead of the hit's output queue alone.
fn dram_row_hit(config: &MachineConfig) -> u32 {
    l2_hit(config) + config.dram.latency + config.dram.timing.cl + 5
}

/// The reference machine and one with other values.
fn machines(changes: &[&str]) -> [MachineConfig; 2] {
    [machine("gtx480", &[""; 0]), machine("gtx480", changes)]
}

#[test]
fn dependent_additions() {
    for config in machines(&["sm.latency.int_add.latency=9"]) {
        let measured = chain(&config, "mov.u32 %r10, %r0;", |_| "add.u32 %r10, %r10, %r2;".to_owned());
        equal("int_add.latency + 6", measured, alu(&config));
    }
}

#[test]
fn dependent_loads_from_shared_memory() {
    for config in machines(&["sm.shared.latency=11"]) {
        let setup = "st.shared.u32 [%r3], %r3;\nbar.sync 0;\nmov.u32 %r10, %r3;";
        let measured = chain(&config, setup, |_| "ld.shared.u32 %r10, [%r10];".to_owned());
        equal("shared.latency + 6", measured, config.sm.shared.latency + 6);
    }
}

#[test]
fn dependent_loads_that_hit_the_l1() {
    for config in machines(&["sm.l1d.latency=17"]) {
        let setup = "st.global.u64 [%rd0], %rd0;\nmembar.gl;\nmov.u64 %rd5, %rd0;";
        let measured = chain(&config, setup, |_| "ld.global.u64 %rd5, [%rd5];".to_owned());
        equal("l1d.latency + 5", measured, config.sm.l1d.latency + TO_LOAD_STORE);
    }
}

#[test]
fn dependent_loads_that_hit_the_constant_cache() {
    for config in machines(&["sm.latency.int_add.latency=7"]) {
        let setup = "mov.u32 %r10, table;";
        let line = |_| "ld.const.u32 %r11, [%r10];\nadd.u32 %r10, %r10, %r11;".to_owned();
        equal("5 + an addition", chain(&config, setup, line), TO_LOAD_STORE + alu(&config));
    }
}

#[test]
fn dependent_loads_that_hit_the_l2() {
    for config in machines(&["l2.rop_latency=33", "interconnect.latency=9", "gpu.window=7"]) {
        let setup = "st.global.u64 [%rd0], %rd0;\nmembar.gl;\nmov.u64 %rd5, %rd0;";
        let measured = chain(&config, setup, |_| "ld.global.cg.u64 %rd5, [%rd5];".to_owned());
        equal("L2 hit", measured, l2_hit(&config));
    }
}

/// A dependent load of each of the first `count` sectors of a chunk inside one row, then on to the next chunk.
fn row_walk(config: &MachineConfig, count: u32) -> f64 {
    // `RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS`, shifted over the channels: the lowest bank bit is above 256 bytes, and 16
    // chunks of a row follow at twice that.
    let chunk = 512 * config.dram.channels;
    let mut body = lines(count, |n| format!("ld.global.cg.u64 %rd6, [%rd5+{}];\nadd.u64 %rd5, %rd5, %rd6;", 32 * n));
    let _ = writeln!(body, "add.u64 %rd5, %rd5, {chunk};");
    let walk = Loop { data: 16 * chunk, ..Loop::one("mov.u64 %rd5, %rd0;", body) };
    walk.round(config, [3, 12])
}

/// Rounds of `count` dependent loads, each from another row of the same bank.
fn row_jump(config: &MachineConfig, count: u32) -> f64 {
    let stride = 65_536 * config.dram.channels;
    let load = |n| format!("ld.global.cg.u64 %rd6, [%rd5+{}];\nadd.u64 %rd5, %rd5, %rd6;", n * stride);
    let mut body = lines(count, load);
    let _ = writeln!(body, "add.u64 %rd5, %rd5, {};", count * stride);
    let jump = Loop { data: 13 * count * stride, ..Loop::one("mov.u64 %rd5, %rd0;", body) };
    jump.round(config, [3, 12])
}

#[test]
fn dependent_loads_from_dram() {
    let equal_clocks = ["clock.dram=700", "dram.timing.cl=9", "dram.timing.rcd=14", "dram.timing.rp=11"];
    for changes in [&equal_clocks[..1], &equal_clocks] {
        let config = machine("gtx480", changes);
        let hit = (row_walk(&config, 8) - row_walk(&config, 4)) / 4.0;
        equal("row hit + an addition", hit, dram_row_hit(&config) + alu(&config));
        let timing = &config.dram.timing;
        let conflict = (row_jump(&config, 4) - row_jump(&config, 2)) / 2.0;
        let formula = dram_row_hit(&config) + timing.rp + timing.rcd + alu(&config);
        equal("row conflict + an addition", conflict, formula);
    }
    // With its own command clock the ticks in DRAM are shorter, and a fraction of a cycle is lost at its edges.
    let config = machine("gtx480", &[""; 0]);
    let ratio = f64::from(config.clock.core) / f64::from(config.clock.dram);
    let formula = f64::from(dram_row_hit(&config) + alu(&config)) - f64::from(config.dram.timing.cl) * (1.0 - ratio);
    let hit = (row_walk(&config, 8) - row_walk(&config, 4)) / 4.0;
    assert!((hit - formula).abs() <= 2.0, "measured {hit}, formula {formula}");
}

/// Warp-instructions of a body in each cycle on one full SM.
fn rate(config: &MachineConfig, count: u32, line: impl Fn(u32) -> String, setup: &str) -> f64 {
    let full = Loop { grid: 3, block: 512, ..Loop::one(setup, lines(count, line)) };
    let round = full.round(config, [20, 60]);
    f64::from(count) * f64::from(3 * 512 / config.sm.warp_width) / round
}

#[test]
fn peak_issue_rate() {
    let all: [&[&str]; 4] = [&[], &["sm.issue.schedulers=1"], &["sm.units.sp=1"], &["sm.fetch.width=1"]];
    for changes in all {
        let config = machine("gtx480", &[changes, &["gpu.sms=1"]].concat());
        let sm = &config.sm;
        let fetched = sm.fetch.warps_per_cycle * sm.fetch.width;
        let peak = sm.issue.schedulers.min(sm.units.sp).min(sm.collector.sp_ports).min(fetched);
        let measured = rate(&config, 200, |n| format!("mov.u32 %r{}, %r0;", 20 + n % 32), "");
        close(&format!("issue with {changes:?}"), measured, f64::from(peak), 0.05);
    }
}

#[test]
fn sfu_throughput() {
    for change in ["sm.latency.transcendental.interval=8", "sm.latency.transcendental.interval=3"] {
        let config = machine("gtx480", &[change, "gpu.sms=1"]);
        let formula = f64::from(config.sm.units.sfu) / f64::from(config.sm.latency.transcendental.interval);
        let setup = "mov.f32 %f0, 0f3F800000;";
        let measured = rate(&config, 40, |n| format!("ex2.approx.f32 %f{}, %f0;", 1 + n % 12), setup);
        close(change, measured, formula, 0.02);
    }
}

#[test]
fn shared_memory_conflicts() {
    for banks in [32, 16] {
        let config = machine("gtx480", &[format!("sm.shared.banks={banks}"), "gpu.sms=1".to_owned()]);
        for stride in [1u32, 2, 4, 8, 16, 32] {
            // Lanes that meet in a bank: the warp's words fall on `banks / gcd(stride, banks)` banks.
            let ways = config.sm.warp_width * stride.min(banks) / banks;
            let setup = format!("and.b32 %r4, %r0, 31;\nmad.lo.u32 %r4, %r4, {}, %r3;", 4 * stride);
            let count = if ways <= 2 { 200 } else { 40 };
            let measured = 1.0 / rate(&config, count, |n| format!("ld.shared.u32 %r{}, [%r4];", 20 + n % 32), &setup);
            // At full rate nothing hides an operand whose bank a result is written to.
            let writes = if ways <= 1 { 1.0 / f64::from(config.sm.collector.banks) } else { 0.0 };
            close(&format!("{ways} ways"), measured, f64::from(ways.max(1)), 0.01 + writes);
        }
    }
}

/// Loads of every warp from its own part of memory, past the L1, without waiting for each other.
fn stream(grid: u32, bytes: u32, stride: u32) -> Loop {
    let setup = format!(
        "mad.lo.u32 %r4, %r1, %r2, %r0;\nmul.wide.u32 %rd4, %r4, 4;\nadd.u64 %rd5, %rd0, %rd4;\nmov.u64 %rd7, {stride};"
    );
    let body = lines(8, |n| format!("ld.global.cg.u32 %r{}, [%rd5];\nadd.u64 %rd5, %rd5, %rd7;", 20 + n));
    Loop { grid, block: 512, data: bytes, ..Loop::one(&setup, body) }
}

#[test]
fn dram_bandwidth() {
    for changes in [&[][..], &["dram.timing.ccd=4", "dram.timing.ccdl=4"]] {
        let config = machine("gtx480", changes);
        let threads = 3 * config.gpu.sms * 512;
        let walk = stream(3 * config.gpu.sms, 4 * threads * 8 * 9, 4 * threads);
        let [few, many] = [2, 8].map(|rounds| walk.run(&config, rounds));
        let cycles = (many.cycles - few.cycles) as f64;
        let bytes = f64::from(4 * threads * 8 * 6);
        let ratio = f64::from(config.clock.dram) / f64::from(config.clock.core);
        // A column command brings one sector.
        let commands = f64::from(config.dram.channels) / f64::from(config.dram.timing.ccd) * ratio;
        let peak = commands * f64::from(config.l2.sector);
        let share = bytes / cycles / peak;
        assert!((0.75..=1.0).contains(&share), "{changes:?}: {share} of {peak} bytes a cycle");
    }
}

#[test]
fn crossbar_port_bandwidth() {
    for changes in [&["gpu.sms=1"][..], &["gpu.sms=1", "interconnect.flit_bytes=20"]] {
        let config = machine("gtx480", changes);
        let net = &config.interconnect;
        let walk = stream(3, 4 * 1536, 0);
        let [few, many] = [4, 24].map(|rounds| walk.run(&config, rounds));
        let cycles = (many.cycles - few.cycles) as f64;
        let sectors = f64::from(20 * 8 * 1536 * 4 / config.l2.sector);
        // The SM's port takes one flit of a reply in a cycle.
        let flits = (net.header_bytes + config.l2.sector).div_ceil(net.flit_bytes);
        close(&format!("{changes:?}"), cycles / sectors, f64::from(flits), 0.05);
    }
}

/// A vector load whose registers share a bank writes them one after the other.
#[test]
fn registers_of_one_bank_are_written_in_turn() {
    let config = machine("gtx480", &["sm.collector.banks=16"]);
    let round = |other: u32| {
        let body = format!(
            "ld.shared.v2.u32 {{%r10, %r{other}}}, [%r3];\nadd.u32 %r3, %r3, %r10;\nadd.u32 %r3, %r3, %r{other};"
        );
        Loop::one("mov.u32 %r10, 0;", body).round(&config, [20, 60])
    };
    equal("two banks, then one", round(26) - round(27), 1);
}

/// Cycles from one to the next of what one warp, and what eight warps, do.
fn alone_and_together(config: &MachineConfig, setup: &str, line: &str) -> [f64; 2] {
    [32, 256].map(|block| {
        let round = |count| {
            let body = lines(count, |_| line.to_owned());
            Loop { block, ..Loop::one(setup, body) }.round(config, [20, 60])
        };
        (round(40) - round(20)) / 20.0
    })
}

#[test]
fn one_pipeline_for_all_instructions() {
    for (preset, depth) in [("fx5800", 8.0), ("fx5800-deep", 20.0)] {
        let config = machine(preset, &[""; 0]);
        for line in ["add.u32 %r10, %r10, %r2;", "ld.shared.u32 %r10, [%r3];", "ld.global.u32 %r10, [%rd0];"] {
            let measured = alone_and_together(&config, "mov.u32 %r10, 0;", line);
            assert_eq!(measured, [depth, 32.0], "{preset}: a warp enters in four cycles, {line}");
        }
    }
    let config = machine("fx5800", &["sm.units.unified=false"]);
    let [_, together] = alone_and_together(&config, "", "ld.global.u32 %r10, [%rd0];");
    assert!(together < 16.0, "a load-store unit of its own takes a warp in a cycle, not {together}");
}

#[test]
fn integer_multiplications_on_the_sfu() {
    let line = |n: u32| format!("mul.lo.u32 %r{}, %r2, %r2;", 10 + n % 8);
    let with = |set: &str| rate(&machine("gtx480", &[set, "gpu.sms=1"]), 40, line, "");
    let (on_sps, on_sfu) = (with("sm.units.sfu_int_mul=false"), with("sm.units.sfu_int_mul=true"));
    close("two SPs take one in two cycles each", on_sps, 1.0, 0.05);
    close("one SFU takes one in two cycles", on_sfu, 0.5, 0.05);
}

#[test]
fn the_first_scheduler_always_first_or_in_turn() {
    // Warps of both schedulers want the one SFU all the time; the first warp has more to do afterwards.
    let cycles = |rotate: bool| {
        let config = machine("gtx480", &[&format!("sm.issue.rotate={rotate}"), "sm.latency.transcendental.interval=3"]);
        let wanted = lines(200, |n| format!("ex2.approx.f32 %f{}, %f15;", n % 12));
        let after = lines(100, |_| "add.u32 %r10, %r10, %r2;".to_owned());
        let body = format!("{wanted}\n@%p1 bra SKIP;\n{after}\nSKIP:");
        let setup = "mov.f32 %f15, 0f00000000;\nmov.u32 %r10, 0;\nsetp.ge.u32 %p1, %r0, 32;";
        Loop { block: 64, ..Loop::one(setup, body) }.run(&config, 1).cycles
    };
    let (fixed, in_turn) = (cycles(false), cycles(true));
    assert!(fixed + 100 < in_turn, "warp 0 is done early when it always goes first: {fixed} and {in_turn}");
}

#[test]
fn code_that_has_come_is_fetched_again() {
    // Twice the instruction cache: every line misses in every round.
    let job = Loop::one("mov.u32 %r10, 0;", lines(512, |_| "add.u32 %r10, %r10, %r2;".to_owned()));
    let run = |refetch: bool| job.run(&machine("gtx480-v3", &[&format!("sm.fetch.refetch={refetch}")]), 10);
    let (once, again) = (run(false), run(true));
    let [(looked, missed), (looked_again, missed_again)] =
        [&once, &again].map(|run| (run.sms[0].l1i.accesses, run.sms[0].l1i.misses));
    assert!(missed > 10 * 512 / 16 - 32, "a line has 16 instructions: {missed} misses");
    assert_eq!(
        (missed_again, looked_again),
        (missed, looked + missed),
        "each line is looked up again when it is there"
    );
    assert!(again.cycles > once.cycles, "which takes time: {} and {}", once.cycles, again.cycles);
}

#[test]
fn stores_without_replies() {
    let job = Loop::one("", "st.global.u32 [%rd0], %r0;\nmembar.gl;".to_owned());
    let run = |change: &str| job.run(&machine("gtx480", &["sm.fence_waits_for_stores=true", change]), 50);
    let (with, without) = (run("interconnect.write_replies=true"), run("interconnect.write_replies=false"));
    assert!(with.cycles > 50 * 150, "a fence waits for the reply: {}", with.cycles);
    assert!(without.cycles < 50 * 100, "there is nothing to wait for: {}", without.cycles);
    assert_eq!(with.l2_total().replies - without.l2_total().replies, 51, "one for each store");
}

#[test]
fn bytes_of_replies() {
    let flits =
        |changes: &[&str]| stream(2, 4 * 1024 * 8 * 21, 4 * 1024).run(&machine("fx5800", changes), 20).down.flits;
    let (bare, header) = (flits(&[]), flits(&["interconnect.reply_header_bytes=8"]));
    assert_eq!(header, bare / 2 * 3, "a line of 64 bytes is two flits, three with a header");
}
