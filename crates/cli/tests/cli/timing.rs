//! `raddle run` and `raddle measure` on the timing model, `raddle list`.

use crate::{Ended, Folder, raddle, root, saxpy};
use serde_json::Value;

const ARGS: [&str; 14] = [
    "run",
    "saxpy.ptx",
    "-g",
    "2",
    "-b",
    "64",
    "-a",
    "100",
    "-a",
    "2",
    "-a",
    "buf:f32:100=iota",
    "-a",
    "y=buf:f32:100=zero",
];

fn run(more: &[&str]) -> Ended {
    Folder::new().with("saxpy.ptx", &saxpy()).raddle(&[&ARGS[..], more].concat())
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

/// Two warps, of which one waits at a barrier for threads that never come.
const STUCK: &str = "\
.version 6.0
.target sm_50
.address_size 64
.file 1 \"stuck.cu\"
.visible .entry stuck()
{
    .loc 1 7 3
    bar.sync 1, 96;
    ret;
}
";

#[test]
fn every_slot_has_a_cause() {
    let ended = run(&["--check", "--set", "gpu.sms=2"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{}", ended.out);
    contains(&ended.out, "\n  thread-instructions  2,124  (");
    contains(&ended.out, "\n  residency            8 blocks (16 warps) per SM, limited by blocks\n");
    contains(&ended.out, "\n  memory is equal to the reference interpreter's (800 bytes)\n");
    let (_, slots) = ended.out.split_once("issue slots: ").unwrap();
    let rows: Vec<&str> = slots.lines().skip(1).take_while(|l| l.starts_with("    ")).collect();
    let tenths = |row: &&str| -> u64 {
        let share = row.split_whitespace().rev().nth(1).unwrap();
        share.replace('.', "").parse().unwrap()
    };
    assert_eq!(rows.iter().map(tenths).sum::<u64>(), 1000, "{slots}");
}

#[test]
fn json_has_every_counter() {
    let ended = run(&["--json", "--issue", "lrr", "--set", "gpu.sms=2"]);
    assert_eq!(ended.err, "");
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["machine"]["mechanisms"]["issue"], "lrr");
    assert_eq!(value["machine"]["config"]["gpu"]["sms"], 2);
    let launch = &value["launches"][0];
    assert_eq!(launch["ending"], "completed");
    let timing = &launch["timing"];
    assert_eq!(timing["sms"].as_array().unwrap().len(), 2);
    assert_eq!(timing["dram"].as_array().unwrap().len(), 6);
    assert_eq!(timing["total"]["sm"]["thread_insts"], launch["thread_insts"]);
    assert_eq!(timing["total"]["sm"]["cycles"].as_u64(), timing["cycles"].as_u64().map(|c| 2 * c));
    let sum = |key: &str| timing["pcs"].as_array().unwrap().iter().map(|p| p[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(launch["warp_insts"], sum("warp_insts"));
    assert_eq!(launch["thread_insts"], sum("thread_insts"));
    assert!(timing["networks"]["up"]["packets"].as_u64().unwrap() > 0);
}

#[test]
fn the_l2_stays_warm_and_launches_are_told_apart() {
    let toml = "module = \"saxpy.ptx\"\n[buffers.x]\ntype = \"f32\"\nlen = 64\nfill = \"iota\"\n\
                [[launch]]\ngrid = 1\nblock = 64\nrepeat = 2\nargs = [64, 2.0, \"x\", \"x\"]\n";
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("a.toml", toml);
    let ended = folder.raddle(&["run", "a.toml", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let of = |n: usize, group: &str, name: &str| value["launches"][n]["timing"]["total"][group][name].as_u64().unwrap();
    assert_eq!(of(0, "l2", "requests"), of(1, "l2", "requests"));
    assert!(of(0, "dram", "reads") > 0);
    assert_eq!(of(1, "dram", "reads"), 0);
}

#[test]
fn skipping_changes_nothing() {
    let timing = |more: &[&str]| -> Value {
        let mut value: Value = serde_json::from_str(&run(&[&["--json"], more].concat()).out).unwrap();
        value["launches"][0]["timing"].take()
    };
    assert_eq!(timing(&[]), timing(&["--no-skip"]));
}

#[test]
fn a_deadlock_lists_who_waits() {
    let folder = Folder::new().with("stuck.ptx", STUCK);
    let ended = folder.raddle(&["run", "stuck.ptx", "-g", "1", "-b", "64"]);
    assert_eq!(ended.code, 3, "{}", ended.err);
    contains(&ended.err, "error[deadlock]: no thread can continue; stuck: 2 warps\n");
    contains(&ended.err, "SM 0, block (0,0,0), warp 1: waits at barrier 1: 64 of 96 threads have arrived\n");
    contains(&ended.err, "PTX line 8: bar.sync 1, 96; (stuck.cu:7:3)\n");
    let ended = folder.raddle(&["run", "stuck.ptx", "-g", "1", "-b", "64", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["launches"][0]["ending"], "deadlock");
    assert_eq!(value["launches"][0]["warps"][1]["warp"], 1);
    assert_eq!(folder.raddle(&["run", "stuck.ptx", "-g", "1", "-b", "64", "--engine", "fast"]).code, 3);
}

#[test]
fn limits_say_where_it_was() {
    let ptx = saxpy().replace("@%outside bra\tdone;", "again: bra again;");
    let folder = Folder::new().with("saxpy.ptx", &ptx);
    let ended = folder.raddle(&[&ARGS[..], &["--max-insts", "5000"]].concat());
    assert_eq!(ended.code, 4, "{}", ended.err);
    contains(&ended.err, "error[instruction-limit]: the limit of instructions ended the launch; warps were at\n");
    contains(&ended.err, "= note: 4 warps at pc ");
    contains(&ended.err, "again;\n");
    let ended = folder.raddle(&[&ARGS[..], &["--max-cycles", "2000"]].concat());
    assert_eq!(ended.code, 5, "{}", ended.err);
    contains(&ended.out, "  cycles               2,000  (");
    contains(&ended.err, "= help: raise the limit with --max-cycles\n");
}

#[test]
fn mechanisms_are_checked() {
    run(&["--issue", "gtoo"]).expect(
        2,
        "",
        "error: --issue gtoo: `mechanism.issue`: there is no `gtoo` (did you mean `gto`?)
 |
 = help: `raddle list mechanisms` says what there is
",
    );
    let ended = run(&["--logical-blocks", "vtv"]);
    contains(
        &ended.err,
        "error: --logical-blocks vtv: `mechanism.logical_blocks`: there is no `vtv` (did you mean `vtw`?)\n",
    );
    run(&["--engine", "fast", "--max-cycles", "9"]).expect(2, "", "error: --max-cycles needs the engine `timing`\n");
    run(&["--engine", "fast", "--issue", "lrr"]).expect(2, "", "error: --issue needs the engine `timing`\n");
    run(&["--engine", "fast", "--logical-blocks", "vtw"]).expect(
        2,
        "",
        "error: --logical-blocks needs the engine `timing`\n",
    );
    let ended = run(&["--warp-width", "8"]);
    assert_eq!(ended.code, 2);
    contains(&ended.err, "= help: --set sm.simd_width=8 makes the pipelines as wide as warps\n");
    assert_eq!(run(&["--warp-width", "8", "--set", "sm.simd_width=8", "--check"]).code, 0);
    let ended = run(&["--registers", "4000"]);
    assert_eq!(ended.code, 2);
    contains(&ended.err, "error: a block needs 256000 registers, an SM has 32768\n");
}

#[test]
fn parameters_go_with_the_mechanism_named_beside_them() {
    let ended = run(&["--issue", "two-level", "--set", "mechanism.issue.active=3", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let issue = &value["machine"]["config"]["mechanism"]["issue"];
    assert_eq!((&issue["name"], &issue["active"]), (&Value::from("two-level"), &Value::from(3)), "{issue}");
}

#[test]
fn tables_have_every_counter() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    for name in ["a.csv", "a.json", "a.parquet"] {
        let ended = folder.raddle(&[&ARGS[..], &["--stats", name, "--set", "gpu.sms=1"]].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
    }
    let csv = std::fs::read_to_string(folder.0.join("a.csv")).unwrap();
    assert!(
        csv.starts_with(
            "launch,kernel,kind,number,counter,unit,value,source_file,process,program\n0,saxpy,launch,0,cycles,cycles,"
        ),
        "{csv}"
    );
    contains(&csv, "\n0,saxpy,sm,0,ctas,events,2,,0,\n");
    contains(&csv, "\n0,saxpy,pc,0,warp_insts,warp instructions,4,,0,\n");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(folder.0.join("a.json")).unwrap()).unwrap();
    assert_eq!(json.as_array().unwrap().len(), csv.lines().count() - 1);
    assert!(std::fs::read(folder.0.join("a.parquet")).unwrap().starts_with(b"PAR1"));
    run(&["--stats", "a.xls"]).expect(
        2,
        "",
        "error: it is not clear what format a.xls should have\n |\n = help: end its name in .csv, .json or .parquet\n",
    );
}

#[test]
fn barriers_are_measured() {
    let kernel = "tests/reference/gtx480/kernels/reduce.ptx";
    let args = ["-g", "2", "-b", "256", "-a", "buf:f32:1024=iota", "-a", "buf:f32:2", "-a", "1024"];
    let ended = raddle(&root(), &[&["measure", "barriers", kernel], &args[..]].concat());
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{}", ended.err);
    contains(&ended.out, "reduce: 2 blocks, 16 warps\n  waiting at barriers ");
    contains(&ended.out, "\n  phase  blocks  mean RTRU\n  0           2 ");
    let folder = Folder::new();
    let csv = folder.0.join("b.csv").display().to_string();
    let more = ["--json", "--csv", &csv];
    let ended = raddle(&root(), &[&["measure", "warp-divergence", kernel], &args[..], &more].concat());
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["launches"][0]["divergences"].as_array().unwrap().len(), 2);
    assert!((1..=4).contains(&value["launches"][0]["set"].as_u64().unwrap()));
    assert_eq!(std::fs::read_to_string(&csv).unwrap().lines().count(), 3);
    let ended = raddle(&root(), &[&["measure", "barriers", kernel, "--engine", "fast"], &args[..]].concat());
    ended.expect(2, "", "error: there is nothing to measure on the engine `fast`\n");
}

#[test]
fn names_are_listed() {
    let ended = raddle(&root(), &["list", "mechanisms"]);
    contains(&ended.out, "\nissue\n  lrr ");
    contains(&ended.out, "active = 8 (1 to 1024): Warps in the active set of each scheduler.\n");
    let ended = raddle(&root(), &["list", "counters"]);
    contains(&ended.out, "sm: an SM\n  cycles ");
    contains(&ended.out, "\ndram: a DRAM channel\n  reads ");
    for what in ["mechanisms", "presets", "counters"] {
        let ended = raddle(&root(), &["list", what, "--json"]);
        for line in ended.out.lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            assert!(value["name"].is_string() && value["about"].is_string(), "{line}");
        }
    }
}

#[test]
fn lanes_are_drawn() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy());
    let lanes = |more: &[&str]| folder.raddle(&[&["lanes"], &ARGS[1..], more].concat());
    let ended = lanes(&["--columns", "5", "--output", "lanes.svg"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, "lanes.svg: 5 instructions\n"));
    let svg = std::fs::read_to_string(folder.0.join("lanes.svg")).unwrap();
    contains(&svg, ">lane 28</text>");
    assert!(!svg.contains(">lane 29</text>"), "one of four has a label");
    contains(&svg, "thread 63, warp 1, cycle ");
    lanes(&["--output", "lanes.png"]).expect(0, "", "lanes.png: 40 instructions\n");
    assert!(std::fs::read(folder.0.join("lanes.png")).unwrap().starts_with(b"\x89PNG"));
    lanes(&["--columns", "5", "--output", "lanes.pdf"]).expect(0, "", "lanes.pdf: 5 instructions\n");
    assert!(std::fs::read(folder.0.join("lanes.pdf")).unwrap().starts_with(b"%PDF"));
    for name in ["lanes.jpg", "lanes"] {
        let refused = lanes(&["--output", name]);
        assert_eq!(refused.code, 2, "{}", refused.err);
        contains(&refused.err, name);
        contains(&refused.err, "end its name in .svg, .png or .pdf");
        assert!(!folder.0.join(name).exists());
    }
    let none = lanes(&["--sm", "99"]);
    assert_eq!(none.code, 2);
    contains(&none.err, "error: SM 99 issued nothing in launch 1\n");
}

#[test]
fn counters_of_phases_are_what_is_measured() {
    for more in [["--issue", "lrr", "--fetch", "lrr"], ["--issue", "mwf-gto", "--fetch", "cff"]] {
        let kernel = ["tests/reference/gtx480/kernels/reduce.toml", "--json"];
        let json = |command: &[&str]| -> Value {
            let ended = raddle(&root(), &[command, &kernel, &more].concat());
            assert_eq!(ended.code, 0, "{}", ended.err);
            serde_json::from_str(&ended.out).unwrap()
        };
        let (ran, measured) = (json(&["run"]), json(&["measure", "barriers"]));
        let (counters, measured) = (&ran["launches"][0]["timing"]["total"]["sm"], &measured["launches"][0]);
        for name in ["barrier_wait", "exit_wait", "phase_wait", "phase_time"] {
            assert_eq!(counters[name], measured[name], "{name}");
            assert!(measured[name].as_u64() > Some(0), "{name}");
        }
        assert_eq!(counters["warp_life"], measured["life"]);
        let number = |value: &Value| value.as_f64().unwrap();
        assert_eq!(number(&measured["rtru"]), number(&counters["phase_wait"]) / number(&counters["phase_time"]));
    }
}

#[test]
fn phases_are_drawn() {
    let folder = Folder::new();
    let kernel = root().join("tests/reference/gtx480/kernels/reduce.toml").display().to_string();
    let phases = |more: &[&str]| folder.raddle(&[&["phases", kernel.as_str()], more].concat());
    phases(&["-o", "a.svg"]).expect(0, "", "a.svg: 1 block, 8 warps\n");
    let svg = std::fs::read_to_string(folder.0.join("a.svg")).unwrap();
    contains(&svg, ">warp 7</text>");
    contains(&svg, "<title>warp 0 waits at barrier 0, cycles ");
    let ended = phases(&["-o", "b.png", "--blocks", "2,0", "--json"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, "b.png: 2 blocks, 16 warps\n"));
    assert!(std::fs::read(folder.0.join("b.png")).unwrap().starts_with(b"\x89PNG"));
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&value["blocks"][0]["block"], &value["blocks"][1]["block"]), (&2.into(), &0.into()));
    let warp = &value["blocks"][0]["warps"][7];
    assert!(warp["waits"][0]["leave"].as_u64() >= warp["waits"][0]["arrive"].as_u64());
    assert!(value["blocks"][0]["phases"][0]["rtru"].as_f64() > Some(0.0));
    contains(&phases(&["-o", "b.gif"]).err, "error: pictures are not written as .gif files: b.gif\n");
    let none = phases(&["--blocks", "99999"]);
    assert_eq!(none.code, 2);
    contains(&none.err, "error: block 99999 did not run in launch 1\n");
    let none = phases(&["--launch", "9"]);
    contains(&none.err, "error: there is no launch 9\n");
}

#[test]
fn costs_follow_from_the_machine() {
    let ended = raddle(&root(), &["cost", "baws"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""));
    contains(&ended.out, "48 bits, 6 bytes for each SM; 90 bytes for 15 SMs\n");
    let ended = raddle(&root(), &["cost", "baws", "--json", "--set", "sm.ctas=16"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((&value["bytes_per_sm"], &value["parts"][0]["bits"]), (&12.into(), &6.into()));
    contains(&raddle(&root(), &["cost", "vtw"]).out, "500 bytes for each SM");
    contains(&raddle(&root(), &["cost", "vtw-slowest-lane"]).out, "548 bytes for each SM");
    assert_eq!(raddle(&root(), &["cost", "nothing"]).code, 2);
}

#[test]
fn energy_is_shown_by_component() {
    let ended = run(&["--energy", "--gating", "conventional"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    for part in ["\n  energy: ", "\n    execution units ", "\n    DRAM ", "\n    gating saved ", "\n  integer lanes "] {
        contains(&ended.out, part);
    }
    let ended = run(&["--energy", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let parts = value["energy"]["components"].as_object().unwrap();
    let number = |value: &Value| value.as_f64().unwrap();
    let sum: f64 = parts.values().map(|part| number(&part["dynamic"]) + number(&part["leakage"])).sum();
    assert!((sum / number(&value["energy"]["joules"]) - 1.0).abs() < 1e-9, "{}", value["energy"]);
    assert_eq!((parts.len(), number(&value["energy"]["leakage_saved"])), (9, 0.0));
    let watts = number(&value["energy"]["joules"]) / number(&value["energy"]["seconds"]);
    assert!((watts / number(&value["energy"]["watts"]) - 1.0).abs() < 1e-9, "{}", value["energy"]);
    // The same cycles whether anybody asks or not.
    let plain: Value = serde_json::from_str(&run(&["--json"]).out).unwrap();
    assert_eq!(plain["launches"][0]["timing"]["cycles"], value["launches"][0]["timing"]["cycles"]);
    assert!(plain.get("energy").is_none());
}

#[test]
fn energies_come_from_a_file_too() {
    let folder = Folder::new().with("saxpy.ptx", &saxpy()).with("mine.toml", "[dram]\nbits = 3\n");
    let ended = folder.raddle(&[&ARGS[..], &["--energy=mine.toml"]].concat());
    assert_eq!(ended.code, 2, "{}", ended.err);
    contains(&ended.err, "error: mine.toml: there is no `dram.bits`; `dram` has activate, background, bit\n");
    let folder = folder.with("mine.toml", "[dram]\nbackground = 0\nbit = 0\nactivate = 0\n");
    let ended = folder.raddle(&[&ARGS[..], &["--energy=mine.toml", "--json"]].concat());
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(value["energy"]["components"]["dram"]["share"], 0.0);
    run(&["--engine", "fast", "--energy"]).expect(2, "", "error: --energy needs the engine `timing`\n");
    assert_eq!(folder.raddle(&[&ARGS[..], &["--energy=none.toml"]].concat()).code, 2);
}

#[test]
fn a_run_that_does_not_fill_the_sms_says_what_helps() {
    let ended = run(&[]);
    contains(&ended.out, "the SMs were not full: ");
    contains(
        &ended.out,
        " of issue slots without a warp\n  what helps: fewer SMs with their part of the memory (--set gpu.sms=",
    );
    let value: Value = serde_json::from_str(&run(&["--json"]).out).unwrap();
    let fill = &value["fill"];
    assert_eq!((&fill["is_full"], &fill["sms"]), (&false.into(), &15.into()), "{fill}");
    let number = |key: &str| fill[key].as_f64().unwrap();
    assert_eq!(number("places"), number("blocks_per_sm") * number("sms"));
    assert_eq!(number("waves"), number("blocks") / number("places"));
    let sm = &value["launches"][0]["timing"]["total"]["sm"];
    let slots = value["launches"][0]["timing"]["cycles"].as_f64().unwrap() * number("sms") * 2.0;
    assert_eq!(number("slots_without_a_warp"), sm["stall_no_warp_resident"].as_f64().unwrap() / slots);
    let fast: Value = serde_json::from_str(&run(&["--engine", "fast", "--json"]).out).unwrap();
    assert_eq!(fast["fill"], Value::Null);
}

#[test]
fn accesses_are_drawn() {
    let folder = Folder::new();
    let launches = root().join("examples/accesses.toml").display().to_string();
    let accesses = |more: &[&str]| folder.raddle(&[&["accesses", launches.as_str(), "-o", "a.svg"], more].concat());
    let svg = || std::fs::read_to_string(folder.0.join("a.svg")).unwrap();
    for (launch, line, said) in [
        ("1", "12", "1 request, 4 sectors where 4 would do"),
        ("2", "6", "32 requests, 32 sectors where 4 would do"),
        ("3", "21", "32 cycles of the banks"),
        ("4", "30", "1 cycle of the banks"),
    ] {
        let ended = accesses(&["--launch", launch, "--line", line]);
        assert_eq!(ended.code, 0, "{}", ended.err);
        contains(&ended.err, &format!("a.svg: line {line}, PTX line "));
        contains(&ended.err, &format!(": {said}\n"));
        contains(&svg(), &format!(">line {line}: out["));
    }
    // What is drawn is what is charged to the instruction.
    let ended = accesses(&["--launch", "2", "--json"]);
    let drawn: Value = serde_json::from_str(&ended.out).unwrap();
    let profile = folder.raddle(&["profile", launches.as_str(), "--json"]);
    let profile: Value = serde_json::from_str(&profile.out).unwrap();
    let mut compared = 0;
    for access in drawn["accesses"].as_array().unwrap() {
        let lines = profile["kernels"][1]["lines"].as_array().unwrap().iter();
        let mut insts = lines.flat_map(|line| line["instructions"].as_array().unwrap());
        let inst = insts.find(|inst| inst["pc"] == access["pc"]).unwrap();
        let (counters, number) = (&inst["counters"], |value: &Value| value.as_u64().unwrap());
        let times = number(&counters["accesses"]);
        assert_eq!(times, 8, "warps");
        assert_eq!(number(&counters["sectors"]), times * number(&access["sectors"]));
        assert_eq!(number(&counters["least_sectors"]), times * number(&access["least_sectors"]));
        assert_eq!(number(&counters["requests"]), times * access["requests"].as_array().unwrap().len() as u64);
        compared += 1;
    }
    assert_eq!(compared, 2, "a load and a store");
    let none = accesses(&["--line", "3"]);
    assert_eq!(none.code, 2);
    contains(&none.err, "error: line 3 did not reach global or shared memory in launch 1\n");
    contains(&none.err, "help: lines that did: 12\n");
    contains(&accesses(&["--access", "99"]).err, "memory 99 times in launch 1");
}

#[test]
fn pictures_of_the_book_are_what_its_commands_write() {
    let folder = Folder::new();
    let mut compared = 0;
    for page in ["seeing-memory.md", "seeing-divergence.md"] {
        let guide = root().join("docs/src/guide");
        let text = std::fs::read_to_string(guide.join(page)).unwrap();
        for line in text.lines().filter(|line| line.starts_with("raddle ") && line.contains(" --output ")) {
            let (command, name) = line.split_once(" --output ").unwrap();
            let output = folder.0.join(name).display().to_string();
            let words: Vec<&str> = command.split(' ').skip(1).chain(["--output", &output]).collect();
            let ended = raddle(&root(), &words);
            assert_eq!(ended.code, 0, "{line}: {}", ended.err);
            let [new, kept] = [folder.0.join(name), guide.join(name)].map(|path| std::fs::read(path).unwrap());
            assert!(new == kept, "docs/src/guide/{name} is out of date; write it again with: {line}");
            compared += 1;
        }
    }
    assert_eq!(compared, 6);
}
