//! The published figures.

use crate::reference::folder_of;
use serde::Deserialize;
use std::collections::BTreeMap;

/// All figures with their sources.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Chips by name.
    #[serde(rename = "chip")]
    pub chips: BTreeMap<String, Chip>,
    /// Publications by name.
    #[serde(rename = "source")]
    pub sources: BTreeMap<String, Source>,
    /// The figures, in the order of the page.
    #[serde(rename = "figure")]
    pub all: Vec<Figure>,
}

/// A chip of real GPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chip {
    /// Presets that are meant to be a machine with it.
    #[serde(default)]
    pub presets: Vec<String>,
}

/// A publication.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Authors, title, year.
    pub cite: String,
}

/// One figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What measures it here.
    pub measure: String,
    /// The chip, a key of [`Figures::chips`].
    pub chip: String,
    /// The product, or what the source speaks of.
    pub gpu: String,
    /// The figure.
    pub value: f64,
    /// Its unit, that of the measure.
    pub unit: String,
    /// Where it is from, a key of [`Figures::sources`].
    pub source: String,
    /// Table, section or file in the source.
    pub place: String,
    /// Whether the source itself was read when the figure was entered.
    pub seen: bool,
    /// Who quotes it, where the source was not read.
    pub via: Option<String>,
    /// As the source has it, where the value is computed from that.
    pub published: Option<String>,
    /// What it includes that the measure does not, or the other way round.
    pub note: Option<String>,
}

impl Figures {
    /// Reads the file.
    ///
    /// # Panics
    /// When it is missing or malformed: it is part of the repository.
    #[must_use]
    pub fn read() -> Self {
        let path = folder_of("silicon").join("figures.toml");
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Those of a chip.
    pub fn of<'a>(&'a self, chip: &'a str) -> impl Iterator<Item = &'a Figure> {
        self.all.iter().filter(move |figure| figure.chip == chip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silicon::measures;

    #[test]
    fn every_figure_has_a_source_and_a_measure_in_its_unit() {
        let figures = Figures::read();
        let measures = measures();
        for figure in &figures.all {
            let name = &figure.measure;
            assert!(figures.chips.contains_key(&figure.chip), "{name}: no chip `{}`", figure.chip);
            assert!(figures.sources.contains_key(&figure.source), "{name}: no source `{}`", figure.source);
            let measure = measures.iter().find(|m| m.name == *name).unwrap_or_else(|| panic!("no measure `{name}`"));
            assert_eq!(figure.unit, measure.unit, "{name}");
            assert!(figure.value > 0.0 && !figure.place.is_empty(), "{name}");
            assert!(!figure.seen || figure.via.is_none(), "{name}: what was seen needs nobody who quotes it");
        }
    }

    #[test]
    fn every_source_is_used_and_every_measure_has_a_figure() {
        let figures = Figures::read();
        for source in figures.sources.keys() {
            assert!(figures.all.iter().any(|f| f.source == *source), "{source}");
        }
        for measure in measures() {
            assert!(figures.of("gv100").any(|f| f.measure == measure.name), "{}", measure.name);
        }
    }
}
