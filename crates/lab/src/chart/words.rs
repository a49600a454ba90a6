//! Names that fit where they are drawn.

use crate::font::Font;

/// The longest name of a row or bar that is written in full.
const LONGEST: usize = 30;

/// A name that is not too long to be drawn.
pub(super) fn short(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return name.to_owned();
    }
    name.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// A name in one line or two: `mean` and `divergent`, `bfs/` and `expand`, `page-view-` and `count`.
pub(super) fn lines(name: &str) -> Vec<String> {
    if let Some((first, rest)) = name.split_once(", ") {
        return vec![first.to_owned(), rest.to_owned()];
    }
    let middle = name.len() / 2;
    let hyphen = name.match_indices('-').map(|(at, _)| at).min_by_key(|at| at.abs_diff(middle));
    match name.find('/').or(hyphen.filter(|_| name.len() > 9)) {
        Some(at) => vec![name[..=at].to_owned(), name[at + 1..].to_owned()],
        None => vec![name.to_owned()],
    }
}

/// A text in lines of at most this width, cut between words; a word that is wider has a line of its own.
pub(super) fn wrapped(text: &str, width: f64, size: f64, font: &Font) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if font.width(&format!("{line} {word}"), size) <= width => *line += &format!(" {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_two_lines_at_most() {
        assert_eq!(lines("page-view-count"), ["page-view-", "count"]);
        assert_eq!(
            (lines("bfs/expand"), lines("k-means")),
            (vec!["bfs/".into(), "expand".into()], vec!["k-means".into()])
        );
        assert_eq!(short(&"x".repeat(40)).chars().count(), LONGEST);
    }

    #[test]
    fn texts_are_cut_between_words() {
        let font = Font::new(false);
        let text = "speedup over loose round robin";
        let cut = wrapped(text, 80.0, 11.0, &font);
        assert!(cut.len() > 1 && cut.iter().all(|line| font.width(line, 11.0) <= 80.0), "{cut:?}");
        assert_eq!(cut.join(" "), text);
        assert_eq!(wrapped("incomprehensibilities", 10.0, 11.0, &font), ["incomprehensibilities"]);
        assert_eq!(wrapped("", 10.0, 11.0, &font), [""; 0]);
    }
}
