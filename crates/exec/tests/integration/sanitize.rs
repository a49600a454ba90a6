//! Small kernels with a known defect, and beside each one without it: every defect is found, and nothing where there is none.

use raddle_exec::sanitize::{Checks, Kind, Space};
use raddle_exec::{DeviceMemory, Image, Launch, Program, RunOptions, run};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Cases: a line `== name, blocks x threads: what is found`, then the body of a kernel.
const CASES: &str = include_str!("sanitize.txt");

/// What every body finds: `%t` is the thread, `%b` its block, `%out` a buffer of 1,024 words, `%o` its word of the thread, `%s` the
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
        Kind::NeverWritten => "unwritten".to_owned(),
    }
}

/// What is found in a kernel.
fn findings(
    body: &str,
    blocks: u32,
    threads: u32,
    options: &RunOptions,
    checks: Checks,
) -> Result<BTreeSet<String>, String> {
    let source = format!("{HEAD}{body}\nret;\n}}\n");
    let (module, diagnostics) = raddle_ptx::ir::load(&source);
    if let Some(error) = diagnostics.iter().find(|d| d.is_error()) {
        return Err(format!("{error:?}"));
    }
    let mut memory = DeviceMemory::new();
    let image = Image::load(Arc::new(module), &mut memory).map_err(|e| e.to_string())?;
    let out = memory.alloc("out", 4096).map_err(|e| e.to_string())?;
    let layout = image.kernel("k").map_err(|e| e.to_string())?;
    let program = Program::new(&image, &layout).map_err(|e| e.to_string())?;
    let launch = Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        params: out.to_le_bytes().to_vec(),
        max_thread_insts: Some(5_000_000),
        checks,
        ..Launch::default()
    };
    let report = run(&program, &launch, &mut memory, options).map_err(|e| e.to_string())?;
    report.findings.iter().for_each(|finding| assert!(!finding.describe(&image.module, Some(&source)).is_empty()));
    Ok(report.findings.iter().map(|finding| name(finding.kind)).collect())
}

#[test]
fn known_defects_are_found_and_nothing_else() {
    // Whatever the order in which warps and blocks take turns.
    let orders = [
        RunOptions::default(),
        RunOptions { warp_quantum: 1, ..RunOptions::default() },
        RunOptions { warp_quantum: 3, cta_quantum: 1, ..RunOptions::default() },
    ];
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in CASES.split("== ").skip(1) {
        let (head, body) = case.split_once('\n').expect("a head and a body");
        let (title, wanted) = head.split_once(": ").expect("a name and what is found");
        let (_, size) = title.rsplit_once(", ").expect("a size");
        let (blocks, threads) = size.split_once('x').expect("blocks and threads");
        let wanted: BTreeSet<String> = wanted.split(", ").filter(|w| *w != "nothing").map(str::to_owned).collect();
        // Who reads without order may read before anybody writes.
        let init = !wanted.iter().any(|what| what.ends_with("read-write"));
        let checks = Checks { races: true, sync: true, init };
        let (blocks, threads) = (blocks.trim().parse().unwrap(), threads.trim().parse().unwrap());
        for options in &orders {
            let got = findings(body, blocks, threads, options, checks);
            if got.as_ref() != Ok(&wanted) {
                wrong.push(format!("{title} with turns of {}: {got:?}, wanted {wanted:?}", options.warp_quantum));
            }
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 60, "only {count} cases");
}
