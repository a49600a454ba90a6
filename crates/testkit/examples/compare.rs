//! Prints our counters beside the reference's for chosen kernels: `compare [kernels|micro] FILTER`.
#![allow(clippy::print_stdout, reason = "a tool prints its result")]
#![forbid(unsafe_code)]

use raddle_testkit::timing;

fn main() {
    let mut args = std::env::args().skip(1);
    let set = args.next().unwrap_or_default();
    let filter = args.next().unwrap_or_default();
    let points = if set == "micro" { timing::micros() } else { timing::kernels() };
    for point in points.iter().filter(|p| p.case.name.contains(&filter)) {
        let result = timing::run_point(point, &[""; 0]);
        let t = result.total();
        let (l2, dram) = (result.l2_total(), result.dram_total());
        println!("{} {}: residency {}", point.case.name, point.scheduler, result.residency);
        let m = |key: &str| point.measured[key].to_string();
        let rows: Vec<(&str, u64, String)> = vec![
            ("cycles", result.cycles, m("cycles")),
            ("warp_insts", t.sm.warp_insts, m("warp_insts")),
            ("thread_insts", t.sm.thread_insts, m("thread_insts")),
            ("l1i accesses", t.l1i.accesses, m("l1i_accesses")),
            ("l1i misses", t.l1i.misses + t.l1i.pending_hits, m("l1i_misses")),
            ("l1d accesses", t.l1d.accesses, m("l1d_accesses")),
            ("l1d misses", t.l1d.misses, m("l1d_misses")),
            ("l1d pending", t.l1d.pending_hits, m("l1d_pending_hits")),
            ("l1d fails", t.l1d.reservation_fails, m("l1d_reservation_fails")),
            ("l2 accesses", l2.accesses, m("l2_accesses")),
            ("l2 misses", l2.misses + l2.sector_misses, m("l2_misses")),
            ("l2 pending", l2.pending_hits, String::new()),
            ("read latency", t.sm.read_latency / t.sm.lines_done.max(1), m("avg_mem_latency")),
            ("dram reads", dram.reads, point.measured["dram"]["reads"].to_string()),
            ("dram writes", dram.writes, m("dram_writes")),
            ("shared conflicts", t.sm.shared_bank_conflicts, m("shared_bank_conflict_cycles")),
            (
                "stalls struct",
                t.sm.stall_load_store_busy + t.sm.stall_memory_back_pressure + t.sm.stall_sp_busy + t.sm.stall_sfu_busy,
                point.measured["slots"]["stall"].to_string(),
            ),
            (
                "stalls data",
                t.sm.stall_memory_dependence + t.sm.stall_arithmetic_dependence,
                point.measured["slots"]["w0_scoreboard"].to_string(),
            ),
            (
                "stalls other",
                t.sm.stall_not_fetched
                    + t.sm.stall_wrong_path
                    + t.sm.stall_barrier
                    + t.sm.stall_draining
                    + t.sm.stall_fence,
                point.measured["slots"]["w0_idle"].to_string(),
            ),
        ];
        for (name, ours, theirs) in rows {
            println!("  {name:18} {ours:>10} {theirs:>10}");
        }
    }
}
