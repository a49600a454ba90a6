//! Intervals as a table, written while the run continues.

use super::interval::Interval;
use crate::error::{Error, Problem};
use crate::numbers::ratio;
use crate::stats_table::Format;
use parquet::data_type::{DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Rows of a group, which are kept until it is full.
const GROUP: usize = 8192;

/// A value of a row.
enum Value {
    Count(fn(&Interval) -> u64),
    Rate(fn(&Interval) -> f64),
}

/// The columns.
const COLUMNS: [(&str, Value); 18] = [
    ("launch", Value::Count(|i| i.launch)),
    ("start", Value::Count(|i| i.start)),
    ("cycles", Value::Count(|i| i.cycles)),
    ("warp_insts", Value::Count(|i| i.warp_insts)),
    ("thread_insts", Value::Count(|i| i.thread_insts)),
    ("l1d_accesses", Value::Count(|i| i.l1d_accesses)),
    ("l1d_hits", Value::Count(|i| i.l1d_hits)),
    ("l2_accesses", Value::Count(|i| i.memory().l2_accesses)),
    ("l2_hits", Value::Count(|i| i.memory().l2_hits)),
    ("dram_read", Value::Count(|i| i.memory().dram_read)),
    ("dram_written", Value::Count(|i| i.memory().dram_written)),
    ("resident_blocks", Value::Count(|i| i.blocks)),
    ("resident_warps", Value::Count(|i| i.warps)),
    ("warp_ipc", Value::Rate(|i| ratio(i.warp_insts, i.cycles))),
    ("thread_ipc", Value::Rate(|i| ratio(i.thread_insts, i.cycles))),
    ("l1d_hit_rate", Value::Rate(|i| ratio(i.l1d_hits, i.l1d_accesses))),
    ("l2_hit_rate", Value::Rate(|i| ratio(i.memory().l2_hits, i.memory().l2_accesses))),
    ("dram_bytes_per_cycle", Value::Rate(|i| ratio(i.memory().dram_bytes(), i.cycles))),
];

/// A table that is being written.
pub(super) struct IntervalTable {
    path: String,
    writer: Option<SerializedFileWriter<File>>,
    rows: Vec<Interval>,
    error: Option<ParquetError>,
}

impl IntervalTable {
    /// An empty one.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        if Format::of(path)? != Format::Parquet {
            let message = format!("intervals are not written as {}", path.display());
            return Err(Problem::new(message).help("end its name in .parquet").into());
        }
        let path = (path, path.display().to_string());
        let wrong = |source| Error::Write { path: path.1.clone(), source };
        let file = File::create(path.0).map_err(wrong)?;
        let writer = writer(file).map_err(|error| wrong(io::Error::other(error)))?;
        Ok(Self { path: path.1, writer: Some(writer), rows: Vec::new(), error: None })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, interval: &Interval) {
        self.rows.push(interval.clone());
        if self.rows.len() == GROUP {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if let Some(writer) = self.writer.as_mut().filter(|_| self.error.is_none() && !rows.is_empty()) {
            self.error = write_group(writer, &rows).err();
        }
    }

    /// Writes what is left.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.flush();
        let error = self.error.take();
        let closed = self.writer.take().map_or(Ok(()), |writer| writer.close().map(drop));
        let wrong = |error| Error::Write { path: self.path.clone(), source: io::Error::other(error) };
        error.map_or(closed, Err).map_err(wrong)
    }
}

fn writer(file: File) -> Result<SerializedFileWriter<File>, ParquetError> {
    let column = |(name, value): &(&str, Value)| {
        let kind = if matches!(value, Value::Count(_)) { "int64" } else { "double" };
        format!("required {kind} {name};")
    };
    let schema = format!("message intervals {{ {} }}", COLUMNS.iter().map(column).collect::<String>());
    SerializedFileWriter::new(file, Arc::new(parse_message_type(&schema)?), Arc::new(WriterProperties::default()))
}

fn write_group(writer: &mut SerializedFileWriter<File>, rows: &[Interval]) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (_, value) in &COLUMNS {
        let Some(mut into) = group.next_column()? else { break };
        match value {
            Value::Count(of) => {
                let values: Vec<i64> = rows.iter().map(|row| of(row) as i64).collect();
                into.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            Value::Rate(of) => {
                let values: Vec<f64> = rows.iter().map(of).collect();
                into.typed::<DoubleType>().write_batch(&values, None, None)?;
            }
        }
        into.close()?;
    }
    group.close().map(drop)
}
