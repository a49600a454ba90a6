//! `--trace` and `--intervals`: what a run does over time.

use crate::exit::Failure;
use crate::out;
use raddle_cuda::names;
use raddle_runtime::Problem;
use raddle_runtime::trace::{TraceOptions, Tracer, Written};
use raddle_sim::config::Machine;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

/// Cycles of an interval when nothing is said.
const INTERVAL: u64 = 1000;

/// What is written of a run over time.
#[derive(clap::Args)]
pub struct TraceArgs {
    /// Write a timeline in the format of the Perfetto viewer
    #[arg(long, value_name = "FILE", help_heading = "Timeline")]
    trace: Option<PathBuf>,
    /// SMs whose schedulers and warps to show, such as 0,3-5, or none [default: 0]
    #[arg(long, value_name = "LIST", requires = "trace", help_heading = "Timeline")]
    trace_sms: Option<Sms>,
    /// Cycles to show, counted from the first launch, such as 1000..5000 or 1000..
    #[arg(long, value_name = "FROM..TO", requires = "trace", help_heading = "Timeline")]
    trace_cycles: Option<Cycles>,
    /// Largest size of the timeline, in millions of bytes [default: 200]
    #[arg(long, value_name = "MB", requires = "trace", help_heading = "Timeline", value_parser = clap::value_parser!(u64).range(1..))]
    trace_limit: Option<u64>,
    /// Write IPC, hit rates, bandwidth, residency over time; FILE ends in .parquet
    #[arg(long, value_name = "FILE", help_heading = "Timeline")]
    intervals: Option<PathBuf>,
    /// Cycles between two values of --intervals and of --trace [default: 1000]
    #[arg(long, value_name = "CYCLES", help_heading = "Timeline", value_parser = clap::value_parser!(u64).range(1..))]
    interval: Option<u64>,
}

/// A list of SMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sms(BTreeSet<u16>);

impl FromStr for Sms {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no list of SMs such as 0,3-5");
        if text == "none" {
            return Ok(Self(BTreeSet::new()));
        }
        let mut list = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let [first, last] = [first, last].map(|n| n.trim().parse::<u16>().map_err(|_| wrong()));
            let (first, last) = (first?, last?);
            if first > last {
                return Err(wrong());
            }
            list.extend(first..=last);
        }
        Ok(Self(list))
    }
}

/// A range of cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycles(Range<u64>);

impl FromStr for Cycles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range of cycles such as 1000..5000");
        let (from, to) = text.split_once("..").ok_or_else(wrong)?;
        let bound = |text: &str, open| if text.is_empty() { Ok(open) } else { text.parse().map_err(|_| wrong()) };
        let range = bound(from, 0)?..bound(to, u64::MAX)?;
        if range.is_empty() { Err(wrong()) } else { Ok(Self(range)) }
    }
}

impl TraceArgs {
    /// The option that asks for something, if one does.
    pub fn chosen(&self) -> Option<&'static str> {
        match (&self.trace, &self.intervals) {
            (Some(_), _) => Some("--trace"),
            (None, Some(_)) => Some("--intervals"),
            (None, None) => self.interval.map(|_| "--interval"),
        }
    }

    /// Whether a file is written.
    pub fn writes(&self) -> bool {
        self.trace.is_some() || self.intervals.is_some()
    }

    /// The files that are written.
    pub fn files(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.trace.iter_mut().chain(&mut self.intervals)
    }

    /// Refuses what makes no sense together.
    pub fn check(&self, is_sampled: bool) -> Result<(), Problem> {
        if self.interval.is_some() && self.trace.is_none() && self.intervals.is_none() {
            return Err(Problem::new("--interval needs --trace or --intervals"));
        }
        match self.chosen().filter(|_| is_sampled) {
            Some(option) => Err(Problem::new(format!("{option} cannot show a run with --sample"))),
            None => Ok(()),
        }
    }

    /// Begins with what is to be written of a run on a machine.
    pub fn start(&self, machine: Option<&Machine>) -> Result<Option<Tracer>, Failure> {
        let (Some(machine), true) = (machine, self.writes()) else {
            return Ok(None);
        };
        let sms = match &self.trace_sms {
            _ if self.trace.is_none() => BTreeSet::new(),
            Some(Sms(list)) => list.clone(),
            None => BTreeSet::from([0]),
        };
        let options = TraceOptions {
            trace: self.trace.clone(),
            sms,
            cycles: self.trace_cycles.as_ref().map_or(0..u64::MAX, |cycles| cycles.0.clone()),
            limit: self.trace_limit.unwrap_or(200).saturating_mul(1_000_000),
            interval: self.interval.unwrap_or(INTERVAL),
            intervals: self.intervals.clone(),
            readable: names::readable,
        };
        Ok(Some(Tracer::new(&options, &machine.config)?))
    }

    /// The run has ended.
    pub fn finish(&self, tracer: &mut Tracer) -> Result<(), Failure> {
        if let (Some(Written { bytes, is_cut: true }), Some(path)) = (tracer.finish()?, &self.trace) {
            let (path, bytes) = (path.display(), out::grouped(bytes));
            out::talk(&format!(
                "{path} has {bytes} bytes and does not show all: choose SMs and cycles with --trace-sms and --trace-cycles, \
                 or more bytes with --trace-limit"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_sms() {
        assert_eq!("0,3-5,4".parse(), Ok(Sms(BTreeSet::from([0, 3, 4, 5]))));
        assert_eq!("none".parse(), Ok(Sms(BTreeSet::new())));
        for wrong in ["", "a", "5-3", "1,", "-"] {
            assert_eq!(wrong.parse::<Sms>(), Err(format!("`{wrong}` is no list of SMs such as 0,3-5")));
        }
    }

    #[test]
    fn ranges_of_cycles() {
        assert_eq!("1000..5000".parse(), Ok(Cycles(1000..5000)));
        assert_eq!("7..".parse(), Ok(Cycles(7..u64::MAX)));
        assert_eq!("..7".parse(), Ok(Cycles(0..7)));
        for wrong in ["", "7", "7..7", "9..7", "a..b"] {
            assert_eq!(wrong.parse::<Cycles>(), Err(format!("`{wrong}` is no range of cycles such as 1000..5000")));
        }
    }
}
