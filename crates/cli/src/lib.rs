//! The command `raddle`, as a library: [`main_with`] is the whole program, with whatever mechanisms there are.
//!
//! ```text
//!  argv ──clap──► args of one command ──► command ──► Exit, or Failure ──render──► stderr
//!                                            └──► data on stdout, talk on stderr
//! ```
//!
//! Nothing but this crate prints, reads the command line or chooses exit codes. Results go to stdout: data, summaries,
//! tables. Progress, warnings and errors go to stderr.
//!
//! The program `raddle` has the mechanisms of `raddle_mech`. A program with mechanisms of its own adds them to these, and
//! has every command with them: `examples/my_raddle.rs` is one.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the crate that prints")]

mod accesses;
mod cc;
mod compare;
mod config;
mod cost;
mod doctor;
pub mod embed;
pub mod exec;
mod exit;
mod figure_export;
mod fill;
mod gangs;
mod lab;
mod lanes;
mod list;
mod measure;
mod out;
mod phases;
mod profile;
mod progress;
mod ptx;
mod render;
mod run;
mod shell;
mod source_files;
mod sources;
mod status_line;
mod workloads;

use clap::{Parser, Subcommand};
use exit::Exit;
use raddle_sim::seam::Registry;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

/// Run and study GPU kernels written in PTX, without a GPU
#[derive(Parser)]
#[command(name = "raddle", version = version(), after_help = EXAMPLE)]
struct Cli {
    /// Colours: auto, always or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

/// When messages have colours.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

/// The version with what decides which cycles come out: the commit and the epoch of the timing model.
#[must_use]
pub fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let commit = option_env!("RADDLE_COMMIT").map_or_else(String::new, |commit| format!("commit {commit}, "));
        format!("{} ({commit}epoch {} of the timing model)", env!("CARGO_PKG_VERSION"), raddle_sim::EPOCH)
    });
    &TEXT
}

const EXAMPLE: &str = "\
Example:
  raddle run examples/saxpy.toml

Exit codes:
  0    everything went well
  1    a check found errors, an expectation failed, a kernel faulted or a point of an experiment failed
  2    the command line or an input file cannot be used
  3    a kernel deadlocked: none of its threads can continue
  4    the limit of instructions ended a kernel (--max-insts)
  5    the limit of cycles ended a kernel (--max-cycles)
  6    the run was told to stop and has written a checkpoint (--checkpoint)
  130  Ctrl-C stopped the run; the results of an experiment are kept";

#[derive(Subcommand)]
enum Command {
    /// Run a kernel, a launch file or a workload, and show the results
    Run(Box<run::Args>),
    /// Compile a CUDA program
    Cc(cc::Args),
    /// Run a CUDA program unchanged, and show how long a GPU would take and why
    Exec(Box<exec::Args>),
    /// Write a folder that looks like a CUDA toolkit, for existing build systems
    Toolkit(cc::ToolkitArgs),
    /// Called by the programs in a toolkit's folder
    #[command(hide = true)]
    Tool(cc::ToolArgs),
    /// Run launches, and measure how long warps wait and how far they drift apart
    #[command(subcommand, after_help = "Example:\n  raddle measure barriers examples/saxpy.toml")]
    Measure(measure::Command),
    /// Show which source lines take the time, and why
    Profile(Box<profile::Args>),
    /// Draw what the lanes of an SM do, instruction by instruction
    Lanes(Box<lanes::Args>),
    /// Draw how the warps of a block run and wait, from barrier to barrier
    Phases(Box<phases::Args>),
    /// Draw what a memory instruction requests: sectors of global memory, or banks of shared memory
    Accesses(Box<accesses::Args>),
    /// Draw what happens inside an SM over time
    #[command(subcommand, after_help = "Example:\n  raddle plot lanes examples/if-else.toml")]
    Plot(Plot),
    /// Check, print and analyse PTX files
    #[command(subcommand, after_help = "Example:\n  raddle ptx check kernel.ptx")]
    Ptx(ptx::Command),
    /// Show the parameters of machines, and import machines
    #[command(subcommand, after_help = "Example:\n  raddle config show --preset gtx480")]
    Config(config::Command),
    /// Check and compile the workloads that come with Raddle
    #[command(subcommand, after_help = "Example:\n  raddle workloads check bfs")]
    Workloads(workloads::Command),
    /// Run workloads on several machines, and compare the results in a table
    Compare(Box<compare::Args>),
    /// Run experiments, keep their results and make reports
    #[command(subcommand, after_help = "Example:\n  raddle lab run matrix --size tiny")]
    Lab(lab::Command),
    /// Run an experiment and make its report
    #[command(after_help = "\
The same as `raddle lab run` followed by `raddle lab report`. `raddle list experiments` lists the experiments
that come with Raddle.

With `all`, every experiment that comes with Raddle is run, and index.html in the folder is one page about
all of them. The page shows what each mechanism does, where it wins and loses, and our values beside those
of the papers. With `all` each point is run once; run an experiment on its own to repeat its points.

Examples:
  raddle reproduce matrix
  raddle reproduce all --size small
  raddle reproduce tbc --size paper --figure compaction --store results --output report")]
    Reproduce(lab::ReproduceArgs),
    /// Show what a mechanism costs in hardware
    Cost(cost::Args),
    /// List what can be chosen by name
    #[command(after_help = "Example:\n  raddle list presets")]
    List {
        /// What to list; by default everything
        #[command(subcommand)]
        command: Option<list::Command>,
    },
    /// Say which optional programs are installed, and what they are for
    Doctor(doctor::Args),
    /// Print a shell's completions
    Completions(shell::CompletionsArgs),
    /// Write manual pages to a folder
    Man(shell::ManArgs),
}

/// Pictures of runs.
#[derive(Subcommand)]
enum Plot {
    /// Draw how large gangs of narrow warps are over time
    Gangs(Box<gangs::Args>),
    /// The same as `raddle accesses`
    Accesses(Box<accesses::Args>),
    /// The same as `raddle lanes`
    Lanes(Box<lanes::Args>),
    /// The same as `raddle phases`
    Phases(Box<phases::Args>),
}

/// Does what the command line says, with the mechanisms of the registry.
#[must_use]
pub fn main_with(registry: Registry) -> ExitCode {
    run_command(registry, Cli::parse()).into()
}

/// Does what these words say, of which the first is the name of the program, and gives the exit code.
#[must_use]
pub fn main_from(registry: Registry, words: Vec<String>) -> u8 {
    match Cli::try_parse_from(words) {
        Ok(cli) => run_command(registry, cli).code(),
        Err(error) => {
            // Where it cannot be said, nothing can.
            let _ = error.print();
            error.exit_code() as u8
        }
    }
}

fn run_command(registry: Registry, Cli { color, command }: Cli) -> Exit {
    let registry = Arc::new(registry);
    anstream::ColorChoice::from(color).write_global();
    let result = match command {
        Command::Run(args) => run::run(&args, &registry),
        Command::Cc(args) => cc::run(&args),
        Command::Exec(args) => exec::run(&args, &registry),
        Command::Toolkit(args) => cc::write_toolkit(&args),
        Command::Tool(args) => cc::tool(&args),
        Command::Measure(command) => measure::run(&command, &registry),
        Command::Profile(args) => profile::run(*args, &registry),
        Command::Lanes(args) => lanes::run(&args, &registry),
        Command::Phases(args) => phases::run(&args, &registry),
        Command::Accesses(args) | Command::Plot(Plot::Accesses(args)) => accesses::run(&args, &registry),
        Command::Plot(Plot::Gangs(args)) => gangs::run(&args, &registry),
        Command::Plot(Plot::Lanes(args)) => lanes::run(&args, &registry),
        Command::Plot(Plot::Phases(args)) => phases::run(&args, &registry),
        Command::Ptx(command) => ptx::run(&command),
        Command::Config(command) => config::run(&command),
        Command::Workloads(command) => workloads::run(&command, &registry),
        Command::Compare(args) => compare::run(&args, &registry),
        Command::Lab(command) => lab::run(&command, &registry),
        Command::Reproduce(args) => lab::reproduce(&args, &registry),
        Command::Cost(args) => cost::run(&args),
        Command::List { command } => list::run(command.as_ref(), &registry),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => shell::completions::<Cli>(&args),
        Command::Man(args) => shell::man::<Cli>(&args),
    };
    result.unwrap_or_else(|failure| {
        let exit = failure.exit();
        if let Some(text) = render::failure(&failure) {
            out::talk(&text);
        }
        exit
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// The commands that do something, as they are written.
    fn leaves(command: &clap::Command, path: &str) -> Vec<String> {
        let name = format!("{path}{}", command.get_name());
        let below = command.get_subcommands().filter(|below| below.get_name() != "help");
        let below: Vec<String> = below.flat_map(|below| leaves(below, &format!("{name} "))).collect();
        if below.is_empty() { vec![name] } else { below }
    }

    #[test]
    fn the_security_page_has_a_row_for_every_command() {
        let page = include_str!("../../../SECURITY.md");
        let rows = page.lines().filter(|line| line.starts_with("| `") || line.starts_with("| the "));
        let cells: Vec<Vec<&str>> = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect()).collect();
        assert!(cells.iter().all(|row| row.len() == 5 && row.iter().all(|cell| !cell.is_empty())), "{cells:?}");
        let named: Vec<&str> =
            cells.iter().flat_map(|row| row[0].split(", ")).map(|name| name.trim_matches('`')).collect();
        let others = ["libcudart.so", "the Python package"];
        let mut wanted = leaves(&super::Cli::command(), "");
        wanted.extend(others.map(str::to_owned));
        let [mut named, mut wanted] = [named.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), wanted];
        named.sort();
        wanted.sort();
        assert_eq!(named, wanted, "the table in SECURITY.md and the commands");
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
