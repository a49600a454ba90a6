//! Sampled runs of the workloads beside whole ones: the measured table, and the page that shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use raddle_runtime::numbers::{grouped, percent};
use raddle_runtime::sample::{LEAST_LAUNCHES, blocks};
use raddle_workloads::Size;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;
use crate::files::{root, run_cargo, target};
use crate::marks::filled;

/// The page with the tables.
pub const PAGE: &str = "docs/src/sampling.md";

/// The launches that are sampled for the page, of each kernel.
const LAUNCHES: u64 = 5;
const _: () = assert!(LAUNCHES as usize >= LEAST_LAUNCHES);

#[derive(clap::Args)]
pub struct Args {
    /// Workloads; all when none is named
    workloads: Vec<String>,
    /// tiny, small or paper
    #[arg(long, default_value = "paper")]
    size: String,
    /// Sample again what the table has
    #[arg(long)]
    again: bool,
    /// Make the whole runs again, too
    #[arg(long)]
    whole: bool,
    /// Run nothing; write the page from the table
    #[arg(long)]
    page: bool,
}

/// A workload at a size: the whole run, and the sampled ones where there is something to leave out.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    workload: String,
    size: String,
    cycles: u64,
    seconds: f64,
    /// Of the largest grid.
    waves: f64,
    /// Launches of the kernel and block size that has most.
    launches: u64,
    blocks_estimate: Option<u64>,
    blocks_low: Option<u64>,
    blocks_high: Option<u64>,
    blocks_share: Option<f64>,
    blocks_seconds: Option<f64>,
    launches_estimate: Option<u64>,
    launches_low: Option<u64>,
    launches_high: Option<u64>,
    launches_share: Option<f64>,
    launches_seconds: Option<f64>,
}

/// A sampled run beside the whole one.
struct Pair<'r> {
    row: &'r Row,
    estimate: u64,
    low: u64,
    high: u64,
    share: f64,
    seconds: f64,
}

impl Row {
    fn blocks(&self) -> Option<Pair<'_>> {
        let (estimate, low, high) = (self.blocks_estimate?, self.blocks_low?, self.blocks_high?);
        Some(Pair { row: self, estimate, low, high, share: self.blocks_share?, seconds: self.blocks_seconds? })
    }

    fn launches(&self) -> Option<Pair<'_>> {
        let (estimate, low, high) = (self.launches_estimate?, self.launches_low?, self.launches_high?);
        Some(Pair { row: self, estimate, low, high, share: self.launches_share?, seconds: self.launches_seconds? })
    }

    /// Whether some grid is large enough to be sampled.
    fn has_waves(&self) -> bool {
        self.waves >= blocks::least_waves() as f64
    }

    /// Whether a kernel has more launches than are simulated.
    fn has_launches(&self) -> bool {
        self.launches > LAUNCHES + 1
    }
}

impl Pair<'_> {
    fn error(&self) -> f64 {
        self.estimate as f64 / self.row.cycles.max(1) as f64 - 1.0
    }

    fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.row.cycles)
    }
}

fn path() -> PathBuf {
    root().join("crates/workloads/measured/sampling.csv")
}

fn read() -> Result<Vec<Row>> {
    match path().exists() {
        true => Ok(csv::Reader::from_path(path())?.deserialize().collect::<std::result::Result<_, _>>()?),
        false => Ok(Vec::new()),
    }
}

fn write(rows: &[Row]) -> Result {
    let mut writer = csv::Writer::from_path(path())?;
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    Ok(writer.flush()?)
}

/// Runs what the table lacks, and writes table and page.
pub fn run(args: &Args) -> Result {
    if !args.page {
        measure(args)?;
    }
    fs::write(root().join(PAGE), page()?)?;
    println!("sampling: wrote {PAGE}");
    Ok(())
}

fn measure(args: &Args) -> Result {
    let size = Size::ALL.into_iter().find(|s| s.name() == args.size).ok_or("sizes are tiny, small and paper")?;
    let names: Vec<&str> = raddle_workloads::all().iter().map(|w| w.name).collect();
    if let Some(unknown) = args.workloads.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(format!("there is no workload `{unknown}`").into());
    }
    run_cargo(&["build", "--locked", "--release", "-p", "raddle-cli"])?;
    let is_asked = |name: &str| args.workloads.is_empty() || args.workloads.iter().any(|asked| asked == name);
    for name in names.into_iter().filter(|name| is_asked(name)) {
        let mut rows = read()?;
        let found = rows.iter().position(|row| row.workload == name && row.size == size.name());
        let mut row = match found.filter(|_| !args.whole) {
            Some(at) => rows[at].clone(),
            None => whole(name, size)?,
        };
        if row.has_waves() && (args.again || row.blocks().is_none()) {
            let (value, seconds) = raddle(name, size, &["--sample", "blocks=5%"])?;
            (row.blocks_estimate, row.blocks_low, row.blocks_high, row.blocks_share) = estimate(&value);
            row.blocks_seconds = Some(seconds);
        }
        if row.has_launches() && (args.again || row.launches().is_none()) {
            let (value, seconds) = raddle(name, size, &["--sample", &format!("launches={LAUNCHES}")])?;
            (row.launches_estimate, row.launches_low, row.launches_high, row.launches_share) = estimate(&value);
            row.launches_seconds = Some(seconds);
        }
        match found {
            Some(at) => rows[at] = row,
            None => rows.push(row),
        }
        rows.sort_by(|a, b| (&a.size, &a.workload).cmp(&(&b.size, &b.workload)));
        write(&rows)?;
    }
    Ok(())
}

/// A run of a workload: what it says, and the processor time it took.
fn raddle(name: &str, size: Size, more: &[&str]) -> Result<(Value, f64)> {
    let before = children_seconds()?;
    let mut command = Command::new(target().join("release/raddle"));
    let output = command.args(["run", name, "--size", size.name(), "--threads", "1", "--json"]).args(more).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let seconds = children_seconds()? - before;
    println!("sampling: {name} {} took {seconds:.2} s", more.join(" "));
    Ok((serde_json::from_slice(&output.stdout)?, seconds))
}

/// Processor time of the processes that were waited for, in seconds.
fn children_seconds() -> Result<f64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let behind = text.rsplit_once(')').ok_or("unknown form of /proc/self/stat")?.1;
    let fields: Vec<&str> = behind.split_whitespace().collect();
    let ticks =
        |n: usize| fields.get(n).and_then(|field| field.parse::<f64>().ok()).ok_or("unknown form of /proc/self/stat");
    // Fields 16 and 17 of the whole line: user and system time, in hundredths.
    Ok((ticks(13)? + ticks(14)?) / 100.0)
}

fn whole(name: &str, size: Size) -> Result<Row> {
    let (value, seconds) = raddle(name, size, &[])?;
    let launches = value["launches"].as_array().ok_or("no launches")?;
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let mut groups: BTreeMap<String, u64> = BTreeMap::new();
    let (mut cycles, mut waves) = (0, 0.0f64);
    for launch in launches {
        cycles += number(&launch["timing"]["cycles"]);
        let blocks: u64 = launch["grid"].as_array().into_iter().flatten().map(number).product();
        let sms = number(&value["machine"]["config"]["gpu"]["sms"]);
        waves = waves.max(blocks as f64 / (sms * number(&launch["timing"]["residency"]["ctas"])).max(1) as f64);
        *groups.entry(format!("{} {}", launch["kernel"], launch["block"])).or_default() += 1;
    }
    Ok(Row {
        workload: name.to_owned(),
        size: size.name().to_owned(),
        cycles,
        seconds,
        waves: (waves * 10.0).round() / 10.0,
        launches: groups.into_values().max().unwrap_or(0),
        blocks_estimate: None,
        blocks_low: None,
        blocks_high: None,
        blocks_share: None,
        blocks_seconds: None,
        launches_estimate: None,
        launches_low: None,
        launches_high: None,
        launches_share: None,
        launches_seconds: None,
    })
}

type Estimated = (Option<u64>, Option<u64>, Option<u64>, Option<f64>);

fn estimate(value: &Value) -> Estimated {
    let (sample, estimate) = (&value["sample"], &value["sample"]["estimate"]);
    let cycles = estimate["cycles"].as_f64().map(|cycles| cycles.round() as u64);
    (cycles, estimate["low"].as_u64(), estimate["high"].as_u64(), sample["share_simulated"].as_f64())
}

/// The page, with its tables from the measured one.
pub fn page() -> Result<String> {
    let rows: Vec<Row> = read()?.into_iter().filter(|row| row.size == Size::Paper.name()).collect();
    let parts = [
        ("blocks", table(rows.iter().filter_map(Row::blocks).collect())),
        ("launches", table(rows.iter().filter_map(Row::launches).collect())),
        ("left", left(&rows)),
    ];
    filled(&fs::read_to_string(root().join(PAGE))?, &parts.map(|(name, text)| (name.to_owned(), text)))
}

/// Pairs as a table, with a summary before it.
fn table(pairs: Vec<Pair<'_>>) -> String {
    let mut errors: Vec<f64> = pairs.iter().map(|pair| pair.error().abs()).collect();
    errors.sort_by(f64::total_cmp);
    let (Some(largest), count) = (errors.last(), errors.len()) else { return "Nothing was measured.\n".to_owned() };
    let mean = errors.iter().sum::<f64>() / count as f64;
    let median = (errors[(count - 1) / 2] + errors[count / 2]) / 2.0;
    let held = pairs.iter().filter(|pair| pair.holds()).count();
    let seconds = |of: fn(&Pair<'_>) -> f64| pairs.iter().map(of).sum::<f64>();
    let (whole, sampled) = (seconds(|pair| pair.row.seconds), seconds(|pair| pair.seconds));
    let mut text = format!(
        "{count} workloads: the mean error is {}, the median {}, the largest {}. The interval held the true value {held} \
         times of {count}. Processor time was {whole:.0} s for the whole runs and {sampled:.0} s for the sampled ones.\n\n\
         | workload | cycles | estimate | error | interval | held | simulated | whole, s | sampled, s |\n\
         | --- | --: | --: | --: | --: | --- | --: | --: | --: |\n",
        percent(mean),
        percent(median),
        percent(*largest),
    );
    for pair in &pairs {
        let near = (pair.high - pair.low) as f64 / 2.0 / pair.estimate.max(1) as f64;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:+.1} % | ± {} | {} | {} | {:.1} | {:.1} |",
            pair.row.workload,
            grouped(pair.row.cycles),
            grouped(pair.estimate),
            100.0 * pair.error(),
            percent(near),
            if pair.holds() { "yes" } else { "no" },
            percent(pair.share),
            pair.row.seconds,
            pair.seconds,
        );
    }
    text
}

/// Workloads that have nothing to leave out, and those that were not run.
fn left(rows: &[Row]) -> String {
    let list = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let small = rows.iter().filter(|row| !row.has_waves() && !row.has_launches());
    let not_run = raddle_workloads::all().iter().filter(|w| !rows.iter().any(|row| row.workload == w.name));
    let open = |row: &&Row| row.has_waves() && row.blocks().is_none() || row.has_launches() && row.launches().is_none();
    format!(
        "Neither has anything to leave out: {}.\n\nNot run as a whole: {}.\n\nRun as a whole but not sampled: {}.\n",
        list(small.map(|row| row.workload.as_str()).collect()),
        list(not_run.map(|w| w.name).collect()),
        list(rows.iter().filter(open).map(|row| row.workload.as_str()).collect()),
    )
}
