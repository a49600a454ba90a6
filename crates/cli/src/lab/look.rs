//! `raddle lab ls`, `show`, `diff`, `gc` and `export`.

use super::{StoreArgs, open};
use crate::exit::{Exit, Failure};
use crate::out;
use raddle_lab::metric::counters;
use raddle_lab::record::SCHEMA;
use raddle_lab::store::Versions;
use raddle_lab::varied::{Varied, text};
use raddle_lab::{Key, Record, Store, export as table};
use raddle_runtime::Problem;
use raddle_runtime::stats_table::Format;
use raddle_sim::EPOCH;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct LsArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// List points that failed or were refused and have no result
    #[arg(long)]
    failures: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct ShowArgs {
    /// First digits of the key of the result
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(clap::Args)]
pub struct DiffArgs {
    /// Key or store
    #[arg(value_name = "A")]
    a: String,
    /// Key or store
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    store: StoreArgs,
    /// Print one JSON object per counter that differs
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
pub struct GcArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
}

#[derive(clap::Args)]
pub struct ExportArgs {
    /// File to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    store: StoreArgs,
}

/// `raddle lab ls`.
pub fn ls(args: &LsArgs) -> Result<Exit, Failure> {
    let store = args.store.open()?;
    if args.failures {
        for failure in store.failures()? {
            if args.json {
                out::json(&failure)?;
            } else {
                out::data(&format!(
                    "{}  {}\n    {}: {}\n",
                    failure.key.short(),
                    failure.title,
                    failure.verb(),
                    failure.error.replace('\n', "\n    ")
                ))?;
            }
        }
        return Ok(Exit::Good);
    }
    // What differs has a column of its own, unless it has one anyway.
    let varied = Varied::of(&store, &["gpu.sms", "mechanism.issue", "mechanism.divergence"])?;
    let head = ["key", "workload", "size", "sms", "issue", "divergence"].into_iter().chain(varied.paths());
    let head = head.chain(["seed", "heap", "epoch", "cycles"]);
    let mut rows = vec![head.map(str::to_owned).collect::<Vec<_>>()];
    let keys = store.keys();
    let mut listed = 0;
    for key in &keys {
        let Some(record) = store.get(key)? else { continue };
        listed += 1;
        let (id, cycles) = (&record.identity, record.total("cycles"));
        let mechanism = |seam: &str| id.machine.mechanisms.get(seam).map(|m| m.name.clone()).unwrap_or_default();
        let sms = id.machine.number(&["gpu", "sms"]);
        if args.json {
            let mut line = json!({
                "key": key, "workload": id.workload, "size": id.size, "seed": id.seed, "heap_offset": id.heap_offset,
                "epoch": id.epoch, "sms": sms as u64, "mechanisms": id.machine.mechanisms, "cycles": cycles,
            });
            for (path, value) in varied.paths().zip(varied.values(id)) {
                line[path] = value.unwrap_or_default();
            }
            out::json(&line)?;
            continue;
        }
        let (issue, divergence) = (mechanism("issue"), mechanism("divergence"));
        let mut row = vec![key.short(), id.workload.clone(), id.size.clone(), sms.to_string(), issue, divergence];
        row.extend(varied.values(id).map(|value| value.map_or("-".to_owned(), |value| text(Some(&value)))));
        row.extend([id.seed, id.heap_offset, id.epoch.into()].map(|number| number.to_string()));
        row.push(out::grouped(cycles));
        rows.push(row);
    }
    if !args.json {
        out::data(&out::columns(&rows))?;
    }
    tell_unreadable(&store, keys.len() - listed)?;
    Ok(Exit::Good)
}

/// Says of results that cannot be read why, and what to do.
fn tell_unreadable(store: &Store, count: usize) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    for (versions, count) in store.unreadable()? {
        let results = out::count(count, "result");
        out::talk(&match versions {
            Some(Versions { schema, epoch }) => format!(
                "{results} left out: written by another version of Raddle (schema {schema}, epoch {epoch}; this one \
                 has schema {SCHEMA}, epoch {EPOCH}). `raddle lab run` runs points without a result; `raddle lab gc` \
                 drops results of older versions"
            ),
            None => format!("{results} left out: damaged. `raddle lab run` runs damaged points again"),
        });
    }
    Ok(())
}

/// The result whose key begins like this.
fn find(store: &Store, digits: &str) -> Result<(Key, Record), Failure> {
    let found: Vec<Key> = store.keys().into_iter().filter(|key| key.starts_with(digits)).collect();
    let problem = match found[..] {
        [key] => match store.get(&key)? {
            Some(record) => return Ok((key, record)),
            None => Problem::new(format!("the result {key} is damaged, or of another version of Raddle"))
                .help("`raddle lab run` runs damaged points again"),
        },
        [] => Problem::new(format!("there is no result `{digits}`")).help("`raddle lab ls` lists results"),
        _ => Problem::new(format!("`{digits}` is the beginning of {} results", found.len())).help("give more digits"),
    };
    Err(problem.into())
}

/// `raddle lab show`.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let (key, record) = find(&args.store.open()?, &args.key)?;
    let value = json!({"key": key, "record": record});
    out::data(&(serde_json::to_string_pretty(&value).map_err(std::io::Error::from)? + "\n"))?;
    Ok(Exit::Good)
}

/// A counter that differs.
struct Moved {
    point: String,
    counter: String,
    values: [u64; 2],
}

impl Moved {
    fn percent(&self) -> Option<f64> {
        let [a, b] = self.values.map(|n| n as f64);
        (a > 0.0).then(|| (b - a) / a * 100.0)
    }
}

fn compare(point: &str, a: &Record, b: &Record) -> Vec<Moved> {
    let own = |record: &Record| record.identity.machine.own_counters().map(|(name, _)| name).collect::<BTreeSet<_>>();
    let own = own(a).union(&own(b)).cloned().collect::<Vec<_>>();
    let names = ["cycles".to_owned(), "launches".to_owned()].into_iter().chain(counters()).chain(own);
    let moved =
        names.map(|counter| Moved { point: point.to_owned(), values: [a.total(&counter), b.total(&counter)], counter });
    moved.filter(|moved| moved.values[0] != moved.values[1]).collect()
}

/// `raddle lab diff`.
pub fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let [a, b] = [&args.a, &args.b].map(|text| Path::new(text).is_dir());
    let moved = match (a, b) {
        (true, true) => diff_stores(&open(Path::new(&args.a))?, &open(Path::new(&args.b))?)?,
        (false, false) => {
            let store = args.store.open()?;
            let [(key, a), (_, b)] = [find(&store, &args.a)?, find(&store, &args.b)?];
            compare(&key.short(), &a, &b)
        }
        _ => return Err(Problem::new("compare two results or two stores, not one with the other").into()),
    };
    let mut rows = vec![["point", "counter", "a", "b", "change"].map(str::to_owned).to_vec()];
    for moved in &moved {
        let [a, b] = moved.values;
        if args.json {
            out::json(
                &json!({"point": moved.point, "counter": moved.counter, "a": a, "b": b, "percent": moved.percent()}),
            )?;
        }
        let change = moved.percent().map_or("new".to_owned(), |percent| format!("{percent:+.2} %"));
        rows.push(vec![moved.point.clone(), moved.counter.clone(), out::grouped(a), out::grouped(b), change]);
    }
    if !args.json && !moved.is_empty() {
        out::data(&out::table(&rows))?;
    }
    out::talk(&match moved.len() {
        0 => "no counter differs".to_owned(),
        n => format!("{} differ", out::count(n, "counter")),
    });
    Ok(Exit::good_if(moved.is_empty()))
}

fn diff_stores(a: &Store, b: &Store) -> Result<Vec<Moved>, Failure> {
    let points = |store: &Store| {
        let mut points = BTreeMap::new();
        for key in store.keys() {
            if let Some(record) = store.get(&key)? {
                points.insert(record.identity.across_versions()?, record);
            }
        }
        Ok::<_, Failure>(points)
    };
    let (a, b) = (points(a)?, points(b)?);
    let both: Vec<_> = a.iter().filter_map(|(key, a)| Some((a, b.get(key)?))).collect();
    let only = [a.len() - both.len(), b.len() - both.len()];
    out::talk(&format!(
        "{} in both, {} only in the first, {} only in the second",
        out::count(both.len(), "point"),
        only[0],
        only[1]
    ));
    Ok(both.into_iter().flat_map(|(a, b)| compare(&a.identity.title(), a, b)).collect())
}

/// `raddle lab gc`.
pub fn gc(args: &GcArgs) -> Result<Exit, Failure> {
    let mut store = args.store.open()?;
    let cleaned = store.clean(SCHEMA, EPOCH, args.dry_run)?;
    let verb = if args.dry_run { "would be dropped" } else { "dropped" };
    out::data(&format!(
        "{} kept, {} of older versions {verb}, {} and failures {verb}\n",
        out::count(cleaned.kept, "result"),
        cleaned.stale,
        out::count(cleaned.dropped, "copy").replace("copys", "copies")
    ))?;
    if cleaned.damaged > 0 {
        let (pieces, bytes) = (out::count(cleaned.damaged, "piece"), out::grouped(cleaned.damaged_bytes));
        let verb = if args.dry_run { "would be put" } else { "put" };
        let folder = store.damaged_folder();
        out::talk(&format!("{pieces} that cannot be read ({bytes} bytes) {verb} aside in {}", folder.display()));
    }
    if args.dry_run {
        out::talk(&format!("it takes {} bytes of free space", out::grouped(cleaned.room)));
    }
    let checkpoints = raddle_lab::keep::clean(&store, args.dry_run)?;
    if checkpoints > 0 {
        let of = out::count(checkpoints, "point");
        out::talk(&format!("checkpoints of {of} that have a result {verb}"));
    }
    if cleaned.busy > 0 {
        out::talk(&format!("{} at work, not touched", out::count(cleaned.busy, "writer")));
    }
    Ok(Exit::Good)
}

/// `raddle lab export`.
pub fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let format = Format::of(&args.file)?;
    let store = args.store.open()?;
    let count = table::export(&store, &args.file, format)?;
    out::talk(&format!("{} written to {}", out::count(count, "result"), args.file.display()));
    tell_unreadable(&store, store.len() - count)?;
    Ok(Exit::Good)
}
