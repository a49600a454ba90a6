//! Kernels of the VTW paper beside ours: how far warps are apart, and what virtual blocks cost in registers.

use std::fmt::Write as _;

use raddle_runtime::numbers::percent;
use raddle_sim::config::{DEFAULT_PRESET, Machine, Source};
use raddle_workloads::manifest::{Paper, Printed};
use raddle_workloads::{Measured, Size, Virtualized};

use crate::Result;
use crate::workload_table::{VIRTUALIZED, read};

/// Tables 1, 2 and 7 for the kernels of these workloads.
pub fn text(among: &[&str]) -> Result<String> {
    let measured: Vec<Measured> = read(Size::Paper.name())?;
    let costs: Vec<Virtualized> = read(VIRTUALIZED)?;
    let machine = Machine::load(Source::Preset(DEFAULT_PRESET), &[""; 0]).map_err(|e| format!("{e:?}"))?;
    let sms = machine.config.gpu.sms;
    let (mut apart, mut registers) = (APART.to_owned(), REGISTERS.to_owned());
    for name in among {
        let workload = raddle_workloads::find(name)?;
        let manifest = workload.manifest(&workload.module()?)?;
        for kernel in &manifest.kernels {
            let Some(theirs) = &kernel.stands_for else { continue };
            let is_it = |p: &&Printed| p.paper == Paper::Vtw && p.is_about(theirs);
            let printed = |metric: &str| manifest.printed.iter().filter(is_it).find(|p| p.metric == metric);
            let value = |metric: &str| printed(metric).map_or(String::new(), |p| p.value.to_string());
            let shares = |what: &str| {
                let blocks = printed("blocks").map_or(0.0, |p| p.value);
                let of = |by: u32| Some(percent(printed(&format!("{what}-divergence-{by}"))?.value / blocks.max(1.0)));
                [50, 25, 10, 5].into_iter().map(of).collect::<Option<Vec<_>>>().unwrap_or_default().join(", ")
            };
            let here = format!("{name}/{}", kernel.name);
            let ours = measured.iter().find(|m| m.workload == *name && m.kernel == kernel.name);
            if let Some(m) = ours.filter(|_| printed("blocks").is_some()) {
                let insts = [m.insts_apart_50, m.insts_apart_25, m.insts_apart_10, m.insts_apart_5].map(percent);
                let cycles = [m.cycles_apart_50, m.cycles_apart_25, m.cycles_apart_10, m.cycles_apart_5].map(percent);
                // Writing to a String cannot fail.
                let _ = writeln!(
                    apart,
                    "| {theirs} | {here} | {} | {} | {} | {} | {} | {:.2} | {} |",
                    shares("instruction"),
                    insts.join(", "),
                    shares("cycle"),
                    cycles.join(", "),
                    value("dwr"),
                    m.dwr,
                    m.set().number()
                );
            }
            let cost = costs.iter().find(|c| c.workload == *name && c.kernel == kernel.name);
            if let (Some(c), Some(_)) = (cost, printed("registers-vtw")) {
                let _ = writeln!(
                    registers,
                    "| {theirs} | {here} | {} → {} | {} → {} | {} → {} | {} → {} |",
                    value("registers"),
                    value("registers-vtw"),
                    c.registers,
                    c.virtual_registers,
                    value("blocks-resident"),
                    value("blocks-resident-vtw"),
                    sms * c.blocks_per_sm,
                    sms * c.virtual_blocks_per_sm,
                );
            }
        }
    }
    Ok(apart + &registers)
}

const APART: &str = "\
### Warp divergence, Tables 1 and 2

The first columns give the share of blocks whose warps are at least 50, 25, 10 and 5 % apart in instructions and in cycles. DWR is
the share of a block's time after its first warp has ended. Our values are for size `paper` on the whole machine, under loose round robin. The last
column gives the set that our kernel falls into by the paper's definition.

| kernel | ours | instructions, paper | ours | cycles, paper | ours | DWR, paper | ours | set |
| --- | --- | --- | --- | --- | --- | --: | --: | --: |
";

const REGISTERS: &str = "
### Registers and residency, Table 7

For each kernel that the paper lists: registers per thread and blocks that the GPU holds, before and after the transformation. Ours is
the software form, with everything movable moved in front of the loop.

| kernel | ours | registers, paper | ours | blocks, paper | ours |
| --- | --- | --: | --: | --: | --: |
";
