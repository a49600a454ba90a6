//! DRAM and the queues before it.

use super::{Out, Setting, numbers, other};

/// An option of the memory; `false` if it is none.
pub fn map(out: &mut Out, option: &Setting, all: &[Setting]) -> bool {
    let value = option.value.as_str();
    match option.name.as_str() {
        "-gpgpu_dram_scheduler" => match value {
            "0" => out.put("dram.scheduler", "fifo"),
            "1" => out.put("dram.scheduler", "fr-fcfs"),
            _ => out.remark("only 0 (in order) and 1 (open rows first) are known"),
        },
        "-gpgpu_frfcfs_dram_sched_queue_size" => queue(out, "dram.queue", value),
        "-gpgpu_dram_return_queue_size" => queue(out, "dram.return_queue", value),
        "-gpgpu_dram_partition_queues" => queues(out, value),
        "-gpgpu_n_mem_per_ctrlr" | "-gpgpu_dram_buswidth" => bursts(out, all),
        "-gpgpu_dram_burst_length" | "-dram_data_command_freq_ratio" => bursts(out, all),
        "-gpgpu_dram_timing_opt" => timing(out, value),
        "-gpgpu_mem_addr_mapping" => address(out, value),
        _ => return false,
    }
    true
}

fn queue(out: &mut Out, path: &str, value: &str) {
    if value == "0" {
        out.remark("there are no queues without bound");
    } else {
        out.number(path, value);
    }
}

/// Between interconnect and L2, L2 and DRAM, and the same backwards.
fn queues(out: &mut Out, value: &str) {
    let Some([input, to_dram, from_dram, output]) = numbers(value, ':').and_then(|q| q.first_chunk().copied()) else {
        return out.remark("four numbers separated by colons are expected");
    };
    for (name, size) in [("input", input), ("to_dram", to_dram), ("from_dram", from_dram), ("output", output)] {
        out.count(&format!("l2.{name}_queue"), size);
    }
}

/// Bytes and cycles of a burst, from four options with GPGPU-Sim's own defaults.
fn bursts(out: &mut Out, all: &[Setting]) {
    let chips = u64::from(other(all, "-gpgpu_n_mem_per_ctrlr", 1));
    let bus = u64::from(other(all, "-gpgpu_dram_buswidth", 4));
    let length = other(all, "-gpgpu_dram_burst_length", 4);
    let ratio = other(all, "-dram_data_command_freq_ratio", 2);
    let bytes = chips.checked_mul(bus).and_then(|bytes| bytes.checked_mul(u64::from(length)));
    match bytes.and_then(|bytes| u32::try_from(bytes).ok()) {
        Some(bytes) if ratio > 0 => {
            out.count("dram.burst_bytes", bytes);
            out.count("dram.timing.burst", length.div_ceil(ratio));
        }
        _ => out.remark("this makes no burst"),
    }
}

/// `nbk=16:CCD=2:...`, or eleven numbers in the order of old versions.
fn timing(out: &mut Out, value: &str) {
    const OLD: [&str; 11] = ["nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR"];
    let (mut rcd, mut wl) = (None, None);
    for (number, part) in value.split(':').map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        let (name, text) = part.split_once('=').unwrap_or((OLD.get(number).copied().unwrap_or(""), part));
        let Ok(cycles) = text.trim().parse::<u32>() else {
            out.remark(format!("`{part}` has no number"));
            continue;
        };
        // Some files write the t of tRCD.
        let name = name.trim();
        match name.strip_prefix('t').unwrap_or(name) {
            "nbk" => out.count("dram.banks", cycles),
            "nbkgrp" => out.count("dram.bank_groups", cycles.max(1)),
            key @ ("CCD" | "RRD" | "RCD" | "RAS" | "RP" | "RC" | "CL" | "WL" | "CDLR" | "WR" | "CCDL" | "RTPL") => {
                out.count(&format!("dram.timing.{}", key.to_lowercase()), cycles);
                match key {
                    "RCD" => rcd = Some(cycles),
                    "WL" => wl = Some(cycles),
                    _ => {}
                }
            }
            _ => out.remark(format!("`{part}` has no counterpart")),
        }
    }
    // What GPGPU-Sim derives.
    if let (Some(rcd), Some(wl)) = (rcd, wl) {
        out.count("dram.timing.rcdwr", rcd.saturating_sub(wl.saturating_add(1)));
    }
}

/// `dramid@8;0000RRRR...`: the channel by division, the rest by bits.
fn address(out: &mut Out, value: &str) {
    let parsed = value.strip_prefix("dramid@").and_then(|rest| rest.split_once(';'));
    let Some((shift, fields)) = parsed.and_then(|(shift, fields)| Some((shift.trim().parse::<u32>().ok()?, fields)))
    else {
        return out.remark("only maps of the form dramid@N;FIELDS are known");
    };
    let fields = fields.trim().trim_start_matches(['0', '.']);
    if fields.is_empty() || fields.chars().any(|c| !"RBCS.".contains(c)) {
        return out.remark("the fields may have the letters R, B, C and S");
    }
    out.count("dram.address.channel_shift", shift);
    out.put("dram.address.fields", fields);
}
