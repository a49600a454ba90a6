//! `raddle run`, with kernels executed.

use crate::{Ended, Folder, raddle, root, saxpy};
use serde_json::Value;

/// Engines that every test here runs under.
const ENGINES: &[&str] = &["fast", "gather", "reference", "timing"];

const LAUNCH: &str = "\
module = \"saxpy.ptx\"

[buffers.x]
type = \"f32\"
len = 8
fill = \"iota\"

[buffers.y]
type = \"f32\"
len = 8
fill = \"const:1\"

[[launch]]
grid = 2
block = 4
args = [8, 2.0, \"x\", \"y\"]
";

/// Runs a launch file under every engine; all must say the same but for the time.
fn run_file(toml: &str, more: &[&str]) -> Ended {
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("a.toml", toml);
    in_folder(&folder, &[&["run", "a.toml"], more].concat())
}

fn in_folder(folder: &Folder, args: &[&str]) -> Ended {
    let run = |engine: &&str| folder.raddle(&[args, &["--quiet", "--engine", engine]].concat());
    let mut all: Vec<Ended> = ENGINES.iter().map(run).collect();
    let first = all.remove(0);
    for other in all {
        assert_eq!((other.code, timeless(&other.out)), (first.code, timeless(&first.out)), "{}", other.err);
    }
    // The summary of a run has its engine's own words.
    let told = folder.raddle(&[args, &["--engine", ENGINES[0]]].concat());
    assert!(
        told.code == first.code && told.out.starts_with(&first.out) | (timeless(&told.out) == timeless(&first.out))
    );
    told
}

/// JSON without what differs from engine to engine, other text as it is.
fn timeless(out: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(out) else { return out.to_owned() };
    for launch in value["launches"].as_array_mut().into_iter().flatten() {
        let launch = launch.as_object_mut().unwrap();
        let is_fault = launch.contains_key("fault");
        launch.retain(|key, _| !["seconds", "warp_insts", "timing"].contains(&key.as_str()));
        // Only the timing model counts up to a fault.
        launch.retain(|key, _| !is_fault || key != "thread_insts");
    }
    value["machine"].take();
    value["fill"].take();
    value.to_string()
}

#[test]
fn an_access_past_a_buffer_is_found_unless_buffers_are_packed() {
    // 64 elements fill a buffer's place to the byte: the next buffer would begin right after it.
    let toml = LAUNCH
        .replace("len = 8\nfill = \"iota\"", "len = 64")
        .replace("len = 8", "len = 128")
        .replace("[8, 2.0", "[128, 2.0");
    let toml = toml.replace("grid = 2\nblock = 4", "grid = 2\nblock = 64");
    let ended = run_file(&toml, &[]);
    assert_eq!(ended.code, 1, "{}", ended.err);
    contains(&ended.err, "0 bytes past the end of `x`");
    let ended = run_file(&toml.replace("\n\n[buffers.x]", "\npack-buffers = true\n\n[buffers.x]"), &[]);
    assert_eq!(ended.code, 0, "{}", ended.err);
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

#[test]
fn the_example_runs() {
    for engine in ENGINES {
        let ended = raddle(&root(), &["run", "examples/saxpy.toml", "--print", "y:4", "--engine", engine]);
        assert!(ended.code == 0 && ended.out.starts_with("y: 1 3 5 7\nsaxpy  grid 4  block 256\n  "), "{}", ended.out);
        assert_eq!(ended.err.lines().filter(|line| line.starts_with("  ")).count(), 0, "{}", ended.err);
        let count = if *engine == "timing" { "thread-instructions  19,192  (" } else { "19,192 thread-instructions" };
        contains(&ended.out, count);
        contains(&ended.out, "\n  y is as expected (8 elements)\n");
    }
}

#[test]
fn launches_run_in_order_and_again() {
    let ended = run_file(&(LAUNCH.to_owned() + "repeat = 3\n"), &["--print", "y"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.starts_with("y: 1 7 13 19 25 31 37 43\nsaxpy  grid 2  block 4  3 times\n"), "{}", ended.out);
}

#[test]
fn a_failed_expectation_ends_with_1_and_shows_the_difference() {
    let expect = "\n[[expect]]\nbuffer = \"y\"\nvalues = [1, 3, 5.5, 7]\n";
    let ended = run_file(&(LAUNCH.to_owned() + expect), &[]);
    assert_eq!(ended.code, 1);
    contains(&ended.out, "  y is not as expected: 1 of 4 elements differ\n    y[2] is 5, expected 5.5\n");
    let close = expect.to_owned() + "tolerance = 0.1\n";
    assert_eq!(run_file(&(LAUNCH.to_owned() + &close), &[]).code, 0);
}

#[test]
fn a_fault_shows_thread_and_line() {
    let ended = run_file(&LAUNCH.replace("[8, 2.0", "[9, 2.0").replace("block = 4", "block = 5"), &[]);
    assert_eq!(ended.code, 1);
    contains(
        &ended.err,
        "error[fault]: access of 4 bytes at 0xc0000020 is outside every allocation \
         (0 bytes past the end of `x`, 0xc0000000..0xc0000020)
  --> saxpy.ptx:47:2
   |
47 |     ld.global.f32    %xi, [%x];
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (3,0,0) of block (1,0,0)
   |
   = note: at instruction 15 of `saxpy`
",
    );
}

#[test]
fn a_read_outside_can_be_a_warning() {
    let toml = LAUNCH.replace("[8, 2.0", "[9, 2.0").replace("block = 4", "block = 5");
    let longer = toml.replace("len = 8\nfill = \"const", "len = 9\nfill = \"const");
    let ended = run_file(&longer, &["--on-fault", "warn", "--print", "y"]);
    assert!(ended.code == 0 && ended.out.starts_with("y: 1 3 5 7 9 11 13 15 1\n"), "{}", ended.err);
    contains(
        &ended.err,
        "warning[outside-read]: access of 4 bytes at 0xc0000020 is outside every allocation \
         (0 bytes past the end of `x`, 0xc0000000..0xc0000020)
  --> saxpy.ptx:47:2
   |
47 |     ld.global.f32    %xi, [%x];
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ thread (3,0,0) of block (1,0,0)
   |
   = note: at instruction 15 of `saxpy`
   = note: the read returned zero, and the launch continued
1 read outside of memory was answered with zero, at 1 place; hardware may give anything
",
    );
    let ended = run_file(&longer, &["--on-fault", "warn", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let read = &value["launches"][0]["outside_reads"][0];
    assert_eq!((read["count"].as_u64(), read["first"]["at"]["line"].as_u64()), (Some(1), Some(47)), "{value}");
    // A write stops the launch, after the read of what it changes.
    let ended = run_file(&toml, &["--on-fault", "warn"]);
    assert_eq!(ended.code, 1);
    contains(&ended.err, "2 reads outside of memory were answered with zero, at 2 places");
    contains(&ended.err, "error[fault]: access of 4 bytes at 0x");
    let ended = run_file(&toml, &["--on-fault", "ignore"]);
    assert_eq!(ended.code, 2);
    contains(&ended.err, "invalid value 'ignore' for '--on-fault <WHAT>'");
}

#[test]
fn a_fault_shows_the_line_of_the_source() {
    let ptx = saxpy()
        .replace(".address_size 64", ".address_size 64\n.file 1 \"saxpy.cu\"")
        .replace("ld.param.f32\t%a", ".loc 1 4 22\n\tld.param.f32\t%a");
    let folder =
        Folder::new().with("saxpy.ptx", &ptx).with("a.toml", &LAUNCH.replace("len = 8\nfill = \"iota\"", "len = 4"));
    let ended = in_folder(&folder, &["run", "a.toml"]);
    assert_eq!(ended.code, 1);
    contains(&ended.err, "\n   = note: compiled from saxpy.cu:4:22\n");
}

#[test]
fn reads_of_what_was_never_written_are_reported_on_request() {
    let toml = LAUNCH.replace("fill = \"const:1\"\n", "");
    assert_eq!(run_file(&toml, &[]).code, 0);
    let ended = run_file(&toml, &["--report-uninitialised"]);
    assert_eq!(ended.code, 1);
    contains(&ended.err, "error[fault]: read of memory never written at 0xc0010100\n");
}

#[test]
fn the_instruction_limit_ends_a_kernel_that_does_not_end() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy().replace("@%outside bra\tdone;", "again: bra again;"));
    let folder = folder.with("a.toml", LAUNCH);
    let ended = in_folder(&folder, &["run", "a.toml", "--max-insts", "100000"]);
    assert_eq!(ended.code, 4);
    contains(&ended.err, "error[fault]: instruction limit reached\n");
    contains(&ended.err, "= help: raise the limit with --max-insts\n");
}

#[test]
fn buffers_go_to_files_and_come_back() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    let shape = ["run", "saxpy.ptx", "-g", "2", "-b", "4", "-a", "8", "-a", "f32:2", "-a", "buf:f32:8=iota"];
    let run = |y: &str| in_folder(&folder, &[&shape[..], &["-a", y]].concat());
    let first = run("y=buf:f32:8=zero,out=y.npy");
    assert_eq!(first.code, 0, "{}", first.err);
    contains(&first.out, "\n  y written to y.npy\n");
    let second = run("y=buf:f32:[0,0,0,0,0,0,0,0],expect=y.npy");
    assert_eq!(second.code, 0, "{}", second.err);
    contains(&second.out, "  y is as expected (8 elements)\n");
    let third = in_folder(&folder, &[&shape[..], &["-a", "y=buf:f32:@y.npy,out=y.bin", "--print", "y"]].concat());
    assert!(third.out.starts_with("y: 0 4 8 12 16 20 24 28\n"), "{}", third.err);
    assert_eq!(std::fs::read(folder.0.join("y.bin")).unwrap()[4..8], 4f32.to_le_bytes());
    let short = run("y=buf:f32:9,expect=y.npy");
    short.expect(2, "", "error: buffer `y` has 9 elements, 8 are expected of it\n");
}

#[test]
fn what_a_kernel_prints_goes_to_stdout() {
    let ptx = "\
.version 6.0
.target sm_50
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 format[11] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 10, 0};
.visible .entry hello()
{
    .local .align 8 .b8 frame[8];
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    mov.u64 %rd1, frame;
    cvta.local.u64 %rd2, %rd1;
    st.u32 [%rd2], %r1;
    mov.u64 %rd3, format;
    {
        .param .b64 format_arg;
        .param .b64 arguments_arg;
        .param .b32 result_arg;
        st.param.b64 [format_arg], %rd3;
        st.param.b64 [arguments_arg], %rd2;
        call.uni (result_arg), vprintf, (format_arg, arguments_arg);
    }
    ret;
}
";
    let folder = Folder::new().with("hello.ptx", ptx);
    let ended = in_folder(&folder, &["run", "hello.ptx", "-g", "1", "-b", "3"]);
    assert!(ended.code == 0 && ended.out.starts_with("thread 0\nthread 1\nthread 2\nhello  grid 1"), "{}", ended.err);
}

#[test]
fn json_has_everything() {
    let ended = run_file(LAUNCH, &["--json", "--print", "y:2"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["ok"], true);
    assert_eq!(value["launches"][0]["kernel"], "saxpy");
    assert_eq!(value["launches"][0]["grid"], serde_json::json!([2, 1, 1]));
    assert_eq!(value["launches"][0]["thread_insts"], 8 * 19);
    assert_eq!(value["buffers"]["y"], serde_json::json!(["1", "3"]));
    assert_eq!(ended.err, "");
    let bad = run_file(&LAUNCH.replace("[8, 2.0", "[9, 2.0").replace("block = 4", "block = 5"), &["--json"]);
    let value: Value = serde_json::from_str(&bad.out).unwrap();
    assert_eq!((bad.code, &value["ok"]), (1, &Value::from(false)));
    assert_eq!(value["launches"][0]["fault"]["at"]["line"], 47);
}

/// The kernels compute on the inputs described in `tests/reference/gtx480/README.md`.
#[test]
fn the_generator_feeds_two_buffers_by_turns() {
    let kernel = "tests/reference/gtx480/kernels/vecadd.ptx";
    for engine in ENGINES {
        let args = ["a=buf:f32:64=lcg:1:0xfff:0:2", "b=buf:f32:64=lcg:1:0xfff:1:2", "c=buf:f32:64", "64"];
        let args = args.into_iter().flat_map(|a| ["-a", a]);
        let shape = ["run", kernel, "-g", "1", "-b", "64", "--json", "--print", "a", "--print", "b", "--print", "c"];
        let ended = raddle(&root(), &shape.into_iter().chain(args).chain(["--engine", engine]).collect::<Vec<_>>());
        let value: Value = serde_json::from_str(&ended.out).unwrap();
        let list = |name: &str| -> Vec<f32> {
            let list = value["buffers"][name].as_array().unwrap();
            list.iter().map(|v| v.as_str().unwrap().parse().unwrap()).collect()
        };
        let (a, b, c) = (list("a"), list("b"), list("c"));
        let mut x = 1u32;
        let mut next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (x >> 8 & 0xfff) as f32
        };
        for i in 0..64 {
            assert_eq!((a[i], b[i]), (next(), next()));
            assert_eq!(c[i], a[i] + b[i]);
        }
    }
}

/// Instruction counts are those of the reference simulator, to the last one.
#[test]
fn instruction_counts_are_those_of_the_reference_results() {
    let folder = root().join("tests/reference/gtx480");
    let results = std::fs::read_to_string(folder.join("kernels.json")).unwrap();
    let results: Vec<Value> = serde_json::from_str(&results).unwrap();
    for kernel in ["vecadd", "matmul", "diverge", "stencil", "reduce"] {
        let want = results.iter().find(|r| r["kernel"] == kernel).unwrap();
        let ended = raddle(&folder, &["run", &format!("kernels/{kernel}.toml"), "--json", "--engine", "fast"]);
        let value: Value = serde_json::from_str(&ended.out).unwrap();
        let got = &value["launches"][0];
        assert_eq!(got["thread_insts"], want["thread_insts"], "{kernel}");
        assert_eq!(got["warp_insts"], want["warp_insts"], "{kernel}");
    }
}
