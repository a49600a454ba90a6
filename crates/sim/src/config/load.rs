//! Machines from layers: a preset, a file on top of it, overrides on top of both.
//!
//! ```text
//!  preset ──► file (`base = "gtx480"`) ──► --set path=value ──► MachineConfig, checked
//!                     every value remembers which of them it comes from
//! ```

mod layers;

use super::MachineConfig;
use super::field::keys;
use super::preset::DEFAULT_PRESET;
use super::problem::{Origin, Problem};
use layers::Layers;
use std::collections::BTreeMap;

/// The first layer of a machine.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A preset, by name.
    Preset(&'a str),
    /// A machine file.
    File {
        /// Its path, for messages.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
}

impl Default for Source<'_> {
    fn default() -> Self {
        Self::Preset(DEFAULT_PRESET)
    }
}

/// A checked machine whose values remember where they come from.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The parameters.
    pub config: MachineConfig,
    leaves: Leaves,
}

/// Values and their origins by path.
type Leaves = BTreeMap<String, (toml::Value, Origin)>;

impl Machine {
    /// Reads `source`, then applies the overrides `path=value` in their order, then checks the whole.
    ///
    /// # Errors
    /// With everything that is wrong: unknown names, values of the wrong kind, combinations that cannot work.
    pub fn load(source: Source<'_>, overrides: &[impl AsRef<str>]) -> Result<Self, Vec<Problem>> {
        let mut layers = Layers::default();
        match source {
            Source::Preset(name) => layers.preset(name, None),
            Source::File { name, text } => layers.file(name, text),
        }
        for text in overrides {
            layers.set(text.as_ref());
        }
        layers.finish()
    }

    /// The preset `base` with some of its values replaced, each with where it comes from.
    ///
    /// # Errors
    /// With everything that is wrong, as [`Self::load`].
    pub(super) fn replace(base: &str, values: Vec<(String, toml::Value, Origin)>) -> Result<Self, Vec<Problem>> {
        let mut layers = Layers::default();
        layers.preset(base, None);
        layers.leaves.extend(values.into_iter().map(|(path, value, origin)| (path, (value, origin))));
        layers.finish()
    }

    /// Every key with its value and origin, in the order of the preset files.
    pub fn values(&self) -> impl Iterator<Item = (&str, &toml::Value, &Origin)> {
        keys().fields.iter().filter_map(|field| {
            let (value, origin) = self.leaves.get(&field.path)?;
            Some((field.path.as_str(), value, origin))
        })
    }

    /// Where the value of the key `path` comes from.
    #[must_use]
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        self.leaves.get(path).map(|(_, origin)| origin)
    }

    /// A complete machine file: every key on a line of its own, with where its value comes from.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let rows: Vec<_> = self.values().map(|(path, value, origin)| (path, value.to_string(), origin)).collect();
        let widths = |cell: fn(&(&str, String, &Origin)) -> usize, section: &str| {
            rows.iter().filter(|row| section_of(row.0) == section).map(cell).max().unwrap_or(0)
        };
        let mut text = String::new();
        let mut last = "";
        for (path, value, origin) in &rows {
            let section = section_of(path);
            if !last.is_empty() && section != last {
                text.push('\n');
            }
            last = section;
            let (key, cell) = (widths(|r| r.0.len(), section), widths(|r| r.1.len(), section));
            text += &format!("{path:<key$} = {value:<cell$}  # {origin}\n");
        }
        text
    }
}

/// The part of a path that is printed together; the two numbers of a latency do not count as a table.
fn section_of(path: &str) -> &str {
    if path.starts_with("sm.latency.") {
        return "sm.latency";
    }
    path.rsplit_once('.').map_or("", |(section, _)| section)
}

#[cfg(test)]
mod tests;
