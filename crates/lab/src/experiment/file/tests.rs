use super::*;
use raddle_ptx::source::LineIndex;
use raddle_workloads::Class;

const GOOD: &str = r#"title = "T"
workloads = ["spmv", "class:divergent"]
baseline = { scheduler = "lrr" }
metrics = ["cycles", "l2.hits"]

[repeats]
count = 2
vary = ["seed", "heap"]

[[axis]]
name = "scheduler"
key = "mechanism.issue"
values = ["all"]

[[axis]]
name = "sets"
key = "sm.l1d.sets"
values = [32, 64]

[[axis]]
name = "machine"
[[axis.variant]]
label = "plain"
[[axis.variant]]
label = "old"
preset = "fx5800"
set = ["mechanism.issue=two-level", "mechanism.issue.active=4"]

[[figure]]
name = "speedup"
title = "Speedup"
metric = "cycles"
against = "speedup"
bars = "scheduler"
where = { sets = 64 }
mean = "harmonic"
source = "Figure 9"
paper = [{ row = "spmv", bar = "gto", value = 1.1 }, { row = "mean:divergent", bar = "gto", value = 1.2 }]

[[figure]]
name = "sweep"
title = "Sweep"
metric = "thread-ipc"
bars = "scheduler"
rows = "sets"
"#;

/// `line:column: message [help]` for a text with a mistake.
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from));
    let text = GOOD.replacen(from, to, 1);
    let p = parse("x", &text).unwrap_err();
    let at = p.at.map_or("-".to_owned(), |at| LineIndex::new(&text).line_col(&text, at.start as u32).to_string());
    let help = p.help.map_or(String::new(), |h| format!(" [{h}]"));
    format!("{at}: {}{help}", p.message)
}

#[test]
fn a_file_becomes_an_experiment() {
    let e = parse("x", GOOD).unwrap();
    assert!(e.workloads.contains(&"bfs") && e.workloads.contains(&"spmv"));
    let gto = e.axes[0].find("gto").unwrap();
    assert_eq!(e.axes[0].variants[gto].set[0].text, "mechanism.issue=gto");
    assert_eq!(e.baseline, [Some(e.axes[0].find("lrr").unwrap()), None, None]);
    assert_eq!(e.baseline_of(&[gto, 1, 1])[1..], [1, 1]);
    assert_eq!(e.axes[1].variants[1].set[0].text, "sm.l1d.sets=64");
    assert_eq!(e.axes[2].variants[1].set.len(), 2);
    assert_eq!((e.repeats.count, e.repeats.vary.len()), (2, 2));
    let f = &e.figures[0];
    assert_eq!((f.bars, f.rows, f.fixed[1], f.mean, f.against), (0, None, 1, Mean::Harmonic, Against::Speedup));
    assert_eq!(f.paper[1], PaperValue { row: Row::ClassMean(Class::Divergent), bar: gto, value: 1.2 });
    assert_eq!(e.figures[1].rows, Some(1));
}

#[test]
fn mistakes_are_found_with_their_place() {
    assert_eq!(changed("metrics", "metrix"), "4:1: unknown key `metrix` [did you mean `metrics`?]");
    assert_eq!(
        changed("\"spmv\", \"class", "\"spm\", \"class"),
        "2:14: there is no workload `spm` [did you mean `spmv`?]"
    );
    assert!(changed("class:divergent", "class:odd").starts_with("2:22: `class:odd` means no workload"));
    assert_eq!(changed("l2.hits", "l2.hit"), "4:22: there is no metric `l2.hit` [did you mean `l2.hits`?]");
    assert_eq!(
        changed("{ scheduler =", "{ schedulers ="),
        "3:14: there is no axis `schedulers` [did you mean `scheduler`?]"
    );
    assert_eq!(changed("\"lrr\"", "\"lr\""), "3:26: axis `scheduler` has no `lr` [did you mean `lrr`?]");
    assert!(changed("count = 2", "count = 0").starts_with("6:1: repeats need"));
    assert!(changed("vary = [\"seed\"", "vary = [\"sed\"").starts_with("8:9: unknown variant `sed`"));
    assert_eq!(
        changed("values = [32, 64]", ""),
        "15:1: axis `sets` has nothing on it [give it `key` and `values`, or [[axis.variant]]]"
    );
    assert_eq!(changed("[32, 64]", "[32, 32]"), "16:8: axis `sets` has `32` twice");
    assert!(changed("key = \"sm.l1d.sets\"", "").starts_with("18:11: `values` need a `key`"));
    assert!(changed("\"sweep\"", "\"speedup\"").starts_with("41:8: `speedup` cannot name a figure"));
    assert!(changed("row = \"spmv\"", "row = \"walsh\"").starts_with("38:18: `walsh` is no row of the figure"));
    assert_eq!(changed("against = \"speedup\"", "against = 1").split(':').next(), Some("33"));
    assert!(changed("title = \"T\"", "").contains("missing field `title`"));
}
