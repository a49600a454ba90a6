//! The book's page of the command line: the help of every command, as the program prints it.

use std::process::Stdio;

use crate::Result;
use crate::files::cargo;

/// What the page begins with.
const HEAD: &str = "\
# Command line

<!-- Written by `cargo xtask codegen` from the help of the program; do not edit. -->

Every command prints data to stdout and everything else to stderr. With `--json`, it prints data for other programs.
";

/// The whole page.
pub fn page() -> Result<String> {
    let mut page = HEAD.to_owned();
    let mut waiting = vec![Vec::new()];
    while let Some(command) = waiting.pop() {
        let help = help(&command)?;
        page += &section(&command, &help);
        waiting.extend(subcommands(&help).into_iter().rev().map(|name| [&command[..], &[name]].concat()));
    }
    Ok(page)
}

/// What `raddle COMMAND --help` prints.
fn help(command: &[String]) -> Result<String> {
    let mut run = cargo(&["run", "--quiet", "--package", "raddle-cli", "--"]);
    let output = run.args(command).arg("--help").stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("`raddle {} --help` ended with {}", command.join(" "), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The part of the page about one command.
fn section(command: &[String], help: &str) -> String {
    let level = "#".repeat(command.len().clamp(1, 2) + 1);
    let name = [&["raddle".to_owned()], command].concat().join(" ");
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("\n{level} {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end())
}

/// The commands a help text lists, in its order.
fn subcommands(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Does it\n\nCommands:\n  run   Run\n  ptx   Look\n  help  Print\n\nOptions:\n  -h\n";

    #[test]
    fn commands_are_found_in_the_help() {
        assert_eq!(subcommands(HELP), ["run", "ptx"]);
        assert!(subcommands("Options:\n  -h\n").is_empty());
    }

    #[test]
    fn sections_nest() {
        assert_eq!(section(&[], "a \n\n"), "\n## raddle\n\n```text\na\n```\n");
        let command = ["ptx", "cfg"].map(str::to_owned);
        assert_eq!(section(&command, "a\n"), "\n### raddle ptx cfg\n\n```text\na\n```\n");
    }
}
