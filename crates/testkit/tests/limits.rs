//! Programs larger than a narrow number counts: constants, call sites, calls inside calls, functions.
//!
//! All engines and the timing model run each, on both sides of the limits where such numbers wrap.

use raddle_sim::gpu::RunOptions;
use raddle_testkit::kernel_file::{check_text, check_timed, run_timed};
use raddle_testkit::timing;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// A kernel with this result in its one buffer.
fn kernel(functions: &str, body: &str, ends: &str) -> String {
    format!(
        "// run: grid=1 block=1\n// arg: out u64[1] = zero\n// widths: 32\n// {ends}\n\
         .version 8.0\n.target sm_80\n.address_size 64\n{functions}\n.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .pred %p<2>;\nld.param.u64 %rd0, [out];\nmov.u64 %rd1, 0;\n\
         mov.u32 %r1, 0;\n{body}\ncvt.u64.u32 %rd2, %r1;\nadd.u64 %rd1, %rd1, %rd2;\nst.global.u64 [%rd0], %rd1;\n\
         ret;\n}}\n"
    )
}

fn check_everywhere(source: &str) {
    check_text(source).unwrap();
    check_timed(source, &timing::machine("gtx480", &["gpu.sms=1"])).unwrap();
}

/// Adds 1 to `n`, all of them constants of the program.
fn sum(n: u64, instruction: &str) -> String {
    let mut body = String::new();
    (1..=n).for_each(|i| writeln!(body, "{instruction}, {i};").unwrap());
    kernel("", &body, &format!("expect: out = {}", n * (n + 1) / 2))
}

#[test]
fn constants_of_32_bits() {
    for n in [32_767, 32_768, 32_769, 65_535, 65_536, 65_537] {
        check_everywhere(&sum(n, "add.u32 %r1, %r1"));
    }
}

#[test]
fn constants_of_64_bits() {
    for n in [32_767, 32_769, 65_537] {
        check_everywhere(&sum(n, "add.u64 %rd1, %rd1"));
    }
}

/// A kernel that calls a function this often, each time from elsewhere, and counts how often it has come back.
fn calls(n: u64) -> String {
    let body = "call nothing, ();\nadd.u32 %r1, %r1, 1;\n".repeat(n as usize);
    kernel(".func nothing()\n{\nret;\n}", &body, &format!("expect: out = {n}"))
}

#[test]
fn call_sites() {
    for n in [65_535, 65_536, 65_537, 70_000] {
        check_text(&calls(n)).unwrap();
    }
    let options = || RunOptions { max_cycles: Some(1 << 30), ..RunOptions::default() };
    let timed = run_timed(&calls(65_537), &timing::machine("gtx480", &["gpu.sms=1"]), options).unwrap();
    assert_eq!(timed[0].words(0)[0], 65_537);
}

#[test]
fn recursion_without_variables_comes_back() {
    let functions = ".global .u64 left = 0;\n.func down()\n{\n.reg .b64 %a;\n.reg .pred %p;\nld.global.u64 %a, [left];\n\
                     setp.eq.u64 %p, %a, 0;\n@%p ret;\nsub.u64 %a, %a, 1;\nst.global.u64 [left], %a;\ncall down, ();\n\
                     ret;\n}";
    let body = "mov.u64 %rd1, 1000;\nst.global.u64 [left], %rd1;\ncall down, ();\nld.global.u64 %rd1, [left];";
    check_everywhere(&kernel(functions, body, "expect: out = 0"));
}

#[test]
fn recursion_without_variables_ends() {
    let functions = ".func down()\n{\ncall down, ();\nret;\n}";
    check_everywhere(&kernel(functions, "call down, ();", "trap: stack overflow"));
}

#[test]
fn reads_before_the_first_variable_end_in_a_fault() {
    let first = ".const .b32 first = 1;";
    check_everywhere(&kernel(first, "ld.const.u32 %r1, [first-4];", "trap: constant memory access of 4 bytes"));
    check_everywhere(&kernel("", "ld.param.u32 %r1, [out-4];", "trap: parameter access of 4 bytes"));
}

/// Functions that each call the next two: more paths than can be walked.
fn diamonds(n: usize) -> String {
    let mut functions = String::new();
    for i in (0..n).rev() {
        let calls = |to: usize| if to < n { format!("call f{to}, ();\n") } else { String::new() };
        // The second call is never taken.
        writeln!(
            functions,
            ".func f{i}()\n{{\n.reg .pred %p;\nsetp.ne.u32 %p, 0, 0;\n{}@%p bra NEXT;\nbra END;\nNEXT:\n{}END:\nret;\n}}",
            calls(i + 1),
            calls(i + 2)
        )
        .unwrap();
    }
    kernel(&functions, "call f0, ();\nmov.u32 %r1, 7;", "expect: out = 7")
}

#[test]
fn a_thousand_functions_deep() {
    let start = Instant::now();
    check_everywhere(&diamonds(1000));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
