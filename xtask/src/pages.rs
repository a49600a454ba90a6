//! Pages of the book that are followed to the letter, as a newcomer would, so that they work.
//!
//! The pages are followed one after the other in a copy of the work tree. What is there to do is marked on the page:
//!
//! - A block under a line that ends in a path in backticks and a colon is the text of that file; in a block of kind
//!   `diff` it is a change of that file.
//! - In a block that begins with `$ `, such lines are commands, and the lines below one are what it prints. If none are
//!   shown, anything may be printed. `...` stands for anything in a line, and a line of it for any lines. How long the
//!   host took may differ. A command whose output begins with `error` must fail, all others must not. `cargo build
//!   --release` builds without `--release`, and other commands that compile for minutes are left out; the step `install`
//!   of CI shows that they work.
//!
//! Building in the copy is cheap: it starts from what has been built for the work tree.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Result;
use crate::files::{paths, root, run_cargo, target};
use crate::sample::Sample;

/// The page that everybody follows first.
const FIRST: &str = "docs/src/guide/first-steps.md";
/// The other pages, in the order in which they are followed. None needs what another one changes.
const PAGES: [&str; 7] = [
    "docs/src/guide/reading-the-output.md",
    "docs/src/guide/profile.md",
    "docs/src/guide/cuda-programs.md",
    "docs/src/guide/sanitize.md",
    "docs/src/guide/trace.md",
    "docs/src/guide/your-scheduler.md",
    "docs/src/contributing/add-a-workload.md",
];

/// What commands that compile for minutes have in them.
const SLOW: [&str; 3] = ["cargo build --release", "cargo install", "cargo run --release"];

/// How many of them a commit follows.
const OF_A_COMMIT: usize = 3;

/// Follows the first page and a sample of the others. With `write`, outputs that differ are written to the pages.
pub fn run(sample: &Sample, write: bool) -> Result {
    // What a newcomer compiles first.
    run_cargo(&["build", "--quiet", "--locked", "-p", "raddle-cli", "-p", "raddle-cudart", "-p", "xtask"])?;
    let copy = make_copy()?;
    for page in [FIRST].into_iter().chain(sample.choose("pages", &PAGES, OF_A_COMMIT)) {
        let start = Instant::now();
        let text = fs::read_to_string(root().join(page))?;
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut follower = Follower { page, copy: &copy, write, exports: String::new() };
        // From the end of the page the lines of a step would still be where they were, but steps have an order.
        let mut moved = 0;
        for step in steps(&text).map_err(|(line, what)| format!("{page}:{line}: {what}"))? {
            if let Some(new) = follower.follow(&step)? {
                let first = step.output_line.wrapping_add_signed(moved);
                moved += new.len() as isize - step.output.len() as isize;
                lines.splice(first..first + step.output.len(), new);
            }
        }
        let new = lines.join("\n") + "\n";
        if new != text {
            fs::write(root().join(page), new)?;
            println!("pages: wrote {page}; read what has changed, the text may speak of it");
        }
        println!("pages: {page} works, {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

/// One thing to do.
#[derive(Debug, PartialEq)]
pub struct Step {
    /// Where it is on the page, counted from 1.
    line: usize,
    pub what: What,
    /// What a command prints; empty if the page does not say.
    pub output: Vec<String>,
    /// Where its output is, counted from 0.
    output_line: usize,
}

/// What there is to do.
#[derive(Debug, PartialEq)]
pub enum What {
    File { path: String, text: String },
    Change { path: String, diff: String },
    Command(String),
}

/// The steps of a page. An error has the line it is about.
pub fn steps(page: &str) -> std::result::Result<Vec<Step>, (usize, &'static str)> {
    let mut steps = Vec::new();
    let mut path: Option<String> = None;
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else {
            if line.ends_with("`:") {
                path = line.split('`').nth_back(1).map(str::to_owned);
            } else if !line.is_empty() {
                path = None;
            }
            continue;
        };
        let block: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        let text = || block.iter().map(|(_, line)| format!("{line}\n")).collect::<String>();
        let what = match (path.take(), kind) {
            (Some(path), "diff") => What::Change { path, diff: text() },
            (Some(path), _) => What::File { path, text: text() },
            (None, "diff") => return Err((number + 1, "the file this changes is not named")),
            (None, _) => {
                if block.first().is_some_and(|(_, line)| line.starts_with("$ ")) {
                    steps.extend(commands(&block));
                }
                continue;
            }
        };
        steps.push(Step { line: number + 2, what, output: Vec::new(), output_line: 0 });
    }
    Ok(steps)
}

/// The commands of a block; one goes on in the next line behind a backslash.
fn commands(block: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for (number, line) in block {
        match (steps.last_mut(), line.strip_prefix("$ ")) {
            (_, Some(command)) => {
                goes_on = command.ends_with('\\');
                let what = What::Command(command.to_owned());
                steps.push(Step { line: number + 1, what, output: Vec::new(), output_line: number + 1 });
            }
            (Some(Step { what: What::Command(command), output_line, .. }), None) if goes_on => {
                goes_on = line.ends_with('\\');
                *command += &format!("\n{line}");
                *output_line = number + 1;
            }
            (Some(step), None) => step.output.push((*line).to_owned()),
            (None, None) => {}
        }
    }
    steps
}

/// Does what one page says.
struct Follower<'p> {
    page: &'p str,
    copy: &'p Path,
    write: bool,
    /// What the page's commands have exported.
    exports: String,
}

impl Follower<'_> {
    /// Does one step. The output the page should show, if it shows another.
    fn follow(&mut self, step: &Step) -> Result<Option<Vec<String>>> {
        let at = format!("{}:{}", self.page, step.line);
        match &step.what {
            What::File { path, text } => {
                let path = self.copy.join(path);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, text)?;
            }
            What::Change { path, diff } => {
                let file = self.copy.join(path);
                let old = fs::read_to_string(&file).map_err(|e| format!("{at}: {path}: {e}"))?;
                fs::write(file, changed(&old, diff).map_err(|e| format!("{at}: {path}: {e}"))?)?;
            }
            What::Command(command) => return self.command(&at, command, &step.output),
        }
        Ok(None)
    }

    fn command(&mut self, at: &str, command: &str, shown: &[String]) -> Result<Option<Vec<String>>> {
        if command.starts_with("export ") {
            self.exports += &format!("{command}\n");
            return Ok(None);
        }
        let command = if command == "cargo build --release" { "cargo build" } else { command };
        if SLOW.iter().any(|slow| command.contains(slow)) {
            return Ok(None);
        }
        let start = Instant::now();
        let output = shell(&format!("{}{command}", self.exports), self.copy, &self.copy.join("target/debug"))
            .env_remove("CARGO_TARGET_DIR")
            .env("CARGO_TERM_COLOR", "never")
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        println!("pages: {:5.1} s  $ {command}", start.elapsed().as_secs_f64());
        let must_fail = shown.first().is_some_and(|line| line.starts_with("error"));
        if output.status.success() == must_fail {
            let should = if must_fail { "should have failed" } else { "failed" };
            return Err(format!("{at}: `{command}` {should}\n{text}").into());
        }
        let printed: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !is_progress(line)).collect();
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        if shown.is_empty() || lines_match(&shown, &printed) {
            Ok(None)
        } else if self.write {
            Ok(Some(renewed(&shown, &printed)))
        } else {
            let (page, printed) = (shown.join("\n"), printed.join("\n"));
            let help = "`cargo xtask pages --write` renews what pages show";
            Err(format!("{at}: `{command}` prints something else\n--- page\n{page}\n--- printed\n{printed}\n{help}")
                .into())
        }
    }
}

/// A script of the shell in a folder, with the programs of `bin` first in its path and all output in one.
pub fn shell(script: &str, folder: &Path, bin: &Path) -> Command {
    let mut path = OsString::from(bin);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1\n{script}")]).env("PATH", path).current_dir(folder).stdin(Stdio::null());
    shell
}

/// Whether a line only says how far work has come: slow hosts print more of them.
fn is_progress(line: &str) -> bool {
    let words: Vec<&str> = line.split([' ', ',']).take(4).collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    matches!(words[..], [done, "of", all, "done"] if is_number(done) && is_number(all))
}

/// Whether lines are as the page shows them.
pub fn lines_match(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=printed.len()).any(|n| lines_match(rest, &printed[n..])),
        ([first, shown @ ..], [line, printed @ ..]) => line_matches(first, line) && lines_match(shown, printed),
        _ => false,
    }
}

fn line_matches(shown: &str, line: &str) -> bool {
    let (shown, line) = (without_host_time(shown), without_host_time(line));
    let Some((start, rest)) = shown.split_once("...") else { return shown == line };
    let Some(mut line) = line.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split("...").collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some((_, behind)) = line.split_once(part) else { return false };
        line = behind;
    }
    line.ends_with(end)
}

/// A line up to where it says how long the host took.
fn without_host_time(line: &str) -> &str {
    let ends = ["simulated in ", " warp-instructions in "].iter().filter_map(|mark| line.find(mark));
    &line[..ends.min().unwrap_or(line.len())]
}

/// What was printed, with `...` where the page had it in a line.
fn renewed(shown: &[&str], printed: &[&str]) -> Vec<String> {
    let patterns = || shown.iter().filter(|shown| **shown != "..." && shown.contains("..."));
    let line = |line: &&str| patterns().find_map(|shown| with_dots(shown, line)).unwrap_or_else(|| (*line).to_owned());
    printed.iter().map(line).collect()
}

/// A line with the words of `shown` that have `...`, if the others are the same but for their numbers.
fn with_dots(shown: &str, line: &str) -> Option<String> {
    if line_matches(shown, line) {
        return Some(shown.to_owned());
    }
    let same = |shown: &str, word: &str| {
        let text = |word: &str| word.replace(|c: char| c.is_ascii_digit() || matches!(c, ',' | '.'), "");
        shown.contains("...") || text(shown) == text(word)
    };
    let mut words = shown.split_whitespace();
    let mut new = Vec::new();
    for word in line.split(' ') {
        new.push(match word {
            "" => word,
            _ => match words.next()? {
                shown if !same(shown, word) => return None,
                shown if shown.contains("...") => shown,
                _ => word,
            },
        });
    }
    words.next().is_none().then(|| new.join(" "))
}

/// A text after a change: the lines with `-` and a space are replaced by those with `+` and a space.
fn changed(text: &str, diff: &str) -> std::result::Result<String, &'static str> {
    let with = |other: char| {
        let lines = diff.lines().filter(move |line| !line.starts_with(other));
        lines.map(|line| format!("\n{}", line.get(1..).unwrap_or_default())).collect::<String>() + "\n"
    };
    let text = format!("\n{text}");
    match text.matches(&with('+')).count() {
        1 => Ok(text.replacen(&with('+'), &with('-'), 1)[1..].to_owned()),
        0 => Err("it does not have the lines that the page changes"),
        _ => Err("it has the lines that the page changes more than once; show more of it"),
    }
}

/// Copies the work tree and what has been built of it to `target/pages`.
///
/// Cargo rebuilds what is newer than its output, and calls crates by their place in the workspace. So in a copy that
/// keeps the times of files nothing is built that is not different there.
fn make_copy() -> Result<PathBuf> {
    let copy = target().join("pages");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    for path in paths()? {
        copy_file(&root().join(&path), &copy.join(&path))?;
    }
    for folder in [".fingerprint", "build", "deps"] {
        copy_built(&target().join("debug").join(folder), &copy.join("target/debug").join(folder))?;
    }
    // Settings of the folders above count, too, and lists of both are put together: flags given twice are other flags to
    // cargo, which would compile everything again.
    if copy.starts_with(root()) {
        fs::write(copy.join(".cargo/config.toml"), "")?;
    }
    Ok(copy)
}

/// Copies a file with its time.
fn copy_file(from: &Path, to: &Path) -> Result {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(from, to)?;
    let file = fs::File::options().write(true).open(to)?;
    Ok(file.set_modified(fs::metadata(from)?.modified()?)?)
}

/// Copies build output. Libraries and programs are only linked: whoever builds them anew replaces them.
fn copy_built(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        let extension = path.extension().and_then(|e| e.to_str());
        match extension {
            _ if entry.file_type()?.is_dir() => copy_built(&path, &to)?,
            Some("rlib" | "rmeta" | "so") => fs::hard_link(&path, &to)?,
            None if from.ends_with("deps") => fs::hard_link(&path, &to)?,
            Some("o") => {}
            _ => copy_file(&path, &to)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
The file `a/b.rs`:

```rust
x
```

And in `c.rs`:

```diff
 one
+two
```

```text
$ run it \\
      well
good
$ again
```

```text
not a step
```
";

    #[test]
    fn steps_are_found_in_order() {
        let found = steps(PAGE).unwrap();
        let lines: Vec<usize> = found.iter().map(|step| step.line).collect();
        assert_eq!(lines, [4, 10, 15, 18]);
        assert_eq!(found[0].what, What::File { path: "a/b.rs".to_owned(), text: "x\n".to_owned() });
        assert_eq!(found[1].what, What::Change { path: "c.rs".to_owned(), diff: " one\n+two\n".to_owned() });
        assert_eq!(found[2].what, What::Command("run it \\\n      well".to_owned()));
        assert_eq!((&found[2].output[..], found[2].output_line), (&["good".to_owned()][..], 16));
        assert_eq!(found[3].what, What::Command("again".to_owned()));
        assert!(found[3].output.is_empty());
        assert_eq!(steps("```diff\n+x\n```\n").unwrap_err().0, 1);
    }

    #[test]
    fn output_is_compared_except_where_the_page_leaves_it_open() {
        assert!(lines_match(&["a ... s", "...", "z"], &["a 1.5 s", "b", "c", "z"]));
        assert!(lines_match(&["...", "z"], &["z"]));
        assert!(!lines_match(&["a ... s"], &["a 1.5 s", "b"]), "a line is missing on the page");
        assert!(!lines_match(&["a ... s"], &["a 1.5 m"]));
        assert!(!lines_match(&["1.250"], &["1.251"]));
        assert_eq!(renewed(&["in ... s", "1.250", "..."], &["in 3 s", "1.251"]), ["in ... s", "1.251"]);
        // The number beside it has changed too.
        assert_eq!(
            renewed(&["cycles  5,517  (in ... ms)"], &["cycles  520  (in 3.1 ms)"]),
            ["cycles  520  (in ... ms)"]
        );
        assert_eq!(renewed(&["cycles  5,517  (in ... ms)"], &["slots  520  (in 3.1 ms)"]), ["slots  520  (in 3.1 ms)"]);
        assert!(is_progress("1003 of 2016 done, 1 running, about 30 s left") && is_progress("90 of 450 done"));
        assert!(!is_progress("3 of 4 are done") && !is_progress("4 points: 0 known, 4 run in 0.1 s"));
    }

    #[test]
    fn a_change_must_fit_in_one_place() {
        assert_eq!(changed("a\nb\nc\n", " a\n-b\n+x\n+y\n").unwrap(), "a\nx\ny\nc\n");
        assert!(changed("a\nb\n", " b\n+c\n").unwrap() == "a\nb\nc\n");
        assert!(changed("a\n", " b\n+c\n").unwrap_err().contains("does not have"));
        assert!(changed("a\nb\na\n", " a\n+c\n").unwrap_err().contains("more than once"));
    }

    #[test]
    fn how_long_the_host_took_may_differ() {
        assert!(lines_match(&["  cycles  5 (simulated in 2 ms)"], &["  cycles  5 (simulated in 12 s)"]));
        assert!(!lines_match(&["  cycles  5 (simulated in 2 ms)"], &["  cycles  6 (simulated in 2 ms)"]));
    }

    #[test]
    fn every_page_has_steps() {
        for page in PAGES {
            assert!(!steps(&fs::read_to_string(root().join(page)).unwrap()).unwrap().is_empty(), "{page}");
        }
    }
}
