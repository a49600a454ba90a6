//! The tables of the page.

use super::figures::{Figure, Figures};
use super::measures::Measure;
use super::run::NotRun;
use std::fmt::Write;

/// How far a value may be off, in percent, to count as close.
const CLOSE: f64 = 15.0;

/// A figure beside what a machine of ours shows.
#[derive(Clone, Debug)]
pub struct Row<'f> {
    /// The figure.
    pub figure: &'f Figure,
    /// What measures it.
    pub measure: &'f Measure,
    /// Ours.
    pub ours: Result<f64, NotRun>,
}

/// All figures beside one machine.
#[derive(Clone, Debug)]
pub struct Column<'f> {
    /// The machine.
    pub preset: &'f str,
    /// What it shows.
    pub rows: Vec<Row<'f>>,
}

impl Row<'_> {
    /// Ours beyond the figure, in percent.
    #[must_use]
    pub fn difference(&self) -> Option<f64> {
        let ours = self.ours.as_ref().ok()?;
        Some(100.0 * (ours / self.figure.value - 1.0))
    }

    fn is_close(&self) -> bool {
        self.difference().is_some_and(|percent| percent.abs() <= CLOSE)
    }
}

/// The figures of a chip beside values by measure, in the order of the measures.
#[must_use]
pub fn compare<'f>(figures: &'f Figures, chip: &'f str, values: &'f [(Measure, Result<f64, NotRun>)]) -> Vec<Row<'f>> {
    let rows = values.iter().flat_map(|(measure, ours)| {
        let of = figures.of(chip).filter(|figure| figure.measure == measure.name);
        of.map(|figure| Row { figure, measure, ours: ours.clone() })
    });
    rows.collect()
}

/// Everything between the marks: how many are close, the figures of the chip beside ours, those of other chips, and the
/// sources.
#[must_use]
pub fn tables(figures: &Figures, columns: &[Column<'_>], chip: &str, measures: &[Measure]) -> String {
    let mut text = summary(columns, chip);
    let known = figures.chips.get(chip).map_or(&[][..], |chip| &chip.presets);
    for Column { preset, .. } in columns.iter().filter(|column| !known.iter().any(|known| known == column.preset)) {
        let _ = write!(text, "\n`{preset}` is another GPU: its differences only show that the kernels work.\n");
    }
    let (heads, rules): (String, String) =
        columns.iter().map(|column| (format!(" {} | difference |", column.preset), " --: | --: |")).unzip();
    for (title, prefix) in
        [("Latency", "lat_"), ("Throughput of an SM", "thr_"), ("Bandwidth", "bw_"), ("Sizes", "size_")]
    {
        let _ = write!(
            text,
            "\n## {title}\n\n| what | published | on | source |{heads}\n| --- | --: | --- | --- |{rules}\n"
        );
        let Some(first) = columns.first() else { continue };
        for (n, row) in first.rows.iter().enumerate().filter(|(_, row)| row.measure.name.starts_with(prefix)) {
            line(&mut text, row, columns.iter().filter_map(|column| column.rows.get(n)));
        }
    }
    others(&mut text, figures, chip, measures);
    notes(&mut text, figures, chip);
    text + &sources(figures)
}

fn summary(columns: &[Column<'_>], chip: &str) -> String {
    let mut text = format!(
        "Figures of the chip `{chip}`:\n\n\
         | preset | figures | compared | within {CLOSE} % | share | not run |\n| --- | --- | --: | --: | --: | --: |\n"
    );
    for Column { preset, rows } in columns {
        let (seen, unseen): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.figure.seen);
        for (name, own) in [("source read", seen), ("quoted or unchecked", unseen), ("all", rows.iter().collect())] {
            let compared = own.iter().filter(|row| row.ours.is_ok()).count();
            let close = own.iter().filter(|row| row.is_close()).count();
            let share = 100.0 * close as f64 / compared.max(1) as f64;
            let _ = writeln!(
                text,
                "| `{preset}` | {name} | {compared} | {close} | {share:.0} % | {} |",
                own.len() - compared
            );
        }
    }
    text
}

/// A figure, and every machine of ours beside it.
fn line<'r>(text: &mut String, row: &Row<'_>, ours: impl Iterator<Item = &'r Row<'r>>) {
    let Figure { gpu, value, unit, source, seen, via, .. } = row.figure;
    let mark = mark(*seen, via.is_some());
    let _ = write!(text, "| {} | {} {unit} | {gpu} | {source}{mark} |", row.measure.what, number(*value));
    for row in ours {
        let ours = row.ours.as_ref().map_or_else(|why| why.to_string(), |ours| number(*ours));
        let difference = row.difference().map_or_else(String::new, |percent| format!("{percent:+.1} %"));
        let _ = write!(text, " {ours} | {difference} |");
    }
    text.push('\n');
}

/// What stands behind a source that was not read.
fn mark(seen: bool, quoted: bool) -> &'static str {
    match (seen, quoted) {
        (true, _) => "",
        (false, true) => " (quoted)",
        (false, false) => " (unchecked)",
    }
}

/// Three digits or more, and no more than that behind the point.
fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 {
        let digits = format!("{value:.0}");
        let mut text = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        return text;
    }
    format!("{value:.1}")
}

fn others(text: &mut String, figures: &Figures, chip: &str, measures: &[Measure]) {
    let _ = write!(
        text,
        "\n## Other chips\n\nRaddle has no machine to compare these with.\n\n\
         | chip | what | published | on | source |\n| --- | --- | --: | --- | --- |\n"
    );
    for figure in figures.all.iter().filter(|figure| figure.chip != chip) {
        let kind = kind_of(&figure.measure);
        let what = measures.iter().find(|m| m.name == figure.measure).map_or("", |m| m.what);
        let Figure { chip, gpu, value, unit, source, seen, via, .. } = figure;
        let mark = mark(*seen, via.is_some());
        let _ = writeln!(text, "| {chip} | {kind}, {what} | {} {unit} | {gpu} | {source}{mark} |", number(*value));
    }
}

fn kind_of(measure: &str) -> &'static str {
    match measure.split('_').next() {
        Some("lat") => "latency",
        Some("thr") => "throughput",
        Some("bw") => "bandwidth",
        _ => "size",
    }
}

fn notes(text: &mut String, figures: &Figures, chip: &str) {
    let _ = write!(text, "\n## Notes on single figures\n\n");
    for figure in figures.of(chip) {
        let known = [figure.published.as_ref().map(|p| format!("published as {p}")), figure.note.clone()];
        let known: Vec<String> = known.into_iter().flatten().collect();
        if !known.is_empty() {
            let _ = writeln!(text, "- `{}`, {}, {}: {}", figure.measure, figure.source, figure.place, known.join("; "));
        }
    }
}

fn sources(figures: &Figures) -> String {
    let mut text = "\n## Sources\n\n".to_owned();
    for (name, source) in &figures.sources {
        let _ = writeln!(text, "- {name}: {}", source.cite);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silicon::measures;

    #[test]
    fn a_line_says_how_far_off_it_is() {
        let (figures, measures) = (Figures::read(), measures());
        let ours = |m: &Measure| match m.name {
            "lat_dfma" => Ok(9.0),
            "lat_wmma" => Err(NotRun("no units".to_owned())),
            _ => Ok(1e6),
        };
        let values: Vec<_> = measures.iter().map(|m| (m.clone(), ours(m))).collect();
        let rows = compare(&figures, "gv100", &values);
        let columns = |names: [&'static str; 2]| names.map(|preset| Column { preset, rows: rows.clone() });
        let text = tables(&figures, &columns(["p", "v100"]), "gv100", &measures);
        let dfma = "| f64 fused multiply-add | 8 cycles | TITAN V | arafa | 9 | +12.5 % | 9 | +12.5 % |\n";
        assert!(text.contains(dfma), "{text}");
        assert!(text.contains("| accel-sim | not run: no units |  | not run: no units |  |\n"), "{text}");
        assert!(text.contains("`p` is another GPU") && !text.contains("`v100` is another GPU"));
        let close = rows.iter().filter(|row| row.measure.name == "lat_dfma" && row.is_close()).count();
        assert_eq!(rows.iter().filter(|row| row.is_close()).count(), close);
        assert!(close >= 2);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([8.0, 8.67, 111.55, 65536.0, 1775.2].map(number), ["8", "8.7", "112", "65,536", "1,775"]);
    }
}
