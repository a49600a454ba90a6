//! `raddle accesses`: a picture of what one memory instruction of a warp requests.

use crate::exit::{Exit, Failure};
use crate::out::{self, count};
use crate::run;
use crate::source_files::SourceArgs;
use crate::sources::{self, Sources, own_line};
use raddle_lab::accesses;
use raddle_lab::drawing::{Drawing, Medium};
use raddle_lab::label::Label;
use raddle_runtime::Problem;
use raddle_runtime::access_record::{Access, AccessRecord, Banked, Request};
use raddle_runtime::profile::Line;
use raddle_runtime::timing::PcCount;
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::Registry;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "accesses")]
#[command(after_help = "\
The lanes are at the top. For global memory, the requested cache lines are below them, divided into sectors.
Each request has its own colour; sectors that lanes use have the full colour, other fetched sectors are pale.
For shared memory, the banks are below the lanes, with a row for each cycle of the access. A bank delivers one
word in a cycle, to all lanes that want it; other words of the same bank follow in later cycles. The picture
shows what the simulator computes during the run.

The picture shows one instruction: of the chosen line, or else of the launch, the one with the most unnecessary
sectors or cycles. With --json, all instructions are printed as numbers. The other arguments are those of
`raddle run`.

Examples:
  raddle accesses matmul --size tiny --output matmul.svg
  raddle accesses examples/accesses.toml --launch 2 --output columns.pdf
  raddle accesses examples/accesses.toml --launch 3 --line 21 --output conflict.svg")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    #[command(flatten)]
    sources: SourceArgs,
    /// File for the picture; it ends in .svg, .png or .pdf
    #[arg(long, short, value_name = "FILE", default_value = "accesses.svg", help_heading = "Picture")]
    output: PathBuf,
    /// Line of the source, or of the PTX if that names no source lines
    #[arg(long, value_name = "N", help_heading = "Picture")]
    line: Option<u32>,
    /// Line of the PTX
    #[arg(long, value_name = "N", conflicts_with = "line", help_heading = "Picture")]
    ptx_line: Option<u32>,
    /// Which access of an instruction, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u64).range(1..))]
    access: u64,
    /// The SM to draw, instead of all
    #[arg(long, value_name = "N", help_heading = "Picture")]
    sm: Option<u16>,
    /// The launch to draw, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Picture",
          value_parser = clap::value_parser!(u32).range(1..))]
    launch: u32,
}

/// What is known of an instruction, beside what it asked for.
struct Place {
    pc: u32,
    line: Line,
    ptx_line: u32,
    label: Label,
}

/// `raddle accesses`.
pub fn run(args: &Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    let picture = out::Picture::new(&args.output)?;
    let mut record = AccessRecord::new(args.sm, args.launch as usize - 1, args.access - 1);
    let (mut places, mut machine) = (Vec::new(), None);
    let mut keep = |done: &run::Ran<'_>| {
        let sources = Sources::of(done, &args.run, &args.sources)?;
        let place = |count: &PcCount| {
            let (pc, ptx_line, line, label) =
                (count.pc, count.ptx_line, own_line(Line::of(count)), sources.label(count));
            Place { pc, line, ptx_line, label }
        };
        places = sources::operations(done, args.launch).iter().map(place).collect();
        sources.tell();
        machine = done.machine.map(|machine| machine.config.clone());
        Ok(())
    };
    let exit = run::with(&args.run, registry, Some(&mut record), Some(&mut keep))?;
    let all: Vec<(&Place, &Access)> =
        places.iter().filter_map(|place| Some((place, record.accesses.get(&place.pc)?))).collect();
    let chosen: Vec<_> = all.iter().copied().filter(|(place, _)| is_chosen(args, place)).collect();
    // The first of equal ones.
    let Some((place, access)) = chosen.iter().min_by_key(|(_, access)| Reverse(access.excess())) else {
        return Err(nothing(args, &all).into());
    };
    if args.run.json() {
        let values: Vec<Value> = chosen.iter().map(|(place, access)| numbers(place, access)).collect();
        out::json(&json!({"accesses": values}))?;
    }
    if let Some(config) = &machine {
        picture.write(&drawing(access, &place.label, config), Medium::Screen, &summary(place, access))?;
    }
    Ok(exit)
}

fn is_chosen(args: &Args, place: &Place) -> bool {
    args.line.is_none_or(|line| place.line.line == line) && args.ptx_line.is_none_or(|line| place.ptx_line == line)
}

fn nothing(args: &Args, all: &[(&Place, &Access)]) -> Problem {
    let place = match (args.line, args.ptx_line) {
        (Some(line), _) => format!("line {line}"),
        (_, Some(line)) => format!("PTX line {line}"),
        _ => args.sm.map_or("the kernel".to_owned(), |sm| format!("SM {sm}")),
    };
    let times = if args.access > 1 { format!(" {} times", args.access) } else { String::new() };
    let problem =
        Problem::new(format!("{place} did not reach global or shared memory{times} in launch {}", args.launch));
    let mut lines: Vec<u32> = match args.ptx_line {
        Some(_) => all.iter().map(|(place, _)| place.ptx_line).collect(),
        None => all.iter().map(|(place, _)| place.line.line).collect(),
    };
    lines.sort_unstable();
    lines.dedup();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    problem.help(match lines.is_empty() {
        true => "choose what to draw with --sm, --launch and --access".to_owned(),
        false => format!("lines that did: {}", lines.join(", ")),
    })
}

fn drawing(access: &Access, label: &Label, config: &MachineConfig) -> Drawing {
    match access.global.is_empty() {
        false => accesses::coalescing(access, label, config.sm.warp_width, [config.l2.sector, config.l2.line]),
        true => accesses::banks(access, label, config.sm.warp_width, config.sm.shared.banks),
    }
}

/// An access in a line.
fn summary(place: &Place, access: &Access) -> String {
    let line = match place.line.file {
        Some(_) => format!("line {}, PTX line {}", place.line.line, place.ptx_line),
        None => format!("PTX line {}", place.ptx_line),
    };
    let Access { sectors, least_sectors, bank_cycles, .. } = access;
    match access.global.is_empty() {
        true => format!("{line}: {} of the banks", count((*bank_cycles).into(), "cycle")),
        false => format!(
            "{line}: {}, {} where {least_sectors} would do",
            count(access.requests.len(), "request"),
            count((*sectors).into(), "sector")
        ),
    }
}

/// An access in numbers.
fn numbers(place: &Place, access: &Access) -> Value {
    let request = |r: &Request| json!({"address": r.address, "bytes": r.bytes, "lanes": r.lanes});
    let global = |(lane, address): &(u8, u64)| json!({"lane": lane, "address": address});
    let shared = |b: &Banked| json!({"lane": b.lane, "offset": b.offset, "bank": b.bank, "cycle": b.cycle});
    json!({
        "pc": access.pc,
        "ptx_line": place.ptx_line,
        "ptx": place.label.ptx,
        "file": place.line.file,
        "line": place.line.line,
        "warp": access.warp,
        "at": access.at,
        "lane_bytes": access.lane_bytes,
        "sectors": access.sectors,
        "least_sectors": access.least_sectors,
        "bank_cycles": access.bank_cycles,
        "requests": access.requests.iter().map(request).collect::<Vec<_>>(),
        "global": access.global.iter().map(global).collect::<Vec<_>>(),
        "shared": access.shared.iter().map(shared).collect::<Vec<_>>(),
    })
}
