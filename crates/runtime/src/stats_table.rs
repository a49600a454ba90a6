//! Every counter of a run as one long table: a row for each value.
//!
//! | column | |
//! | --- | --- |
//! | `launch` | number of the launch, from 0 |
//! | `kernel` | its kernel |
//! | `kind` | `launch`, `sm`, `int`, `fp`, `l1i`, `l1d`, `l1c`, `l1t`, `l2`, `dram`, `network-up`, `network-down`, `pc`, or a mechanism with counters of its own, as `issue.two-level` |
//! | | in a sampled run also `estimate`: cycles with their interval, and instructions, which are not estimated; where a part of a launch was simulated, all other kinds begin with `part-` |
//! | `number` | which of its kind: SM, slice, channel; for `pc` the operation |
//! | `counter`, `unit` | what was counted, and in what |
//! | `value` | how much |
//! | `source_file` | for `pc`, the source file of the operation, if the PTX names it; else empty |
//! | `process`, `program` | for `raddle exec`, the process, from 0 in the order in which they began, and its program; else 0 and empty |

use crate::error::{Error, Problem};
use crate::outcome::{Launched, Outcome};
use crate::sample::{Estimate, Estimates, LaunchSample};
use crate::timing::Timed;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use raddle_sim::seam::Counted;
use raddle_sim::stats::Counters;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// A value with everything that says what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Number of the launch.
    pub launch: u64,
    /// Its kernel.
    pub kernel: String,
    /// Kind of component.
    pub kind: Cow<'static, str>,
    /// Which of its kind.
    pub number: u64,
    /// Counter.
    pub counter: Cow<'static, str>,
    /// Its unit.
    pub unit: Cow<'static, str>,
    /// Its value.
    pub value: u64,
    /// The source file of what was counted, or nothing.
    pub source_file: String,
    /// The process that launched it, where programs were run.
    pub process: u64,
    /// Its program, or nothing.
    pub program: String,
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated, with a line of names.
    Csv,
    /// A list of objects.
    Json,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format a file's name asks for.
    ///
    /// # Errors
    /// When it asks for none of them.
    pub fn of(path: &Path) -> Result<Self, Error> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("json") => Ok(Self::Json),
            Some("parquet") => Ok(Self::Parquet),
            _ => {
                let message = format!("it is not clear what format {} should have", path.display());
                Err(Problem::new(message).help("end its name in .csv, .json or .parquet").into())
            }
        }
    }
}

/// The table of a run. Launches without a notion of time have no rows.
#[must_use]
pub fn rows(outcome: &Outcome) -> Vec<Row> {
    let mut table = Table::default();
    let estimates = Estimates::new(&outcome.launches);
    for (number, launched) in outcome.launches.iter().enumerate() {
        (table.launch, table.kernel, table.is_part) = (number as u64, launched.kernel.clone(), false);
        if let Some(estimates) = &estimates {
            table.sample(launched, &estimates.launch(number));
        }
        if let Some(timed) = &launched.timed {
            table.launch(timed);
        }
    }
    table.rows
}

/// What kinds begin with whose counters are of a part of a launch.
const PART: &str = "part-";

#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    launch: u64,
    kernel: String,
    /// What is counted is of a part of the launch.
    is_part: bool,
    /// The source file of what is counted, or nothing.
    source_file: String,
}

impl Table {
    fn push(
        &mut self,
        kind: impl Into<Cow<'static, str>>,
        number: u64,
        (counter, unit): (&'static str, &'static str),
        value: u64,
    ) {
        let (launch, kernel, kind) = (self.launch, self.kernel.clone(), kind.into());
        let (counter, unit) = (counter.into(), unit.into());
        // What is of a part must not be taken for the whole.
        let kind = if self.is_part { format!("{PART}{kind}").into() } else { kind };
        let source_file = self.source_file.clone();
        self.rows.push(Row { launch, kernel, kind, number, counter, unit, value, source_file, ..Row::default() });
    }

    fn group<C: Counters>(&mut self, kind: &'static str, number: usize, group: &C) {
        for (info, value) in C::INFO.iter().zip(group.values()) {
            self.push(kind, number as u64, (info.name, info.unit.name()), value);
        }
    }

    fn own(&mut self, number: usize, counted: &[Counted]) {
        for counted in counted {
            let info = counted.info;
            self.push(counted.group(), number as u64, (info.name, info.unit.name()), counted.value);
        }
    }

    /// What is estimated of a launch of a sampled run.
    fn sample(&mut self, launched: &Launched, estimate: &Estimate) {
        let [low, high] = estimate.interval();
        self.push("estimate", 0, ("cycles", "cycles"), estimate.cycles.round() as u64);
        self.push("estimate", 0, ("cycles_low", "cycles"), low);
        self.push("estimate", 0, ("cycles_high", "cycles"), high);
        self.push("estimate", 0, ("warp_insts", "warp instructions"), launched.report.warp_insts);
        self.push("estimate", 0, ("thread_insts", "thread instructions"), launched.report.thread_insts);
        self.is_part = matches!(launched.sample, Some(LaunchSample::Part(_)));
    }

    fn launch(&mut self, timed: &Timed) {
        let Timed { result, residency, pcs } = timed;
        self.push("launch", 0, ("cycles", "cycles"), result.cycles);
        self.push("launch", 0, ("ctas", "events"), result.ctas);
        self.push("launch", 0, ("resident_ctas", "blocks per SM"), u64::from(residency.ctas));
        for (n, sm) in result.sms.iter().enumerate() {
            self.group("sm", n, &sm.sm);
            self.group("int", n, &sm.int);
            self.group("fp", n, &sm.fp);
            self.group("l1i", n, &sm.l1i);
            self.group("l1d", n, &sm.l1d);
            self.group("l1c", n, &sm.l1c);
            self.group("l1t", n, &sm.l1t);
            self.own(n, &sm.own);
        }
        result.l2.iter().enumerate().for_each(|(n, slice)| self.group("l2", n, slice));
        result.dram.iter().enumerate().for_each(|(n, channel)| self.group("dram", n, channel));
        self.group("network-up", 0, &result.up);
        self.group("network-down", 0, &result.down);
        self.own(0, &result.dispatch);
        for count in pcs {
            let pc = u64::from(count.pc);
            self.source_file = count.source.as_ref().map(|(file, _)| file.clone()).unwrap_or_default();
            self.push("pc", pc, ("ptx_line", "line"), u64::from(count.ptx_line));
            if let Some((_, line)) = &count.source {
                self.push("pc", pc, ("source_line", "line"), u64::from(*line));
            }
            self.push("pc", pc, ("warp_insts", "warp instructions"), count.warp_insts);
            self.push("pc", pc, ("thread_insts", "thread instructions"), count.thread_insts);
        }
        self.source_file.clear();
    }
}

/// Writes a table to a file.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, format: Format, rows: &[Row]) -> Result<(), Error> {
    let wrong = |source: io::Error| Error::Write { path: path.display().to_string(), source };
    let mut file = BufWriter::new(File::create(path).map_err(wrong)?);
    let written = match format {
        Format::Csv => write_csv(&mut file, rows),
        Format::Json => serde_json::to_writer(&mut file, rows).map_err(io::Error::from),
        Format::Parquet => write_parquet(&mut file, rows).map_err(io::Error::other),
    };
    written.and_then(|()| file.flush()).map_err(wrong)
}

/// Writes rows of anything as comma-separated values.
///
/// # Errors
/// When they cannot be written.
pub fn write_csv<R: Serialize>(to: impl Write, rows: &[R]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    rows.iter().try_for_each(|row| writer.serialize(row)).map_err(io::Error::from)?;
    writer.flush()
}

const SCHEMA: &str = "message counters {
    required int64 launch;
    required binary kernel (utf8);
    required binary kind (utf8);
    required int64 number;
    required binary counter (utf8);
    required binary unit (utf8);
    required int64 value;
    required binary source_file (utf8);
    required int64 process;
    required binary program (utf8);
}";

enum Column {
    Numbers(Vec<i64>),
    Texts(Vec<ByteArray>),
}

fn write_parquet(to: impl Write + Send, rows: &[Row]) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let mut writer = SerializedFileWriter::new(to, schema, Arc::new(WriterProperties::default()))?;
    let numbers = |f: fn(&Row) -> u64| Column::Numbers(rows.iter().map(|r| f(r) as i64).collect());
    let texts = |f: for<'r> fn(&'r Row) -> &'r str| Column::Texts(rows.iter().map(|r| ByteArray::from(f(r))).collect());
    let columns = [
        numbers(|r| r.launch),
        texts(|r| &r.kernel),
        texts(|r| &r.kind),
        numbers(|r| r.number),
        texts(|r| &r.counter),
        texts(|r| &r.unit),
        numbers(|r| r.value),
        texts(|r| &r.source_file),
        numbers(|r| r.process),
        texts(|r| &r.program),
    ];
    let mut group = writer.next_row_group()?;
    for column in columns {
        let Some(mut into) = group.next_column()? else { break };
        match column {
            Column::Numbers(values) => into.typed::<Int64Type>().write_batch(&values, None, None)?,
            Column::Texts(values) => into.typed::<ByteArrayType>().write_batch(&values, None, None)?,
        };
        into.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn sample() -> Vec<Row> {
        let row = |number, counter: &'static str, value| {
            let (kernel, unit) = ("a,\"b\"".to_owned(), "events".into());
            let (source_file, counter) = (format!("{counter}.cu"), counter.into());
            let (process, program) = (3, "a.out".to_owned());
            Row { launch: 1, kernel, kind: "l2".into(), number, counter, unit, value, source_file, process, program }
        };
        vec![row(0, "hits", 5), row(1, "misses", u64::from(u32::MAX) + 1)]
    }

    struct TempFile(std::path::PathBuf);

    impl TempFile {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("raddle-stats-{}-{name}", std::process::id())))
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn written(name: &str) -> TempFile {
        let file = TempFile::new(name);
        write(&file.0, Format::of(&file.0).unwrap(), &sample()).unwrap();
        file
    }

    #[test]
    fn csv_comes_back() {
        let file = written("a.csv");
        let mut reader = csv::Reader::from_path(&file.0).unwrap();
        let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        let columns = ["launch", "kernel", "kind", "number", "counter", "unit", "value", "source_file"];
        assert_eq!(names, [&columns[..], &["process", "program"]].concat());
        let back: Vec<Vec<String>> = reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
        assert_eq!(back[1], ["1", "a,\"b\"", "l2", "1", "misses", "events", "4294967296", "misses.cu", "3", "a.out"]);
        assert_eq!(back.len(), 2);
    }

    #[test]
    fn json_comes_back() {
        let file = written("a.json");
        let back: serde_json::Value = serde_json::from_slice(&std::fs::read(&file.0).unwrap()).unwrap();
        assert_eq!(back, serde_json::to_value(sample()).unwrap());
    }

    #[test]
    fn parquet_comes_back() {
        let file = written("a.parquet");
        let reader = SerializedFileReader::new(File::open(&file.0).unwrap()).unwrap();
        let back: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(back.len(), 2);
        for (got, want) in back.iter().zip(sample()) {
            assert_eq!(got.get_long(0).unwrap() as u64, want.launch);
            assert_eq!(got.get_string(1).unwrap(), &want.kernel);
            assert_eq!(*got.get_string(2).unwrap(), want.kind);
            assert_eq!(got.get_long(3).unwrap() as u64, want.number);
            assert_eq!(got.get_string(4).unwrap(), want.counter.as_ref());
            assert_eq!(got.get_string(5).unwrap(), want.unit.as_ref());
            assert_eq!(got.get_long(6).unwrap() as u64, want.value);
            assert_eq!(*got.get_string(7).unwrap(), want.source_file);
            assert_eq!((got.get_long(8).unwrap() as u64, got.get_string(9).unwrap()), (want.process, &want.program));
        }
    }

    #[test]
    fn other_endings_are_refused() {
        let error = Format::of(Path::new("a.xls")).unwrap_err();
        assert_eq!(error.to_string(), "it is not clear what format a.xls should have");
    }
}
