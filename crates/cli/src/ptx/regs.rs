//! `raddle ptx regs`.

use crate::exit::{Exit, Failure};
use crate::out;
use raddle_ptx::analysis::Resources;
use raddle_ptx::ir::Limits;
use raddle_runtime::PtxFile;
use serde::Serialize;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// PTX files
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print one JSON object per kernel
    #[arg(long)]
    json: bool,
}

/// A kernel for machines; sizes in bytes.
#[derive(Serialize)]
struct Record<'a> {
    file: &'a str,
    kernel: &'a str,
    registers: u32,
    predicates: u32,
    shared_bytes: u64,
    dynamic_shared: bool,
    local_bytes: u64,
    const_bytes: u64,
    param_bytes: u64,
    is_lower_bound: bool,
    max_threads: Option<u32>,
    min_blocks_per_sm: Option<u32>,
    max_registers: Option<u32>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let mut rows = vec![
        ["kernel", "registers", "predicates", "shared", "local", "const", "param", "limits"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for path in &args.files {
        let file = PtxFile::read(path)?;
        for (id, kernel) in file.module.kernels() {
            let r = Resources::new(&file.module, id);
            if args.json {
                out::json(&record(&file.path, &kernel.name, &r, kernel.limits))?;
            } else {
                rows.push(row(&kernel.name, &r, kernel.limits));
            }
        }
    }
    if !args.json {
        out::data(&out::table(&rows))?;
    }
    Ok(Exit::Good)
}

fn is_lower_bound(r: &Resources) -> bool {
    r.recursive || r.calls_undefined
}

/// The directives that say how many registers a thread may have, as they are written.
fn directives(limits: Limits) -> String {
    let all = [
        (".maxntid", limits.max_threads),
        (".minnctapersm", limits.min_ctas_per_sm),
        (".maxnreg", limits.max_registers),
    ];
    let given = all.iter().filter_map(|(name, value)| Some(format!("{name} {}", (*value)?)));
    given.collect::<Vec<_>>().join(" ")
}

fn row(kernel: &str, r: &Resources, limits: Limits) -> Vec<String> {
    let bound = if is_lower_bound(r) { ">" } else { "" };
    vec![
        kernel.to_owned(),
        format!("{bound}{}", r.registers),
        format!("{bound}{}", r.predicates),
        format!("{}{}", r.shared_bytes, if r.dynamic_shared { "+" } else { "" }),
        format!("{bound}{}", r.local_bytes),
        r.const_bytes.to_string(),
        r.param_bytes.to_string(),
        directives(limits),
    ]
}

fn record<'a>(file: &'a str, kernel: &'a str, r: &Resources, limits: Limits) -> Record<'a> {
    Record {
        file,
        kernel,
        registers: r.registers,
        predicates: r.predicates,
        shared_bytes: r.shared_bytes,
        dynamic_shared: r.dynamic_shared,
        local_bytes: r.local_bytes,
        const_bytes: r.const_bytes,
        param_bytes: r.param_bytes,
        is_lower_bound: is_lower_bound(r),
        max_threads: limits.max_threads,
        min_blocks_per_sm: limits.min_ctas_per_sm,
        max_registers: limits.max_registers,
    }
}
