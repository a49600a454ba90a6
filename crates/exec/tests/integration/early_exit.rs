//! Threads that have nothing to do go to the end, where the others of their warp would meet them; those wait at a
//! barrier, or for lanes of their warp. Not a kernel file: under a reconvergence stack of the timing model they do wait.

use raddle_testkit::kernel_file::check_text;

/// A kernel in which `wait` stands behind the branch of threads from 24 on to the end.
fn kernel(wait: &str) -> String {
    format!(
        "// run: grid=2 block=40\n// arg: out u32[40] = zero\n// expect: out = 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 ...\n\
         .version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p;\n\
         .reg .b32 %r<2>;\n.reg .b64 %rd;\nmov.u32 %r0, %tid.x;\nsetp.ge.u32 %p, %r0, 24;\n@%p bra DONE;\n{wait}\n\
         ld.param.u64 %rd, [out];\nmad.wide.u32 %rd, %r0, 4, %rd;\nst.global.u32 [%rd], 1;\nDONE:\nret;\n}}\n"
    )
}

#[test]
fn a_barrier_does_not_wait_for_threads_at_the_end() {
    for wait in ["bar.sync 0;", "barrier.sync 3;"] {
        check_text(&kernel(wait)).unwrap_or_else(|e| panic!("{wait}: {e}"));
    }
}

#[test]
fn lanes_do_not_wait_for_lanes_at_the_end() {
    for wait in ["bar.warp.sync 0xffffffff;", "redux.sync.add.u32 %r1, %r0, 0xffffffff;"] {
        check_text(&kernel(wait)).unwrap_or_else(|e| panic!("{wait}: {e}"));
    }
}

#[test]
fn threads_that_wait_for_themselves_still_deadlock() {
    let text = kernel("@%p bar.sync 1;\nsetp.lt.u32 %p, %r0, 12;\n@%p bar.sync 1;\n@!%p bar.sync 2;");
    let error = check_text(&text).unwrap_err();
    assert!(error.contains("deadlock"), "{error}");
}
