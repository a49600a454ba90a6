//! Reads a `gpgpusim.config`, the configuration of GPGPU-Sim, into a machine.
//!
//! What the file does not say is taken from a preset, `gtx480`, or `gtx480-v3` for a file of version 3, and the most important of
//! it is listed. So are options that mean nothing here and values that cannot be expressed: nothing is dropped silently.

mod map;
mod text;

use super::problem::{Origin, Problem};
use super::{DEFAULT_PRESET, Machine};
use map::Answer;

/// The preset for texts of version 3.
const VERSION_3: &str = "gtx480-v3";

/// What came of a configuration.
#[derive(Debug)]
pub struct Imported {
    /// The machine.
    pub machine: Machine,
    /// Options that have no counterpart here.
    pub without_counterpart: Vec<Left>,
    /// Options that have one, whose value was not taken, with the reason.
    pub not_taken: Vec<Left>,
    /// The preset with what the text does not say: that of the version of GPGPU-Sim the text is for.
    pub base: &'static str,
    /// Keys that options could have set or in which versions differ, and that have the value of the preset.
    pub assumed: Vec<String>,
}

/// An option that was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its line, from 1.
    pub line: usize,
    /// Its name, with the hyphen.
    pub option: String,
    /// Its value.
    pub value: String,
    /// Why; empty when it has no counterpart.
    pub reason: String,
}

/// Reads the text of a `gpgpusim.config`.
///
/// # Errors
/// When the options together make a machine that cannot work.
pub fn import(text: &str) -> Result<Imported, Vec<Problem>> {
    let options = text::options(text);
    let (mut without_counterpart, mut not_taken) = (Vec::new(), Vec::new());
    let mut values = Vec::new();
    for (number, option) in options.iter().enumerate() {
        let left = |reason: &str| Left {
            line: option.line,
            option: option.name.clone(),
            value: option.value.clone(),
            reason: reason.to_owned(),
        };
        if options[number + 1..].iter().any(|later| later.name == option.name) {
            not_taken.push(left("it is set again later in the file"));
            continue;
        }
        match map::map(option, &options) {
            Answer::Unknown => without_counterpart.push(left("")),
            Answer::Taken { values: taken, remarks } => {
                let origin = Origin::Option(option.name.clone());
                values.extend(taken.into_iter().map(|(path, value)| (path, value, origin.clone())));
                not_taken.extend(remarks.iter().map(|remark| left(remark)));
            }
        }
    }
    let base = if map::is_version_3(&options) { VERSION_3 } else { DEFAULT_PRESET };
    let said: Vec<String> = values.iter().map(|(path, ..)| path.clone()).collect();
    let machine = Machine::replace(base, values)?;
    let default = Machine::replace(DEFAULT_PRESET, Vec::new())?;
    let differs = |path: &str, origin: &Origin| {
        matches!(origin, Origin::Preset(_)) && default.origin(path).is_some_and(|other| other != origin)
    };
    let not_said: Vec<&str> = map::not_said(&options, &said).collect();
    let assumed = machine.values().filter(|(path, _, origin)| not_said.contains(path) || differs(path, origin));
    let assumed = assumed.map(|(path, ..)| path.to_owned()).collect();
    Ok(Imported { machine, without_counterpart, not_taken, base, assumed })
}

#[cfg(test)]
mod tests;
