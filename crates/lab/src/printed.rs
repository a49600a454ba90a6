//! Tables read back from pages, and what must hold between their numbers whatever the runs gave.

use crate::chart::number;
use crate::experiment::{Experiment, Figure, Mean};
use crate::figure::Values;
use crate::machines::MARK;
use crate::markdown;
use crate::numbers::row_of;
use crate::table::{Cell, Gap, Over, Table, TableRow};

/// A line of a table as it stands on a page: its cells, the first of which is the name of the row.
type Line = Vec<String>;

/// The lines of the first table in a text, its head first; the line below the head is left out.
#[must_use]
pub fn lines(text: &str) -> Vec<Line> {
    let lines = text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    lines.filter(|line| !line.starts_with("| ---")).map(cells).collect()
}

/// The cells of a line; a `|` behind a backslash ends none.
fn cells(line: &str) -> Line {
    let hidden = line.replace("\\|", "\0");
    let inner = hidden.strip_prefix('|').unwrap_or(&hidden);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// The name of a row without what pages put around it.
#[must_use]
pub fn name(cell: &str) -> String {
    cell.replace("**", "").trim_end_matches(MARK).to_owned()
}

/// Where two texts of a part of a page differ: in tables the row and the column, elsewhere the line.
#[must_use]
pub fn differences(page: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (page.trim().lines().collect(), new.trim().lines().collect());
    let mut found = Vec::new();
    let mut head = Line::new();
    for n in 0..old.len().max(new.len()) {
        let [old, new] = [&old, &new].map(|lines| lines.get(n).copied().unwrap_or_default());
        let [of_old, of_new] = [old, new].map(cells);
        let is_table = old.starts_with('|') && new.starts_with('|') && of_old.len() == of_new.len();
        if !is_table {
            head.clear();
        } else if head.len() != of_new.len() {
            head.clone_from(&of_new);
        }
        if old == new {
            continue;
        }
        if !is_table {
            found.push(format!("line {}: the page has `{old}`, it should be `{new}`", n + 1));
            continue;
        }
        for ((old, new), column) in of_old.iter().zip(&of_new).zip(&head).filter(|((old, new), _)| old != new) {
            let row = name(&of_new[0]);
            found.push(format!("row `{row}`, column `{column}`: the page has `{old}`, it should be `{new}`"));
        }
    }
    found
}

/// The table of a figure with the values that a section of a page prints. `shape` is the same figure without results.
///
/// # Errors
/// When the section is not one of the figure, but for its values.
pub fn read(shape: &Table, figure: &Figure, section: &str) -> Result<Table, String> {
    let mut table = Table { rows: Vec::new(), ..shape.clone() };
    let (mut marked, mut weak) = (Vec::new(), Vec::new());
    for line in lines(section).into_iter().skip(1) {
        let (first, values) = line.split_first().ok_or("a line of the table is empty")?;
        let place = if shape.parts.is_empty() {
            let row = name(first);
            marked.extend(first.ends_with(MARK).then(|| row.clone()));
            weak.push(values.iter().map(|text| text.contains('≈')).collect::<Vec<bool>>());
            let cells = values.iter().map(|text| read_cell(text).ok_or_else(|| format!("row `{row}`: `{text}`")));
            add_row(shape, &mut table, &row, cells.collect::<Result<_, _>>()?)
        } else {
            add_stacked(shape, &mut table, first, values)
        };
        place.ok_or_else(|| format!("row `{first}` is none of the experiment's"))?;
    }
    for printed in &figure.paper {
        let Some(bar) = figure.choices.iter().position(|bar| *bar == printed.bar) else { continue };
        let Some(place) = row_of(&table, &printed.row).map(|row| row.name.clone()) else { continue };
        let row = table.rows.iter_mut().find(|row| row.name == place).and_then(|row| row.cells.get_mut(bar));
        let Some(Ok(cell)) = row else { continue };
        let cell = match printed.part {
            Some(part) => &mut cell.parts[part],
            None => cell,
        };
        cell.paper = Some(printed.value);
        cell.why = printed.why.as_ref().or(figure.why.as_ref()).cloned().unwrap_or_default();
    }
    for (row, weak) in table.rows.iter_mut().zip(&weak) {
        let cells = row.cells.iter_mut().zip(weak);
        cells.for_each(|(cell, weak)| cell.iter_mut().for_each(|cell| settle(cell, table.neutral, *weak)));
    }
    let mut again = table.clone();
    again.rows.iter_mut().filter(|row| marked.contains(&row.name)).for_each(|row| row.name += MARK);
    match differences(section, &markdown::section(&again)).into_iter().next() {
        Some(first) => Err(first),
        None => Ok(table),
    }
}

/// Whether an effect is larger than its spread can lie in digits that are not printed. A value that could have been on either
/// side is put on the one that its mark says.
fn settle(cell: &mut Cell, neutral: Option<f64>, weak: bool) {
    let (Some(neutral), spread) = (neutral, cell.spread()) else { return };
    let effect = spread * if weak { 0.999_999 } else { 1.000_001 };
    let value = neutral + effect.copysign(cell.value - neutral);
    let is_weak = (cell.value - neutral).abs() <= spread;
    if spread > 0.0 && is_weak != weak && (value - cell.value).abs() <= half_digit(cell.value) + half_digit(spread) {
        (cell.low, cell.high) = (cell.low + value - cell.value, cell.high + value - cell.value);
        cell.value = value;
    }
}

fn add_row(shape: &Table, table: &mut Table, name: &str, cells: Vec<Result<Cell, Gap>>) -> Option<()> {
    let is = |row: &&TableRow| row.name == name;
    let of_kernel = |row: &&TableRow| name.split_once('/').is_some_and(|(workload, _)| row.name == workload);
    let known = shape.rows.iter().find(is).or_else(|| shape.rows.iter().find(of_kernel))?;
    let is_whole = cells.len() == shape.bars.len() && table.rows.iter().all(|row| row.name != name);
    is_whole.then(|| table.rows.push(TableRow { name: name.to_owned(), is_mean: known.is_mean, cells }))
}

/// A line of a table of stacked bars: a row and a bar of it.
fn add_stacked(shape: &Table, table: &mut Table, first: &str, values: &[String]) -> Option<()> {
    let (first, over) = noted(first);
    let is = |row: &TableRow, bar: &String| format!("{}, {bar}", row.name) == first;
    let mut places = shape.rows.iter().flat_map(|row| shape.bars.iter().enumerate().map(move |bar| (row, bar)));
    let (row, (bar, _)) = places.find(|(row, (_, bar))| is(row, bar))?;
    let parts = values.iter().map(|text| read_cell(text)).collect::<Option<Vec<_>>>()?;
    let cell = parts.into_iter().collect::<Result<Vec<Cell>, Gap>>().map(|parts| {
        let value = parts.iter().map(|part| part.value).sum();
        Cell { parts, over, ..Cell::new(&[value]).unwrap_or_default() }
    });
    if table.rows.last().is_none_or(|last| last.name != row.name) {
        let cells = vec![Err(Gap::NoResult); shape.bars.len()];
        table.rows.push(TableRow { name: row.name.clone(), is_mean: row.is_mean, cells });
    }
    table.rows.last_mut()?.cells[bar] = cell;
    (values.len() == shape.parts.len()).then_some(())
}

/// A text without the `(8 of 9)` at its end, and what that says.
fn noted(text: &str) -> (&str, Option<Over>) {
    let found = text.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let over = found.and_then(|(before, note)| {
        let (rows, of) = note.split_once(" of ")?;
        Some((before, Over { rows: rows.parse().ok()?, of: of.parse().ok()?, lacking: 0 }))
    });
    over.map_or((text, None), |(before, over)| (before, Some(over)))
}

/// A cell as [`markdown::cell`] writes it.
fn read_cell(text: &str) -> Option<Result<Cell, Gap>> {
    let text = text.replace("**", "");
    let gaps = [Gap::Failed, Gap::Refused, Gap::Undefined];
    if let Some(gap) = gaps.into_iter().find(|gap| gap.text() == text) {
        return Some(Err(gap));
    }
    let (own, more) = match text.split_once(" (paper ").or_else(|| text.split_once(" (other ")) {
        Some((own, more)) => (own, Some(more)),
        None => (&*text, None),
    };
    let other = more.filter(|_| text.contains("other ")).and_then(|more| more.trim_end_matches(')').rsplit(' ').next());
    let (own, over) = noted(own);
    let own = own.trim_start_matches('≈');
    let (value, spread) = own.split_once(" ±").unwrap_or((own, "0"));
    let (value, spread): (f64, f64) = (value.parse().ok()?, spread.parse().ok()?);
    // A spread that is printed is one, however small, and with four digits it was less than what has three.
    let spread = if own.contains('±') { spread.max(1e-9) * (1.0 - 1e-9) } else { spread };
    let reading = match other {
        Some(other) => Some(Ok(Box::new(Cell::new(&[other.parse().ok()?])?))),
        None => None,
    };
    Some(Ok(Cell { value, low: value - spread, high: value + spread, reading, over, ..Cell::default() }))
}

/// A little less than half of the last digit that is printed of a value.
fn half_digit(value: f64) -> f64 {
    let text = number(value);
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
    let power: i32 = power.parse().unwrap_or_default();
    0.499 * 10f64.powi(power - behind as i32)
}

/// A table that was read, with the least (-1) or the most (1) that its values can have been before they were rounded.
#[must_use]
pub fn unrounded(table: &Table, sign: f64) -> Table {
    fn moved(cell: &Cell, sign: f64) -> Cell {
        let parts: Vec<Cell> = cell.parts.iter().map(|part| moved(part, sign)).collect();
        let value = if parts.is_empty() {
            cell.value + sign * half_digit(cell.value)
        } else {
            parts.iter().map(|part| part.value).sum()
        };
        let reading = cell.reading.clone().map(|reading| reading.map(|cell| Box::new(moved(&cell, sign))));
        let [low, high] = [cell.low, cell.high].map(|end| end + value - cell.value);
        Cell { value, low, high, parts, reading, ..cell.clone() }
    }
    let mut table = table.clone();
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells).flatten() {
        *cell = moved(cell, sign);
    }
    table
}

/// One of the values of a cell.
type ValueOf = dyn Fn(&Cell) -> Option<f64>;

/// What is wrong between the numbers of a table that was read: means that are not those of their rows, and baselines
/// that are not the value of no effect. The values of `values` are not looked at.
#[must_use]
pub fn contradictions(values: &Values<'_>, experiment: &Experiment, figure: &Figure, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    if let (Some(bar), Some(neutral), true) = (table.baseline, table.neutral, table.parts.is_empty()) {
        for row in &table.rows {
            if row.cells[bar].as_ref().is_ok_and(|cell| cell.value != neutral) {
                found.push(format!(
                    "row `{}`, column `{}` is the baseline's and not {neutral}",
                    row.name, table.bars[bar]
                ));
            }
        }
    }
    // The mean of means over repetitions is the mean over repetitions of means for one kind only.
    if values.repeats() > 1 && figure.mean != Mean::Arithmetic {
        return found;
    }
    let [low, high] = [-1.0, 1.0].map(|sign| unrounded(table, sign));
    for (n, row) in table.rows.iter().enumerate().filter(|(_, row)| row.is_mean && table.parts.is_empty()) {
        let of = values.members(experiment, figure, &row.name);
        let is_of =
            |single: &&TableRow| !single.is_mean && of.contains(&single.name.split('/').next().unwrap_or_default());
        for (bar, cell) in row.cells.iter().enumerate() {
            let Ok(cell) = cell else { continue };
            let there = |table: &Table, value: &ValueOf| {
                let cells = table.rows.iter().filter(is_of).filter_map(|single| single.cells[bar].as_ref().ok());
                cells.filter_map(value).collect::<Vec<f64>>()
            };
            let place = || format!("row `{}`, column `{}`", row.name, table.bars[bar]);
            let own = |cell: &Cell| Some(cell.value);
            let rows = there(table, &own).len();
            let said = cell.over.map_or(table.rows.iter().filter(is_of).count(), |over| over.rows);
            if rows != said {
                found.push(format!("{} is the mean of {said}, but {rows} rows have a value", place()));
                continue;
            }
            let kinds: [(&str, &ValueOf); 2] = [("", &own), ("other ", &Cell::by_other_reading)];
            for (kind, value) in kinds {
                let own = |table: &Table| table.rows[n].cells[bar].as_ref().ok().and_then(value);
                let ends =
                    (own(&low), own(&high), figure.mean.of(&there(&low, value)), figure.mean.of(&there(&high, value)));
                let (Some(own_low), Some(own_high), Some(least), Some(most)) = ends else { continue };
                if own_high < least || own_low > most {
                    let [least, most] = [least, most].map(|end| table.number(end));
                    let shown = table.number(value(cell).unwrap_or_default());
                    found.push(format!("{}: {kind}{shown}, but the mean of its rows is {least} to {most}", place()));
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
