use super::*;
use crate::experiment::{Against, ErrorBars, Kind, Mean, PaperValue, Row, Rows};
use raddle_ptx::source::LineIndex;

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
    let p = Experiment::parse("x", &text).unwrap_err();
    let at = p.at.map_or("-".to_owned(), |at| LineIndex::new(&text).line_col(&text, at.start as u32).to_string());
    let help = p.help.map_or(String::new(), |h| format!(" [{h}]"));
    format!("{at}: {}{help}", p.message)
}

#[test]
fn a_file_becomes_an_experiment() {
    let e = Experiment::parse("x", GOOD).unwrap();
    assert!(e.workloads.contains(&"bfs") && e.workloads.contains(&"spmv"));
    let gto = e.axes[0].find("gto").unwrap();
    assert_eq!(e.axes[0].variants[gto].set[0].text, "mechanism.issue=gto");
    assert_eq!(e.baseline, [Some(e.axes[0].find("lrr").unwrap()), None, None]);
    assert_eq!(e.axes[1].variants[1].set[0].text, "sm.l1d.sets=64");
    assert_eq!(e.axes[2].variants[1].set.len(), 2);
    assert_eq!((e.repeats.count, e.repeats.vary.len()), (2, 2));
    let f = &e.figures[0];
    assert_eq!((f.bars, f.rows, f.fixed[1]), (0, Rows::Workloads, 1));
    assert_eq!((&f.baseline, f.baseline_of(&[gto, 1, 1])), (&e.baseline, vec![e.axes[0].find("lrr").unwrap(), 1, 1]));
    assert_eq!((f.mean, f.against), (Mean::Harmonic, Against::Speedup));
    assert_eq!(
        f.paper[1],
        PaperValue { row: Row::GroupMean("divergent".to_owned()), bar: gto, part: None, value: 1.2, why: None }
    );
    assert_eq!(e.figures[1].rows, Rows::Axis(1));
}

#[test]
fn mistakes_are_found_with_their_place() {
    assert_eq!(changed("metrics", "metrix"), "4:1: unknown key `metrix` [did you mean `metrics`?]");
    assert_eq!(
        changed("\"spmv\", \"class", "\"spm\", \"class"),
        "2:14: there is no workload `spm` [did you mean `spmv`?]"
    );
    assert!(changed("class:divergent", "class:odd").starts_with("2:22: `class:odd` is not a workload"));
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
    assert!(changed("row = \"spmv\"", "row = \"walsh\"").starts_with("38:18: `walsh` is not a row of the figure"));
    assert_eq!(changed("against = \"speedup\"", "against = 1").split(':').next(), Some("33"));
    assert!(changed("title = \"T\"", "").contains("missing field `title`"));
}

#[test]
fn a_choice_can_be_run_with_some_of_another_axis() {
    let text = GOOD.replacen("preset = \"fx5800\"", "with = { sets = [64], scheduler = [\"lrr\", \"gto\"] }", 1);
    let e = Experiment::parse("x", &text).unwrap();
    let [lrr, gto, oldest] = ["lrr", "gto", "oldest"].map(|label| e.axes[0].find(label).unwrap());
    assert!(e.runs(&[lrr, 1, 1]) && e.runs(&[gto, 1, 1]) && e.runs(&[oldest, 0, 0]));
    assert!(!e.runs(&[gto, 0, 1]) && !e.runs(&[oldest, 1, 1]));
    let wrong = |with: &str| changed("preset = \"fx5800\"", &format!("with = {with}"));
    assert_eq!(wrong("{ set = [64] }"), "26:10: there is no axis `set` [did you mean `sets`?]");
    assert!(wrong("{ sets = [65] }").starts_with("26:18: axis `sets` has no `65`"));
    assert!(wrong("{ machine = [\"plain\"] }").starts_with("26:10: `with` is about the choices on other axes"));
}

#[test]
fn a_choice_can_be_run_with_some_groups() {
    let groups = "[[group]]\nname = \"A\"\nworkloads = [\"spmv\"]\n[[group]]\nname = \"B\"\nworkloads = [\"bfs\"]\n";
    let text = GOOD.replacen("preset = \"fx5800\"", "groups = [\"A\"]", 1).replacen("mean:divergent", "mean:B", 1);
    let text = text.replacen("metrics", "set = [\"sm.l1d.index=linear\"]\nmetrics", 1);
    let e = Experiment::parse("x", &format!("{text}{groups}")).unwrap();
    assert!(e.runs_with(&[0, 0, 1], "spmv") && !e.runs_with(&[0, 0, 1], "bfs"));
    assert!(e.runs_with(&[0, 0, 0], "spmv") && e.runs_with(&[0, 0, 0], "bfs"));
    let grid = crate::grid::Grid::new(&e).unwrap();
    let is_run = |choices: [usize; 3], name: &str| {
        let number = grid.programs.iter().position(|program| program.name == name).unwrap();
        (0..2).map(|repeat| grid.point(&choices, number, repeat)).all(|p| p.is_some_and(|p| p.program.name == name))
    };
    assert!(is_run([0, 0, 1], "spmv") && !is_run([0, 0, 1], "bfs") && is_run([0, 1, 0], "bfs"));
    let wrong = changed("preset = \"fx5800\"", "groups = [\"divergant\"]");
    assert!(wrong.starts_with("26:11:") && wrong.contains("`divergant`"), "{wrong}");
}

#[test]
fn a_figure_can_show_some_of_the_bars() {
    let e = Experiment::parse("x", GOOD).unwrap();
    assert_eq!(e.figures[0].choices.len(), e.axes[0].variants.len(), "all when left out");
    let text = GOOD.replacen("rows = \"sets\"", "choices = [\"gto\", \"lrr\"]", 1);
    let e = Experiment::parse("x", &text).unwrap();
    assert_eq!(e.figures[1].choices, ["gto", "lrr"].map(|label| e.axes[0].find(label).unwrap()), "in this order");
    let wrong = changed("rows = \"sets\"", "choices = [\"gtoo\"]");
    assert_eq!(wrong, "45:12: axis `scheduler` has no `gtoo` [did you mean `gto`?]");
}

#[test]
fn a_figure_can_have_a_baseline_of_its_own() {
    let own = "against = \"speedup\"\nbaseline = { scheduler = \"gto\", sets = 32 }";
    let e = Experiment::parse("x", &GOOD.replacen("against = \"speedup\"", own, 1)).unwrap();
    let [lrr, gto] = ["lrr", "gto"].map(|label| e.axes[0].find(label).unwrap());
    assert_eq!(e.figures[0].baseline_of(&[lrr, 1, 1]), [gto, 0, 1]);
    assert_eq!(e.figures[1].baseline_of(&[gto, 1, 1]), [lrr, 1, 1], "that of the experiment");
    let wrong = changed("against = \"speedup\"", "against = \"speedup\"\nbaseline = { sets = 33 }");
    assert!(wrong.starts_with("34:21: axis `sets` has no `33`"), "{wrong}");
    let wrong = changed("against = \"speedup\"", "baseline = { sets = 32 }");
    assert!(wrong.starts_with("33:14: figure `speedup` sets nothing against its baseline"), "{wrong}");
}

#[test]
fn a_figure_can_show_one_group() {
    let group = |word: &str| format!("mean = \"harmonic\"\ngroup = \"{word}\"");
    let e = Experiment::parse("x", &GOOD.replacen("mean = \"harmonic\"", &group("divergent"), 1)).unwrap();
    let shown = e.figures[0].group.as_ref().unwrap();
    assert!(shown.workloads.contains(&"bfs") && shown.workloads.contains(&"spmv"), "the class, without groups");
    assert!(e.figures[0].shows("bfs") && !e.figures[0].shows("walsh") && e.figures[1].shows("walsh"));
    let wrong = |word: &str| changed("mean = \"harmonic\"", &group(word));
    assert!(wrong("divergnt").starts_with("37:9: there is no class `divergnt` [did you mean `divergent`?]"));
    assert!(wrong("barrier").starts_with("37:9: the experiment has no workloads of class `barrier`"));
    let all =
        GOOD.replacen("\"mean:divergent\"", "\"mean\"", 1).replacen("mean = \"harmonic\"", &group("divergent"), 1);
    let problem = Experiment::parse("x", &all).unwrap_err();
    assert!(problem.message.contains("shows group `divergent` alone"), "{}", problem.message);
}

#[test]
fn stacks_have_parts_with_names() {
    let stack = "metric = \"thread-ipc\"";
    let good = GOOD.replacen(stack, "stack = ['few = sm.issued_1_4 + sm.issued_5_8', 'sm.stall_not_fetched']", 1);
    let figure = &Experiment::parse("x", &good).unwrap().figures[1];
    let labels: Vec<&str> = figure.stack.iter().map(|part| part.label.as_str()).collect();
    assert_eq!(labels, ["few", "sm.stall_not_fetched"]);
    assert_eq!(figure.stack[0].metric.to_string(), "sm.issued_1_4 + sm.issued_5_8");
    assert_eq!(figure.mean, Mean::Arithmetic, "others do not add up");

    let slots = Experiment::parse("x", &GOOD.replacen(stack, "stack = ['slots']", 1)).unwrap().figures[1].clone();
    assert_eq!((slots.stack.len(), slots.stack[0].label.as_str()), (11, "1 to 8 lanes"));
    assert!(changed(stack, "stack = ['slots', 'draining = l2.hits']").contains("the stack has `draining` twice"));

    assert!(changed(stack, "").starts_with("41:8: figure `sweep` shows nothing"));
    assert!(changed(stack, "stack = ['a = l2.hits', 'a = l2.misses']").contains("the stack has `a` twice"));
    assert!(changed(stack, "stack = ['a = l2.hit']").starts_with("43:10: there is no metric `l2.hit`"));
    let both = "metric = 'cycles'\nstack = ['l2.hits']";
    assert!(changed(stack, both).contains("a `metric` or a `stack`, not both"));
    let speedup = "stack = ['l2.hits']\nagainst = 'speedup'";
    assert!(changed(stack, speedup).contains("cannot be drawn as speedup"));
    assert!(changed(stack, "stack = ['l2.hits']\nmean = 'harmonic'").starts_with("44:8: harmonic means of parts"));
    assert!(changed(stack, "metric = 'cycles'\nagainst = 'share'").contains("only parts of a stack"));
    assert!(changed("bar = \"gto\"", "bar = 'gto', part = 'x'").contains("no part `x` [they are not stacked]"));
}

#[test]
fn rows_can_be_kernels() {
    let with = |row: &str| {
        let text = GOOD.replacen("where = { sets = 64 }", "where = { sets = 64 }\nrows = 'kernels'", 1);
        Experiment::parse("x", &text.replacen("row = \"spmv\"", &format!("row = \"{row}\""), 1))
    };
    let module = raddle_workloads::find("spmv").unwrap().module().unwrap();
    let kernel = module.module.kernels().next().unwrap().1.name.clone();
    let figure = with(&format!("spmv/{kernel}")).unwrap().figures[0].clone();
    assert_eq!(figure.rows, Rows::Kernels);
    assert_eq!(figure.paper[0].row, Row::Kernel { workload: "spmv".to_owned(), kernel });
    assert!(with("spmv/nothing").unwrap_err().message.contains("nothing"));
    assert!(with("spmv").unwrap_err().help.unwrap().starts_with("a row is WORKLOAD/KERNEL"));
}

#[test]
fn machines_can_come_from_files() {
    let preset = "preset = \"fx5800\"";
    assert_eq!(
        changed(preset, "machine = 'nothing.toml'"),
        "26:11: cannot read nothing.toml: No such file or directory (os error 2) [machine files are looked for beside \
         the experiment file]"
    );
    let both = changed(preset, "preset = 'fx5800'\nmachine = 'nothing.toml'");
    assert!(both.starts_with("27:11: a machine starts from a `preset` or from a file, not both"), "{both}");
    let axis = changed("key = \"sm.l1d.sets\"\nvalues = [32, 64]", "key = 'machine'\nvalues = ['nothing.toml']");
    assert!(axis.starts_with("18:11: cannot read nothing.toml"), "{axis}");
}

const GROUPS: &str = "workloads = [\"spmv\", \"class:divergent\"]\nbaseline = { scheduler = \"lrr\" }\n\
    group = [\n{ name = \"TWO\", workloads = [\"spmv\", \"bfs\"] },\n{ name = \"ONE\", workloads = [\"mum\"] },\n]";

/// [`changed`], with these groups after the baseline.
fn grouped(from: &str, to: &str) -> String {
    assert!(GROUPS.contains(from));
    changed(GROUPS.split("\ngroup").next().unwrap(), &GROUPS.replacen(from, to, 1))
}

#[test]
fn groups_take_the_place_of_classes() {
    let text = GOOD.replacen(GROUPS.split("\ngroup").next().unwrap(), GROUPS, 1);
    let of_paper = |row: &str| {
        let text = text.replacen("mean:divergent", row, 1);
        Experiment::parse("x", &text).map(|e| e.figures[0].paper[1].row.clone())
    };
    let two = Row::GroupMean("TWO".to_owned());
    assert_eq!((of_paper("mean, TWO").unwrap(), of_paper("mean:TWO").unwrap()), (two.clone(), two));
    assert_eq!((of_paper("mean, all").unwrap(), of_paper("mean").unwrap()), (Row::Mean, Row::Mean));
    let wrong = of_paper("mean, TOW").unwrap_err();
    assert_eq!(
        (wrong.message.as_str(), wrong.help.as_deref()),
        ("there is no group `TOW`", Some("there are TWO, ONE"))
    );
    assert!(of_paper("mean:divergent").is_err(), "classes are none of the groups");
    let text = text.replacen("mean:divergent", "mean, ONE", 1);
    let e = Experiment::parse("x", &text).unwrap();
    assert_eq!(e.groups[0], Group { name: "TWO".to_owned(), workloads: vec!["spmv", "bfs"] });
    assert_eq!(e.workloads[..3], ["spmv", "bfs", "mum"], "those of groups come first");
    assert!(e.workloads.len() > 3);
    let one = "[\"mum\"] },\n";
    let across = format!("{one}{{ name = 'ACROSS', overlaps = true, workloads = ['bfs', 'mum'] }},\n");
    let across = text.replacen(one, &across, 1);
    let e = Experiment::parse("x", &across).unwrap();
    assert_eq!(
        (e.groups[2].workloads.as_slice(), &e.workloads[..3]),
        (&["bfs", "mum"][..], &["spmv", "bfs", "mum"][..])
    );
    let alone = text.replacen("workloads = [\"spmv\", \"class:divergent\"]\n", "", 1);
    assert_eq!(Experiment::parse("x", &alone).unwrap().workloads, ["spmv", "bfs", "mum"]);

    assert_eq!(
        grouped("\"mum\"", "\"bfs\""),
        "6:30: `bfs` is in group `TWO` already [a workload is in one group, unless a later group says `overlaps = true`]"
    );
    assert!(grouped("\"mum\"", "\"walsh\"").starts_with("6:30: the experiment does not run `walsh`"));
    assert!(grouped("\"mum\"", "\"mumm\"").starts_with("6:30: there is no workload `mumm`"));
    assert!(grouped("[\"mum\"]", "[]").starts_with("6:10: group `ONE` has no workloads"));
    assert!(grouped("\"ONE\"", "\"TWO\"").starts_with("6:10: `TWO` cannot name a group"));
    assert!(grouped("\"ONE\"", "\"all\"").starts_with("6:10: `all` cannot name a group"));
    assert_eq!(grouped("name = \"ONE\"", "nam = \"ONE\""), "6:3: unknown key `nam` [did you mean `name`?]");
    assert!(changed("workloads = [\"spmv\", \"class:divergent\"]", "").contains("the experiment has no workloads"));
}

#[test]
fn the_largest_has_no_mean() {
    let without = GOOD.replacen("against = \"speedup\"", "", 1).replacen("mean = \"harmonic\"", "", 1);
    let deepest = without.replacen("metric = \"cycles\"", "metric = \"sm.stack_depth\"", 1);
    let rows = deepest.replacen(", { row = \"mean:divergent\", bar = \"gto\", value = 1.2 }", "", 1);
    assert_eq!(Experiment::parse("x", &rows).unwrap().figures[0].mean, Mean::None);
    let problem = Experiment::parse("x", &deepest).unwrap_err();
    assert_eq!(problem.message, "the figure has no means");
    assert!(
        changed("rows = \"sets\"", "rows = \"sets\"\nmean = 'none'").starts_with("46:8: rows of an axis are means")
    );
}

#[test]
fn figures_have_kinds_and_error_bars() {
    let with = |more: &str| GOOD.replace("rows = \"sets\"\n", &format!("rows = \"sets\"\n{more}"));
    let e = Experiment::parse("x", &with("kind = \"line\"\nerror = \"interval-95\"\n")).unwrap();
    assert_eq!((e.figures[1].kind, e.figures[1].error), (Kind::Line, ErrorBars::Interval95));
    assert_eq!((e.figures[0].kind, e.figures[0].error), (Kind::Bars, ErrorBars::MinMax));
    let scatter = GOOD.replace("rows = \"sets\"", "kind = \"scatter\"\nx = \"simd-efficiency\"");
    assert!(Experiment::parse("x", &scatter).unwrap().figures[1].x.is_some());
    for (more, why) in [
        ("kind = \"stacked\"", "go together"),
        ("kind = \"scatter\"\nx = \"cycles\"", "points are workloads"),
        ("x = \"cycles\"", "only scattered points"),
        ("kind = \"box\"\nerror = \"standard-error\"", "no error bars"),
        ("kind = \"pie\"", "unknown variant"),
    ] {
        let problem = Experiment::parse("x", &with(&format!("{more}\n"))).unwrap_err();
        assert!(problem.at.is_some() && problem.message.contains(why), "{more}: {}", problem.message);
    }
    let line = GOOD.replace("mean = \"harmonic\"", "kind = \"line\"");
    assert!(Experiment::parse("x", &line).unwrap_err().message.contains("lines need an axis"));
    let once = GOOD
        .replace("count = 2", "count = 1")
        .replace("title = \"Speedup\"", "title = \"Speedup\"\nerror = \"min-max\"");
    assert!(Experiment::parse("x", &once).unwrap_err().message.contains("repeated"));
}
