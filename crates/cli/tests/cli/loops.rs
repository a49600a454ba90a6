//! Launch files with loops.

use super::checkpoint::timeless;
use super::lab::start;
use super::{Folder, raddle, root};
use std::time::{Duration, Instant};

/// A kernel that counts down, and says whether it has to run again.
const COUNT: &str = "\
.version 6.0
.target sm_50
.address_size 64
.visible .entry count(.param .u64 n, .param .u64 more) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<3>;
  ld.param.u64 %d1, [n]; ld.param.u64 %d2, [more];
  ld.global.u32 %r1, [%d1]; sub.u32 %r2, %r1, 1; st.global.u32 [%d1], %r2;
  setp.ne.u32 %p1, %r2, 0; @!%p1 ret; mov.u32 %r3, 1; st.global.u32 [%d2], %r3; ret;
}
";

const LOOP: &str = "\
module = \"count.ptx\"

[buffers.n]
type = \"u32\"
values = [7]

[buffers.more]
type = \"u32\"
values = [0]

[[loop]]
while = \"more != 0\"
reset = [\"more\"]

[[loop.launch]]
grid = 1
block = 1
args = [\"n\", \"more\"]

[[launch]]
if = \"n > 0\"
grid = 1
block = 1
args = [\"n\", \"more\"]

[[expect]]
buffer = \"n\"
values = [0]
";

fn folder(launches: &str) -> Folder {
    Folder::new().with("count.ptx", COUNT).with("a.toml", launches)
}

#[test]
fn a_loop_ends_with_its_condition_on_every_engine() {
    for engine in ["timing", "fast", "gather", "reference"] {
        let check: &[&str] = if engine == "reference" { &[] } else { &["--check"] };
        let ended = raddle(&root(), &[&["run", "examples/bfs.toml", "--json", "--engine", engine], check].concat());
        assert_eq!(ended.code, 0, "{engine}: {}", ended.err);
        let value = timeless(&ended.out);
        assert_eq!(value["launches"].as_array().map(Vec::len), Some(2 * 5), "{engine}: a round for each level");
        // The launch after the loop is left out: seven rounds count to zero.
        let counted = folder(LOOP).raddle(&["run", "a.toml", "--json", "--engine", engine]);
        assert_eq!(counted.code, 0, "{engine}: {}", counted.err);
        assert_eq!(timeless(&counted.out)["launches"].as_array().map(Vec::len), Some(7), "{engine}");
    }
}

#[test]
fn a_loop_can_be_sampled() {
    let ended = folder(LOOP).raddle(&["run", "a.toml", "--json", "--sample", "launches=3"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let value = timeless(&ended.out);
    assert_eq!(value["launches"].as_array().map(Vec::len), Some(7), "{}", ended.out);
}

#[test]
fn a_loop_without_end_is_an_error_with_its_place() {
    let endless = LOOP.replace("reset = [\"more\"]", "max-rounds = 20").replace("[7]", "[1000]");
    folder(&endless).raddle(&["run", "a.toml", "--engine", "fast"]).expect(
        2,
        "",
        "error: `more != 0` still holds after 20 rounds, the most of this loop
  --> a.toml:12:9
   |
12 | while = \"more != 0\"
   |         ^^^^^^^^^^^
   |
   = help: if the kernels are right, give the loop more with `max-rounds`
",
    );
    let outside = LOOP.replace("n > 0", "n[1] > 0");
    folder(&outside).raddle(&["run", "a.toml"]).expect(
        2,
        "",
        "error: buffer `n` has 1 elements, the condition reads element 1
  --> a.toml:21:6
   |
21 | if = \"n[1] > 0\"
   |      ^^^^^^^^^^
   |
   = help: elements are counted from 0
",
    );
}

#[test]
fn a_loop_that_is_killed_resumes_in_its_round() {
    let folder = folder(&LOOP.replace("[7]", "[1000]"));
    let command = ["run", "a.toml", "--json", "--set", "gpu.sms=1"];
    let whole = folder.raddle(&command);
    assert_eq!(whole.code, 0, "{}", whole.err);
    let command = [&command[..], &["--checkpoint", "state", "--every", "20ms", "--resume"]].concat();
    let mut child = start(&folder, &command);
    let begun = Instant::now();
    while !folder.0.join("state/last.checkpoint").exists() {
        assert!(child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_micros(500));
    }
    // SIGKILL, which cannot be caught, to this process alone.
    let _ = child.kill();
    let _ = child.wait();
    let resumed = folder.raddle(&command);
    assert!(resumed.code == 0 && resumed.err.starts_with("resuming from state/last.checkpoint: "), "{}", resumed.err);
    assert!(timeless(&whole.out) == timeless(&resumed.out), "the results are other ones");
}
