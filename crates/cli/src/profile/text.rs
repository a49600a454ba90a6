//! The hottest lines of a kernel, as a table for people.

use super::{Kernel, View, name};
use crate::out::{count, grouped, percent, ratio, table_with_text};
use raddle_cuda::names;
use raddle_runtime::profile::{InstProfile, main_cause};
use raddle_sim::profile::PcCounters;
use raddle_sim::seam::Cause;
use raddle_sim::stats::Counters;

/// The hottest lines of a kernel, for people.
pub fn lines(kernel: &Kernel, view: &View) -> String {
    let Kernel { profile: kernel, sources, .. } = kernel;
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
    for line in kernel.lines.iter().take(view.top as usize) {
        let place = match sources.text(&line.line) {
            Some(source) => format!("{}  {source}", name(&line.line)),
            None => name(&line.line),
        };
        rows.push(row(&line.counters, kernel.slots, place));
        if view.ptx {
            let inst = |inst: &InstProfile| {
                let text = sources.ptx(inst.ptx_line);
                row(&inst.counters, kernel.slots, format!("  {}: {text}", inst.ptx_line))
            };
            rows.extend(line.insts.iter().map(inst));
        }
    }
    if kernel.lines.len() > view.top as usize {
        let mut rest = PcCounters::default();
        let hidden = &kernel.lines[view.top as usize..];
        hidden.iter().for_each(|line| rest.add(&line.counters));
        rows.push(row(&rest, kernel.slots, format!("{} more (--top)", count(hidden.len(), "line"))));
    }
    let share = share(kernel.no_warp, kernel.slots);
    let none = ["-"; 5].map(str::to_owned);
    rows.push([&[share.clone(), share][..], &none, &[Cause::NoWarpResident.text().to_owned()]].concat());
    text += &table_with_text(&rows);
    text
}

/// A row of the table.
fn row(counters: &PcCounters, slots: u64, place: String) -> Vec<String> {
    let PcCounters { warp_insts, lanes_active, accesses, sectors, least_sectors, shared_bank_conflicts, .. } = counters;
    let own = counters.slots();
    let per = |part: u64, whole: u64| format!("{:.1}", ratio(part, whole));
    let some = |is: bool, text: String| if is { text } else { "-".to_owned() };
    vec![
        share(own, slots),
        share(own - counters.issued, slots),
        main_cause(counters).map_or("-".to_owned(), |(cause, _)| cause.text().to_owned()),
        grouped(*warp_insts),
        some(*warp_insts > 0, per(*lanes_active, *warp_insts)),
        some(*accesses > 0, format!("{} of {}", per(*sectors, *accesses), per(*least_sectors, *accesses))),
        some(counters.shared_accesses > 0, grouped(*shared_bank_conflicts)),
        place,
    ]
}

/// A share in percent, flush right.
fn share(part: u64, whole: u64) -> String {
    format!("{:>7}", percent(ratio(part, whole)))
}
