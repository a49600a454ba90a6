//! The page that holds machines of ours against what others measured on real GPUs.

use std::fs;
use std::time::Instant;

use raddle_sim::config::{Machine, MachineConfig, Source};
use raddle_testkit::silicon::{Column, Figures, Measure, NotRun, compare, measures, tables, value};

use crate::Result;
use crate::files::root;
use crate::marks::filled;

/// Where the page is.
const PAGE: &str = "docs/src/validation/silicon.md";

/// The options of `cargo xtask silicon`.
#[derive(clap::Args)]
pub struct Args {
    /// The machine; may be given several times [default: those of the chip]
    #[arg(long, value_name = "NAME")]
    preset: Vec<String>,
    /// The chip whose figures it is compared with
    #[arg(long, value_name = "NAME", default_value = "gv100")]
    chip: String,
    /// Change the machine, as `raddle run --set`; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Only measures whose name contains this; writes no page
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Print the tables and write no page
    #[arg(long)]
    print: bool,
}

/// Measures everything and writes the page.
pub fn run(args: &Args) -> Result {
    let figures = Figures::read();
    if !figures.chips.contains_key(&args.chip) {
        let known: Vec<&str> = figures.chips.keys().map(String::as_str).collect();
        return Err(format!("there are no figures of the chip `{}` (chips: {})", args.chip, known.join(", ")).into());
    }
    let presets = if args.preset.is_empty() { &figures.chips[&args.chip].presets } else { &args.preset };
    let all = measures();
    let wanted = |m: &&Measure| args.only.as_ref().is_none_or(|part| m.name.contains(part.as_str()));
    let mut values = Vec::new();
    for preset in presets {
        let machine = machine(preset, &args.set)?;
        println!("silicon: preset {preset}");
        values.push(all.iter().filter(wanted).map(|m| (m.clone(), measured(m, &machine))).collect::<Vec<_>>());
    }
    if args.only.is_some() {
        return Ok(());
    }
    let columns: Vec<_> = (presets.iter().zip(&values))
        .map(|(preset, values)| Column { preset, rows: compare(&figures, &args.chip, values) })
        .collect();
    let text = tables(&figures, &columns, &args.chip, &all);
    // A changed or another machine's table stays out of the book.
    if args.print || !args.set.is_empty() || !args.preset.is_empty() {
        println!("{text}");
        return Ok(());
    }
    let path = root().join(PAGE);
    let page = filled(&fs::read_to_string(&path)?, &[("silicon".to_owned(), text)])?;
    fs::write(&path, page)?;
    println!("silicon: {} figures, wrote {PAGE}", columns.iter().map(|column| column.rows.len()).sum::<usize>());
    Ok(())
}

fn machine(preset: &str, set: &[String]) -> Result<MachineConfig> {
    let loaded = Machine::load(Source::Preset(preset), set);
    let problems = match loaded {
        Ok(machine) => return Ok(machine.config),
        Err(problems) => problems,
    };
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Err(lines.join("\n").into())
}

/// A value, with a line for who waits.
fn measured(measure: &Measure, machine: &MachineConfig) -> std::result::Result<f64, NotRun> {
    let start = Instant::now();
    let found = value(measure, machine);
    let shown = found.as_ref().map_or_else(ToString::to_string, |value| format!("{value:.2} {}", measure.unit));
    println!("silicon: {}: {shown} ({:.1} s)", measure.name, start.elapsed().as_secs_f64());
    found
}
