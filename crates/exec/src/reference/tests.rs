//! Scheduling, waiting, calls and faults; what single instructions compute is tested by kernel files.

use super::{Options, run};
use crate::{DeviceMemory, Fault, FaultKind, Image, Launch, Report};
use std::sync::Arc;

/// A kernel with one buffer of words; `%out` points to it, `%r0` is the thread's index in the block.
struct Kernel {
    source: String,
    launch: Launch,
    options: Options,
    words: usize,
}

fn kernel(body: &str) -> Kernel {
    with_functions("", body)
}

fn with_functions(functions: &str, body: &str) -> Kernel {
    let source = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .u32 lock;\n.global .align 4 .u32 count;\n\
         .global .align 1 .b8 text[12] = {{110, 61, 37, 100, 32, 37, 115, 10, 0, 97, 98, 0}};\n{functions}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .b32 %r<20>;\n.reg .b64 %out, %rd<9>;\n.reg .pred %p<5>;\n\
         .reg .f32 %f<4>;\nld.param.u64 %out, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %rd0, %r0, 4;\n\
         add.u64 %rd0, %out, %rd0;\n{body}\nret;\n}}\n"
    );
    let launch = Launch { grid: [1; 3], block: [32, 1, 1], max_thread_insts: Some(5_000_000), ..Launch::default() };
    Kernel { source, launch, options: Options::default(), words: 64 }
}

impl Kernel {
    fn blocks(mut self, n: u32) -> Self {
        self.launch.grid[0] = n;
        self
    }

    fn threads(mut self, n: u32) -> Self {
        self.launch.block[0] = n;
        self
    }

    fn width(mut self, n: u32) -> Self {
        self.options.warp_width = n;
        self
    }

    fn report_uninitialised(mut self) -> Self {
        self.launch.report_uninitialised = true;
        self
    }

    fn run(mut self) -> Result<(Report, Vec<u32>), Fault> {
        let (module, diagnostics) = raddle_ptx::ir::load(&self.source);
        assert!(!diagnostics.iter().any(|d| d.is_error()), "{diagnostics:?}");
        let mut memory = DeviceMemory::new();
        let image = Image::load(Arc::new(module), &mut memory).unwrap();
        let out = memory.alloc("out", 4 * self.words as u64).unwrap();
        self.launch.params = out.to_le_bytes().to_vec();
        let layout = image.kernel("k").unwrap();
        let report = run(&image, &layout, &self.launch, &mut memory, &self.options)?;
        let mut bytes = vec![0; 4 * self.words];
        memory.read(out, &mut bytes).unwrap();
        Ok((report, bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()))
    }

    #[track_caller]
    fn expect(self, words: &[u32]) -> Report {
        let (report, got) = self.run().unwrap_or_else(|f| panic!("{f:?}"));
        assert_eq!(&got[..words.len()], words);
        report
    }

    #[track_caller]
    fn fails(self) -> FaultKind {
        self.run().expect_err("a fault").kind
    }
}

#[test]
fn counts_only_what_is_executed() {
    let report = kernel("setp.eq.u32 %p0, %r0, 0;\n@%p0 st.global.u32 [%rd0], 7;\n@%p0 bra L;\nL:").expect(&[7, 0]);
    // Four instructions in front, setp, ret: 32 times each; two more in thread 0.
    assert_eq!(report.thread_insts, 6 * 32 + 2);
}

#[test]
fn a_spin_lock_inside_a_warp_comes_to_an_end() {
    let body = "SPIN:\natom.global.cas.b32 %r1, [lock], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra SPIN;\n\
                ld.global.u32 %r2, [count];\nadd.u32 %r2, %r2, 1;\nst.global.u32 [count], %r2;\n\
                st.global.u32 [%out], %r2;\natom.global.exch.b32 %r1, [lock], 0;";
    let mut k = kernel(body).blocks(3);
    k.options.quantum = 5;
    k.expect(&[96]);
}

#[test]
fn blocks_can_wait_for_each_other() {
    let body = "bar.sync 0;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra END;\natom.global.add.u32 %r1, [count], 1;\nSPIN:\n\
                ld.volatile.global.u32 %r1, [count];\nsetp.lt.u32 %p0, %r1, 50;\n@%p0 bra SPIN;\n\
                mov.u32 %r2, %ctaid.x;\nmad.wide.u32 %rd1, %r2, 4, %out;\nst.global.u32 [%rd1], %r1;\nEND:\nbar.sync 0;";
    kernel(body).blocks(50).expect(&[50; 50]);
}

#[test]
fn exited_threads_count_at_a_full_barrier() {
    let body = "setp.lt.u32 %p0, %r0, 16;\n@%p0 exit;\nbar.red.popc.u32 %r1, 0, %p0;\nbarrier.sync 1;\n\
                bar.red.or.pred %p1, 2, !%p0;\nselp.u32 %r2, 5, 6, %p1;\nadd.u32 %r1, %r1, %r2;\nst.global.u32 [%rd0], %r1;";
    kernel(body).threads(40).expect(&[[0; 16].as_slice(), &[5; 24]].concat());
}

#[test]
fn producers_arrive_and_go_on() {
    let body = "setp.lt.u32 %p0, %r0, 32;\n@%p0 bra PRODUCE;\nbar.sync 3, 64;\nld.global.u32 %r1, [count];\n\
                st.global.u32 [%rd0], %r1;\nbra END;\nPRODUCE:\nst.global.u32 [count], 9;\nbar.arrive 3, 64;\nEND:";
    kernel(body).threads(64).expect(&[[0; 32].as_slice(), &[9; 32]].concat());
}

#[test]
fn a_deadlock_says_who_waits_for_what() {
    let body = "setp.lt.u32 %p0, %r0, 8;\n@%p0 bra A;\nbar.sync 1;\nbra END;\nA:\nbar.warp.sync 0xffffffff;\nEND:";
    let FaultKind::Deadlock(text) = kernel(body).fails() else { panic!("no deadlock") };
    assert!(text.contains("24 threads at k instruction 6: bar.sync wait for barrier 1, where 24 of 32"), "{text}");
    assert!(text.contains("8 threads at k instruction 8: bar.warp.sync wait for lanes 0xffffff00 of warp 0"), "{text}");
}

#[test]
fn votes_without_sync_take_the_threads_present() {
    // Threads of both branches vote apart, those of the first branch in the text first.
    let body = "setp.lt.u32 %p0, %r0, 3;\n@%p0 bra A;\nvote.ballot.b32 %r1, %p0;\nbra END;\nA:\n\
                vote.ballot.b32 %r1, %p0;\nEND:\nactivemask.b32 %r2;\nxor.b32 %r1, %r1, %r2;\nst.global.u32 [%rd0], %r1;";
    kernel(body).threads(8).expect(&[0xf8, 0xf8, 0xf8, 0xff, 0xff]);
    kernel(body).threads(8).width(4).expect(&[8, 8, 8, 15, 15]);
}

#[test]
fn sync_collectives_wait_for_their_members() {
    let body = "setp.ge.u32 %p0, %r0, 4;\n@%p0 exit;\nshfl.sync.down.b32 %r1|%p1, %r0, 1, 3, 0xffffffff;\n\
                match.any.sync.b32 %r2, %r1, 15;\nredux.sync.add.u32 %r3, %r0, 15;\nelect.sync %r4|%p2, 15;\n\
                @%p2 add.u32 %r3, %r3, 100;\nmad.lo.u32 %r1, %r1, 1000, %r3;\nmad.lo.u32 %r1, %r2, 10000, %r1;\n\
                st.global.u32 [%rd0], %r1;";
    kernel(body).threads(8).expect(&[11_106, 22_006, 123_006, 123_006]);
}

#[test]
fn a_thread_may_wait_in_a_loop_with_a_vote() {
    let body = "LOOP:\nld.volatile.global.u32 %r1, [count];\nsetp.ge.u32 %p0, %r1, 1;\nvote.sync.any.pred %p1, %p0, -1;\n\
                setp.eq.u32 %p2, %r0, 33;\n@%p2 st.global.u32 [count], 1;\n@!%p1 bra LOOP;\nst.global.u32 [%rd0], 1;";
    kernel(body).threads(64).expect(&[1; 64]);
}

const FACTORIAL: &str = ".func (.param .u32 r) fact(.param .u32 n)\n{\n.reg .u32 %a, %b;\n.reg .pred %p;\n\
    ld.param.u32 %a, [n];\nmov.u32 %b, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra END;\n{\n.param .u32 x;\n.param .u32 y;\n\
    sub.u32 %b, %a, 1;\nst.param.u32 [x], %b;\ncall (y), fact, (x);\nld.param.u32 %b, [y];\nmul.lo.u32 %b, %b, %a;\n}\n\
    END:\nst.param.u32 [r], %b;\nret;\n}";

fn call_factorial(n: &str) -> String {
    format!(
        "{{\n.param .u32 x;\n.param .u32 y;\nst.param.u32 [x], {n};\ncall (y), fact, (x);\nld.param.u32 %r1, [y];\n}}\n\
             st.global.u32 [%rd0], %r1;"
    )
}

#[test]
fn recursion_keeps_registers_and_frames_apart() {
    let k = with_functions(FACTORIAL, &call_factorial("%r0")).threads(8).report_uninitialised();
    k.expect(&[1, 1, 2, 6, 24, 120, 720, 5040]);
}

#[test]
fn endless_recursion_overflows_the_stack() {
    let k = with_functions(FACTORIAL, &call_factorial("0xffffffff")).threads(1);
    assert_eq!(k.fails(), FaultKind::StackOverflow);
}

#[test]
fn calls_go_through_pointers() {
    let call = |address: &str| {
        format!(
            "{{\n.param .u32 x;\n.param .u32 y;\nP: .callprototype (.param .u32 _) _ (.param .u32 _);\n\
                 {address}\nst.param.u32 [x], 5;\ncall (y), %rd1, (x), P;\nld.param.u32 %r1, [y];\n}}\n\
                 st.global.u32 [%rd0], %r1;"
        )
    };
    with_functions(FACTORIAL, &call("mov.u64 %rd1, fact;")).expect(&[120]);
    let kind = with_functions(FACTORIAL, &call("mov.u64 %rd1, 64;")).fails();
    assert!(matches!(kind, FaultKind::BadTarget(_)), "{kind:?}");
}

const PRINTF: &str = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n\
    .extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);";

#[test]
fn printing() {
    let body = ".local .align 8 .b8 args[16];\n.param .b64 f;\n.param .b64 a;\n.param .b32 r;\nmov.u64 %rd1, text;\n\
                cvta.global.u64 %rd1, %rd1;\nadd.u64 %rd2, %rd1, 9;\nst.local.u32 [args], %r0;\n\
                st.local.u64 [args+8], %rd2;\nmov.u64 %rd3, args;\ncvta.local.u64 %rd3, %rd3;\nst.param.b64 [f], %rd1;\n\
                st.param.b64 [a], %rd3;\ncall.uni (r), vprintf, (f, a);\nld.param.b32 %r1, [r];\nst.global.u32 [%rd0], %r1;";
    let report = with_functions(PRINTF, body).threads(2).expect(&[2, 2]);
    assert_eq!(report.output, "n=0 ab\nn=1 ab\n");
}

#[test]
fn assertions() {
    let body = ".param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param .b64 e;\nmov.u64 %rd1, text;\n\
                add.u64 %rd1, %rd1, 9;\nst.param.b64 [a], %rd1;\nst.param.b64 [b], %rd1;\nst.param.b32 [c], 12;\n\
                st.param.b64 [d], %rd1;\nst.param.b64 [e], 1;\ncall __assertfail, (a, b, c, d, e);";
    assert_eq!(with_functions(PRINTF, body).fails(), FaultKind::Assert("ab:12: ab: assertion `ab` failed".into()));
}

#[test]
fn registers_and_memory_never_written() {
    let kind = kernel("add.u32 %r2, %r1, 1;").report_uninitialised().fails();
    assert_eq!(kind, FaultKind::UninitialisedRegister("%r1".into()));
    let kind = kernel(".shared .u32 s[4];\nld.shared.u32 %r1, [s+8];").report_uninitialised().fails();
    assert_eq!(kind, FaultKind::Memory("read of shared memory never written at 0x8".into()));
    kernel("add.u32 %r2, %r1, 1;\nst.global.u32 [%rd0], %r2;").expect(&[1]);
}

#[test]
fn bad_addresses() {
    let text = |body: &str| match kernel(body).fails() {
        FaultKind::Memory(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        text(".shared .u32 s[4];\nst.shared.u32 [s+16], 1;"),
        "shared memory access of 4 bytes at 0x10 is outside the block's 16 bytes"
    );
    assert_eq!(
        text(".local .align 16 .b8 l[16];\nld.local.v2.u32 {%r1, %r2}, [l+16];"),
        "local memory access of 8 bytes at 0x10 is outside the thread's 16 bytes"
    );
    assert_eq!(
        text(".shared .align 16 .b8 s[32];\nld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [s+8];"),
        "misaligned access: 0x8 is not a multiple of 16"
    );
    assert!(text("ld.global.u32 %r1, [%out+4096];").contains("outside every allocation"));
    assert!(text("mov.u64 %rd1, 0x50000000;\nst.u32 [%rd1], 1;").contains("to the kernel's parameters"));
}

#[test]
fn the_instruction_limit_says_where_threads_are() {
    let mut k = kernel("L:\nbra L;").threads(3);
    k.launch.max_thread_insts = Some(1000);
    let FaultKind::InstructionLimit(text) = k.fails() else { panic!("no limit") };
    assert!(text.contains("threads at k instruction 4: bra"), "{text}");
}

#[test]
fn carries_go_from_word_to_word() {
    let body = "add.cc.u32 %r1, 0xffffffff, 1;\naddc.cc.u32 %r2, 0xffffffff, 0;\naddc.u32 %r3, 5, 0;\n\
                sub.cc.u32 %r4, 0, 1;\nsubc.u32 %r5, 7, 0;\nmad.lo.cc.u32 %r6, 0x10000, 0xffff, 0x10000;\n\
                madc.hi.u32 %r7, 0x10000, 0x20000, 1;\nst.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n\
                st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r0};";
    kernel(body).threads(1).expect(&[0, 0, 6, 0xffff_ffff, 6, 0, 4, 0]);
}

#[test]
fn narrow_values_in_wide_registers() {
    let body = "st.global.u32 [%out], 0x1ff80;\nld.global.s8 %r1, [%out];\nld.global.u8 %r2, [%out];\n\
                cvt.u8.u32 %r3, 0x1234;\ncvt.s8.u32 %r4, 0x1280;\ncvt.sat.s8.s32 %r5, 300;\ncvt.s32.s8 %r6, %r2;\n\
                ld.global.s16 %rd1, [%out];\ncvt.u32.u64 %r7, %rd1;\nst.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\n\
                st.global.v4.u32 [%out+16], {%r5, %r6, %r7, 0};";
    let want = [0xffff_ff80, 0x80, 0x34, 0xffff_ff80, 127, 0xffff_ff80, 0xffff_ff80, 0];
    kernel(body).threads(1).expect(&want);
}
