//! Arguments of programs that `make run` gives: they ask for what a GPU does in seconds, and are made smaller.
//!
//! The rule is the same for all programs. Where the program's own text on its use names an argument as a number of repetitions, it
//! becomes 1; a program that names nothing has its last number taken for one. If that takes too long, large numbers are divided.

use std::fs;
use std::path::Path;

/// Numbers from here on are sizes, which may be divided.
const LARGE: u64 = 4096;

/// What to try one after the other, from the commands that `make -n run` printed.
pub fn commands(folder: &Path, listed: &str) -> Vec<String> {
    let lines: Vec<&str> = listed.lines().map(str::trim).filter(|line| line.starts_with("./")).collect();
    let names = argument_names(folder);
    let mut tries: Vec<String> = Vec::new();
    for divisor in [1, 16, 256] {
        let parts: Vec<String> = lines.iter().map(|line| smaller(line, &names, divisor)).collect();
        let line = parts.join(" && ");
        if !line.is_empty() && !tries.contains(&line) {
            tries.push(line);
        }
    }
    tries
}

/// A command with one repetition and its large numbers divided.
fn smaller(line: &str, names: &[String], divisor: u64) -> String {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let arguments = words.len() - 1;
    let is_repeat = |index: usize| match names.len() == arguments {
        true => ["repe", "iter", "times", "loop"].iter().any(|part| names[index - 1].contains(part)),
        false => names.is_empty() && index == arguments,
    };
    let changed = words.iter().enumerate().map(|(index, word)| match word.parse::<u64>() {
        Ok(number) if index > 0 && number > 1 && is_repeat(index) => "1".to_owned(),
        Ok(number) if number >= LARGE => (number / divisor).to_string(),
        _ => (*word).to_owned(),
    });
    changed.collect::<Vec<_>>().join(" ")
}

/// The arguments that a program's text on its use names, in order: `<number of rows> <repeat>`.
fn argument_names(folder: &Path) -> Vec<String> {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if ![".cu", ".cpp", ".cc", ".h"].iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        let Ok(text) = fs::read(entry.path()) else { continue };
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Some((_, after)) = text.split_once("Usage:") {
            let end = after.find(';').unwrap_or(after.len());
            let parts = after[..end].split('<').skip(1).filter_map(|part| part.split_once('>'));
            return parts.map(|(name, _)| name.to_lowercase()).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_become_one_and_sizes_are_divided() {
        let names = ["number of rows".to_owned(), "repeat".to_owned()];
        assert_eq!(smaller("./main 8192 100", &names, 1), "./main 8192 1");
        assert_eq!(smaller("./main 8192 100", &names, 16), "./main 512 1");
        assert_eq!(smaller("./main 8192 100", &[], 1), "./main 8192 1", "the last number");
        assert_eq!(smaller("./main 8192 100 -v", &names, 1), "./main 8192 100 -v", "names that do not fit");
    }
}
