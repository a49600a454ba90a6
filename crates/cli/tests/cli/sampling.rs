//! `raddle run --sample`.

use crate::{Ended, Folder, saxpy};
use serde_json::Value;

const ARGS: [&str; 18] = [
    "run",
    "saxpy.ptx",
    "-g",
    "40",
    "-b",
    "64",
    "-a",
    "2560",
    "-a",
    "2",
    "-a",
    "buf:f32:2560=iota",
    "-a",
    "y=buf:f32:2560=zero",
    "--set",
    "gpu.sms=1",
    "--set",
    "sm.ctas=1",
];

fn run(folder: &Folder, more: &[&str]) -> Ended {
    folder.raddle(&[&ARGS[..], more].concat())
}

fn folder() -> Folder {
    Folder::new().with("saxpy.ptx", &saxpy())
}

#[track_caller]
fn contains(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in:\n{text}");
}

#[track_caller]
fn refused(more: &[&str], message: &str) {
    let ended = run(&folder(), more);
    assert_eq!(ended.code, 2, "{}", ended.err);
    contains(&ended.err, message);
}

#[test]
fn an_estimate_says_that_it_is_one() {
    let ended = run(&folder(), &["--sample", "blocks=5%", "--check"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{}", ended.out);
    contains(&ended.out, " %, an estimate  (95 % interval ");
    contains(&ended.out, "  simulated in time    30.0 % of the warp-instructions, 12 of 40 blocks  (all in ");
    contains(&ended.out, "  thread-instructions  ");
    contains(&ended.out, "  the simulated part alone:\n  cycles ");
    contains(&ended.out, "\nall launches: ");
    contains(&ended.out, " %, an estimate from 30.0 % of the warp-instructions (");
    contains(&ended.out, "memory is equal to the reference interpreter's");
}

#[test]
fn machines_are_told_too() {
    let ended = run(&folder(), &["--sample", "blocks=5%", "--json"]);
    let value: Value = serde_json::from_str(&ended.out).unwrap();
    let (all, launch) = (&value["sample"], &value["launches"][0]);
    assert_eq!((&all["asked"], &all["is_whole"]), (&"blocks=5%".into(), &false.into()));
    assert_eq!((&all["blocks"]["all"], &all["blocks"]["simulated"]), (&40.into(), &12.into()));
    let number = |value: &Value| value.as_f64().unwrap();
    for estimate in [&all["estimate"], &launch["sample"]["estimate"]] {
        assert_eq!(estimate["confidence"], 0.95);
        assert!(number(&estimate["low"]) < number(&estimate["cycles"]));
        assert!(number(&estimate["high"]) > number(&estimate["cycles"]));
    }
    assert!((number(&all["share_simulated"]) - 0.3).abs() < 1e-9);
    assert_eq!((&launch["sample"]["kind"], &launch["sample"]["units"]), (&"part".into(), &5.into()));
    assert_eq!(launch["timing"], Value::Null, "what is of a part is not under the name of the whole");
    assert!(number(&launch["timing_of_part"]["cycles"]) < number(&all["estimate"]["cycles"]));
    assert_eq!(launch["thread_insts"], all["thread_insts"]["all"]);
}

#[test]
fn counters_of_a_part_are_named_so_and_do_not_depend_on_threads() {
    let folder = folder();
    let table = |name: &str, more: &[&str]| {
        let ended = run(&folder, &[&["--stats", name][..], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.err);
        std::fs::read_to_string(folder.0.join(name)).unwrap()
    };
    let whole = table("whole.csv", &[]);
    let part = table("part.csv", &["--sample", "blocks=5%", "--threads", "1"]);
    for threads in ["2", "3"] {
        assert!(table("other.csv", &["--sample", "blocks=5%", "--threads", threads]) == part, "{threads} threads");
    }
    let value = |table: &str, what: &str| -> u64 {
        let row = table.lines().find(|row| row.contains(what)).unwrap_or_else(|| panic!("no {what}"));
        row.split(',').nth(6).unwrap().parse().unwrap()
    };
    let cycles = value(&whole, ",launch,0,cycles,");
    let [low, estimate, high] =
        ["cycles_low", "cycles", "cycles_high"].map(|name| value(&part, &format!(",estimate,0,{name},")));
    assert!(low < estimate && estimate < high);
    assert!(estimate.abs_diff(cycles) * 10 < cycles, "{estimate} is not near {cycles}");
    assert_eq!(value(&part, ",estimate,0,warp_insts,"), value(&whole, ",sm,0,warp_insts,"));
    assert!(value(&part, ",part-sm,0,warp_insts,") < value(&whole, ",sm,0,warp_insts,"));
    assert!(part.lines().skip(1).all(|row| row.contains(",estimate,") || row.contains(",part-")), "{part}");
    // All of it: the same table, but for the rows that say so.
    let all = table("all.csv", &["--sample", "blocks=100%"]);
    let own: Vec<&str> = all.lines().filter(|row| !row.contains(",estimate,")).collect();
    assert_eq!(own.join("\n") + "\n", whole);
    assert_eq!(value(&all, ",estimate,0,cycles_low,"), cycles);
}

#[test]
fn a_small_grid_is_simulated_as_a_whole() {
    let ended = run(&folder(), &["--sample", "blocks=5%", "--set", "sm.ctas=4"]);
    contains(
        &ended.out,
        "  simulated as a whole: its 40 blocks are 10.0 times what the machine holds, too few to leave some out\n",
    );
    contains(&ended.out, " cycles, not sampled: nothing was left out");
    assert!(!ended.out.contains("estimate"), "{}", ended.out);
}

#[test]
fn launches_are_sampled() {
    let folder = Folder::new();
    let args = ["run", "gaussian", "--size", "tiny", "--sample", "launches=3"];
    let ended = folder.raddle(&[&args[..], &["--stats", "s.csv"]].concat());
    assert_eq!(ended.code, 0, "{}", ended.err);
    contains(&ended.out, " launches  (all in ");
    contains(&ended.out, ", an estimate from ");
    let stats = std::fs::read_to_string(folder.0.join("s.csv")).unwrap();
    let launches = |what: &str| stats.lines().filter(|row| row.contains(what)).count();
    assert!(launches(",estimate,0,cycles,") > launches(",launch,0,cycles,") && launches(",launch,0,cycles,") > 3);
    let value: Value = serde_json::from_str(&folder.raddle(&[&args[..], &["--json"]].concat()).out).unwrap();
    let kinds: Vec<&str> =
        value["launches"].as_array().unwrap().iter().map(|l| l["sample"]["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"executed") && kinds[0] == "whole", "{kinds:?}");
    assert!(value["sample"]["launches"]["simulated"].as_u64() < value["sample"]["launches"]["all"].as_u64());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sample = |more: &[&'static str]| [&["--sample", "blocks=5%"][..], more].concat();
    refused(&sample(&["--engine", "fast"]), "--sample needs the engine `timing`");
    refused(&sample(&["--energy"]), "--energy cannot be given with --sample: energy is summed up from counters");
    refused(&sample(&["--max-cycles", "9"]), "--max-cycles cannot be given with --sample");
    refused(&sample(&["--virtualize", "software"]), "--virtualize cannot be given with --sample");
    refused(&sample(&["--report-uninitialised"]), "--report-uninitialised cannot be given with --sample");
    refused(&["--sample", "blocks=5"], "`5` is not a share of blocks; write a percentage, as blocks=5%");
    refused(&["--sample", "launches=1"], "write launches=3 or more");
    refused(&["--sample", "half"], "`half` is not a way to sample; write blocks=5% for a part of every grid");
    let folder = folder();
    let measured = folder.raddle(&[&["measure", "barriers"], &ARGS[1..], &["--sample", "blocks=5%"]].concat());
    assert_eq!(measured.code, 2);
    contains(&measured.err, "--sample is for `raddle run`");
}
