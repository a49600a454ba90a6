//! Small kernels with a known defect, and beside each one without it: every defect is found, and nothing where there is none,
//! with and without time.

use raddle_exec::sanitize::{Checks, Finding, Kind, Space};
use raddle_exec::{DeviceMemory, Image, Launch, Program, RunOptions, run};
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::gpu::{self, Gpu};
use raddle_sim::result::Ending;
use raddle_testkit::timing::machine;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Cases: a line `== name, blocks x threads: what is found`, then the body of a kernel.
const CASES: &str = include_str!("cases.txt");

/// What every body finds: `%t` is the thread, `%b` its block, `%out` a buffer of 1,024 words of which the host has
/// written the first 512, `%o` its word of the thread, `%s` the
/// byte address of the thread's word in the shared array `s` of 256 words.
const HEAD: &str = "\
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 flag;
.global .align 4 .u32 data[64];
.visible .entry k(.param .u64 out)
{
.shared .align 16 .b8 s[1024];
.reg .b32 %r<20>, %t, %b, %s;
.reg .b16 %h<4>;
.reg .b64 %out, %o, %rd<9>;
.reg .pred %p<6>;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x;
mov.u32 %b, %ctaid.x;
mul.wide.u32 %o, %t, 4;
add.u64 %o, %out, %o;
mov.u32 %s, s;
mad.lo.u32 %s, %t, 4, %s;
";

fn name(kind: Kind) -> String {
    let verb = |writes: bool| if writes { "write" } else { "read" };
    match kind {
        Kind::Race { space, earlier_writes, later_writes } => {
            let space = if space == Space::Shared { "shared" } else { "global" };
            // Which of two comes first depends on the order of execution.
            let mut verbs = [verb(earlier_writes), verb(later_writes)];
            verbs.sort_unstable();
            format!("{space} {}-{}", verbs[0], verbs[1])
        }
        Kind::DivergentBarrier => "divergent".to_owned(),
        Kind::DifferentBarriers => "different".to_owned(),
        Kind::EndedBeforeBarrier => "ended".to_owned(),
        Kind::NeverWritten { space: Space::Shared } => "unwritten".to_owned(),
        Kind::NeverWritten { space: Space::Global } => "unwritten global".to_owned(),
    }
}

/// How a kernel is executed.
enum How<'a> {
    Functional(&'a RunOptions),
    /// These blocks without time.
    Timed(&'a MachineConfig, &'a [Range<u64>]),
}

/// A kernel with a known defect, or without.
struct Case {
    title: &'static str,
    body: &'static str,
    blocks: u32,
    threads: u32,
    wanted: BTreeSet<String>,
}

fn cases() -> Vec<Case> {
    let case = |text: &'static str| {
        let (head, body) = text.split_once('\n').expect("a head and a body");
        let (title, wanted) = head.split_once(": ").expect("a name and what is found");
        let (_, size) = title.rsplit_once(", ").expect("a size");
        let (blocks, threads) = size.split_once('x').expect("blocks and threads");
        let wanted = wanted.split(", ").filter(|w| *w != "nothing").map(str::to_owned).collect();
        let (blocks, threads) = (blocks.trim().parse().unwrap(), threads.trim().parse().unwrap());
        Case { title, body, blocks, threads, wanted }
    };
    CASES.split("== ").skip(1).map(case).collect()
}

impl Case {
    /// What is found in it, or why it does not come to its end.
    fn findings(&self, how: &How<'_>) -> Result<BTreeSet<String>, String> {
        let source = format!("{HEAD}{}\nret;\n}}\n", self.body);
        let (module, diagnostics) = raddle_ptx::ir::load(&source);
        if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
            return Err(format!("{error:?}"));
        }
        let mut memory = DeviceMemory::new();
        memory.note_writes();
        let image = Image::load(Arc::new(module), &mut memory).map_err(|e| e.to_string())?;
        let out = memory.alloc("out", 4096).map_err(|e| e.to_string())?;
        memory.write(out, &[0; 2048]).map_err(|e| e.to_string())?;
        let layout = image.kernel("k").map_err(|e| e.to_string())?;
        let program = Program::new(&image, &layout).map_err(|e| e.to_string())?;
        // Who reads without order may read before anybody writes.
        let init = !self.wanted.iter().any(|what| what.ends_with("read-write"));
        let launch = Launch {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            params: out.to_le_bytes().to_vec(),
            max_thread_insts: Some(5_000_000),
            checks: Checks { races: true, sync: true, init },
            ..Launch::default()
        };
        let findings: Vec<Finding> = match how {
            How::Functional(options) => {
                run(&program, &launch, &mut memory, options).map_err(|e| e.to_string())?.findings
            }
            How::Timed(config, gaps) => {
                let registry = raddle_mech::registry();
                let mechanisms = registry.check(config).map_err(|e| format!("{e:?}"))?;
                let mut gpu = Gpu::new(config).map_err(|e| e.to_string())?;
                let options = gpu::RunOptions { max_cycles: Some(200_000), gaps, ..gpu::RunOptions::default() };
                let done = gpu.launch(&mechanisms, &program, &launch, &mut memory, options);
                let result = done.map_err(|e| e.to_string())?;
                match result.ending {
                    Ending::Completed => result.findings,
                    ending => return Err(format!("{ending:?}")),
                }
            }
        };
        for finding in &findings {
            let text = finding.describe(&image.module, Some(&source));
            let is_named = ["`out` + ", "`data` + ", "`flag` + "].iter().any(|name| text.contains(name));
            assert_eq!(is_named, name(finding.kind).contains("global"), "{text}");
        }
        Ok(findings.iter().map(|finding| name(finding.kind)).collect())
    }
}

#[test]
fn known_defects_are_found_and_nothing_else() {
    // Whatever the order in which warps and blocks take turns.
    let orders = [
        RunOptions::default(),
        RunOptions { warp_quantum: 1, ..RunOptions::default() },
        RunOptions { warp_quantum: 3, cta_quantum: 1, ..RunOptions::default() },
    ];
    let cases = cases();
    let mut wrong = Vec::new();
    for (options, case) in orders.iter().flat_map(|options| cases.iter().map(move |case| (options, case))) {
        let got = case.findings(&How::Functional(options));
        if got.as_ref() != Ok(&case.wanted) {
            let Case { title, wanted, .. } = case;
            wrong.push(format!("{title} with turns of {}: {got:?}, wanted {wanted:?}", options.warp_quantum));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() >= 60, "only {} cases", cases.len());
}

/// Whether a machine cannot run a case to its end: it has no static warps, or narrower ones than the case names, or warps of a block wait
/// for each other at branches and one of them for a message.
fn is_beyond(model: &str, title: &str, why: &str) -> bool {
    let is_refused = model.starts_with("dwf") && why.starts_with(&format!("divergence model `{model}`"));
    let is_narrow = title.starts_with("halves of a warp") && why.contains("leaves out lane");
    is_refused
        || is_narrow
        || model.starts_with("tbc") && title.starts_with("a message in a block") && why == "CycleLimit"
}

#[test]
fn they_are_found_where_time_is_simulated() {
    let cases = cases();
    let gangs =
        ["sm.warp_width=8", "sm.simd_width=8", "sm.slices=4", "sm.fetch.warps_per_cycle=4", "mechanism.ganging=vws"];
    let mut machines =
        vec![("vws-sm", "pdom", &gangs[..]), ("vws-sm", "pdom", &[]), ("gtx480-v3", "pdom", &["gpu.sms=4"])];
    machines.extend(
        ["pdom", "pdom-lcp", "tbc", "tbc-lcp", "dwf", "dwf-wb", "its"]
            .map(|model| ("gtx480", model, &["gpu.sms=4"][..])),
    );
    let (mut wrong, mut beyond) = (Vec::new(), 0);
    for (preset, model, set) in machines {
        let mut config = machine(preset, set);
        config.mechanism.divergence = Choice::Name(model.to_owned());
        for case in &cases {
            match case.findings(&How::Timed(&config, &[])) {
                Ok(found) if found == case.wanted => {}
                Err(why) if is_beyond(model, case.title, &why) => beyond += 1,
                got => {
                    wrong.push(format!("{} on {preset} under {model}: {got:?}, wanted {:?}", case.title, case.wanted))
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(beyond, 16, "cases that a machine cannot run");
}

#[test]
fn what_it_cannot_follow_is_refused() {
    let case = &cases()[0];
    let config = machine("gtx480", &["gpu.sms=4"]);
    let refused = case.findings(&How::Timed(&config, &[0..1, 2..3])).unwrap_err();
    assert_eq!(refused, "the sanitizer does not follow a launch that is sampled");
}
