//! `raddle ptx virtualize`.

use crate::config::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::out;
use crate::render::Text;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use raddle_ptx::syntax::print;
use raddle_ptx::transform::{self, Form, Options, Virtualized};
use raddle_runtime::timing::TimingOptions;
use raddle_runtime::{Error, PtxFile, virtual_blocks};
use std::path::PathBuf;

/// How kernels are put in a loop over logical blocks.
#[derive(clap::Args)]
pub struct FormArgs {
    /// Who distributes logical blocks, and which warp of the next block a warp becomes
    #[arg(long, value_parser = forms(), value_name = "FORM", default_value = "software")]
    form: Form,
    /// Keep code that depends on neither thread nor block in the loop, instead of moving it before the loop
    #[arg(long)]
    no_hoist: bool,
    /// Move only as much code as fits in this many registers
    #[arg(long, value_name = "N", conflicts_with = "no_hoist")]
    hoist_registers: Option<u32>,
    /// Dimensions of grids and blocks, if there are more than the kernel reads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    dims: u8,
}

#[derive(clap::Args)]
pub struct Args {
    /// PTX file
    file: PathBuf,
    /// Kernel; by default all kernels of the file
    #[arg(long, short, value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    form: FormArgs,
    /// File to write instead of stdout
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Threads of a block, to compute how many blocks an SM holds
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: u32,
    #[command(flatten)]
    machine: MachineArgs,
}

/// The forms by name.
pub fn forms() -> impl TypedValueParser<Value = Form> {
    let values = Form::ALL.map(|form| PossibleValue::new(form.name()).help(form.about()));
    PossibleValuesParser::new(values).map(|name| Form::named(&name).unwrap_or_default())
}

impl FormArgs {
    /// The same for the transformation.
    pub fn options(&self) -> Options {
        let (hoist, hoist_registers) = (!self.no_hoist, self.hoist_registers);
        Options { form: self.form, hoist, hoist_registers, dims: self.dims }
    }
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let file = PtxFile::read(&args.file)?;
    let wanted = args.kernel.as_deref().map(|name| file.kernel(Some(name))).transpose()?;
    let options = args.form.options();
    let done = transform::virtualize(&file.source, &options, |name| wanted.is_none_or(|w| w == name));
    let done = done.map_err(|diagnostics| Error::Ptx {
        path: file.path.clone(),
        source_text: file.source.clone(),
        diagnostics,
    })?;
    let text = Text::new(&file.path, &file.source);
    for refusal in &done.refused {
        out::talk(&(text.diagnostic(&refusal.diagnostic) + "\n"));
    }
    if !done.refused.is_empty() {
        let names: Vec<&str> = done.refused.iter().map(|r| r.kernel.as_str()).collect();
        out::talk(&format!("nothing was written: {} cannot be virtualised like this", names.join(", ")));
        return Ok(Exit::Bad);
    }
    let source = print(&done.tree);
    let after = PtxFile::parse(&file.path, source)?;
    let machine = args.machine.load()?;
    let mut rows = vec![
        ["kernel", "instructions", "in the loop", "outside", "moved out", "registers", "blocks per SM"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let timing = TimingOptions::new(machine.config);
    rows.extend(done.kernels.iter().map(|kernel| row(args, kernel, [&file, &after], &timing)));
    match &args.output {
        None => out::data(&after.source)?,
        Some(path) => std::fs::write(path, &after.source)
            .map_err(|source| Error::Write { path: path.display().to_string(), source })?,
    }
    out::talk(out::table(&rows).trim_end());
    Ok(Exit::Good)
}

fn row(args: &Args, kernel: &Virtualized, files: [&PtxFile; 2], timing: &TimingOptions) -> Vec<String> {
    let registers = [kernel.registers.before, kernel.registers.after].map(|n| n.to_string());
    let resident =
        files.map(|file| match virtual_blocks::residency(file, &kernel.kernel, timing, [args.block, 1, 1], 0) {
            Ok(residency) => residency.ctas.to_string(),
            Err(_) => "none".to_owned(),
        });
    let numbers = [kernel.before, kernel.in_loop, kernel.outside, kernel.hoisted].map(|n| n.to_string());
    let changes = [registers.join(" -> "), resident.join(" -> ")];
    [vec![kernel.kernel.clone()], numbers.to_vec(), changes.to_vec()].concat()
}
