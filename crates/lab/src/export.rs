//! All results of a store as one wide table: a row for each point and kernel, a column for each counter.
//!
//! Names of columns have `_` where records have `.` or `-`: `sm_warp_insts`, `network_up_packets`.

use crate::error::{Error, writing};
use crate::key::Key;
use crate::metric::counters;
use crate::point::Program;
use crate::record::{KernelCounts, Record};
use crate::store::Store;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use raddle_runtime::stats_table::Format;
use raddle_sim::seam::Seam;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Points written together: it bounds the memory of an export.
const CHUNK: usize = 4096;

/// Columns of text, before those of numbers.
const TEXTS: [&str; 6] = ["key", "workload", "class", "size", "machine", "kernel"];

/// Columns of numbers, before the counters.
const NUMBERS: [&str; 6] = ["schema", "epoch", "seed", "heap_offset", "launches", "cycles"];

/// The table's layout, and what is looked up for rows.
struct Layout {
    counters: Vec<String>,
    classes: BTreeMap<&'static str, &'static str>,
}

/// A row: texts, then numbers.
type Row = (Vec<String>, Vec<i64>);

impl Layout {
    fn new() -> Self {
        let class = |w: &'static raddle_workloads::Workload| Some((w.name, Program::new(w).ok()?.class.name()));
        Self { counters: counters().collect(), classes: raddle_workloads::all().iter().filter_map(class).collect() }
    }

    fn texts(&self) -> Vec<String> {
        let seams =
            Seam::ALL.into_iter().flat_map(|seam| [seam.key().to_owned(), format!("{}_parameters", seam.key())]);
        TEXTS.into_iter().map(str::to_owned).chain(seams).collect()
    }

    fn numbers(&self) -> Vec<String> {
        let counters = self.counters.iter().map(|name| name.replace(['.', '-'], "_"));
        NUMBERS.into_iter().map(str::to_owned).chain(counters).collect()
    }

    fn row(&self, key: &Key, record: &Record, kernel: &KernelCounts) -> Row {
        let id = &record.identity;
        let class = self.classes.get(id.workload.as_str()).copied().unwrap_or_default();
        let mut texts = vec![
            key.to_string(),
            id.workload.clone(),
            class.to_owned(),
            id.size.clone(),
            id.machine.key().to_string(),
            kernel.kernel.clone(),
        ];
        for seam in Seam::ALL {
            let spec = id.machine.mechanisms.get(seam.key());
            texts.push(spec.map(|m| m.name.clone()).unwrap_or_default());
            texts.push(spec.and_then(|m| serde_json::to_string(&m.parameters).ok()).unwrap_or_default());
        }
        let mut numbers: Vec<i64> =
            [id.schema.into(), id.epoch.into(), id.seed, id.heap_offset, kernel.launches, kernel.cycles]
                .map(|n: u64| n as i64)
                .to_vec();
        numbers.extend(self.counters.iter().map(|name| kernel.counters.get(name).copied().unwrap_or(0) as i64));
        (texts, numbers)
    }
}

/// Writes the results of a store to a file, in the order of their keys, and says how many.
///
/// # Errors
/// When the store cannot be read or the file cannot be written.
pub fn export(store: &Store, path: &Path, format: Format) -> Result<usize, Error> {
    let wrong = writing(path);
    let mut file = BufWriter::new(File::create(path).map_err(&wrong)?);
    let layout = Layout::new();
    let keys = store.keys();
    let chunks = keys.chunks(CHUNK).map(|keys| rows(store, keys, &layout));
    match format {
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(&mut file);
            let names = [layout.texts(), layout.numbers()].concat();
            writer.write_record(&names).map_err(|e| wrong(e.into()))?;
            for chunk in chunks {
                for (texts, numbers) in chunk? {
                    let cells = texts.into_iter().chain(numbers.iter().map(ToString::to_string));
                    writer.write_record(cells.collect::<Vec<_>>()).map_err(|e| wrong(e.into()))?;
                }
            }
            writer.flush().map_err(&wrong)?;
        }
        Format::Json => {
            for key in &keys {
                if let Some(record) = store.get(key)? {
                    serde_json::to_writer(&mut file, &record).map_err(|e| wrong(e.into()))?;
                    file.write_all(b"\n").map_err(&wrong)?;
                }
            }
        }
        Format::Parquet => {
            let broken = |e: ParquetError| wrong(io::Error::other(e));
            let schema = parse_message_type(&schema(&layout)).map_err(broken)?;
            let properties = Arc::new(WriterProperties::default());
            let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), properties).map_err(broken)?;
            for chunk in chunks {
                row_group(&mut writer, &chunk?).map_err(broken)?;
            }
            writer.close().map_err(broken)?;
        }
    }
    file.flush().map_err(&wrong)?;
    Ok(keys.len())
}

fn rows(store: &Store, keys: &[Key], layout: &Layout) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for key in keys {
        if let Some(record) = store.get(key)? {
            rows.extend(record.kernels.iter().map(|kernel| layout.row(key, &record, kernel)));
        }
    }
    Ok(rows)
}

fn schema(layout: &Layout) -> String {
    let texts = layout.texts().into_iter().map(|name| format!("required binary {name} (utf8);\n"));
    let numbers = layout.numbers().into_iter().map(|name| format!("required int64 {name};\n"));
    format!("message points {{\n{}}}", texts.chain(numbers).collect::<String>())
}

fn row_group<W: Write + Send>(writer: &mut SerializedFileWriter<W>, rows: &[Row]) -> Result<(), ParquetError> {
    let Some(first) = rows.first() else { return Ok(()) };
    let mut group = writer.next_row_group()?;
    for column in 0..first.0.len() + first.1.len() {
        let Some(mut into) = group.next_column()? else { break };
        if column < first.0.len() {
            let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(row.0[column].as_str())).collect();
            into.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        } else {
            let values: Vec<i64> = rows.iter().map(|row| row.1[column - row.0.len()]).collect();
            into.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        into.close()?;
    }
    group.close()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn every_format_has_every_point() {
        let folder = std::env::temp_dir().join(format!("raddle-export-{}", std::process::id()));
        let mut store = Store::create(&folder.join("store")).unwrap();
        (1..4).for_each(|n| store.put(&record(n)).unwrap());
        let path = |name: &str| folder.join(name);
        for name in ["a.csv", "a.json", "a.parquet"] {
            let format = Format::of(&path(name)).unwrap();
            assert_eq!(export(&store, &path(name), format).unwrap(), 3);
        }
        let csv = std::fs::read_to_string(path("a.csv")).unwrap();
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.starts_with("key,workload,class,size,machine,kernel,divergence,divergence_parameters,"));
        let json = std::fs::read_to_string(path("a.json")).unwrap();
        assert!(json.lines().all(|line| serde_json::from_str::<Record>(line).is_ok()));
        let reader = SerializedFileReader::new(File::open(path("a.parquet")).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let layout = Layout::new();
        let column = layout.texts().len() + layout.numbers().iter().position(|name| name == "cycles").unwrap();
        let cycles: i64 = rows.iter().map(|row| row.get_long(column).unwrap()).sum();
        assert_eq!((rows.len(), cycles), (3, 600));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
