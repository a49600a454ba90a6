//! Repository chores, run as `cargo xtask COMMAND`.
//!
//! `cargo xtask ci` is the one command that decides whether a change is good; the other commands are its steps, so
//! that each can be run alone. Nothing here is part of the product.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to the terminal")]

mod accuracy;
mod book;
mod ci;
mod codegen;
mod command_line;
mod counters;
mod deny;
mod deps;
mod divergence_table;
mod docs;
mod energy;
mod files;
mod fmt;
mod fuzz;
mod host_instructions;
mod install;
mod instructions;
mod launches;
mod licences;
mod loom;
mod machine_keys;
mod marks;
mod mechanisms;
mod miri;
mod numbers_page;
mod page_checks;
mod page_sample;
mod pages;
mod programs;
mod python;
mod registers;
mod results;
mod sample;
mod sampling;
mod screenshots;
mod sequences;
mod silicon;
mod slurm;
mod suites;
mod tidy;
mod traces;
mod unsafe_page;
mod venv;
mod virtualized_table;
mod wording;
mod workload_table;
mod workloads;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::sample::Sample;

/// What every chore returns; the message is shown to the person who ran it.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "Chores of the Raddle repository")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compare the timing model with the reference simulator and write the page about it
    Accuracy {
        /// Write nothing; run a sample and compare its cycles with those of the page
        #[arg(long)]
        check: bool,
    },
    /// Build the book as a site, in target/book; needs mdbook
    Book,
    /// Run everything CI runs, in the same order
    Ci(ci::Args),
    /// Write the generated files
    Codegen {
        /// Write nothing; fail if a file is out of date
        #[arg(long)]
        check: bool,
    },
    /// Check the direction of dependency between the crates
    Deps,
    /// Measure what the kernels of the workloads are like and write the table
    MeasureWorkloads {
        /// tiny, small or paper; or virtualized, what a loop over logical blocks costs
        table: String,
        /// Write nothing; fail if the table is another one
        #[arg(long)]
        check: bool,
    },
    /// Check the book and the links in every Markdown file
    Docs,
    /// Compare generated programs on the simulator with the same programs on the host
    Differential {
        /// How many programs
        #[arg(long, default_value_t = 500)]
        programs: u64,
        /// Seed of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    /// Compare the energy model's shares, on average over the workloads, with those it was fitted to
    Energy {
        /// tiny, small or paper
        #[arg(default_value = "small")]
        size: String,
        /// Find the factors that would make them equal, and compare with these
        #[arg(long)]
        fit: bool,
    },
    /// Format the code, also where `cargo fmt` does not see it
    Fmt {
        /// Write nothing; fail if something is not formatted
        #[arg(long)]
        check: bool,
    },
    /// Run the short fuzzing samples, or look for new inputs
    Fuzz(fuzz::Args),
    /// Count host instructions per simulated instruction under callgrind
    HostInstructions {
        /// Only the timing model, which fails when it costs more than the committed table says
        #[arg(long)]
        check: bool,
        /// The timing model at sizes that fill the GPU, by stage; takes some minutes
        #[arg(long, conflicts_with = "check")]
        filled: bool,
    },
    /// Install `raddle` to an empty folder and follow the first steps away from the clone
    Install,
    /// Build the Python package, install it into an empty environment and test it
    Python(python::Args),
    /// Count what every workload launches at every size and write the census
    Launches {
        /// Write nothing; fail if the census is another one
        #[arg(long)]
        check: bool,
    },
    /// Run what CI only samples: every reference kernel on every path, the timing model on all kernel files and
    /// a hundred random machines, accuracy, 500 differential programs, the workloads at their size `small`, the census of launches
    Long,
    /// Run the threads of the timing model in every order, under loom
    Loom,
    /// Run the unit tests of modules with `unsafe` under Miri; needs a nightly compiler
    Miri,
    /// Follow the pages of the book that say how to do something, in a copy of the work tree
    Pages {
        /// Write what commands print to the pages where they show something else
        #[arg(long)]
        write: bool,
    },
    /// Run experiments and write their tables to the pages under `docs/src/results`
    Results(results::Args),
    /// Compare sampled runs of the workloads with whole ones and write the page about them
    Sampling(sampling::Args),
    /// Build and run other people's CUDA programs and write the page about them
    Suites(suites::Args),
    /// Take the pictures of a report in the book; needs Chromium
    Screenshots,
    /// Run random sequences of calls of the CUDA runtime API and compare them with a model of its documentation
    Sequences(sequences::Args),
    /// Measure on a machine what others measured on real GPUs and write the page about it
    Silicon(silicon::Args),
    /// Check the repository rules
    Tidy,
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Accuracy { check } => accuracy::run(check),
        Command::Book => book::run(),
        Command::Ci(args) => return ci::run(&args),
        Command::Codegen { check } => codegen::run(check),
        Command::Deps => deps::run(),
        Command::Differential { programs, first } => differential(first, programs),
        Command::Docs => docs::run(),
        Command::Energy { size, fit } => energy::run(&size, fit),
        Command::Fmt { check } => fmt::run(check),
        Command::Fuzz(args) => fuzz::run(&args),
        Command::HostInstructions { filled: true, .. } => host_instructions::filled(),
        Command::HostInstructions { check, .. } => host_instructions::run(check),
        Command::Install => install::check(),
        Command::Python(args) => python::run(&args),
        Command::Launches { check } => launches::run(check),
        Command::Long => long(),
        Command::MeasureWorkloads { table, check } => workload_table::measure(&table, check),
        Command::Loom => loom::run(),
        Command::Miri => miri::run(),
        Command::Pages { write } => pages::run(&Sample::Complete, write),
        Command::Results(args) => results::run(&args),
        Command::Sampling(args) => sampling::run(&args),
        Command::Screenshots => screenshots::run(),
        Command::Sequences(args) => sequences::run(&args),
        Command::Silicon(args) => silicon::run(&args),
        Command::Suites(args) => suites::run(&args),
        Command::Tidy => tidy::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The whole differential test; sources and PTX stay in `target/differential`.
fn differential(first: u64, programs: u64) -> Result {
    let (from, to) = (first.to_string(), (first + programs).to_string());
    let example = ["run", "--release", "-p", "raddle-testkit", "--example", "differential", "--"];
    files::run_cargo(&[&example[..], &[&from, &to, "target/differential"]].concat())
}

/// What CI only samples, in full.
fn long() -> Result {
    let sampled = [
        ["raddle-exec", "integration"],
        ["raddle-testkit", "fuzz"],
        ["raddle-testkit", "timing"],
        ["raddle-workloads", "models"],
    ];
    for [package, test] in sampled {
        let mut tests = files::cargo(&["test", "--release", "-p", package, "--test", test]);
        files::run_command(tests.env("RADDLE_LONG", "1"))?;
    }
    accuracy::check_all()?;
    workloads::check("small")?;
    launches::run(true)?;
    workload_table::measure("paper", true)?;
    differential(0, 500)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn command_line_is_consistent() {
        super::Args::command().debug_assert();
    }
}
