//! `raddle run`, up to the point where a kernel is executed.

use crate::{Ended, Folder, saxpy};

const LAUNCH: &str = "\
module = \"saxpy.ptx\"

[buffers.x]
type = \"f32\"
len = 1000
fill = \"iota\"

[[launch]]
grid = 4
block = 256
args = [1000, 2.0, \"x\", \"x\"]
";

fn run_file(toml: &str) -> Ended {
    Folder::new().with("saxpy.ptx", &saxpy()).with("a.toml", toml).raddle(&["run", "a.toml"])
}

fn run_ptx(args: &[&str]) -> Ended {
    Folder::new().with("saxpy.ptx", &saxpy()).raddle(&[&["run", "saxpy.ptx"], args].concat())
}

#[test]
fn a_misspelt_key_is_underlined() {
    run_file(&LAUNCH.replace("fill", "fil")).expect(
        2,
        "",
        "error: unknown key `fil`
 --> a.toml:6:1
  |
6 | fil = \"iota\"
  | ^^^
  |
  = help: did you mean `fill`?
",
    );
}

#[test]
fn a_wrong_argument_is_underlined() {
    run_file(&LAUNCH.replace("\"x\", \"x\"", "1.5, \"x\"")).expect(
        2,
        "",
        "error: argument 3 of kernel `saxpy`, parameter `.u64 x`: `1.5` is not a value of type u64: it is not an integer
  --> a.toml:11:20
   |
11 | args = [1000, 2.0, 1.5, \"x\"]
   |                    ^^^
",
    );
    run_file(&LAUNCH.replace(", \"x\"]", "]")).expect(
        2,
        "",
        "error: too few arguments for kernel `saxpy`: 3 given, 4 declared
 --> a.toml:8:1
  |
8 | [[launch]]
  | ^^^^^^^^^^
  |
  = help: its parameters are: .u32 n, .f32 a, .u64 x, .u64 y
",
    );
}

#[test]
fn launch_options_do_not_go_with_a_launch_file() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("a.toml", LAUNCH);
    folder.raddle(&["run", "a.toml", "--grid", "4"]).expect(
        2,
        "",
        "error: --grid cannot be given with a launch file, which sets it itself
 |
 = help: change a.toml, or run the PTX file it names
",
    );
}

#[test]
fn a_missing_grid_is_guessed_in_the_help() {
    run_ptx(&["--arg", "1000", "--arg", "2", "--arg", "x=buf:f32:1000=iota", "--arg", "x"]).expect(
        2,
        "",
        "error: kernel `saxpy` needs --grid and --block
 |
 = help: --grid 4 --block 256 gives each of 1000 elements a thread
",
    );
}

#[test]
fn wrong_arguments_name_the_parameter() {
    run_ptx(&["-g", "1", "-b", "32", "-a", "u64:5", "-a", "1", "-a", "x=buf:f32:4", "-a", "x"]).expect(
        2,
        "",
        "error: argument 1 of kernel `saxpy`, parameter `.u32 n`: a value of type u64 (8 bytes) was given
 |
 = help: pass a value of type u32
",
    );
    run_ptx(&["-g", "1", "-b", "2000", "-a", "1", "-a", "1", "-a", "0", "-a", "0"]).expect(
        2,
        "",
        "error: a block of 2000 has 2000 threads; at most 1024 are possible, 64 of them in z\n",
    );
}

#[test]
fn a_file_of_the_wrong_kind_is_explained() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("x.npy", "1 2 3");
    folder
        .raddle(&["run", "saxpy.ptx", "-g", "1", "-b", "1", "-a", "1", "-a", "1", "-a", "buf:f32:@x.npy", "-a", "0"])
        .expect(2, "", "error: cannot use x.npy: not a .npy file (it does not start with \\x93NUMPY)\n");
}

#[test]
fn ptx_errors_stop_a_run() {
    let folder = Folder::new().with("bad.ptx", &saxpy().replace("%offset, %i, 4", "%offset, %ii, 4"));
    let ended = folder.raddle(&["run", "bad.ptx", "-g", "1", "-b", "1"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("--> bad.ptx:42:24"), "{}", ended.err);
    assert!(ended.err.ends_with("error: bad.ptx has 1 error\n"), "{}", ended.err);
}
