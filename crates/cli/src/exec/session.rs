//! What the programs of one `raddle exec` write together: `make test` may start many, one after another or at once.
//!
//! Each process that calls the library takes a number from a folder that they share. The table of counters is made of
//! the counts of all when the command ends; timelines and pages are of one process, so later ones get names of their own.

use super::options::Options;
use crate::exit::Failure;
use crate::out;
use raddle_runtime::stats_table::{self, Format, Row};
use raddle_runtime::{Problem, input};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The option that names the folder.
pub const SESSION: &str = "--session";

/// The folder, as the command has it that starts the programs; it goes away with it.
pub struct Session {
    folder: PathBuf,
    stats: Option<PathBuf>,
}

impl Session {
    /// For programs with these options; none if they write nothing.
    pub fn new(options: &Options) -> Result<Option<Self>, Problem> {
        if !options.writes() {
            return Ok(None);
        }
        let folder = std::env::temp_dir().join(format!("raddle-exec-{}", std::process::id()));
        // One that is there is of a command that was killed.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).map_err(|error| Problem::new(format!("cannot make {}: {error}", folder.display())))?;
        Ok(Some(Self { folder, stats: options.stats.clone() }))
    }

    /// Its folder, which programs find in their options.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes what all programs left.
    pub fn finish(&self) -> Result<(), Failure> {
        let Some(path) = &self.stats else { return Ok(()) };
        let cannot = |error: io::Error| Problem::new(format!("cannot read {}: {error}", self.folder.display()));
        let files = fs::read_dir(&self.folder).map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
        let mut counts = Vec::new();
        for file in files.iter().map(fs::DirEntry::path).filter(|path| path.extension().is_some()) {
            let text = input::bytes(&file, input::MAX_DATA).map_err(cannot)?;
            counts.push(serde_json::from_slice(&text).map_err(|error| cannot(error.into()))?);
        }
        let rows = merged(counts);
        if rows.is_empty() {
            out::talk(&format!("no kernel was launched: {} has no rows", path.display()));
        }
        Ok(stats_table::write(path, Format::of(path)?, &rows)?)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What a process counted.
#[derive(Serialize, Deserialize)]
struct ProcessCounts {
    process: u64,
    program: String,
    rows: Vec<Row>,
}

/// All rows, by process; launches are counted through.
fn merged(mut counts: Vec<ProcessCounts>) -> Vec<Row> {
    counts.sort_by_key(|counts| counts.process);
    let (mut all, mut before) = (Vec::new(), 0);
    for ProcessCounts { process, program, rows } in counts {
        let launches = rows.iter().map(|row| row.launch + 1).max().unwrap_or(0);
        all.extend(rows.into_iter().map(|row| Row {
            launch: before + row.launch,
            process,
            program: program.clone(),
            ..row
        }));
        before += launches;
    }
    all
}

/// A process that runs a program, counted from 0.
pub struct Member {
    folder: PathBuf,
    number: u64,
}

impl Member {
    /// The next one.
    pub fn join(folder: &Path) -> Result<Self, Problem> {
        let taken = |number: &u64| match File::create_new(folder.join(number.to_string())) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            made => Some(made.map(|_| *number)),
        };
        let number = (0..).find_map(|number| taken(&number)).unwrap_or(Ok(0));
        let folder = folder.to_owned();
        let cannot = |error| Problem::new(format!("cannot write in {}: {error}", folder.display()));
        Ok(Self { number: number.map_err(cannot)?, folder })
    }

    /// Where this process writes what was asked for in `path`.
    pub fn own_file(&self, path: &Path) -> PathBuf {
        let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned());
        match (self.number, ending) {
            (0, _) => path.to_owned(),
            (number, Some(ending)) => path.with_extension(format!("{number}.{ending}")),
            (number, None) => path.with_extension(number.to_string()),
        }
    }

    /// Leaves rows of the table.
    pub fn leave(&self, program: String, rows: Vec<Row>) -> Result<(), Problem> {
        let path = self.folder.join(format!("{}.json", self.number));
        let cannot = |error: io::Error| Problem::new(format!("cannot write {}: {error}", path.display()));
        let counts = ProcessCounts { process: self.number, program, rows };
        let bytes = serde_json::to_vec(&counts).map_err(|error| cannot(error.into()))?;
        // A file is read only when it is whole.
        let new = self.folder.join(format!("{}-new", self.number));
        fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path)).map_err(cannot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(launches: &[u64]) -> Vec<Row> {
        let row = |launch: &u64| Row { launch: *launch, kernel: "k".to_owned(), value: 7, ..Row::default() };
        launches.iter().map(row).collect()
    }

    #[test]
    fn all_processes_are_in_the_table() {
        let options = Options::parse(["--stats", "t.csv"].map(str::to_owned)).unwrap();
        let session = Session::new(&options).unwrap().unwrap();
        let join = || Member::join(session.folder()).unwrap();
        let (first, second, third) = (join(), join(), join());
        // They end in any order, and one was killed.
        second.leave("b".to_owned(), rows(&[0, 0, 2])).unwrap();
        first.leave("a".to_owned(), rows(&[0, 1])).unwrap();
        drop(third);
        let table = std::env::temp_dir().join(format!("raddle-session-{}.csv", std::process::id()));
        let session = Session { stats: Some(table.clone()), folder: session.folder().to_owned() };
        session.finish().unwrap_or_else(|_| panic!("it is written"));
        let text = fs::read_to_string(&table).unwrap();
        fs::remove_file(&table).unwrap();
        let rows: Vec<_> = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()).collect();
        let column = |name: &str| text.lines().next().unwrap().split(',').position(|n| n == name).unwrap();
        let shown = |name| rows.iter().map(|row| row[column(name)]).collect::<Vec<_>>().join(" ");
        let columns = ["process", "program", "launch"].map(shown);
        assert_eq!(columns, ["0 0 1 1 1", "a a b b b", "0 1 2 2 4"]);
    }

    #[test]
    fn later_processes_write_files_of_their_own() {
        let own = |number, path| Member { folder: PathBuf::new(), number }.own_file(Path::new(path));
        assert_eq!(own(0, "a/t.pftrace"), Path::new("a/t.pftrace"));
        assert_eq!(own(2, "a/t.pftrace"), Path::new("a/t.2.pftrace"));
        assert_eq!(own(1, "a.b/t"), Path::new("a.b/t.1"));
    }

    #[test]
    fn programs_that_write_nothing_share_nothing() {
        for (words, shares) in [(&["--json"][..], false), (&["--html", "a.html"], true), (&["--trace", "t"], true)] {
            let options = Options::parse(words.iter().map(|word| (*word).to_owned())).unwrap();
            assert_eq!(options.writes(), shares, "{words:?}");
        }
    }
}
