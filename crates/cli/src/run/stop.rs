//! What is said when a launch did not complete.

use crate::out;
use crate::render::{self, Text};
use raddle_runtime::PtxFile;
use raddle_runtime::outcome::{Stop, Stuck};
use std::collections::BTreeMap;

/// Warps listed at most.
const MOST: usize = 64;

/// The message.
pub fn text(stop: &Stop, text: &Text<'_>, ptx: &PtxFile) -> String {
    match stop {
        Stop::Fault(fault) => text.fault(fault, &ptx.module),
        Stop::Deadlock(stuck) => {
            let title = format!("no thread can continue; stuck: {}", out::count(stuck.warps.len(), "warp"));
            render::stopped("deadlock", &title, &listed(stuck), None)
        }
        Stop::InstructionLimit(stuck) => {
            let title = "the limit of instructions ended the launch; warps were at";
            let help = Some("raise the limit with --max-insts");
            render::stopped("instruction-limit", title, &places(stuck), help)
        }
        Stop::CycleLimit => {
            let title = "the limit of cycles ended the launch; what is printed was measured until then";
            render::stopped("cycle-limit", title, &[], Some("raise the limit with --max-cycles"))
        }
    }
}

/// Each warp with what it waits for and its splits.
fn listed(stuck: &Stuck) -> Vec<String> {
    let mut notes = Vec::new();
    for w in stuck.warps.iter().take(MOST) {
        let [x, y, z] = w.cta;
        let mut note = format!("SM {}, block ({x},{y},{z}), warp {}: {}\n", w.sm, w.warp, w.waits);
        note += &format!("  at pc {}: {}", w.pc, w.place);
        if w.stack.len() > 1 {
            for part in &w.stack {
                let rejoin = part.rejoin.map_or_else(String::new, |pc| format!(", reconverges at pc {pc}"));
                let waits = part.waits.as_ref().map_or_else(String::new, |what| format!(", waits for {what}"));
                let (mask, pc, place) = (part.mask, part.pc, stuck.place(part.pc));
                note += &format!("\n  split with lanes {mask:08x} at pc {pc}{rejoin}{waits}: {place}");
            }
        }
        notes.push(note);
    }
    if stuck.warps.len() > MOST {
        notes.push(format!("and {} more", out::count(stuck.warps.len() - MOST, "warp")));
    }
    notes
}

/// Places by the number of warps there, the most first.
fn places(stuck: &Stuck) -> Vec<String> {
    let mut counts: BTreeMap<u32, (usize, &str)> = BTreeMap::new();
    for w in &stuck.warps {
        counts.entry(w.pc).or_insert((0, &w.place)).0 += 1;
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by_key(|(pc, (count, _))| (std::cmp::Reverse(*count), *pc));
    sorted.iter().map(|(pc, (n, place))| format!("{} at pc {pc}: {place}", out::count(*n, "warp"))).collect()
}
