//! `raddle profile`: which source lines take the time, and why.

mod html;

use crate::exit::{Exit, Failure};
use crate::out::{self, count, grouped, percent, table_with_text};
use crate::run::figures::{cause_text, ratio};
use crate::run::timing_json::counters;
use crate::run::{self, Ran};
use crate::sources::Sources;
use raddle_cuda::names;
use raddle_runtime::profile::{self, InstProfile, KernelProfile, Line, LineProfile, main_cause};
use raddle_sim::profile::PcCounters;
use raddle_sim::seam::{Cause, Registry};
use raddle_sim::stats::Counters;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
#[group(id = "profile")]
#[command(after_help = "\
A slot is a cycle of a scheduler. One with an instruction belongs to the line of that instruction, an
empty one to the line the scheduler waited for: of the warps held up by its main cause, the first in the
scheduler's order, and of that warp the next instruction. Slots without any warp are a row of their own.

  slots      share of all slots of the kernel, and how many of them were empty
  mostly     the cause that took most of the empty ones
  issued     instructions by warp
  lanes      lanes that executed an instruction, in the mean
  sectors    sectors a memory instruction asked for in the mean, and those the bytes would have fitted in
  conflicts  cycles that accesses to shared memory took because of bank conflicts

Lines are those the PTX has from its compiler (.loc), else its own. With --json all lines, with all
instructions and counters. The other arguments are those of `raddle run`.

Examples:
  raddle profile bfs --size tiny
  raddle profile examples/saxpy.toml --ptx
  raddle profile matmul --top 5 --issue lrr
  raddle profile bfs --size tiny --html bfs.html")]
pub struct Args {
    #[command(flatten)]
    run: Box<run::Args>,
    /// Lines to show of each kernel
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Profile",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// Show the instructions of each line below it
    #[arg(long, help_heading = "Profile")]
    ptx: bool,
    /// Write a page with sources, instructions and all counters; it needs no network
    #[arg(long, value_name = "FILE", help_heading = "Profile")]
    html: Option<PathBuf>,
}

/// `raddle profile`.
pub fn run(mut args: Args, registry: &Arc<Registry>) -> Result<Exit, Failure> {
    args.run.need_timing()?;
    args.run.profile = true;
    let mut show = |done: &Ran<'_>| {
        let kernels = profile::kernels(&done.outcome.launches);
        let sources = Sources::new(done);
        if let Some(path) = &args.html {
            let about = format!("{}, profiled by Raddle {}", done.ptx.path, env!("CARGO_PKG_VERSION"));
            out::file(path, html::page(&kernels, &sources, &about))?;
        }
        if args.run.json() {
            let width = done.machine.map(|machine| machine.config.sm.warp_width);
            let kernels: Vec<Value> = kernels.iter().map(|kernel| kernel_json(kernel, &sources)).collect();
            out::json(&json!({"warp_width": width, "kernels": kernels}))?;
        } else {
            let texts: Vec<String> = kernels.iter().map(|kernel| text(kernel, &args, &sources)).collect();
            out::data(&texts.join("\n"))?;
        }
        Ok(())
    };
    run::with(&args.run, registry, None, Some(&mut show))
}

/// The hottest lines of a kernel, for people.
fn text(kernel: &KernelProfile, args: &Args, sources: &Sources<'_>) -> String {
    let mut text = format!(
        "{}: {} launch{}, {} cycles, {} slots, {} of them with an instruction\n",
        names::short(&kernel.kernel),
        grouped(kernel.launches),
        if kernel.launches == 1 { "" } else { "es" },
        grouped(kernel.cycles),
        grouped(kernel.slots),
        percent(ratio(kernel.total().issued, kernel.slots)),
    );
    let head = ["  slots", "empty", "mostly", "issued", "lanes", "sectors", "conflicts", "line"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for line in kernel.lines.iter().take(args.top as usize) {
        let place = match sources.text(&line.line) {
            Some(source) => format!("{}  {source}", name(&line.line)),
            None => name(&line.line),
        };
        rows.push(row(&line.counters, kernel.slots, place));
        if args.ptx {
            let inst = |inst: &InstProfile| {
                let text = sources.ptx(inst.ptx_line);
                row(&inst.counters, kernel.slots, format!("  {}: {text}", inst.ptx_line))
            };
            rows.extend(line.insts.iter().map(inst));
        }
    }
    if kernel.lines.len() > args.top as usize {
        let mut rest = PcCounters::default();
        let hidden = &kernel.lines[args.top as usize..];
        hidden.iter().for_each(|line| rest.add(&line.counters));
        rows.push(row(&rest, kernel.slots, format!("{} more (--top)", count(hidden.len(), "line"))));
    }
    let share = share(kernel.no_warp, kernel.slots);
    let none = ["-"; 5].map(str::to_owned);
    rows.push([&[share.clone(), share][..], &none, &["no warp was there".to_owned()]].concat());
    text += &table_with_text(&rows);
    text
}

/// A row of the table.
fn row(counters: &PcCounters, slots: u64, place: String) -> Vec<String> {
    let PcCounters { warp_insts, lanes_active, accesses, sectors, least_sectors, shared_conflicts, .. } = counters;
    let own = counters.slots();
    let per = |part: u64, whole: u64| format!("{:.1}", ratio(part, whole));
    let some = |is: bool, text: String| if is { text } else { "-".to_owned() };
    vec![
        share(own, slots),
        share(own - counters.issued, slots),
        main_cause(counters).map_or("-".to_owned(), |(cause, _)| cause_name(cause).to_owned()),
        grouped(*warp_insts),
        some(*warp_insts > 0, per(*lanes_active, *warp_insts)),
        some(*accesses > 0, format!("{} of {}", per(*sectors, *accesses), per(*least_sectors, *accesses))),
        some(counters.shared_accesses > 0, grouped(*shared_conflicts)),
        place,
    ]
}

/// A share in percent, flush right.
fn share(part: u64, whole: u64) -> String {
    format!("{:>7}", percent(ratio(part, whole)))
}

/// A cause in few words.
fn cause_name(cause: Cause) -> &'static str {
    cause_text(cause.name())
}

/// A line as people write it.
fn name(line: &Line) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let near = |file: &str| Path::new(file).strip_prefix(&here).unwrap_or(Path::new(file)).display().to_string();
    let Some(file) = &line.file else { return format!("PTX line {}", line.line) };
    let call = line.inlined_at.as_ref().map(|(file, line)| format!(" (inlined at {}:{line})", near(file)));
    format!("{}:{}{}", near(file), line.line, call.unwrap_or_default())
}

/// Everything there is of a kernel.
fn kernel_json(kernel: &KernelProfile, sources: &Sources<'_>) -> Value {
    let line = |line: &LineProfile| {
        let inst = |inst: &InstProfile| {
            json!({
                "pc": inst.pc,
                "function": inst.function,
                "ptx_line": inst.ptx_line,
                "ptx": sources.ptx(inst.ptx_line),
                "counters": counters(&inst.counters),
            })
        };
        let Line { file, line: number, inlined_at } = &line.line;
        json!({
            "file": file,
            "line": number,
            "inlined_at": inlined_at.as_ref().map(|(file, line)| json!({"file": file, "line": line})),
            "text": sources.text(&line.line),
            "slots": line.counters.slots(),
            "share": ratio(line.counters.slots(), kernel.slots),
            "main_cause": main_cause(&line.counters).map(|(cause, _)| cause.name()),
            "counters": counters(&line.counters),
            "instructions": line.insts.iter().map(inst).collect::<Vec<_>>(),
        })
    };
    json!({
        "kernel": kernel.kernel,
        "launches": kernel.launches,
        "cycles": kernel.cycles,
        "slots": kernel.slots,
        "no_warp": kernel.no_warp,
        "other": counters(&kernel.other),
        "total": counters(&kernel.total()),
        "lines": kernel.lines.iter().map(line).collect::<Vec<_>>(),
    })
}
