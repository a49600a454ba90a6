//! Large inputs: time and memory grow with the size of the text, not with its square.
//!
//! The limits are several times what a test machine needs, and far below what quadratic behaviour would take.

use raddle_ptx::analysis::{
    Allocation, Cfg, Dominators, Liveness, Loops, PostDominators, RegisterNeed, Resources, Uniformity, dot,
};
use raddle_ptx::ir::{FuncId, Module};
use raddle_ptx::{Diagnostic, load};
use std::fmt::Write;
use std::time::{Duration, Instant};

const HEAD: &str = ".version 7.0\n.target sm_50\n.address_size 64\n";

/// Runs a stage and fails when it takes longer than `seconds`. `RADDLE_TIMES=1` shows how long it takes.
#[track_caller]
#[expect(clippy::print_stdout, reason = "only when asked for")]
fn within<T>(seconds: u64, stage: &str, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(seconds), "{stage} takes {took:?}, more than {seconds} s");
    if std::env::var_os("RADDLE_TIMES").is_some() {
        println!("{stage:<16} {took:?}");
    }
    result
}

#[track_caller]
fn good(text: &str) -> Module {
    let (module, diagnostics) = within(10, "load", || load(text));
    let first: Vec<&Diagnostic> = diagnostics.iter().take(3).collect();
    assert!(first.is_empty(), "{first:?}");
    module
}

/// A kernel with these declarations and this body.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.entry k(.param .u64 a)\n{{\n.reg .pred %p<100000>;\n.reg .b32 %r<1000000>;\n.reg .b64 %d<100000>;\n{body}}}\n"
    )
}

/// Every analysis of the first function, each within its time.
fn analyse(text: &str) {
    let module = good(text);
    let function = &module.functions[0];
    let cfg = within(5, "cfg", || Cfg::new(function));
    let live = within(10, "liveness", || Liveness::new(function, &cfg));
    within(20, "allocation", || Allocation::new(&module, function, &cfg, &live));
    drop(live);
    within(20, "need", || RegisterNeed::estimate(function, &cfg));
    let dominators = within(5, "dominators", || Dominators::new(&cfg));
    let post = within(5, "post-dominators", || PostDominators::new(&cfg));
    within(10, "loops", || Loops::new(&cfg, &dominators));
    within(20, "uniformity", || Uniformity::new(&module, function, &cfg, &post));
    within(20, "resources", || Resources::new(&module, FuncId(0)));
    within(30, "dot", || dot(&module, function, text));
}

/// `n` numbered copies of a text in which `#` is the number, `^` the next and `~` the one before.
fn numbered(n: usize, line: &str) -> String {
    let mut text = String::new();
    for i in 0..n {
        for part in line.chars() {
            match part {
                '#' => write!(text, "{i}").expect("a string grows"),
                '^' => write!(text, "{}", i + 1).expect("a string grows"),
                '~' => write!(text, "{}", i.saturating_sub(1)).expect("a string grows"),
                c => text.push(c),
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn ten_megabytes_load() {
    load_functions(10_000_000, 10);
}

#[test]
#[ignore = "takes 2.6 GB; `cargo xtask fuzz` runs it"]
fn fifty_megabytes_load() {
    load_functions(50_000_000, 60);
}

/// Loads a file of `bytes` bytes of small functions.
fn load_functions(bytes: usize, seconds: u64) {
    let one = ".func f#(.param .b32 x)\n{\n.reg .b32 %r<5>;\n.reg .pred %p;\nld.param.b32 %r1, [x];\n\
               add.s32 %r2, %r1, ^;\nsetp.eq.s32 %p, %r2, 0;\n@%p bra L;\nmul.lo.s32 %r3, %r2, %r1;\nL: ret;\n}\n";
    let text = HEAD.to_owned() + &numbered(bytes / one.len(), one);
    assert!(text.len() > bytes);
    let (module, diagnostics) = within(seconds, "load", || load(&text));
    assert!(diagnostics.is_empty());
    assert_eq!(module.functions.len(), bytes / one.len());
}

#[test]
fn a_mistake_in_every_line() {
    let names = numbered(20_000, "add.s32 %r#, %q#, %q^;");
    let forms = numbered(20_000, "add.rn.s32 %r#, %r#, 1;");
    let words = numbered(20_000, "add.sxx %r#, %r#, 1;");
    let opcodes = numbered(20_000, "addd.s32 %r#, %r#, 1;");
    let syntax = numbered(20_000, "add.s32 %r#, ,;");
    let labels = numbered(20_000, "bra L#;");
    for body in [names, forms, words, opcodes, syntax, labels] {
        let text = kernel(&body);
        let (_, diagnostics) = within(2, "load", || load(&text));
        assert!(diagnostics.len() > 50 && diagnostics.len() < 500, "{} diagnostics", diagnostics.len());
        let last = diagnostics.last().expect("a summary");
        assert!(last.is_error() && last.message.contains("more errors"), "{last}");
    }
    let unreadable = HEAD.to_owned() + &"# ".repeat(5_000_000);
    assert!(within(5, "load", || load(&unreadable)).1.len() < 500);
}

#[test]
fn unknown_names_among_many() {
    let body = numbered(50_000, ".reg .b32 %name#;") + &numbered(20_000, "mov.b32 %name#, %nama#;");
    assert!(within(3, "load", || load(&kernel(&body))).1.len() > 50);
    let variables = numbered(50_000, ".global .b32 var#;");
    let text = HEAD.to_owned() + &variables + ".entry k() {\n" + &numbered(20_000, "st.global.b32 [vax#], 1;") + "}";
    assert!(within(3, "load", || load(&text)).1.len() > 50);
}

#[test]
fn many_labels_and_registers() {
    analyse(&kernel(&numbered(100_000, "L#: mov.b32 %r#, #;")));
    let families = numbered(50_000, ".reg .b32 %f#_<9>;") + &numbered(50_000, "mov.b32 %f#_3, %f#_4;");
    good(&kernel(&families));
    analyse(&kernel(&(numbered(100_000, ".reg .b32 %x#;") + &numbered(99_999, "add.s32 %x^, %x#, 1;"))));
}

/// Chains whose order in the text is the reverse of the flow of data.
#[test]
fn dependences_against_the_text() {
    let n = 20_000;
    let mut body = format!("bra L{};\n", n - 1);
    for i in 0..n {
        writeln!(
            body,
            "L{i}: add.s32 %r{i}, %r{}, 1; {}",
            i + 1,
            if i == 0 { "ret;".into() } else { format!("bra L{};", i - 1) }
        )
        .expect("a string grows");
    }
    analyse(&kernel(&body));
    let body = numbered(50_000, "add.s32 %r^, %r#, 1;") + "st.global.b32 [%d0], %r50000;\n";
    analyse(&kernel(&body));
}

/// 20,000 blocks and as many registers, all alive from one end to the other.
#[test]
fn everything_alive() {
    let body = numbered(20_000, "ld.global.b32 %r#, [%d0+#];\nsetp.eq.s32 %p1, %r#, 0;\n@%p1 bra L#;\nL#:")
        + &numbered(20_000, "st.global.b32 [%d0+#], %r#;");
    analyse(&kernel(&body));
}

/// A way out of the kernel behind every step: the exit has as many predecessors as there are blocks.
#[test]
fn many_ways_out() {
    analyse(&kernel(&numbered(25_000, "mov.u32 %r#, %tid.x;\nsetp.eq.s32 %p#, %r#, #;\n@%p# ret;")));
    analyse(&kernel(&(numbered(25_000, "setp.eq.s32 %p#, %r#, #;\n@%p# bra END;") + "END: ret;\n")));
}

/// Branches that go anywhere: loops with many entries, and blocks with as many predecessors as it happens.
#[test]
fn branches_at_random() {
    for n in [2_500, 10_000, 100_000] {
        let mut body = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 99999;\n".to_owned();
        for i in 0..n {
            writeln!(body, "L{i}: @%p0 bra L{};", (i * 7919 + 13) % n).expect("a string grows");
        }
        analyse(&kernel(&(body + "ret;\n")));
    }
}

/// Endless loops, one behind every step.
#[test]
fn many_endless_loops() {
    analyse(&kernel(&numbered(
        16_000,
        "setp.eq.s32 %p#, %r#, #;\n@%p# bra L#;\nE#: add.s32 %r#, %r#, 1;\nbra E#;\nL#:",
    )));
}

/// Loops inside loops, branches inside branches.
#[test]
fn deep_nesting() {
    let n = 8_000;
    let mut heads = numbered(n, "L#: add.s32 %r#, %r~, 1;");
    for i in (0..n).rev() {
        writeln!(heads, "setp.eq.s32 %p1, %r{i}, 5;\n@%p1 bra L{i};").expect("a string grows");
    }
    analyse(&kernel(&heads));
    let mut arms = "mov.u32 %r0, %tid.x;\n".to_owned()
        + &numbered(n, "setp.eq.s32 %p#, %r#, 5;\n@%p# bra L#;\nadd.s32 %r^, %r#, 1;");
    for i in (0..n).rev() {
        writeln!(arms, "L{i}: add.s32 %r{i}, %r{}, 1;", i + 1).expect("a string grows");
    }
    analyse(&kernel(&arms));
}

/// A table with many targets, and many branches through it.
#[test]
fn large_branch_tables() {
    let labels: Vec<String> = (0..20_000).map(|i| format!("L{i}")).collect();
    let body = format!(
        "T: .branchtargets {};\nbrx.idx %r0, T;\n{}",
        labels.join(", "),
        numbered(20_000, "L#: add.s32 %r1, %r1, 1;")
    );
    analyse(&kernel(&body));
    let labels = labels[..300].join(", ");
    let body = format!("T: .branchtargets {labels};\n{}", numbered(300, "L#: add.s32 %r1, %r1, 1;\nbrx.idx %r1, T;"));
    analyse(&kernel(&body));
}

/// Memory that a small text asks for.
#[test]
fn large_initial_values() {
    let text = HEAD.to_owned() + &numbered(1_000, ".global .b8 x#[1000000000] = {1};");
    let (module, _) = within(5, "load", || load(&text));
    let bytes: usize = module.vars.iter().filter_map(|v| v.init.as_ref()).map(|i| i.bytes.len()).sum();
    assert!(bytes <= 1 << 30, "{bytes} bytes");
}
