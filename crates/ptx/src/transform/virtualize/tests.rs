use super::*;
use crate::analysis::Resources;
use crate::analysis::testing::{module, reference_kernels};
use crate::syntax::print;

const HEAD: &str = ".version 6.3\n.target sm_70\n.address_size 64\n";

fn options(form: Form, hoist: bool) -> Options {
    Options { form, hoist, ..Options::default() }
}

/// A module with a kernel `k` and this body, and functions before it.
fn text(functions: &str, body: &str) -> String {
    format!(
        "{HEAD}{functions}\n.visible .entry k(.param .u64 a)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n{body}\n}}\n"
    )
}

/// The kernel after the transformation, as text, and what is said of it.
fn done(source: &str, options: &Options) -> (String, Virtualized) {
    let found = virtualize(source, options, |_| true).unwrap();
    assert!(found.refused.is_empty(), "{:?}", found.refused);
    let text = print(&found.tree);
    module(&text);
    (text, found.kernels[0].clone())
}

/// Place and message of the refusal.
fn refusal(source: &str, options: &Options) -> String {
    let found = virtualize(source, options, |_| true).unwrap();
    assert_eq!(print(&found.tree), print(&parse(source).0), "what is refused stays as it was");
    let [refused] = &found.refused[..] else { panic!("{:?}", found.refused) };
    let at = LineIndex::new(source).line_col(source, refused.diagnostic.span.start);
    format!("{at}: {}", refused.diagnostic.message)
}

#[test]
fn a_kernel_of_one_dimension_is_wrapped() {
    let body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r4, %r1, %r2, %r3;\n\
                setp.gt.u32 %p1, %r4, 99;\n@%p1 ret;\nld.param.u64 %d1, [a];\nst.global.u32 [%d1], %r4;\nret;";
    let (text, report) = done(&text("", body), &options(Form::Software, true));
    let want = ".visible .entry k(
.param .u64 a,
.param .u32 k_vtw_grid_x
)
.maxnreg 4
{
.reg .pred %p<9>;
.reg .b32 %r<9>;
.reg .b64 %d<9>;
.reg .pred %vtw_more;
.reg .b32 %vtw_block, %vtw_blocks, %vtw_step;
ld.param.u32 %vtw_blocks, [k_vtw_grid_x];
mov.u32 %vtw_step, %nctaid.x;
mov.u32 %vtw_block, %ctaid.x;
setp.lt.u32 %vtw_more, %vtw_block, %vtw_blocks;
@!%vtw_more bra $vtw_end;
mov.u32 %r2, %ntid.x;
ld.param.u64 %d1, [a];
$vtw_top:
mov.u32 %r1, %vtw_block;
mov.u32 %r3, %tid.x;
mad.lo.u32 %r4, %r1, %r2, %r3;
setp.gt.u32 %p1, %r4, 99;
@%p1 bra $vtw_step;
st.global.u32 [%d1], %r4;
$vtw_step:
add.u32 %vtw_block, %vtw_block, %vtw_step;
setp.lt.u32 %vtw_more, %vtw_block, %vtw_blocks;
@%vtw_more bra $vtw_top;
$vtw_end:
ret;
}
";
    assert!(text.replace('\t', "").ends_with(want), "{text}");
    let counts = (report.before, report.in_loop, report.outside, report.hoisted);
    assert_eq!(counts, (9, 9, 8, 2));
    assert_eq!((report.grid_dims, report.barrier), (1, None));
}

#[test]
fn without_hoisting_everything_stays_in_the_loop() {
    let source = text("", "mov.u32 %r2, %ntid.x;\nmov.u32 %r1, %ctaid.x;\nst.global.v2.u32 [16], {%r1, %r2};\nret;");
    let (with, without) =
        (done(&source, &options(Form::Software, true)), done(&source, &options(Form::Software, false)));
    assert_eq!((with.1.hoisted, without.1.hoisted), (1, 0));
    assert_eq!(with.1.in_loop + 1, without.1.in_loop);
    assert_eq!(with.1.outside, without.1.outside + 1);
}

#[test]
fn indices_of_two_and_three_dimensions_are_rebuilt() {
    let two = text("", "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nst.global.v2.u32 [16], {%r1, %r2};\nret;");
    let (text2, report) = done(&two, &options(Form::Software, true));
    assert_eq!(report.grid_dims, 2);
    assert!(
        text2.contains(
            "rem.u32 %vtw_block_x, %vtw_block, %vtw_grid_x;\n\tdiv.u32 %vtw_block_y, %vtw_block, %vtw_grid_x;"
        )
    );
    assert!(text2.contains("mul.lo.u32 %vtw_blocks, %vtw_blocks, %vtw_block;"), "the size of y is needed once only");
    let three = text("", "mov.u32 %r1, %ctaid.z;\nmov.u32 %r2, %nctaid.y;\nst.global.v2.u32 [16], {%r1, %r2};\nret;");
    let (text3, report) = done(&three, &options(Form::Software, true));
    assert_eq!(report.grid_dims, 3);
    assert!(
        text3.contains("div.u32 %vtw_rest, %vtw_block, %vtw_grid_x;\n\tdiv.u32 %vtw_block_z, %vtw_rest, %vtw_grid_y;")
    );
    assert!(text3.contains("mov.u32 %r2, %vtw_grid_y;") && !text3.contains("%vtw_block_x"));
}

#[test]
fn more_dimensions_can_be_asked_for() {
    let source = text("", "mov.u32 %r1, %ctaid.x;\nst.global.u32 [16], %r1;\nret;");
    let (text, report) = done(&source, &Options { dims: 3, ..Options::default() });
    assert_eq!(report.grid_dims, 3);
    assert!(text.contains("k_vtw_grid_z") && text.contains("rem.u32 %vtw_block_x, %vtw_block, %vtw_grid_x;"));
}

#[test]
fn shared_memory_and_warp_wide_operations_get_a_barrier_of_their_own() {
    let shared = text(".shared .u32 s[4];", "bar.sync 0;\nbar.sync 1;\nst.shared.u32 [s], 1;\nret;");
    assert_eq!(done(&shared, &Options::default()).1.barrier, Some(2));
    let by_address = text(".shared .u32 s[4];", "mov.u64 %d1, s;\nret;");
    assert_eq!(done(&by_address, &Options::default()).1.barrier, Some(0));
    let warp = text("", "activemask.b32 %r1;\nbar.sync 0;\nret;");
    assert_eq!(done(&warp, &Options::default()).1.barrier, Some(1));
    let none = text("", "bar.sync 0;\nret;");
    assert_eq!(done(&none, &Options::default()).1.barrier, None);
    let (text, _) = done(&shared, &Options::default());
    assert!(text.contains("$vtw_top:\n\tbar.sync 2;\n"), "{text}");
    let sixteen = (0..16).map(|n| format!("bar.sync {n};")).collect::<String>();
    let all = self::text("", &format!("{sixteen}activemask.b32 %r1;\nret;"));
    assert_eq!(
        refusal(&all, &Options::default()),
        "5:17: all sixteen barriers are in use, the wrapper loop needs one of its own"
    );
}

#[test]
fn a_return_before_a_barrier_is_refused_with_its_place() {
    let source = text("", "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n  @%p1 ret;\nbar.sync 0;\nret;");
    let want = "12:3: threads of a block may diverge here and miss the barrier in line 13";
    assert_eq!(refusal(&source, &Options::default()), want);
}

#[test]
fn functions_that_look_at_the_block_are_refused() {
    let reads = ".func f() {\n.reg .b32 %r;\nmov.u32 %r, %ctaid.y;\nret;\n}";
    let want = "6:1: function `f` reads %ctaid.y, which is not the logical index";
    assert_eq!(refusal(&text(reads, "call f;\nret;"), &Options::default()), want);
    let fine = ".func f() {\n.reg .b32 %r;\nmov.u32 %r, %tid.x;\nret;\n}";
    done(&text(fine, "call f;\nret;"), &Options::default());
    let ends = ".func f() {\nexit;\n}";
    assert_eq!(
        refusal(&text(ends, "call f;\nret;"), &Options::default()),
        "5:1: function `f` ends the thread, which must go on with another block"
    );
    let waits = ".func f() {\nbar.sync 0;\nret;\n}";
    assert_eq!(
        refusal(&text(waits, "call f;\nret;"), &Options::default()),
        "5:1: function `f` has a barrier, which threads may miss"
    );
}

#[test]
fn only_what_is_wanted_changes() {
    let source = format!("{HEAD}.entry one() {{ ret; }}\n.entry two() {{ ret; }}\n");
    let found = virtualize(&source, &Options::default(), |name| name == "two").unwrap();
    assert_eq!(found.kernels.iter().map(|k| k.kernel.as_str()).collect::<Vec<_>>(), ["two"]);
    assert!(virtualize("nonsense", &Options::default(), |_| true).is_err());
}

#[test]
fn new_names_are_new() {
    let source = text("", ".reg .b32 %vtw_block, %vtw2_x;\nmov.u32 %vtw_block, 1;\nret;");
    let (text, _) = done(&source, &Options::default());
    assert!(text.contains("%vtw3_block"));
}

#[test]
fn inner_scopes_stay_and_keep_their_registers() {
    let source = text("", "{ .reg .b32 %r1; mov.u32 %r1, 7; st.global.u32 [16], %r1; }\nmov.u32 %r1, %ctaid.x;\nret;");
    let (text, report) = done(&source, &Options::default());
    assert_eq!(report.hoisted, 0, "what stands in an inner scope is not looked at: {text}");
}

#[test]
fn reference_kernels_are_read_again() {
    for (name, source) in reference_kernels() {
        let found = virtualize(&source, &Options::default(), |_| true).unwrap();
        let text = print(&found.tree);
        assert_eq!(print(&parse(&text).0), text, "{name}");
        module(&text);
        assert!(!found.kernels.is_empty() || !found.refused.is_empty(), "{name}");
    }
}

/// Registers by `.maxnreg`, as written, and as reported.
fn counted(source: &str, options: &Options) -> (u32, u32, Registers) {
    let (text, report) = done(source, options);
    let module = module(&text);
    let id = module.function("k").unwrap();
    (module.func(id).limits.max_registers.unwrap(), Resources::new(&module, id).registers, report.registers)
}

#[test]
fn what_is_named_in_place_takes_no_registers_in_front_of_the_loop() {
    let body = "mov.u32 %r1, %tid.x;\nld.param.u64 %d1, [a];\nld.param.u64 %d2, [a+8];\nld.param.u64 %d3, [a+16];\n\
                st.global.u32 [%d1], %r1;\nst.global.u32 [%d2], %r1;\nst.global.u32 [%d3], %r1;\nret;";
    let source = text("", body).replace(".u64 a)", ".u64 a, .param .u64 b, .param .u64 c)");
    let source = source.replace("[a+8]", "[b]").replace("[a+16]", "[c]");
    let (limit, written, Registers { before, after }) = counted(&source, &Options::default());
    assert_eq!((before, after), (7, 8), "the logical block");
    assert!(written > after && limit == after, "as written all three addresses are kept: {written}, limit {limit}");
}

#[test]
fn registers_that_are_allowed_bound_both_counts() {
    let body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nmad.lo.u32 %r3, %r1, 64, %r2;\nld.param.u64 %d1, [a];\n\
                mad.wide.u32 %d2, %r3, 4, %d1;\nst.global.u32 [%d2], %r3;\nret;";
    let source = text("", body);
    let (limit, _, free) = counted(&source, &Options::default());
    assert!(free.after > free.before && limit == free.after, "{free:?}");
    let bound = source.replace("(.param .u64 a)", "(.param .u64 a) .maxnreg 3");
    let (limit, _, bound) = counted(&bound, &Options::default());
    assert_eq!((limit, bound), (3, Registers { before: 3, after: 3 }));
}

#[test]
fn registers_limit_what_is_moved() {
    let sum = |n| format!("add.u64 %d{n}, %d1, {n};\nst.global.u64 [%d{n}], {n};\n");
    let source = text("", &("ld.param.u64 %d1, [a];\n".to_owned() + &(2..9).map(sum).collect::<String>() + "ret;"));
    let need = |options: &Options| {
        let (_, report) = done(&source, options);
        (report.registers.after, report.hoisted)
    };
    let (all, none) = (need(&Options::default()), need(&options(Form::Software, false)));
    assert!(all.0 > none.0 + 8 && all.1 == 8 && none.1 == 0, "{all:?} {none:?}");
    for most in none.0..all.0 {
        let (registers, hoisted) = need(&Options { hoist_registers: Some(most), ..Options::default() });
        assert!(registers <= most && (1..8).contains(&hoisted), "{registers} of {most}, {hoisted} moved");
    }
    assert_eq!(need(&Options { hoist_registers: Some(1), ..Options::default() }).0, none.0);
}
