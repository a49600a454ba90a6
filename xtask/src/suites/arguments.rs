//! Arguments of programs that `make run` gives: they ask for what a GPU does in seconds, and are made smaller.
//!
//! The rule is the same for all programs. Where the program's own text on its use names an argument as a number of repetitions, it
//! becomes 1; a program that names nothing has its last number taken for one. If that takes too long, large numbers are divided, and at
//! last those of two digits and more.

use std::fs;
use std::path::Path;

/// By what numbers are divided, one try after the other.
const TRIES: [Divisors; 4] = [
    Divisors { large: 1, medium: 1 },
    Divisors { large: 16, medium: 1 },
    Divisors { large: 256, medium: 1 },
    Divisors { large: 256, medium: 8 },
];

/// By what the numbers of a command are divided.
#[derive(Clone, Copy)]
struct Divisors {
    large: u64,
    medium: u64,
}

impl Divisors {
    fn divide(self, number: u64) -> u64 {
        match number {
            4096.. => number / self.large,
            64.. => number / self.medium,
            _ => number,
        }
    }
}

/// What to try one after the other, from the commands that `make -n run` printed.
pub fn commands(folder: &Path, listed: &str) -> Vec<String> {
    let lines: Vec<&str> = listed.lines().map(str::trim).filter(|line| line.starts_with("./")).collect();
    let names = argument_names(folder);
    let mut tries: Vec<String> = Vec::new();
    for divisors in TRIES {
        let parts: Vec<String> = lines.iter().map(|line| smaller(line, &names, divisors)).collect();
        let line = parts.join(" && ");
        if !line.is_empty() && !tries.contains(&line) {
            tries.push(line);
        }
    }
    tries
}

/// A command with one repetition and its numbers divided.
fn smaller(line: &str, names: &[String], divisors: Divisors) -> String {
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let arguments = words.len() - 1;
    let counts = |name: &String| ["repe", "iter", "times", "loop"].iter().any(|part| name.contains(part));
    let is_repeat = |index: usize| match names.len() == arguments {
        true => counts(&names[index - 1]),
        false => index == arguments && names.last().is_none_or(counts),
    };
    let changed = words.iter().enumerate().map(|(index, word)| match word.parse::<u64>() {
        Ok(number) if index > 0 && number > 1 && is_repeat(index) => "1".to_owned(),
        Ok(number) => divisors.divide(number).to_string(),
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
        let [published, by_16, .., smallest] = TRIES;
        assert_eq!(smaller("./main 8192 100", &names, published), "./main 8192 1");
        assert_eq!(smaller("./main 8192 100", &names, by_16), "./main 512 1");
        assert_eq!(
            smaller("./main 640 8192 100", &names, smallest),
            "./main 80 32 1",
            "the last name is of repetitions"
        );
        assert_eq!(smaller("./main 8192 100", &[], published), "./main 8192 1", "the last number");
        assert_eq!(smaller("./main 8192 100 -v", &names, published), "./main 8192 100 -v", "the last is no number");
    }
}
