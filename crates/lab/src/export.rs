//! Tables of data, as CSV and Parquet: all results of a store, and the values of figures.
//!
//! The results of a store are one wide table: a row for each point and kernel, a column for each counter, those of the
//! mechanisms that occur last. Names of columns have `_` where records have `.` or `-`: `sm_warp_insts`, `network_up_packets`. Parameters that differ between
//! points have columns of their own. The values of figures are one long table: a row for each value.

use crate::agreement::Class;
use crate::error::{Error, writing};
use crate::experiment::quartiles;
use crate::key::Key;
use crate::metric::counters;
use crate::point::Program;
use crate::record::{KernelCounts, Record};
use crate::store::Store;
use crate::table::{Cell, Gap, Table};
use crate::varied::{self, Varied};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use raddle_runtime::stats_table::Format;
use raddle_sim::seam::Seam;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// Points written together: it bounds the memory of an export.
const CHUNK: usize = 4096;

/// Columns of text, before those of numbers.
const TEXTS: [&str; 7] = ["key", "workload", "class", "size", "virtualize", "machine", "kernel"];

/// Columns of numbers, before the counters.
const NUMBERS: [&str; 9] =
    ["schema", "epoch", "seed", "heap_offset", "sms", "channels", "dram_mhz", "launches", "cycles"];

/// Parameters that have a column whether they differ or not.
const ALWAYS: [&str; 4] = ["gpu.sms", "dram.channels", "clock.dram", "virtualize"];

/// The table's layout, and what is looked up for rows.
struct Layout {
    counters: Vec<String>,
    varied: Varied,
    classes: BTreeMap<&'static str, &'static str>,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Whole,
    /// Perhaps missing.
    Number,
    Flag,
}

/// A value of a table.
enum Value {
    Text(String),
    Whole(i64),
    Number(Option<f64>),
    Flag(bool),
}

impl Value {
    fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// The value of a parameter in a column of this kind.
    fn of(kind: Kind, value: Option<&serde_json::Value>) -> Self {
        match kind {
            Kind::Text => Self::Text(varied::text(value)),
            Kind::Whole => Self::Whole(value.and_then(serde_json::Value::as_i64).unwrap_or(0)),
            Kind::Number => Self::Number(value.and_then(serde_json::Value::as_f64)),
            Kind::Flag => Self::Flag(value.and_then(serde_json::Value::as_bool).unwrap_or(false)),
        }
    }

    /// As CSV has it.
    fn csv(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(value) => value.to_string(),
            Self::Number(value) => value.map(|value| value.to_string()).unwrap_or_default(),
            Self::Flag(value) => value.to_string(),
        }
    }
}

type Columns = Vec<(String, Kind)>;
type Row = Vec<Value>;

impl Layout {
    fn new(store: &Store) -> Result<Self, Error> {
        let class = |w: &'static raddle_workloads::Workload| Some((w.name, Program::new(w).ok()?.class?.name()));
        let names = Seam::ALL.map(|seam| format!("mechanism.{}", seam.key()));
        let except: Vec<&str> = ALWAYS.into_iter().chain(names.iter().map(String::as_str)).collect();
        let varied = Varied::of(store, &except)?;
        let classes = raddle_workloads::all().iter().filter_map(class).collect();
        let mut own = BTreeSet::new();
        for key in store.keys() {
            let Some(record) = store.get(&key)? else { continue };
            own.extend(record.identity.machine.own_counters().map(|(name, _)| name));
        }
        Ok(Self { counters: counters().chain(own).collect(), varied, classes })
    }

    fn columns(&self) -> Columns {
        let seams =
            Seam::ALL.into_iter().flat_map(|seam| [seam.key().to_owned(), format!("{}_parameters", seam.key())]);
        let texts = TEXTS.into_iter().map(str::to_owned).chain(seams);
        let counters = self.counters.iter().map(|name| name.replace(['.', '-'], "_"));
        let numbers = NUMBERS.into_iter().map(str::to_owned).chain(counters);
        // Parts of machines have the same names as groups of counters.
        let prefix = |path: &str| if path.starts_with("mechanism.") { "" } else { "machine_" };
        let varied = self.varied.columns().iter();
        let varied = varied.map(|(path, kind)| (prefix(path).to_owned() + &path.replace(['.', '-'], "_"), *kind));
        let texts = texts.map(|name| (name, Kind::Text));
        texts.chain(varied).chain(numbers.map(|name| (name, Kind::Whole))).collect()
    }

    fn row(&self, key: &Key, machine: &Key, record: &Record, kernel: &KernelCounts) -> Row {
        let id = &record.identity;
        let class = self.classes.get(id.workload.as_str()).copied().unwrap_or_default();
        let mut texts = vec![
            key.to_string(),
            id.workload.clone(),
            class.to_owned(),
            id.size.clone(),
            id.virtualize.clone().unwrap_or_default(),
            machine.to_string(),
            kernel.kernel.clone(),
        ];
        for seam in Seam::ALL {
            let spec = id.machine.mechanisms.get(seam.key());
            texts.push(spec.map(|m| m.name.clone()).unwrap_or_default());
            texts.push(spec.and_then(|m| serde_json::to_string(&m.parameters).ok()).unwrap_or_default());
        }
        let [sms, channels, dram_mhz] =
            [["gpu", "sms"], ["dram", "channels"], ["clock", "dram"]].map(|path| id.machine.number(&path) as u64);
        let identity = [id.schema.into(), id.epoch.into(), id.seed, id.heap_offset, sms, channels, dram_mhz];
        let numbers = identity.into_iter().chain([kernel.launches, kernel.cycles]);
        let counters = self.counters.iter().map(|name| kernel.counters.get(name).copied().unwrap_or(0));
        let numbers = numbers.chain(counters).map(|value: u64| Value::Whole(value as i64));
        let kinds = self.varied.columns().iter().map(|(_, kind)| *kind);
        let varied = kinds.zip(self.varied.values(id)).map(|(kind, value)| Value::of(kind, value.as_ref()));
        texts.into_iter().map(Value::Text).chain(varied).chain(numbers).collect()
    }
}

/// Writes the results of a store that can be read to a file, in the order of their keys, and says how many.
///
/// # Errors
/// When the store cannot be read or the file cannot be written.
pub fn export(store: &Store, path: &Path, format: Format) -> Result<usize, Error> {
    let wrong = writing(path);
    let mut file = BufWriter::new(File::create(path).map_err(&wrong)?);
    let layout = Layout::new(store)?;
    let keys = store.keys();
    let mut written = 0;
    let chunks = keys.chunks(CHUNK).map(|keys| rows(store, keys, &layout, &mut written));
    match format {
        Format::Csv => write_csv(&mut file, &layout.columns(), chunks, &wrong)?,
        Format::Json => {
            for key in &keys {
                if let Some(record) = store.get(key)? {
                    serde_json::to_writer(&mut file, &record).map_err(|e| wrong(e.into()))?;
                    file.write_all(b"\n").map_err(&wrong)?;
                    written += 1;
                }
            }
        }
        Format::Parquet => write_parquet(&mut file, &layout.columns(), chunks, &wrong)?,
    }
    file.flush().map_err(&wrong)?;
    Ok(written)
}

fn rows(store: &Store, keys: &[Key], layout: &Layout, written: &mut usize) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    for key in keys {
        if let Some(record) = store.get(key)? {
            let machine = record.identity.machine.key()?;
            rows.extend(record.kernels.iter().map(|kernel| layout.row(key, &machine, &record, kernel)));
            *written += 1;
        }
    }
    Ok(rows)
}

/// Columns of the values of figures.
const OF_FIGURES: [(&str, Kind); 22] = [
    ("figure", Kind::Text),
    ("row", Kind::Text),
    ("is_mean", Kind::Flag),
    ("bar", Kind::Text),
    ("part", Kind::Text),
    ("value", Kind::Number),
    ("low", Kind::Number),
    ("high", Kind::Number),
    ("over", Kind::Whole),
    ("of", Kind::Whole),
    ("gap", Kind::Text),
    ("within_spread", Kind::Flag),
    ("paper", Kind::Number),
    ("class", Kind::Text),
    ("why", Kind::Text),
    ("other_reading", Kind::Number),
    ("error_low", Kind::Number),
    ("error_high", Kind::Number),
    ("x", Kind::Number),
    ("q1", Kind::Number),
    ("median", Kind::Number),
    ("q3", Kind::Number),
];

fn columns_of_figures() -> Columns {
    OF_FIGURES.map(|(name, kind)| (name.to_owned(), kind)).to_vec()
}

/// The values of a figure, a row for each row and bar. Stacked bars have a row for each part; where the part is empty it
/// is the whole.
fn rows_of_figure(table: &Table) -> Vec<Row> {
    let mut lines = Vec::new();
    for row in &table.rows {
        for (bar, cell) in table.bars.iter().zip(&row.cells) {
            let mut line = |part: &str, value: Result<&Cell, &Gap>, is_within: bool, class: Option<Class>| {
                let number = |pick: fn(&Cell) -> f64| Value::Number(value.ok().map(pick));
                let over = |cell: &Cell| cell.over.map_or([1, 1], |over| [over.rows, over.of]);
                let ends = |n: usize| Value::Number(value.ok().and_then(|cell| Some(cell.whisker()?[n])));
                let of_box = |n: usize| Value::Number(value.ok().and_then(|cell| Some(quartiles(&cell.samples)?[n])));
                let [over, of] = value.map_or([0, 0], over).map(|rows| Value::Whole(rows as i64));
                lines.push(vec![
                    Value::text(&table.name),
                    Value::text(&row.name),
                    Value::Flag(row.is_mean),
                    Value::text(bar),
                    Value::text(part),
                    number(|cell| cell.value),
                    number(|cell| cell.low),
                    number(|cell| cell.high),
                    over,
                    of,
                    Value::text(value.err().map_or("", |gap| gap.name())),
                    Value::Flag(is_within),
                    Value::Number(value.ok().and_then(|cell| cell.paper)),
                    Value::text(class.map_or("", Class::name)),
                    Value::text(value.map_or("", |cell| &cell.why)),
                    Value::Number(value.ok().and_then(Cell::by_other_reading)),
                    ends(0),
                    ends(1),
                    Value::Number(value.ok().and_then(|cell| cell.x)),
                    of_box(0),
                    of_box(1),
                    of_box(2),
                ]);
            };
            for (n, part) in table.parts.iter().enumerate() {
                let part_of = cell.as_ref().map(|cell| &cell.parts[n]);
                line(part, part_of, false, part_of.ok().and_then(|part| table.class_of_part(part)));
            }
            let (is_within, class) = match cell {
                Ok(cell) => (table.is_within_spread(cell), table.class(cell)),
                Err(_) => (false, None),
            };
            line("", cell.as_ref(), is_within, class);
        }
    }
    lines
}

/// The values of figures as CSV.
#[must_use]
pub fn figures_csv(tables: &[Table]) -> String {
    let mut rows = vec![columns_of_figures().into_iter().map(|(name, _)| name).collect::<Vec<_>>()];
    rows.extend(tables.iter().flat_map(rows_of_figure).map(|row| row.iter().map(Value::csv).collect()));
    to_csv(&rows)
}

/// Texts as CSV.
pub(crate) fn to_csv(rows: &[Vec<String>]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail.
    let _ = rows.iter().try_for_each(|row| writer.write_record(row));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// Writes the values of figures to a Parquet file.
///
/// # Errors
/// When the file cannot be written.
pub fn figures_parquet(tables: &[Table], path: &Path) -> Result<(), Error> {
    let wrong = writing(path);
    let mut file = BufWriter::new(File::create(path).map_err(&wrong)?);
    let chunks = std::iter::once(Ok(tables.iter().flat_map(rows_of_figure).collect()));
    write_parquet(&mut file, &columns_of_figures(), chunks, &wrong)?;
    file.flush().map_err(&wrong)
}

fn write_csv(
    file: &mut impl Write,
    columns: &[(String, Kind)],
    chunks: impl Iterator<Item = Result<Vec<Row>, Error>>,
    wrong: &impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let mut writer = csv::Writer::from_writer(file);
    writer.write_record(columns.iter().map(|(name, _)| name)).map_err(|e| wrong(e.into()))?;
    for chunk in chunks {
        for row in chunk? {
            writer.write_record(row.iter().map(Value::csv)).map_err(|e| wrong(e.into()))?;
        }
    }
    writer.flush().map_err(wrong)
}

fn write_parquet(
    file: &mut (impl Write + Send),
    columns: &[(String, Kind)],
    chunks: impl Iterator<Item = Result<Vec<Row>, Error>>,
    wrong: &impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let broken = |e: ParquetError| wrong(io::Error::other(e));
    let schema = parse_message_type(&schema(columns)).map_err(broken)?;
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties).map_err(broken)?;
    for chunk in chunks {
        row_group(&mut writer, columns, &chunk?).map_err(broken)?;
    }
    writer.close().map_err(broken)?;
    Ok(())
}

fn schema(columns: &[(String, Kind)]) -> String {
    let field = |(name, kind): &(String, Kind)| match kind {
        Kind::Text => format!("required binary {name} (utf8);\n"),
        Kind::Whole => format!("required int64 {name};\n"),
        Kind::Number => format!("optional double {name};\n"),
        Kind::Flag => format!("required boolean {name};\n"),
    };
    format!("message table {{\n{}}}", columns.iter().map(field).collect::<String>())
}

fn row_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &[(String, Kind)],
    rows: &[Row],
) -> Result<(), ParquetError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = writer.next_row_group()?;
    for (n, (_, kind)) in columns.iter().enumerate() {
        let Some(mut into) = group.next_column()? else { break };
        let of = || rows.iter().map(move |row| &row[n]);
        match kind {
            Kind::Text => {
                let text = |value: &Value| {
                    if let Value::Text(text) = value { ByteArray::from(text.as_str()) } else { ByteArray::new() }
                };
                into.typed::<ByteArrayType>().write_batch(&of().map(text).collect::<Vec<_>>(), None, None)?;
            }
            Kind::Whole => {
                let whole = |value: &Value| if let Value::Whole(value) = value { *value } else { 0 };
                into.typed::<Int64Type>().write_batch(&of().map(whole).collect::<Vec<_>>(), None, None)?;
            }
            Kind::Number => {
                let number = |value: &Value| if let Value::Number(value) = value { *value } else { None };
                let there: Vec<i16> = of().map(|value| i16::from(number(value).is_some())).collect();
                let values: Vec<f64> = of().filter_map(number).collect();
                into.typed::<DoubleType>().write_batch(&values, Some(&there), None)?;
            }
            Kind::Flag => {
                let flag = |value: &Value| matches!(value, Value::Flag(true));
                into.typed::<BoolType>().write_batch(&of().map(flag).collect::<Vec<_>>(), None, None)?;
            }
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
        assert!(csv.starts_with("key,workload,class,size,virtualize,machine,kernel,divergence,divergence_parameters,"));
        let json = std::fs::read_to_string(path("a.json")).unwrap();
        assert!(json.lines().all(|line| serde_json::from_str::<Record>(line).is_ok()));
        let reader = SerializedFileReader::new(File::open(path("a.parquet")).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let column = Layout::new(&store).unwrap().columns().iter().position(|(name, _)| name == "cycles").unwrap();
        let cycles: i64 = rows.iter().map(|row| row.get_long(column).unwrap()).sum();
        assert_eq!((rows.len(), cycles), (3, 600));
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn swept_parameters_are_columns() {
        let folder = std::env::temp_dir().join(format!("raddle-export-swept-{}", std::process::id()));
        let mut store = Store::create(&folder.join("store")).unwrap();
        let sets: [&[&str]; 2] = [&[], &["sm.l1d.index=linear", "sm.l1d.sets=64", "mechanism.issue=two-level"]];
        for (n, set) in (1..).zip(sets) {
            let mut record = record(n);
            record.identity.machine = Arc::new(crate::record::tests::machine(set));
            store.put(&record).unwrap();
        }
        let columns = Layout::new(&store).unwrap().columns();
        let at = |name: &str| columns.iter().position(|(column, _)| column == name).unwrap();
        let (sets, active, cycles) = (at("machine_sm_l1d_sets"), at("mechanism_issue_active"), at("cycles"));
        let names: BTreeSet<_> = columns.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), columns.len(), "no two columns have the same name");
        let (csv, parquet) = (folder.join("a.csv"), folder.join("a.parquet"));
        export(&store, &csv, Format::Csv).unwrap();
        let mut reader = csv::Reader::from_path(&csv).unwrap();
        let mut found: Vec<[String; 3]> = reader
            .records()
            .map(|row| row.map(|row| [cycles, sets, active].map(|n| row[n].to_owned())).unwrap())
            .collect();
        found.sort();
        assert_eq!(found, [["100", "32", ""], ["200", "64", "8"]].map(|row| row.map(str::to_owned)));
        export(&store, &parquet, Format::Parquet).unwrap();
        let reader = SerializedFileReader::new(File::open(&parquet).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        let mut found: Vec<_> = rows.map(|row| (row.get_long(sets).unwrap(), row.get_double(active).ok())).collect();
        found.sort_by_key(|(sets, _)| *sets);
        assert_eq!(found, [(32, None), (64, Some(8.0))]);
        let _ = std::fs::remove_dir_all(&folder);
    }

    #[test]
    fn figures_are_long_tables() {
        use crate::chart::tests::{stacked, table};
        let csv = figures_csv(&[table()]);
        let head = "figure,row,is_mean,bar,part,value,low,high,over,of,gap,within_spread,paper,class,why,other_reading,\
             error_low,error_high,x,q1,median,q3\n";
        assert!(csv.starts_with(&format!("{head}speedup,bfs,false,lrr,,1,1,1,1,1,,false,,,,,,,,,,\n")), "{csv}");
        assert!(csv.contains("\nspeedup,spmv,false,gto,,,,,0,0,refused,false,,,,,,,,,,\n"), "{csv}");
        assert!(csv.contains("\nspeedup,\"mean, all\",true,gto,,1.005,0.99"), "{csv}");
        assert!(csv.contains(",1,2,,true,,,,,0.99") && csv.ends_with(",,,,\n"), "{csv}");
        let csv = figures_csv(&[table(), stacked()]);
        assert!(csv.contains("\nspeedup,bfs,false,gto,issued,0.25,0.25,0.25,1,1,,false,0.5,partly,,,,,,,,\n"), "{csv}");
        assert_eq!(csv.lines().count(), 1 + 3 * 2 + 3 * 2 * 3);

        let path = std::env::temp_dir().join(format!("raddle-figures-{}.parquet", std::process::id()));
        figures_parquet(&[table(), stacked()], &path).unwrap();
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 3 * 2 + 3 * 2 * 3);
        assert_eq!((rows[5].get_string(1).unwrap().as_str(), rows[5].get_double(5).unwrap()), ("mean, all", 1.005));
        assert!(rows[5].get_bool(2).unwrap() && rows[5].get_long(9).unwrap() == 2);
        assert_eq!(rows[3].get_string(10).unwrap(), "refused");
        assert!(rows[3].get_double(5).is_err(), "there is no value");
        let _ = std::fs::remove_file(&path);
    }
}
