//! What each option of GPGPU-Sim means for a machine.

mod cache;
mod memory;

use super::text::Setting;
use toml::Value;

/// What an option comes to.
pub enum Answer {
    /// It has no counterpart.
    Unknown,
    /// It gives these values; the remarks say what of it was not taken.
    Taken {
        /// Paths and values.
        values: Vec<(String, Value)>,
        /// Reasons.
        remarks: Vec<String>,
    },
}

/// Options whose number is the value of a key.
const NUMBERS: &[(&str, &str)] = &[
    ("-gpgpu_n_mem", "dram.channels"),
    ("-gpgpu_n_sub_partition_per_mchannel", "l2.slices"),
    ("-gpgpu_shader_registers", "sm.registers"),
    ("-gpgpu_shader_cta", "sm.ctas"),
    ("-gpgpu_num_sp_units", "sm.units.sp"),
    ("-gpgpu_num_sfu_units", "sm.units.sfu"),
    ("-gpgpu_shmem_size", "sm.shared_bytes"),
    ("-icnt_flit_size", "interconnect.flit_bytes"),
    ("-gpgpu_l1_latency", "sm.l1d.latency"),
    ("-gpgpu_smem_latency", "sm.shared.latency"),
    ("-gpgpu_operand_collector_num_units_sp", "sm.collector.sp_units"),
    ("-gpgpu_operand_collector_num_units_sfu", "sm.collector.sfu_units"),
    ("-gpgpu_operand_collector_num_units_mem", "sm.collector.mem_units"),
    ("-gpgpu_operand_collector_num_in_ports_sp", "sm.collector.sp_ports"),
    ("-gpgpu_operand_collector_num_in_ports_sfu", "sm.collector.sfu_ports"),
    ("-gpgpu_operand_collector_num_in_ports_mem", "sm.collector.mem_ports"),
    ("-gpgpu_num_reg_banks", "sm.collector.banks"),
    ("-gpgpu_shmem_num_banks", "sm.shared.banks"),
    ("-gpgpu_shmem_warp_parts", "sm.shared.groups"),
    ("-gpgpu_max_insn_issue_per_warp", "sm.issue.per_warp"),
    ("-gpgpu_num_sched_per_core", "sm.issue.schedulers"),
    ("-gpgpu_n_cluster_ejection_buffer_size", "sm.ejection_buffer"),
    ("-gpgpu_n_ldst_response_buffer_size", "sm.response_queue"),
    ("-gpgpu_l2_rop_latency", "l2.rop_latency"),
    // Its name in version 3.
    ("-rop_latency", "l2.rop_latency"),
    ("-dram_latency", "dram.latency"),
    ("-ptx_opcode_latency_sfu", "sm.latency.transcendental.latency"),
    ("-ptx_opcode_initiation_sfu", "sm.latency.transcendental.interval"),
];

/// Whether a text is one of version 3: it has names that version 4 has changed, or the widths of its seven stages.
pub fn is_version_3(all: &[Setting]) -> bool {
    all.iter().any(|option| match option.name.as_str() {
        "-rop_latency" => true,
        "-gpgpu_pipeline_widths" => option.value.split(',').count() == 7,
        _ => false,
    })
}

/// Keys that an option of the text could have set, and none did.
pub fn not_said<'a>(all: &'a [Setting], said: &'a [String]) -> impl Iterator<Item = &'static str> + 'a {
    let is_said = |path: &str| said.iter().any(|said| said == path);
    NUMBERS.iter().map(|(_, path)| *path).filter(move |path| !all.is_empty() && !is_said(path))
}

/// Lists of cycles by kind of instruction: the option, the first word of our keys, which number of a timing.
const LATENCIES: &[(&str, &str, &str)] = &[
    ("-ptx_opcode_latency_int", "int", "latency"),
    ("-ptx_opcode_initiation_int", "int", "interval"),
    ("-ptx_opcode_latency_fp", "f32", "latency"),
    ("-ptx_opcode_initiation_fp", "f32", "interval"),
    ("-ptx_opcode_latency_dp", "f64", "latency"),
    ("-ptx_opcode_initiation_dp", "f64", "interval"),
];

/// The counterpart of an option, which may need others of the same text.
pub fn map(option: &Setting, all: &[Setting]) -> Answer {
    let mut out = Out::default();
    let value = option.value.as_str();
    let by_name = |names: &[(&str, &'static str)]| names.iter().find(|(name, _)| *name == option.name).map(|(_, p)| *p);
    if let Some(path) = by_name(NUMBERS) {
        out.number(path, value);
    } else if let Some((_, kind, part)) = LATENCIES.iter().find(|(name, ..)| *name == option.name) {
        latencies(&mut out, kind, part, value);
    } else {
        match option.name.as_str() {
            "-gpgpu_n_clusters" => sms(&mut out, all),
            // Counted with the clusters, unless they are left out.
            "-gpgpu_n_cores_per_cluster" if all.iter().any(|other| other.name == "-gpgpu_n_clusters") => {}
            "-gpgpu_n_cores_per_cluster" => sms(&mut out, all),
            "-gpgpu_clock_domains" => clocks(&mut out, value),
            "-gpgpu_shader_core_pipeline" => threads(&mut out, value),
            "-gpgpu_pipeline_widths" => widths(&mut out, value),
            "-gpgpu_operand_collector_num_out_ports_sp" => out_ports(&mut out, option, all),
            "-gpgpu_operand_collector_num_out_ports_sfu" => out_ports(&mut out, option, all),
            "-gpgpu_operand_collector_num_out_ports_mem" => out_ports(&mut out, option, all),
            "-gpgpu_coalesce_arch" => coalescing(&mut out, value),
            "-gpgpu_scheduler" => scheduler(&mut out, value),
            _ if cache::map(&mut out, option, all) || memory::map(&mut out, option, all) => {}
            _ => return Answer::Unknown,
        }
    }
    Answer::Taken { values: out.values, remarks: out.remarks }
}

/// Values and remarks as they come.
#[derive(Default)]
struct Out {
    values: Vec<(String, Value)>,
    remarks: Vec<String>,
}

impl Out {
    fn put(&mut self, path: &str, value: impl Into<Value>) {
        self.values.push((path.to_owned(), value.into()));
    }

    fn count(&mut self, path: &str, value: u32) {
        self.put(path, i64::from(value));
    }

    fn number(&mut self, path: &str, text: &str) {
        match text.trim().parse::<u32>() {
            Ok(number) => self.count(path, number),
            Err(_) => self.remark("this is not a whole number"),
        }
    }

    fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }
}

/// The numbers of a list, if that is what it is.
fn numbers(text: &str, separator: char) -> Option<Vec<u32>> {
    text.split(separator).map(|word| word.trim().parse().ok()).collect()
}

/// The value of another option, as a number; the last one counts.
fn other(all: &[Setting], name: &str, default: u32) -> u32 {
    let found = all.iter().rev().find(|option| option.name == name);
    found.and_then(|option| option.value.parse().ok()).unwrap_or(default)
}

fn sms(out: &mut Out, all: &[Setting]) {
    // GPGPU-Sim's own defaults.
    let (clusters, cores) = (other(all, "-gpgpu_n_clusters", 10), other(all, "-gpgpu_n_cores_per_cluster", 3));
    match clusters.checked_mul(cores) {
        Some(sms) => out.count("gpu.sms", sms),
        None => out.remark("these are too many SMs"),
    }
}

/// Four frequencies, which may have a fraction; only ratios matter, so all are scaled alike.
fn clocks(out: &mut Out, value: &str) {
    let values: Option<Vec<f64>> = value.split(':').map(|word| word.trim().parse().ok()).collect();
    let Some([core, interconnect, l2, dram]) = values.as_deref().and_then(|v| v.first_chunk()).copied() else {
        return out.remark("four frequencies separated by colons are expected");
    };
    let all = [core, interconnect, l2, dram];
    let is_whole =
        |scale: f64| all.iter().all(|f| (f * scale).fract().abs() < 1e-6 && (1.0..=1e5).contains(&(f * scale)));
    let Some(scale) = [1.0, 10.0, 100.0].into_iter().find(|scale| is_whole(*scale)) else {
        return out.remark("these frequencies have no whole ratio in the range from 1 to 100000");
    };
    for (name, frequency) in ["core", "interconnect", "l2", "dram"].into_iter().zip(all) {
        out.number(&format!("clock.{name}"), &format!("{:.0}", frequency * scale));
    }
}

fn threads(out: &mut Out, value: &str) {
    match numbers(value, ':').as_deref() {
        Some([threads, width, ..]) => {
            out.count("sm.threads", *threads);
            out.count("sm.warp_width", *width);
            out.count("sm.simd_width", *width);
        }
        _ => out.remark("threads and warp size, separated by a colon, are expected"),
    }
}

/// Instructions between stages: version 3 gives 7 numbers, version 4 gives 11 or more.
fn widths(out: &mut Out, value: &str) {
    let widths = numbers(value, ',');
    let (sp, sfu, mem, writeback, other) = match widths.as_deref() {
        Some(&[sp, sfu, mem, sp2, sfu2, mem2, wb]) => (sp, sfu, mem, wb, [(sp, sp2), (sfu, sfu2), (mem, mem2)]),
        Some(&[sp, dp, int, sfu, mem, sp2, _, _, sfu2, mem2, wb, ..]) => {
            if dp > 0 || int > 0 {
                out.remark("there are no separate units for integers and double precision");
            }
            (sp, sfu, mem, wb, [(sp, sp2), (sfu, sfu2), (mem, mem2)])
        }
        _ => return out.remark("7 or 11 numbers are expected"),
    };
    if other.iter().any(|(before, after)| before != after) {
        out.remark("the widths before the collectors are also used for those after them");
    }
    out.count("sm.units.sp_issue", sp);
    out.count("sm.units.sfu_issue", sfu);
    out.count("sm.units.mem_issue", mem);
    out.count("sm.units.writeback", writeback);
}

/// There is one number of ports for both directions.
fn out_ports(out: &mut Out, option: &Setting, all: &[Setting]) {
    let ports = other(all, &option.name.replace("_out_", "_in_"), 1);
    if option.value.parse() != Ok(ports) {
        out.remark("collectors have as many ports out as in");
    }
}

fn coalescing(out: &mut Out, value: &str) {
    match value {
        "12" | "13" => out.put("sm.coalescing", "half-warp"),
        _ if value.parse::<u32>().is_ok_and(|arch| arch >= 20) => {
            out.put("sm.coalescing", "whole-warp");
            if value != "20" {
                out.remark("requests are for whole lines, as with 20");
            }
        }
        _ => out.remark("only 12, 13, and 20 or more are known"),
    }
}

fn scheduler(out: &mut Out, value: &str) {
    match value {
        "gto" | "lrr" => out.put("mechanism.issue", value),
        _ => out.remark("only gto and lrr are known"),
    }
}

/// One list of cycles: addition, maximum, multiplication, multiply-add, division and perhaps shuffle.
fn latencies(out: &mut Out, kind: &str, part: &str, value: &str) {
    let cycles = numbers(value, ',').filter(|cycles| cycles.len() >= 5);
    let Some(cycles) = cycles else {
        return out.remark("at least five numbers separated by commas are expected");
    };
    for (name, cycles) in ["add", "max", "mul", "mad", "div"].iter().zip(&cycles) {
        out.count(&format!("sm.latency.{kind}_{name}.{part}"), *cycles);
    }
    match cycles.get(5) {
        Some(shuffle) if kind == "int" => out.count(&format!("sm.latency.shuffle.{part}"), *shuffle),
        Some(_) => out.remark("the sixth number has no counterpart"),
        None => {}
    }
}
