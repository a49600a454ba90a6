//! The book in `docs/` and the links in every Markdown file.
//!
//! This checks what a build of the book would not: that every link to a file and to a heading resolves. It needs no
//! book builder, so it runs in a moment.

use std::collections::{BTreeMap, BTreeSet};

use crate::Result;
use crate::files::{Finding, TextFile, report, root, text_files};

/// The folder of the book's pages.
const BOOK: &str = "docs/src/";

/// The book's table of contents.
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// Checks every link in every Markdown file.
pub fn run() -> Result {
    let files = text_files()?;
    let pages = files.iter().filter(|file| file.has_extension("md")).count();
    report("docs", pages, &broken_links(&files))
}

/// The pages of the book that its table of contents does not list.
pub fn unlisted_pages(files: &[TextFile]) -> Vec<Finding> {
    let listed: BTreeSet<String> = files
        .iter()
        .filter(|file| file.path == SUMMARY)
        .flat_map(|summary| links(&summary.text))
        .filter_map(|(_, target)| resolve(SUMMARY, &target))
        .map(|(path, _)| path)
        .collect();
    files
        .iter()
        .filter(|file| file.path.starts_with(BOOK) && file.has_extension("md"))
        .filter(|file| file.path != SUMMARY && !listed.contains(&file.path))
        .map(|file| Finding::new(&file.path, 1, "the page is not listed in docs/src/SUMMARY.md"))
        .collect()
}

/// The links to files or headings that do not exist, and the links that lead out of the book.
fn broken_links(files: &[TextFile]) -> Vec<Finding> {
    let by_path: BTreeMap<&str, &TextFile> = files.iter().map(|f| (f.path.as_str(), f)).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("md")) {
        for (line, target) in links(&file.text) {
            if let Err(reason) = check_link(&by_path, &file.path, &target) {
                let message = format!("link to `{target}`: {reason}");
                findings.push(Finding::new(&file.path, line, message));
            }
        }
    }
    findings
}

fn check_link(files: &BTreeMap<&str, &TextFile>, from: &str, target: &str) -> std::result::Result<(), &'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(());
    }
    let (path, heading) = resolve(from, target).ok_or("it leads out of the repository")?;
    if from.starts_with(BOOK) && !path.starts_with(BOOK) {
        return Err("it leads out of the book, where readers of the built book cannot follow");
    }
    let Some(file) = files.get(path.as_str()) else {
        let folder = format!("{}/", path.trim_end_matches('/'));
        let is_folder = files.keys().any(|path| path.starts_with(&folder));
        // Pictures are no text files.
        let is_picture = path.ends_with(".png") && root().join(&path).is_file();
        return if is_folder || is_picture { Ok(()) } else { Err("there is no such file") };
    };
    match heading {
        Some(heading) if !headings(&file.text).contains(&heading) => Err("there is no such heading"),
        _ => Ok(()),
    }
}

/// The path from the top folder and the heading that `target` means in a link on page `from`.
fn resolve(from: &str, target: &str) -> Option<(String, Option<String>)> {
    let (target, heading) = match target.split_once('#') {
        Some((target, heading)) => (target, Some(heading.to_owned())),
        None => (target, None),
    };
    if target.is_empty() {
        return Some((from.to_owned(), heading));
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = parts.pop()?,
            _ => parts.push(part),
        }
    }
    Some((parts.join("/"), heading))
}

/// The lines of a Markdown text that are not in a fenced code block, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((i + 1, line))
    })
}

/// The link targets of a Markdown text, with their line numbers: `[text](target)` and `[name]: target`.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        // Every second piece between back-quotes is code.
        let plain: String = text.split('`').step_by(2).collect();
        for rest in plain.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            links.push((line, target.to_owned()));
        }
        if let Some((_, target)) = plain.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            let target = target.split(' ').next().unwrap_or_default();
            links.push((line, target.to_owned()));
        }
    }
    links
}

/// The names under which links reach the headings of a Markdown text.
fn headings(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

fn anchor(heading: &str) -> String {
    heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
        .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::render;

    fn files(files: &[(&str, &str)]) -> Vec<TextFile> {
        files.iter().map(|(path, text)| TextFile { path: (*path).to_owned(), text: (*text).to_owned() }).collect()
    }

    #[test]
    fn good_links_pass() {
        let files = files(&[
            ("README.md", "[a](docs/src/a.md#two-words) [b](docs) [c](https://example.org) `[d](e)`"),
            ("docs/src/SUMMARY.md", "- [A](a.md)\n- [B](sub/b.md)\n"),
            ("docs/src/a.md", "# One\n## Two `words`\n```\n[x](y)\n```\nsee [b][1], [up](#one)\n\n[1]: ./sub/b.md\n"),
            ("docs/src/sub/b.md", "[a](../a.md)\n"),
        ]);
        assert_eq!(render(&broken_links(&files)), "");
        assert_eq!(render(&unlisted_pages(&files)), "");
    }

    #[test]
    fn bad_links_are_named() {
        let files = files(&[
            ("README.md", "\n[a](b.md) and [c](#nowhere)\n[d](../../x)\n"),
            ("docs/src/SUMMARY.md", "- [Gone](gone.md)\n"),
            ("docs/src/a.md", "[out](../../README.md)\n"),
        ]);
        assert_eq!(
            render(&broken_links(&files)),
            "README.md:2: link to `b.md`: there is no such file\n\
             README.md:2: link to `#nowhere`: there is no such heading\n\
             README.md:3: link to `../../x`: it leads out of the repository\n\
             docs/src/SUMMARY.md:1: link to `gone.md`: there is no such file\n\
             docs/src/a.md:1: link to `../../README.md`: \
             it leads out of the book, where readers of the built book cannot follow"
        );
        assert_eq!(render(&unlisted_pages(&files)), "docs/src/a.md:1: the page is not listed in docs/src/SUMMARY.md");
    }
}
