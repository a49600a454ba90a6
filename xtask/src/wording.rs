//! How pages are written: no word that has a better one, no sentence that is too long to read once.

use std::sync::LazyLock;

use crate::files::{Finding, TextFile};

/// The words that pages do not use, each with a better one.
const WORDS: &str = include_str!("../../docs/words.txt");

/// The most words of a sentence.
const MAX_WORDS: usize = 35;

/// Phrases in lower case with what to write instead.
static PHRASES: LazyLock<Vec<(Vec<&str>, &str)>> = LazyLock::new(|| {
    let lines = WORDS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" -> ")).map(|(bad, good)| (bad.split(' ').collect(), good)).collect()
});

/// Checks the sentences of a page.
pub fn check(file: &TextFile) -> Vec<Finding> {
    if !file.has_extension("md") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, text) in paragraphs(&file.text) {
        for (bad, good) in PHRASES.iter() {
            if has_phrase(&text, bad) {
                let message = format!("\"{}\": write {good}", bad.join(" "));
                findings.push(Finding::new(&file.path, line, message));
            }
        }
        for sentence in sentences(&text) {
            let words = sentence.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
            // Lists of names and of code can be long.
            let is_list = sentence.matches(',').count() * 4 > words || sentence.matches("Code").count() * 2 > words;
            if words > MAX_WORDS && !is_list {
                let start: String = sentence.chars().take(60).collect();
                let message = format!("a sentence of {words} words, more than {MAX_WORDS}: {start}...");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

/// The page that says what words mean.
const GLOSSARY: &str = "docs/src/glossary.md";

/// Whether the glossary is true: somebody uses each of its terms, and nobody the words it writes in italics as ones to
/// avoid.
pub fn glossary(files: &[TextFile]) -> Vec<Finding> {
    let Some(glossary) = files.iter().find(|file| file.path == GLOSSARY) else { return Vec::new() };
    let others: Vec<(&TextFile, String)> = files
        .iter()
        .filter(|file| file.path != GLOSSARY && ["md", "rs", "toml"].iter().any(|ending| file.has_extension(ending)))
        .map(|file| (file, file.text.to_lowercase()))
        .collect();
    let mut findings = Vec::new();
    for (line, term, avoided) in terms(&glossary.text) {
        if !others.iter().any(|(_, text)| text.contains(&term.to_lowercase())) {
            findings.push(Finding::new(GLOSSARY, line, format!("nobody uses `{term}`: drop it")));
        }
        for (file, _) in others.iter().filter(|(file, _)| file.has_extension("md")) {
            for (line, text) in paragraphs(&file.text) {
                for word in avoided.iter().filter(|word| has_phrase(&text, &word.split(' ').collect::<Vec<_>>())) {
                    findings.push(Finding::new(&file.path, line, format!("\"{word}\": the glossary says `{term}`")));
                }
            }
        }
    }
    findings
}

/// The terms of the glossary: its line, the term, and the words in italics of the last column. A row with two terms is
/// two of them.
fn terms(glossary: &str) -> Vec<(usize, String, Vec<String>)> {
    let mut all = Vec::new();
    for (line, row) in (1..).zip(glossary.lines()) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let &[names, _, avoid] = cells.as_slice() else { continue };
        if !row.starts_with('|') || names == "term" || names.starts_with("--") || names.contains("sm.stall") {
            continue;
        }
        let avoided: Vec<String> = avoid.split('*').skip(1).step_by(2).map(str::to_owned).collect();
        let is_reason = glossary.lines().take(line).any(|before| before.starts_with("## Stall reasons"))
            && !glossary.lines().take(line).any(|before| before.starts_with("## Memory"));
        if !is_reason {
            let names = names.split(", ").map(|name| name.trim_matches('`').to_owned());
            all.extend(names.map(|name| (line, name, avoided.clone())));
        }
    }
    all
}

/// Paragraphs, items of lists, headings and cells of tables, with the line each begins on. Code is one word, and links
/// are their text.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let (mut all, mut open) = (Vec::new(), None::<(usize, String)>);
    let mut fenced = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        let is_prose = !fenced && !is_fence && !line.is_empty() && !line.starts_with('<');
        let is_cells = is_prose && line.starts_with('|');
        let is_alone = is_cells || line.starts_with('#');
        if !is_prose || is_alone || is_item(line) {
            all.extend(open.take());
        }
        if is_cells {
            all.extend(plain(line).split('|').map(|cell| (number, cell.to_owned())));
        } else if is_prose {
            let (_, paragraph) = open.get_or_insert_with(|| (number, String::new()));
            *paragraph += line;
            paragraph.push(' ');
            if is_alone {
                all.extend(open.take());
            }
        }
    }
    all.extend(open);
    all.into_iter().map(|(line, text)| (line, plain(&text))).collect()
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || (number.len() < line.len() && number.starts_with(". "))
}

/// The text with each piece of code as one word, and without the targets of links.
fn plain(text: &str) -> String {
    let code: Vec<&str> = text.split('`').collect();
    let parts = code.iter().enumerate().map(|(i, part)| if i % 2 == 1 { "Code" } else { part });
    let text: String = parts.collect();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("](") {
        plain += before;
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

/// The parts of a paragraph that end in a mark and a blank.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '!', '?', ':', ';'])
        .scan(0, move |start, part| {
            let end = *start + part.len();
            *start = end;
            Some((end, text[end..].chars().next().is_none_or(char::is_whitespace)))
        })
        .filter_map(|(end, is_end)| is_end.then_some(end))
        .chain([text.len()])
        .scan(0, move |start, end| {
            let sentence = &text[*start..end];
            *start = end;
            Some(sentence)
        })
}

/// Whether whole words of the text are these, whatever their case.
fn has_phrase(text: &str, phrase: &[&str]) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && !"-'".contains(c)).filter(|w| !w.is_empty()).collect();
    words.windows(phrase.len()).any(|found| found.iter().zip(phrase).all(|(a, b)| a.eq_ignore_ascii_case(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::render;

    fn found(text: &str) -> String {
        render(&check(&TextFile { path: "a.md".to_owned(), text: text.to_owned() }))
    }

    #[test]
    fn words_with_better_ones_are_found() {
        assert_eq!(found("The warps\ngo on.\n"), "a.md:1: \"go on\": write continue or resume");
        assert_eq!(found("| a | Goes on | b |\n"), "a.md:1: \"goes on\": write continues or resumes");
        assert_eq!(found("They cargo on, `go on`, [x](go on).\n\n```\ngo on\n```\n"), "");
    }

    #[test]
    fn long_sentences_are_found() {
        let long = "word ".repeat(MAX_WORDS + 1);
        assert_eq!(found(&format!("Short. {long}.\n")).lines().count(), 1);
        assert_eq!(found(&format!("{}. Another.\n", "word ".repeat(MAX_WORDS - 1))), "");
        let two = format!("- {}\n- {}\n", "word ".repeat(20), "word ".repeat(20));
        assert_eq!(found(&two), "", "items are sentences of their own");
        assert_eq!(found(&format!("{} `{long}` {}.\n", "word ".repeat(17), "word ".repeat(17))), "");
        assert_eq!(found(&format!("These are {}.\n", "name, ".repeat(50))), "");
    }

    #[test]
    fn a_glossary_is_true() {
        let file = |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let table = "| term | meaning | avoid |\n| --- | --- | --- |\n| warp | Lanes. | *wavefront*, group |\n| `gap`, rest | Nothing. | |\n";
        let files =
            [file(GLOSSARY, table), file("a.md", "A wavefront of a Warp, a group.\n"), file("b.rs", "// The gap.")];
        assert_eq!(
            render(&glossary(&files)),
            "a.md:1: \"wavefront\": the glossary says `warp`\ndocs/src/glossary.md:4: nobody uses `rest`: drop it"
        );
    }

    #[test]
    fn every_word_has_a_better_one() {
        for (bad, good) in PHRASES.iter() {
            assert!(!bad.is_empty() && !good.is_empty());
            assert!(!has_phrase(good, bad), "{good}");
        }
    }
}
