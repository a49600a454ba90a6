//! Reads a `gpgpusim.config`, the configuration of GPGPU-Sim, into a machine.
//!
//! What the file does not say is taken from the preset `gtx480`. Options that mean nothing here, and values that cannot be
//! expressed, are listed rather than dropped.

mod map;
mod text;

use super::problem::{Origin, Problem};
use super::{DEFAULT_PRESET, Machine};
use map::Answer;

/// What came of a configuration.
#[derive(Debug)]
pub struct Imported {
    /// The machine.
    pub machine: Machine,
    /// Options that have no counterpart here.
    pub without_counterpart: Vec<Left>,
    /// Options that have one, whose value was not taken, with the reason.
    pub not_taken: Vec<Left>,
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
            not_taken.push(left("it is given again further down"));
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
    let machine = Machine::replace(DEFAULT_PRESET, values)?;
    Ok(Imported { machine, without_counterpart, not_taken })
}

#[cfg(test)]
mod tests;
