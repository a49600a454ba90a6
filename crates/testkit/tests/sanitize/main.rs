//! Small kernels with a known defect, and beside each one without it: every defect is found, and nothing where there is none,
//! with and without time.

use raddle_exec::sanitize::{Checks, Finding, Kind, Space};
use raddle_exec::texture::{Channel, Texels, Texture};
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

/// What is found where only the functional machine says what is accessed.
const WITHOUT_TIME: &str = include_str!("without_time.txt");

/// What every body finds: `%t` is the thread, `%b` its block, `%out` a buffer of 1,024 words of which the host has
/// written the first 512, `%o` its word of the thread, `%s` the
/// byte address of the thread's word in the shared array `s` of 256 words. `tex` and `surf` are 16 words of the buffer
/// that was never written.
const HEAD: &str = "\
.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 flag;
.global .align 4 .u32 data[64];
.global .texref tex;
.global .surfref surf;
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
    body: String,
    blocks: u32,
    threads: u32,
    wanted: BTreeSet<String>,
}

fn cases(text: &'static str) -> Vec<Case> {
    let case = |text: &'static str| {
        let (head, body) = text.split_once('\n').expect("a head and a body");
        let (title, wanted) = head.split_once(": ").expect("a name and what is found");
        let (_, size) = title.rsplit_once(", ").expect("a size");
        let (blocks, threads) = size.split_once('x').expect("blocks and threads");
        let wanted = wanted.split(", ").filter(|w| *w != "nothing").map(str::to_owned).collect();
        let (blocks, threads) = (blocks.trim().parse().unwrap(), threads.trim().parse().unwrap());
        Case { title, body: body.to_owned(), blocks, threads, wanted }
    };
    text.split("== ").skip(1).map(case).collect()
}

/// A texture, or surface, of 16 words at an address.
fn words(at: u64) -> Texture {
    let texels = Texels::View { at, pitch: 64, plane: 64 };
    Texture { size: [16, 1, 1], channel: Channel::U32, texels, ..Texture::default() }
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
            textures: Arc::new(["tex", "surf"].map(|name| (name.to_owned(), words(out + 2048))).to_vec()),
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
    let cases = cases(CASES);
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

/// Matrices, textures and surfaces are followed without time. With time nothing is found there, and what matrix stores
/// have written does not count as missing.
#[test]
fn matrices_and_textures_are_followed_without_time() {
    let config = machine("rtx3070", &["gpu.sms=2", "sm.arch=90"]);
    let options = RunOptions::default();
    let nothing = BTreeSet::new();
    let mut wrong = Vec::new();
    for case in &cases(WITHOUT_TIME) {
        for (how, wanted) in [(How::Functional(&options), &case.wanted), (How::Timed(&config, &[]), &nothing)] {
            let got = case.findings(&how);
            if got.as_ref() != Ok(wanted) {
                wrong.push(format!("{}: {got:?}, wanted {wanted:?}", case.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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

/// Every operation of `atom` and `red`, with its types and how many values it takes; `red` has no exchanges.
const ATOMICS: [(&str, &str, usize); 9] = [
    ("and or xor", "b32 b64", 1),
    ("add", "u32 s32 u64 f32 f64", 1),
    ("add.noftz", "f16 f16x2 bf16 bf16x2", 1),
    ("inc dec", "u32", 1),
    ("min max", "u32 s32 u64 s64", 1),
    ("exch", "b32 b64", 1),
    ("cas", "b16 b32 b64", 2),
    ("relaxed.gpu.add", "u32", 1),
    ("acq_rel.cta.exch", "b64", 1),
];

/// One kernel for each atomic and state space, which executes it on memory that has been written or has not.
fn atomics(is_written: bool) -> Vec<Case> {
    let places = [
        (".shared", "[s+8]", "unwritten"),
        ("", "[%rd0+8]", "unwritten"),
        (".global", "[%out+2048]", "unwritten global"),
        ("", "[%out+2048]", "unwritten global"),
    ];
    let mut cases = Vec::new();
    for (ops, types, count) in ATOMICS {
        let forms = ops.split(' ').flat_map(|op| types.split(' ').map(move |ty| (op, ty)));
        for ((op, ty), (space, address, wanted)) in forms.flat_map(|form| places.map(|place| (form, place))) {
            let (order, op) = op.rsplit_once('.').filter(|(_, op)| *op != "noftz").unwrap_or(("", op));
            let order = if order.is_empty() { String::new() } else { format!(".{order}") };
            let bits = ty.trim_start_matches(|c: char| !c.is_ascii_digit());
            let register = match bits {
                "16" => "%h",
                "64" => "%rd",
                _ => "%r",
            };
            let values = format!(", {register}2").repeat(count);
            let store = if is_written { format!("st{space}.b64 {address}, %rd0;") } else { String::new() };
            let head = format!("cvt.u64.u32 %rd1, %s;\ncvta.shared.u64 %rd0, %rd1;\n{store}");
            let reads = format!("atom{order}{space}.{op}.{ty} {register}1, {address}{values};");
            let reduces = format!("red{order}{space}.{op}.{ty} {address}{values};");
            // The result of an exchange is stored: a result that is not read does not count.
            let used = format!("{reads}\nst.global.b{} [%out], {register}1;", if bits == "16x2" { "32" } else { bits });
            let has_reduction = !matches!(op, "exch" | "cas");
            for text in [Some(used), has_reduction.then_some(reduces)].into_iter().flatten() {
                let wanted = if is_written { BTreeSet::new() } else { BTreeSet::from([wanted.to_owned()]) };
                cases.push(Case { title: "an atomic", body: format!("{head}\n{text}"), blocks: 1, threads: 1, wanted });
            }
        }
    }
    cases
}

#[test]
fn every_atomic_reads_what_is_in_memory() {
    let config = machine("gtx480", &["gpu.sms=1"]);
    let options = RunOptions::default();
    let mut wrong = Vec::new();
    let cases: Vec<Case> = [false, true].into_iter().flat_map(atomics).collect();
    for case in &cases {
        for how in [How::Functional(&options), How::Timed(&config, &[])] {
            let got = case.findings(&how);
            if got.as_ref() != Ok(&case.wanted) {
                wrong.push(format!("{}: {got:?}, wanted {:?}", case.body, case.wanted));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(cases.len(), 2 * 4 * (32 + 26), "atomics, and reductions among them");
}

#[test]
fn they_are_found_where_time_is_simulated() {
    let cases = cases(CASES);
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
    let case = &cases(CASES)[0];
    let config = machine("gtx480", &["gpu.sms=4"]);
    let refused = case.findings(&How::Timed(&config, &[0..1, 2..3])).unwrap_err();
    assert_eq!(refused, "the sanitizer does not follow a launch that is sampled");
}
