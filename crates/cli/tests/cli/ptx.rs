//! `raddle ptx`.

use crate::{Folder, raddle, root, saxpy};

#[test]
fn check_shows_every_mistake_with_place_and_help() {
    let bad = saxpy().replace("mad.lo.u32", "mul.lo.u31").replace("%offset, %i, 4", "%offset, %ii, 4");
    let folder = Folder::new().with("bad.ptx", &bad);
    let ended = folder.raddle(&["ptx", "check", "bad.ptx"]);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    let expected = "\
error[name]: `%ii` is not declared
  --> bad.ptx:42:24
   |
42 |     mul.wide.u32    %offset, %ii, 4;
   |                              ^^^
   |
   = help: did you mean `%i`?
";
    assert!(ended.err.contains(expected), "{}", ended.err);
    assert!(ended.err.contains("--> bad.ptx:30:"), "{}", ended.err);
    assert!(ended.err.ends_with("\n1 file, 1 kernel: 2 errors, 0 warnings\n"), "{}", ended.err);
    assert!(!ended.err.contains('\x1b'), "no colours into a pipe");
}

#[test]
fn check_gives_one_json_object_per_diagnostic() {
    let folder = Folder::new().with("bad.ptx", &saxpy().replace("%offset, %i, 4", "%offset, %ii, 4"));
    folder.raddle(&["ptx", "check", "--json", "bad.ptx"]).expect(
        1,
        "{\"file\":\"bad.ptx\",\"line\":42,\"column\":24,\"end_line\":42,\"end_column\":27,\"severity\":\"error\",\
         \"code\":\"name\",\"message\":\"`%ii` is not declared\",\"label\":null,\
         \"help\":\"did you mean `%i`?\"}\n",
        "",
    );
}

#[test]
fn check_accepts_the_reference_kernels() {
    let kernels = ["bfs", "diverge", "matmul", "reduce", "stencil", "vecadd"]
        .map(|k| format!("tests/reference/gtx480/kernels/{k}.ptx"));
    let args: Vec<&str> = ["ptx", "check"].into_iter().chain(kernels.iter().map(String::as_str)).collect();
    raddle(&root(), &args).expect(0, "", "6 files, 6 kernels: 0 errors, 0 warnings\n");
}

#[test]
fn print_is_idempotent() {
    let folder = Folder::new().with("a.ptx", &saxpy());
    let once = folder.raddle(&["ptx", "print", "a.ptx"]);
    assert_eq!((once.code, once.err.as_str()), (0, ""));
    assert!(once.out.starts_with(".version 6.0\n.target sm_50\n"), "{}", once.out);
    let folder = folder.with("b.ptx", &once.out);
    let twice = folder.raddle(&["ptx", "print", "b.ptx"]);
    assert_eq!(twice.out, once.out);
}

#[test]
fn print_refuses_a_file_with_errors() {
    let folder = Folder::new().with("a.ptx", ".version 6.0\n.target sm_50\n.address_size 64\nnonsense\n");
    let ended = folder.raddle(&["ptx", "print", "a.ptx"]);
    assert_eq!((ended.code, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("--> a.ptx:4:1"), "{}", ended.err);
}

#[test]
fn regs_lists_what_the_reference_kernels_take() {
    let matmul = "tests/reference/gtx480/kernels/matmul.ptx";
    let ended = raddle(&root(), &["ptx", "regs", matmul, "tests/reference/gtx480/kernels/vecadd.ptx"]);
    let rows: Vec<Vec<&str>> = ended.out.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["kernel", "registers", "predicates", "shared", "local", "const", "param", "limits"]);
    assert_eq!((rows[1][0], &rows[1][3..]), ("matmul", &["2048", "0", "0", "28"][..]));
    assert_eq!((rows[2][0], &rows[2][3..]), ("vecadd", &["0", "0", "0", "28"][..]));
    assert_eq!(rows.len(), 3);
    let json = raddle(&root(), &["ptx", "regs", "--json", matmul]).out;
    assert!(json.contains("\"kernel\":\"matmul\"") && json.contains("\"shared_bytes\":2048"), "{json}");
    let bound = raddle(&root(), &["ptx", "regs", "crates/workloads/suite/tpacf/tpacf.ptx"]).out;
    assert!(bound.contains(".maxntid 256 .minnctapersm 3"), "{bound}");
}

#[test]
fn cfg_writes_a_graph() {
    let folder = Folder::new().with("a.ptx", &saxpy());
    let ended = folder.raddle(&["ptx", "cfg", "a.ptx"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    assert!(ended.out.starts_with("digraph \"saxpy\" {"), "{}", ended.out);
    let ended = folder.raddle(&["ptx", "cfg", "a.ptx", "--kernel", "saxby"]);
    ended.expect(2, "", "error: a.ptx has no kernel `saxby`\n |\n = help: did you mean `saxpy`?\n");
}

#[test]
fn cfg_draws_when_graphviz_is_there() {
    let folder = Folder::new().with("a.ptx", &saxpy());
    let ended = folder.raddle(&["ptx", "cfg", "a.ptx", "-o", "a.pdf"]);
    let expected = "error: it is not clear what format a.pdf should have\n |\n = help: end its name in .svg, .dot or .gv, or use \
                    --format\n";
    ended.expect(2, "", expected);
    folder.raddle(&["ptx", "cfg", "a.ptx", "-o", "a.dot"]).expect(0, "", "wrote a.dot\n");
    let ended = folder.raddle(&["ptx", "cfg", "a.ptx", "-o", "a.svg"]);
    if ended.code == 0 {
        assert_eq!(ended.err, "wrote a.svg\n");
        assert!(std::fs::read_to_string(folder.0.join("a.svg")).unwrap().contains("</svg>"));
    } else {
        assert!(ended.err.contains("install graphviz"), "{}", ended.err);
    }
}

#[test]
fn virtualize_writes_ptx_that_is_read_again_and_says_what_it_costs() {
    let folder = Folder::new().with("a.ptx", &saxpy());
    let ended = folder.raddle(&["ptx", "virtualize", "a.ptx"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("$vtw_top:") && ended.out.contains("saxpy_vtw_grid_x"), "{}", ended.out);
    assert!(ended.out.contains(".maxnreg "), "what it takes is in the text: {}", ended.out);
    let rows: Vec<&str> = ended.err.lines().collect();
    assert!(rows[0].starts_with("kernel  instructions  in the loop"), "{}", ended.err);
    assert!(rows[1].starts_with("saxpy") && rows[1].contains(" -> "), "{}", ended.err);
    let folder = folder.with("b.ptx", &ended.out);
    folder.raddle(&["ptx", "check", "b.ptx"]).expect(0, "", "1 file, 1 kernel: 0 errors, 0 warnings\n");
    let hardware = folder.raddle(&["ptx", "virtualize", "a.ptx", "--form", "slowest-lane"]);
    assert!(hardware.out.contains("raddle.next_tidx.slowest_lane.u32"), "{}", hardware.out);
}

#[test]
fn virtualize_refuses_a_return_before_a_barrier() {
    let text = ".version 6.0\n.target sm_50\n.address_size 64\n.entry k() {\n.reg .pred %p; .reg .b32 %r;\n\
                mov.u32 %r, %tid.x; setp.eq.u32 %p, %r, 0;\n@%p ret;\nbar.sync 0;\nret;\n}\n";
    let folder = Folder::new().with("a.ptx", text);
    let ended = folder.raddle(&["ptx", "virtualize", "a.ptx"]);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    let want = "error[unsupported]: threads of a block may diverge here and miss the barrier in line 8\n --> a.ptx:7:1";
    assert!(ended.err.contains(want), "{}", ended.err);
    assert!(ended.err.ends_with("nothing was written: k cannot be virtualised like this\n"), "{}", ended.err);
    assert_eq!(folder.raddle(&["ptx", "virtualize", "a.ptx", "--form", "same-lane"]).code, 1);
}

const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

#[test]
fn link_makes_one_file_that_runs() {
    let main = ".extern .func (.param .b32 r) scaled(.param .b32 x);\n.global .b32 factor = 100;\n\
        .visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d;\nld.param.u64 %d, [out];\n\
        {\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], 7;\ncall (b), scaled, (a);\nld.param.b32 %r0, [b];\n}\n\
        ld.global.u32 %r1, [factor];\nst.global.v2.u32 [%d], {%r0, %r1};\nret;\n}\n";
    let helper = ".global .b32 factor = 6;\n.visible .func (.param .b32 r) scaled(.param .b32 x)\n{\n.reg .b32 %r<3>;\n\
        ld.param.b32 %r0, [x];\nld.global.u32 %r1, [factor];\nmul.lo.u32 %r2, %r0, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n";
    let folder =
        Folder::new().with("main.ptx", &(HEAD.to_owned() + main)).with("helper.ptx", &(HEAD.to_owned() + helper));
    folder.raddle(&["ptx", "link", "main.ptx", "helper.ptx", "-o", "all.ptx"]).expect(0, "", "");
    let launch = "module = \"all.ptx\"\n[buffers.out]\ntype = \"u32\"\nlen = 2\n[[launch]]\nkernel = \"k\"\ngrid = 1\n\
        block = 1\nargs = [\"out\"]\n[[expect]]\nbuffer = \"out\"\nvalues = [42, 100]\n";
    let ended = folder.with("all.toml", launch).raddle(&["run", "all.toml", "--engine", "fast"]);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
}

#[test]
fn link_names_what_is_defined_twice_and_nowhere() {
    let twice = ".visible .func f() { ret; }\n";
    let folder = Folder::new().with("a.ptx", &(HEAD.to_owned() + twice)).with("b.ptx", &(HEAD.to_owned() + twice));
    let ended = folder.raddle(&["ptx", "link", "a.ptx", "b.ptx"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("`f` is defined in a.ptx and in b.ptx"), "{}", ended.err);
    let user = ".extern .global .b32 v;\n.visible .entry k() { .reg .b32 %r; ld.global.b32 %r, [v]; ret; }\n";
    let ended = folder.with("c.ptx", &(HEAD.to_owned() + user)).raddle(&["ptx", "link", "c.ptx"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("variable `v` is used by c.ptx and defined nowhere"), "{}", ended.err);
}
