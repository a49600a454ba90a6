use super::*;
use crate::work::{InMemory, Options, run};
use raddle_sim::config::{Machine, Source};
use std::sync::Arc;

fn machine(preset: &str) -> MachineConfig {
    Machine::load(Source::Preset(preset), &[] as &[&str]).unwrap().config
}

fn program(name: &str) -> Program {
    Program::new(raddle_workloads::find(name).unwrap()).unwrap()
}

fn grid(text: &str) -> (Experiment, Grid) {
    let experiment = Experiment::parse("t", text).unwrap();
    let grid = Grid::new(&experiment).unwrap();
    (experiment, grid)
}

/// SMs, channels and DRAM clock of a point.
fn size_of(point: &Point) -> (u32, u32, u32) {
    let config = &point.target.config;
    (config.gpu.sms, config.dram.channels, config.clock.dram)
}

/// Every workload at every size has the wanted waves where one SM more would not leave them, or runs on one SM.
#[test]
fn the_waves_are_reached_or_it_is_one_sm() {
    let experiment = Experiment::new("t", Vec::new(), &Arc::new(raddle_mech::registry()));
    for preset in ["gtx480", "fx5800"] {
        let machine = machine(preset);
        for workload in raddle_workloads::all() {
            let program = program(workload.name);
            for (size, waves) in Size::ALL.into_iter().zip([1.0, 2.0, 3.5]) {
                let Some(part) = part(&experiment, &program, size, &machine, waves) else {
                    assert_eq!((workload.name, preset), ("nqueens", "fx5800"), "no SM holds a block");
                    continue;
                };
                let fill = fill(&experiment, &program, size, &machine).unwrap();
                let what = format!("{} at size {size} on {preset}: {part:?}, {}", workload.name, fill.on(part.sms));
                let own = (1..=machine.gpu.sms).contains(&part.sms) && part == Part::new(&machine, part.sms);
                assert!(own, "{what}");
                if program.all_resident {
                    let fits = |sms: u32| fill.on(sms).waves() <= 1.0;
                    assert!(fits(part.sms) && (part.sms == 1 || !fits(part.sms - 1)), "{what}");
                    continue;
                }
                assert!(part.sms == 1 || fill.on(part.sms).waves() >= waves, "{what}");
                assert!(part.sms == machine.gpu.sms || fill.on(part.sms + 1).waves() < waves, "{what}");
            }
        }
    }
}

#[test]
fn only_kernels_that_count_decide() {
    let page_view = program("page-view-count");
    let of = |kernels: &[&str]| {
        let mut experiment = Experiment::new("t", vec!["page-view-count"], &Arc::new(raddle_mech::registry()));
        let kernels: Vec<String> = kernels.iter().map(|kernel| (*kernel).to_owned()).collect();
        if !kernels.is_empty() {
            experiment.kernels.insert("page-view-count", kernels);
        }
        fill(&experiment, &page_view, Size::Small, &machine("gtx480")).unwrap()
    };
    let launches = page_view.launches(Size::Small);
    let blocks = |kernel: &str| launches.iter().find(|l| l.kernel == kernel).unwrap().blocks;
    assert_eq!(of(&["sort_tiles"]).blocks, blocks("sort_tiles"));
    assert_eq!(of(&["scan_totals"]).blocks, 1);
    assert_ne!(of(&[]), of(&["scan_totals"]));
}

const FILLED: &str = "title = 'T'\nworkloads = ['walsh', 'spmv']\nsize = 'small'\n[fill]\nwaves = 2.0\n\
    [[axis]]\nname = 'i'\n\
    [[axis.variant]]\nlabel = 'lrr'\nset = ['mechanism.issue=lrr']\n\
    [[axis.variant]]\nlabel = 'few'\nset = ['sm.registers=16384']\n\
    [[axis.variant]]\nlabel = 'virtual'\nvirtualize = 'same-lane'\n\
    [[axis.variant]]\nlabel = 'own'\nset = ['gpu.sms=2']\n";

#[test]
fn the_bars_of_a_row_share_a_machine() {
    for preset in ["gtx480", "fx5800"] {
        let whole = machine(preset);
        let (experiment, grid) = grid(&format!("preset = '{preset}'\n{FILLED}"));
        for (number, program) in grid.programs.iter().enumerate() {
            let wanted = part(&experiment, program, Size::Small, &whole, 2.0).unwrap();
            let sizes = [0, 1, 2, 3].map(|choice| size_of(grid.point(&[choice], number, 0).unwrap()));
            let Part { sms, channels, dram_mhz } = wanted;
            assert_eq!(sizes, [(sms, channels, dram_mhz), sizes[0], sizes[0], (2, channels, dram_mhz)]);
        }
    }
}

/// `spmv` launches 342 blocks of 192 threads and 16 registers: an SM of `gtx480` holds 8, one of `fx5800` 5. Four SMs of 15
/// have 1.6 of 6 channels, six of 30 have 1.6 of 8.
#[test]
fn known_machines_are_chosen() {
    for (preset, expected) in [("gtx480", (4, 2, 739)), ("fx5800", (6, 2, 640))] {
        let text = format!("preset = '{preset}'\n{}", FILLED.replace("waves = 2.0", "waves = 10"));
        let (_, grid) = grid(&text);
        let spmv = grid.programs.iter().position(|program| program.name == "spmv").unwrap();
        assert_eq!(size_of(grid.point(&[0], spmv, 0).unwrap()), expected, "{preset}");
    }
}

#[test]
fn a_rule_can_have_other_waves_for_some() {
    let (_, grid) = grid(&FILLED.replace("waves = 2.0", "waves = 0.01\nworkloads = { walsh = 1000 }"));
    let sizes: BTreeMap<&str, _> = (0..grid.programs.len())
        .map(|number| (grid.programs[number].name, size_of(grid.point(&[0], number, 0).unwrap())))
        .collect();
    assert_eq!(sizes, BTreeMap::from([("walsh", (1, 1, 370)), ("spmv", (15, 6, 924))]));
}

#[test]
fn records_and_pages_have_the_machine() {
    let text = "title = 'T'\nworkloads = ['spmv', 'stencil-sync']\nsize = 'tiny'\n[fill]\nwaves = 1\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nagainst = 'speedup'\nbars = 'i'\n";
    let (experiment, grid) = grid(text);
    let mut results = InMemory::default();
    run(&grid.points, &mut results, Options { jobs: 2, cores: 2 }, &|_| {}).unwrap();
    let values = Values::read(&experiment, &grid, &results).unwrap();
    let machines = machines(&experiment, &grid, &values);
    assert_eq!(machines.len(), 2, "a line for each workload: {machines:?}");
    for point in &grid.points {
        let record = crate::work::Results::result(&results, &point.key).unwrap().unwrap();
        let spec = Arc::clone(&record.identity.machine);
        let filled = machines.iter().find(|m| m.workload == point.program.name).unwrap();
        let Part { sms, channels, dram_mhz } = filled.part;
        assert_eq!(spec.number(&["gpu", "sms"]), f64::from(sms));
        assert_eq!(spec.number(&["dram", "channels"]), f64::from(channels));
        assert_eq!(spec.number(&["clock", "dram"]), f64::from(dram_mhz));
        assert!(filled.fill.unwrap().waves() >= 1.0 || sms == 1 || filled.all_resident, "{filled:?}");
    }
    let report = crate::report::Report::new(&experiment, &grid, &results, "raddle", None).unwrap();
    let page = String::from_utf8(report.files[0].1.clone()).unwrap();
    assert!(page.contains("Machines differ in size from row to row"), "{page}");
    assert!(page.contains("<th>slots without a warp</th>"), "{page}");
}

#[test]
fn only_kernels_that_count_are_measured_and_shown() {
    let text = |kernels: &str| {
        format!(
            "title = 'T'\nworkloads = ['page-view-count']\nsize = 'tiny'\nmetrics = ['cycles', 'sm.barriers']\n{kernels}\
             [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr']\n\
             [[figure]]\nname = 'f'\ntitle = 'F'\nmetric = 'cycles'\nbars = 'i'\nrows = 'kernels'\nmean = 'none'\n"
        )
    };
    let (all, grid_of_all) = grid(&text(""));
    let (some, grid_of_some) = grid(&text("[kernels]\npage-view-count = ['sort_tiles', 'scan_heads']\n"));
    assert_eq!(grid_of_all.points[0].key, grid_of_some.points[0].key, "what is run is the same");
    let mut results = InMemory::default();
    run(&grid_of_all.points, &mut results, Options { jobs: 1, cores: 1 }, &|_| {}).unwrap();
    let key = &grid_of_all.points[0].key;
    let record = crate::work::Results::result(&results, key).unwrap().unwrap();
    let [of_all, of_some] = [(&all, &grid_of_all), (&some, &grid_of_some)].map(|(experiment, grid)| {
        let values = Values::read(experiment, grid, &results).unwrap();
        let names: Vec<String> =
            values.table(experiment, &experiment.figures[0]).rows.into_iter().map(|row| row.name).collect();
        (values.get(key, &Metric::Cycles).unwrap(), names)
    });
    let cycles = |name: &str| record.kernels.iter().find(|kernel| kernel.kernel == name).map_or(0, |k| k.cycles);
    assert_eq!(of_all.0, record.total("cycles") as f64);
    assert_eq!(of_some.0, (cycles("sort_tiles") + cycles("scan_heads")) as f64);
    assert_eq!(of_some.1, ["page-view-count/sort_tiles", "page-view-count/scan_heads"]);
    assert_eq!(of_all.1.len(), record.kernels.len());
}
