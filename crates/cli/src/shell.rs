//! What a shell and `man` want to know of the command line.

use crate::exit::{Exit, Failure};
use crate::out;
use clap::CommandFactory;
use clap_complete::Shell;
use raddle_runtime::Error;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  raddle completions bash > ~/.local/share/bash-completion/completions/raddle
  raddle completions zsh > ~/.zfunc/_raddle
  raddle completions fish > ~/.config/fish/completions/raddle.fish")]
pub struct CompletionsArgs {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  raddle man ~/.local/share/man/man1
  man raddle-run")]
pub struct ManArgs {
    /// The folder to write to; it is made when it is missing
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints the completions of a shell.
pub fn completions<C: CommandFactory>(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut C::command(), "raddle", &mut script);
    out::data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Good)
}

/// Writes a page for each command.
pub fn man<C: CommandFactory>(args: &ManArgs) -> Result<Exit, Failure> {
    let path = args.folder.display().to_string();
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(C::command(), &args.folder))
        .map_err(|source| Error::Write { path: path.clone(), source });
    written?;
    out::talk(&format!("the pages are in {path}; `man -l {path}/raddle.1` shows the first"));
    Ok(Exit::Good)
}
