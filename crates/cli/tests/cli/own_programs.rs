//! Launch files as workloads of comparisons and experiments.

use super::{Folder, raddle, root, saxpy};
use std::path::Path;

const LAUNCH: &str = "\
module = \"saxpy.ptx\"

[buffers.x]
type = \"f32\"
fill = \"raw:x.bin\"

[buffers.y]
type = \"f32\"
len = 64
fill = \"const:1\"

[[launch]]
grid = 2
block = 32
args = [64, 2.0, \"x\", \"y\"]

[[expect]]
buffer = \"y\"
values = [1, 1]

[[output]]
buffer = \"y\"
raw = \"y.bin\"
";

const EXPERIMENT: &str = "\
title = \"Own programs\"
workloads = [\"./bfs.toml\", \"bfs\"]
size = \"tiny\"

[repeats]
count = 2
vary = [\"seed\"]
";

/// The rest of an experiment about two schedulers.
pub const SCHEDULERS: &str = "
[[axis]]
name = \"scheduler\"
key = \"mechanism.issue\"
values = [\"lrr\", \"gto\"]

[[figure]]
name = \"speedup\"
title = \"Speedup\"
metric = \"cycles\"
against = \"speedup\"
bars = \"scheduler\"
";

const PAPER: &str = "paper = [{ row = \"bfs.toml\", bar = \"gto\", value = 1.1 }]\n";

/// A folder with an experiment in a folder of its own, beside what it runs.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.0.join("sub")).unwrap();
    folder
        .with("sub/saxpy.ptx", &saxpy())
        .with("sub/bfs.toml", LAUNCH)
        .with("sub/x.bin", &"\0".repeat(256))
        .with("sub/e.toml", &[EXPERIMENT, SCHEDULERS, PAPER].concat())
}

#[test]
fn launch_files_are_compared_with_workloads() {
    let files = ["examples/saxpy.toml", "examples/bfs.toml"];
    let ended = raddle(&root(), &[&["compare", "spmv", "bfs"], &files[..], &["--size", "tiny", "--json"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("--size does not apply to launch files: saxpy, bfs.toml"), "{}", ended.err);
    let value: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let rows = value["tables"][0]["rows"].as_array().unwrap().iter().map(|row| row["row"].as_str().unwrap());
    assert_eq!(rows.collect::<Vec<_>>(), ["mean, all", "bfs", "spmv", "saxpy", "bfs.toml"]);
    let own = raddle(&root(), &["compare", "examples/saxpy.toml"]);
    assert_eq!(own.err, "speedup: baseline cycles / own cycles; means are geometric\n", "no size");
    let wrong = raddle(&root(), &["compare", "examples/saxpy.ptx"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.starts_with("error: `examples/saxpy.ptx` is no workload, launch file or program file"));
}

#[test]
fn a_point_is_run_again_when_a_file_it_reads_has_changed() {
    let folder = folder();
    let run = || {
        let ended = folder.raddle(&["lab", "run", "sub/e.toml"]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        ended.err.split(" in ").next().unwrap_or_default().to_owned()
    };
    // Two of the launch file, which has no seed, and two times two of the workload.
    assert_eq!(run(), "6 points: 0 known, 6 run");
    assert_eq!(run(), "6 points: 6 known, 0 run");
    assert!(!folder.0.join("sub/y.bin").exists(), "outputs are for `raddle run`");
    let again = "6 points: 4 known, 2 run";
    let folder = folder.with("sub/bfs.toml", &LAUNCH.replace("grid = 2", "grid = 3"));
    let run = || folder.raddle(&["lab", "run", "sub/e.toml"]).err;
    assert!(run().starts_with(again), "the launch file");
    std::fs::write(folder.0.join("sub/x.bin"), [0, 0, 0, 0, 0, 0, 0, 64].repeat(32)).unwrap();
    assert!(run().contains("bfs.toml - (lrr, "), "the data: the result is no longer the expected one");
    std::fs::write(folder.0.join("sub/x.bin"), [0; 512]).unwrap();
    assert!(run().starts_with(again), "the data");
    std::fs::write(folder.0.join("sub/saxpy.ptx"), saxpy() + "// more\n").unwrap();
    assert!(run().starts_with(again), "the PTX");
    // A worker in another folder reads the same files.
    let path = folder.0.join("sub/e.toml").display().to_string();
    let other = Folder::new();
    let store = folder.0.join("raddle-store").display().to_string();
    let worker = other.raddle(&["lab", "worker", &path, "--shard", "0/1", "--size", "tiny", "--store", &store]);
    assert!(worker.err.contains("6 points: 6 known, 0 run"), "{}", worker.err);
    let page = folder.raddle(&["reproduce", "sub/e.toml", "--output", "r"]);
    assert_eq!((page.code, page.out.as_str()), (0, "r/index.html\n"), "{}", page.err);
    let page = std::fs::read_to_string(folder.0.join("r/index.html")).unwrap();
    assert!(page.contains("bfs.toml"));
}

#[test]
fn a_mistake_in_a_launch_file_has_both_places() {
    let folder = folder().with("sub/bfs.toml", &LAUNCH.replace("fill = \"const:1\"", "fil = 1"));
    folder.raddle(&["lab", "run", "sub/e.toml"]).expect(
        2,
        "",
        "error: sub/bfs.toml:10:1: unknown key `fil`
 --> sub/e.toml:2:14
  |
2 | workloads = [\"./bfs.toml\", \"bfs\"]
  |              ^^^^^^^^^^^^
  |
  = help: did you mean `fill`?
",
    );
    let missing = folder.with("sub/bfs.toml", &LAUNCH.replace("saxpy.ptx", "other.ptx"));
    let ended = missing.raddle(&["compare", "sub/bfs.toml"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.starts_with("error: sub/bfs.toml: cannot read sub/other.ptx: "), "{}", ended.err);
}

#[test]
fn the_module_of_a_launch_file_can_be_cuda() {
    let read = |name: &str| std::fs::read_to_string(root().join("examples").join(name)).unwrap();
    // The kernels have names of C++, and are called as in the source.
    let source = read("bfs.cu").replace("extern \"C\" ", "");
    let folder = Folder::new();
    std::fs::create_dir_all(folder.0.join("sub")).unwrap();
    let folder =
        folder.with("sub/bfs.cu", &source).with("sub/own.toml", &read("bfs.toml").replace("bfs.ptx", "bfs.cu"));
    let ended = folder.raddle(&["run", "sub/own.toml", "--quiet", "--print", "depth"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, "depth: 0 1 1 2 2 3 3 4\n"), "{}", ended.err);
    let compare = |folder: &Path, file: &str, store: &str| {
        let ended = raddle(folder, &["compare", file, "--issue", "lrr,gto", "--store", store]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        raddle(folder, &["lab", "ls", "--store", store]).out
    };
    let first = compare(&folder.0, "sub/own.toml", "s");
    assert_eq!(first.lines().count(), 3, "{first}");
    // The key does not depend on where the files are.
    assert_eq!(compare(&folder.0.join("sub"), "own.toml", "../s"), first);
    let folder = folder.with("sub/bfs.cu", &source.replace("*more = 1", "*more = 2"));
    assert_eq!(compare(&folder.0, "sub/own.toml", "s").lines().count(), 5, "other kernels are other points");
    let folder = folder.with("sub/bfs.cu", "no program");
    let wrong = folder.raddle(&["compare", "sub/own.toml"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.starts_with("error: sub/own.toml: sub/bfs.cu does not compile:\n"), "{}", wrong.err);
}
