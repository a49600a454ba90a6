//! The layers of a machine, one put on top of the other.

use super::{Leaves, Machine};
use crate::config::field::{Kind, keys};
use crate::config::preset::{PRESETS, preset};
use crate::config::problem::{Origin, Problem};
use crate::config::{MachineConfig, validate};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What has been read so far.
#[derive(Default)]
pub(super) struct Layers {
    /// Values so far.
    pub(super) leaves: Leaves,
    problems: Vec<Problem>,
    /// A complete set of keys was asked for, and not found.
    has_no_base: bool,
}

impl Layers {
    /// All values of a preset; `origin` is who asks for it.
    pub(super) fn preset(&mut self, name: &str, origin: Option<Origin>) {
        let Some(preset) = preset(name) else {
            self.has_no_base = true;
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let problem = Problem::new("base", format!("there is no preset `{name}`"));
            let problem = problem.help(format!("presets: {}", names.join(", "))).suggest(name, names);
            self.problems.push(Problem { origin, ..problem });
            return;
        };
        match DeTable::parse(preset.text) {
            Ok(table) => self.on_base(table.into_inner(), &|_| Origin::Preset(preset.name)),
            Err(error) => self.problems.push(Problem::new("", error.message())),
        }
    }

    /// A file, with its base below it.
    pub(super) fn file(&mut self, name: &str, text: &str) {
        let place = |span| Origin::file(name, text, span);
        match DeTable::parse(text) {
            Ok(table) => self.on_base(table.into_inner(), &place),
            Err(error) => {
                self.has_no_base = true;
                let problem = Problem::new("", format!("this is not TOML: {}", error.message()));
                let origin = error.span().map(place);
                self.problems.push(Problem { origin, ..problem });
            }
        }
    }

    /// The tables of a file, on top of the preset that its key `base` names.
    fn on_base(&mut self, mut table: DeTable<'_>, place: &dyn Fn(Range<usize>) -> Origin) {
        let base =
            table.iter().find(|(key, _)| key.get_ref() == "base").map(|(key, value)| (key.clone(), value.clone()));
        if let Some((key, value)) = base {
            table.remove(&key);
            match value.get_ref() {
                DeValue::String(base) => self.preset(base, Some(place(value.span()))),
                _ => {
                    self.has_no_base = true;
                    let problem = Problem::new("base", "`base` must be the name of a preset, in quotes");
                    self.problems.push(problem.from(place(value.span())));
                }
            }
        }
        self.table("", &table, place);
    }

    /// An override `path=value`.
    pub(super) fn set(&mut self, text: &str) {
        let origin = Origin::Set(text.to_owned());
        let Some((path, value)) = text.split_once('=') else {
            let problem = Problem::new("", format!("`{text}` is not of the form path=value"));
            return self.problems.push(problem.help("as in sm.l1d.sets=64").from(origin));
        };
        let (path, value) = (path.trim(), value.trim());
        // A word needs no quotes here: nobody wants to quote quotes for the shell.
        let is_text = |kind: &Kind| matches!(kind, Kind::Text | Kind::Word(_) | Kind::Mechanism);
        let is_bare =
            keys().field(path).is_none_or(|field| is_text(&field.kind)) && !value.starts_with(['"', '\'', '{']);
        let origin = |_| origin.clone();
        match DeValue::parse(value) {
            Ok(parsed) if !is_bare || self.is_parameter(path) => self.entry(path, &parsed, 0..0, &origin),
            _ => self.entry(path, &Spanned::new(0..0, DeValue::String(value.into())), 0..0, &origin),
        }
    }

    fn is_parameter(&self, path: &str) -> bool {
        let parent = path.rsplit_once('.').map(|(parent, _)| parent);
        parent.and_then(|parent| keys().field(parent)).is_some_and(|field| field.kind == Kind::Mechanism)
    }

    fn table(&mut self, path: &str, table: &DeTable<'_>, origin: &dyn Fn(Range<usize>) -> Origin) {
        for (key, value) in table {
            let name = key.get_ref();
            let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
            self.entry(&path, value, key.span(), origin);
        }
    }

    /// The value of one key, which may be a whole table.
    fn entry(
        &mut self,
        path: &str,
        value: &Spanned<DeValue<'_>>,
        key: Range<usize>,
        origin: &dyn Fn(Range<usize>) -> Origin,
    ) {
        if let Some(field) = keys().field(path) {
            let leaf = self.leaf(path, &field.kind, value.get_ref());
            match leaf {
                Some(leaf) => drop(self.leaves.insert(path.to_owned(), (leaf, origin(value.span())))),
                None => {
                    let found = describe(value.get_ref());
                    let message = format!("`{path}` must be {}, not {found}", field.kind.expected());
                    self.problems.push(Problem::new(path, message).from(origin(value.span())));
                }
            }
        } else if keys().is_section(path) {
            match value.get_ref() {
                DeValue::Table(table) => self.table(path, table, origin),
                _ => {
                    let names: Vec<&str> = keys().names_in(path).collect();
                    let problem = Problem::new(path, format!("`{path}` is a table, not a value"));
                    self.problems
                        .push(problem.help(format!("it holds {}", names.join(", "))).from(origin(value.span())));
                }
            }
        } else if self.is_parameter(path) {
            self.parameter(path, value, origin);
        } else {
            self.problems.push(unknown(path).from(origin(key)));
        }
    }

    /// The value of a key of this kind, if it is one.
    fn leaf(&self, path: &str, kind: &Kind, value: &DeValue<'_>) -> Option<toml::Value> {
        let value = plain(value)?;
        let fits = match (kind, &value) {
            (Kind::Count, toml::Value::Integer(n)) => u32::try_from(*n).is_ok(),
            (Kind::Flag, toml::Value::Boolean(_)) | (Kind::Text | Kind::Mechanism, toml::Value::String(_)) => true,
            (Kind::Word(words), toml::Value::String(text)) => words.iter().any(|(word, _)| word == text),
            (Kind::Mechanism, toml::Value::Table(table)) => {
                return table.values().all(is_parameter).then(|| self.merged(path, table));
            }
            _ => false,
        };
        fits.then_some(value)
    }

    /// A table of a mechanism; without a name it changes parameters of the one that is there.
    fn merged(&self, path: &str, table: &toml::Table) -> toml::Value {
        if table.contains_key("name") {
            return toml::Value::Table(table.clone());
        }
        let mut merged = match self.leaves.get(path) {
            Some((toml::Value::Table(old), _)) => old.clone(),
            Some((name, _)) => toml::Table::from_iter([("name".to_owned(), name.clone())]),
            None => toml::Table::new(),
        };
        merged.extend(table.clone());
        toml::Value::Table(merged)
    }

    /// One parameter of a mechanism, as in `mechanism.issue.active`.
    fn parameter(&mut self, path: &str, value: &Spanned<DeValue<'_>>, origin: &dyn Fn(Range<usize>) -> Origin) {
        let (mechanism, name) = path.rsplit_once('.').unwrap_or(("", path));
        match plain(value.get_ref()).filter(is_parameter) {
            Some(value) => {
                let value = self.merged(mechanism, &toml::Table::from_iter([(name.to_owned(), value)]));
                self.leaves.insert(mechanism.to_owned(), (value, origin(0..0)));
            }
            None => {
                let message =
                    format!("`{path}` must be a number, a text, true or false, not {}", describe(value.get_ref()));
                self.problems.push(Problem::new(path, message).from(origin(value.span())));
            }
        }
    }

    /// The machine, if nothing is wrong with it.
    pub(super) fn finish(mut self) -> Result<Machine, Vec<Problem>> {
        if !self.has_no_base {
            self.problems.extend(self.missing());
        }
        if !self.problems.is_empty() {
            return Err(sorted(self.problems));
        }
        let config: MachineConfig = match nested(&self.leaves).try_into() {
            Ok(config) => config,
            Err(error) => return Err(vec![Problem::new("", toml::de::Error::message(&error))]),
        };
        match validate(&config) {
            Ok(()) => Ok(Machine { config, leaves: self.leaves }),
            Err(problems) => Err(problems.into_iter().map(|problem| self.located(problem)).collect()),
        }
    }

    /// Adds where the value comes from.
    fn located(&self, problem: Problem) -> Problem {
        let origin = self.leaves.get(&problem.path).map(|(_, origin)| origin.clone());
        Problem { origin, ..problem }
    }

    /// What a file without base leaves out.
    fn missing(&self) -> Option<Problem> {
        let mut missing = keys().fields.iter().filter(|field| !self.leaves.contains_key(&field.path));
        let first = &missing.next()?.path;
        let message = match missing.count() {
            0 => format!("`{first}` is missing"),
            more => format!("`{first}` and {more} more keys are missing"),
        };
        let known = self.problems.iter().any(|problem| problem.path == *first);
        let help = "begin the file with `base = \"gtx480\"` to take what it does not say from a preset";
        (!known).then(|| Problem::new(first, message).help(help))
    }
}

/// Whether a mechanism's parameter can have this value.
fn is_parameter(value: &toml::Value) -> bool {
    !matches!(value, toml::Value::Table(_) | toml::Value::Array(_) | toml::Value::Datetime(_))
}

/// In the order of the file.
fn sorted(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by_key(|problem| match &problem.origin {
        Some(Origin::File { span, .. }) => span.start,
        _ => usize::MAX,
    });
    problems
}

fn unknown(path: &str) -> Problem {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    let problem = Problem::new(path, format!("there is no key `{path}`"));
    if keys().is_section(section) {
        let names: Vec<&str> = keys().names_in(section).collect();
        let place = if section.is_empty() { "the tables are".to_owned() } else { format!("`{section}` holds") };
        let problem = problem.help(format!("{place} {}", names.join(", ")));
        if raddle_ptx::diag::closest(name, names.iter().copied()).is_some() {
            return problem.suggest(name, names);
        }
        return elsewhere(name).map_or(problem.clone(), |path| problem.help(format!("did you mean `{path}`?")));
    }
    let paths = keys().fields.iter().map(|field| field.path.as_str());
    let problem = problem.suggest(path, paths);
    match elsewhere(name) {
        Some(path) if problem.help.is_none() => problem.help(format!("did you mean `{path}`?")),
        _ => problem,
    }
}

/// The only key of this name, if there is one.
fn elsewhere(name: &str) -> Option<&'static str> {
    let mut found = keys().fields.iter().filter(|field| field.path.rsplit('.').next() == Some(name));
    found.next().filter(|_| found.next().is_none()).map(|field| field.path.as_str())
}

/// What stands there, in words.
fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(number) if number.radix() == 10 => number.to_string(),
        DeValue::Integer(_) => "such a number".to_owned(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The value without places; nothing when a number is out of all range.
fn plain(value: &DeValue<'_>) -> Option<toml::Value> {
    Some(match value {
        DeValue::String(text) => toml::Value::String(text.to_string()),
        DeValue::Integer(number) => toml::Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Float(number) => toml::Value::Float(number.as_str().parse().ok()?),
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(_) => return None,
        DeValue::Array(items) => {
            toml::Value::Array(items.iter().map(|item| plain(item.get_ref())).collect::<Option<_>>()?)
        }
        DeValue::Table(table) => {
            let pairs = table.iter().map(|(key, value)| Some((key.get_ref().to_string(), plain(value.get_ref())?)));
            toml::Value::Table(pairs.collect::<Option<_>>()?)
        }
    })
}

/// Tables within tables, from paths.
fn nested(leaves: &Leaves) -> toml::Table {
    let mut whole = toml::Table::new();
    for (path, (value, _)) in leaves {
        insert(&mut whole, path, value.clone());
    }
    whole
}

fn insert(table: &mut toml::Table, path: &str, value: toml::Value) {
    let Some((first, rest)) = path.split_once('.') else {
        table.insert(path.to_owned(), value);
        return;
    };
    let inner = table.entry(first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let toml::Value::Table(inner) = inner {
        insert(inner, rest, value);
    }
}
