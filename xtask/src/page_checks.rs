//! What must hold between the numbers of pages of results, without running anything.
//!
//! Tables are read back from the pages. Their titles, rows, columns and the paper's values are the experiment's, means are
//! those of their rows, baselines have the value of no effect; and what is written of them elsewhere, at the top of the page,
//! on the page of all numbers and in pictures, is what they say.

use std::fs;
use std::path::Path;

use raddle_lab::agreement::Class;
use raddle_lab::figure::Values;
use raddle_lab::numbers::{Number, numbers};
use raddle_lab::table::Table;
use raddle_lab::work::InMemory;
use raddle_lab::{Experiment, Grid, fill, machines, printed};

use crate::Result;
use crate::files::root;
use crate::marks::parts;
use crate::numbers_page;
use crate::results::{self, HEADLINE, OVERVIEW, RUN, large, page, without_version};

/// An experiment, or what it shows at a larger size, and those of its figures that the page has from it.
pub struct View {
    pub experiment: Experiment,
    pub grid: Grid,
    pub figures: Vec<usize>,
}

/// A page of results.
pub struct Page {
    pub experiment: Experiment,
    pub text: String,
    pub views: Vec<View>,
    /// The tables of its figures, as it prints them.
    pub tables: Vec<Table>,
    /// What its numbers say against each other.
    wrong: Vec<String>,
}

impl Page {
    /// Reads the numbers of a page.
    pub fn read(experiment: Experiment, text: String) -> Result<Self> {
        let of_large = large(&experiment)?;
        let own = |number: &usize| of_large.iter().all(|(_, numbers)| !numbers.contains(number));
        let own: Vec<usize> = (0..experiment.figures.len()).filter(own).collect();
        let mut views = vec![View { grid: Grid::new(&experiment)?, experiment: experiment.clone(), figures: own }];
        if let Some((large, numbers)) = of_large {
            let figures = (0..numbers.len()).collect();
            views.push(View { grid: Grid::new(&large)?, experiment: large, figures });
        }
        let (mut tables, mut wrong) = (vec![None; experiment.figures.len()], Vec::new());
        let mut on = Vec::new();
        for View { experiment: of, grid, figures } in &views {
            let values = Values::read(of, grid, &InMemory::default())?;
            on.extend(fill::machines(of, grid, &values));
            for figure in figures.iter().map(|number| &of.figures[*number]) {
                let say = |what: String| format!("{}: figure `{}`: {what}", page(&of.name), figure.name);
                let shape = results::table(of, figure, &values);
                let section = part(&text, &figure.name)?;
                let table = printed::read(&shape, figure, section.trim()).map_err(say)?;
                wrong.extend(printed::contradictions(&values, of, figure, &table).into_iter().map(say));
                tables[experiment.figure_named(&figure.name)?] = Some(table);
            }
        }
        wrong.extend(wrong_machines(&on, part(&text, RUN)?).map(|what| format!("{}: {what}", page(&experiment.name))));
        Ok(Self { experiment, text, views, tables: tables.into_iter().flatten().collect(), wrong })
    }
}

/// The text of a part.
pub fn part<'t>(text: &'t str, name: &str) -> Result<&'t str> {
    let found = parts(text)?.into_iter().find(|(known, _)| *known == name);
    Ok(found.ok_or_else(|| format!("there is no part `{name}`"))?.1)
}

/// The first line of the list of machines that is not as the experiment makes them; how full they were is not looked at.
fn wrong_machines(on: &[fill::Filled], run: &str) -> Option<String> {
    let lines = printed::lines(run);
    let (_, lines) = lines.split_first()?;
    let wanted: Vec<Vec<String>> = on.iter().map(|filled| machines::cells(filled).to_vec()).collect();
    let same = |(line, wanted): (&Vec<String>, &Vec<String>)| line[..line.len() - 1] == wanted[..wanted.len() - 1];
    if lines.len() != wanted.len() {
        return Some(format!("it lists {} machines, the experiment has {}", lines.len(), wanted.len()));
    }
    let (line, wanted) = lines.iter().zip(&wanted).find(|pair| !same(*pair))?;
    Some(format!("the machine `{}` should be `{}`", line.join(" | "), wanted.join(" | ")))
}

/// Where the parts of a page differ from these.
pub fn differences(page: &str, text: &str, new: &[(String, String)]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, new) in new {
        let old = without_version(part(text, name).map_err(|e| format!("{page}: {e}"))?);
        let of_part = printed::differences(&old, &without_version(new));
        found.extend(of_part.into_iter().map(|what| format!("{page}: part `{name}`: {what}")));
    }
    Ok(found)
}

/// Whether a file has another text.
pub fn different_file(path: &Path, new: &str) -> Result<Option<String>> {
    let old = fs::read_to_string(path)?;
    Ok((old != new).then(|| format!("{}: the picture is another one", path.display())))
}

/// The tables of a page, and the same with the least and the most that values can have been before they were rounded.
fn ends(page: &Page) -> [Vec<Table>; 3] {
    [0.0, -1.0, 1.0].map(|sign| page.tables.iter().map(|table| printed::unrounded(table, sign)).collect())
}

/// The numbers of the paper beside those of a page's tables.
fn numbers_of(experiment: &Experiment, ends: &[Vec<Table>; 3]) -> Result<Vec<Number>> {
    let all = ends.each_ref().map(|tables| numbers(experiment, tables));
    Ok(said(all, &numbers_page::lines(experiment)?))
}

/// The figure a page begins with, and the part that shows it, from the numbers that the page prints.
pub fn opening(page: &Page) -> Result<Option<(String, String)>> {
    let ends = ends(page);
    Ok(results::opening(&page.experiment, &ends[0], &numbers_of(&page.experiment, &ends)?))
}

/// Checks the numbers of pages beside each other, and beside what is written of them elsewhere.
pub fn check(pages: &[Page]) -> Result {
    let mut wrong: Vec<String> = pages.iter().flat_map(|page| page.wrong.clone()).collect();
    let ends: Vec<[Vec<Table>; 3]> = pages.iter().map(ends).collect();
    for (of_page, ends) in pages.iter().zip(&ends) {
        let experiment = &of_page.experiment;
        let all = numbers_of(experiment, ends)?;
        wrong.extend(numbers_page::differences(experiment, &all)?);
        let opening = |end: usize| results::opening(experiment, &ends[end], &all);
        if let Some((picture, text)) = opening(0) {
            let name = page(&experiment.name);
            wrong.extend(differences(&name, &of_page.text, &[(HEADLINE.to_owned(), text)])?);
            let others = (1..3).filter_map(|end| Some(opening(end)?.0));
            wrong.extend(other_picture(&name.replace(".md", ".svg"), std::iter::once(picture).chain(others))?);
        }
    }
    let overview = |end: usize| {
        let pages = pages.iter().zip(&ends);
        results::overview(&pages.map(|(page, ends)| (page.experiment.clone(), ends[end].clone())).collect::<Vec<_>>())
    };
    if let Some(picture) = overview(0)? {
        let others = (1..3).filter_map(|end| overview(end).ok().flatten());
        wrong.extend(other_picture(OVERVIEW, std::iter::once(picture).chain(others))?);
    }
    let cells: usize = pages.iter().flat_map(|page| &page.tables).map(|t| t.rows.len() * t.bars.len()).sum();
    if wrong.is_empty() {
        println!(
            "results: {cells} cells go together, with each other and with README, the page of numbers and pictures"
        );
        return Ok(());
    }
    Err(wrong.join("\n").into())
}

/// The numbers of a page as the page of all numbers has them, where rounding lets them be so. They come from the values
/// as printed, and from the least and the most that these can have been.
fn said([mut all, low, high]: [Vec<Number>; 3], lines: &[Vec<String>]) -> Vec<Number> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by_key(|n| !all[*n].is_mean);
    for (n, line) in order.into_iter().zip(lines) {
        let (Some(ours), Some(class)) = (line.get(3), line.len().checked_sub(2).and_then(|at| line.get(at))) else {
            continue;
        };
        let class = Class::ALL.into_iter().find(|known| known.name() == class);
        let value = |text: &str| text.parse::<f64>().ok();
        let own = &mut all[n];
        let ends = [&low[n], &high[n]].map(|number| number.ours.as_deref().and_then(value));
        let is_between = match (ends, value(ours)) {
            ([Some(low), Some(high)], Some(ours)) => (low..=high).contains(&ours),
            // A page does not show single rows of stacked bars.
            ([None, None], _) => true,
            _ => false,
        };
        if !is_between {
            continue;
        }
        if own.ours.is_none() || [low[n].class, own.class, high[n].class].contains(&class) {
            own.class = class;
        }
        own.ours = (ours != "-").then(|| ours.clone());
    }
    all
}

/// How a picture differs from the first of these, where it is like none but for the places of shapes, which come from
/// values before they are rounded.
fn other_picture(path: &str, pictures: impl Iterator<Item = String>) -> Result<Option<String>> {
    let old = fs::read_to_string(root().join(path))?;
    let mut first = None;
    for new in pictures {
        match first_difference(&old, &new) {
            None => return Ok(None),
            Some(what) => first = first.or(Some(format!("{path}: {what}"))),
        }
    }
    Ok(first)
}

/// Pixels a shape may be away from where rounded values put it, and the ends of a range, which come from two of them.
const NEAR: [f64; 2] = [0.8, 2.0];

/// Where two pictures differ by more than rounding makes.
fn first_difference(old: &str, new: &str) -> Option<String> {
    let (old_words, new_words) = (words(old), words(new));
    let (mut is_in_tag, mut is_line) = (false, false);
    for (n, (old, new)) in old_words.iter().zip(&new_words).enumerate() {
        let is_near = |old: f64, new: f64| {
            let digits = old_words[n].split_once('.').map_or(0, |(_, behind)| behind.len());
            // A page has a spread in place of the ends of a range, and both it and the value are rounded.
            let is_end = n > 0 && old_words[n - 1].ends_with(" to ")
                || old_words.get(n + 1).is_some_and(|next| next.starts_with(" to "));
            let last_digit = 1.01 * 0.1f64.powi(i32::try_from(digits).unwrap_or(0));
            let most = if is_in_tag {
                NEAR[usize::from(is_line)]
            } else if is_end || digits < 3 {
                last_digit
            } else {
                0.0
            };
            (old - new).abs() <= most
        };
        let same = match (old.parse(), new.parse()) {
            (Ok(old), Ok(new)) => is_near(old, new),
            _ => old == new,
        };
        if !same {
            let before: String = old_words[n.saturating_sub(8)..n].concat();
            return Some(format!("it has `{before}{old}`, which should be `{new}` by the tables of the page"));
        }
        if let Some(at) = old.rfind(['<', '>']) {
            is_in_tag = old[at..].starts_with('<');
            is_line = old[at..].starts_with("<line");
        }
    }
    (old_words.len() != new_words.len()).then(|| "it has other shapes than the tables of the page make".to_owned())
}

/// A text cut into numbers and what is between them.
fn words(text: &str) -> Vec<&str> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = is_of_number(first);
        let end = rest.find(|c| is_of_number(c) != kind).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_may_differ_by_what_rounding_makes() {
        let picture = "<rect x=\"329.2\" width=\"144.3\"><title>a: 1.138</title></rect><text y=\"74.5\">1.14</text>";
        let with = |from: &str, to: &str| first_difference(picture, &picture.replace(from, to));
        assert_eq!(first_difference(picture, picture), None);
        assert_eq!((with("144.3", "144.9"), with("1.14<", "1.13<")), (None, None));
        for (from, to) in
            [("144.3", "146.0"), ("1.138", "1.139"), ("1.14<", "1.16<"), ("a:", "b:"), ("</text>", "</text>1")]
        {
            assert!(with(from, to).is_some(), "{to}");
        }
    }

    #[test]
    fn the_page_of_numbers_says_what_rounding_lets_it() {
        let number = |ours: &str, class| Number {
            figure: String::new(),
            place: String::new(),
            what: String::new(),
            is_mean: true,
            paper: String::new(),
            ours: Some(ours.to_owned()),
            other: None,
            class: Some(class),
            why: String::new(),
        };
        let all = || {
            [("0.30", Class::Agrees), ("0.29", Class::Agrees), ("0.31", Class::Partly)].map(|(o, c)| vec![number(o, c)])
        };
        let read = |ours: &str, class: &str| {
            let line = ["", "", "", ours, class, ""].map(str::to_owned).to_vec();
            let number = said(all(), &[line]).remove(0);
            (number.ours.unwrap(), number.class.unwrap())
        };
        assert_eq!(read("0.31", "partly"), ("0.31".to_owned(), Class::Partly));
        assert_eq!(read("0.32", "partly"), ("0.30".to_owned(), Class::Agrees));
        assert_eq!(read("0.30", "does not"), ("0.30".to_owned(), Class::Agrees));
    }
}
