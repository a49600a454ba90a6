//! The keys of a machine file, read off the types: one list for the loader, its messages and the book.

use super::MachineConfig;
use super::preset::PRESETS;
use serde_json::Value as Json;
use std::sync::LazyLock;
use toml::de::{DeTable, DeValue};

/// What a key may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from 0.
    Count,
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One of these words, with what they mean.
    Word(Vec<(String, String)>),
    /// A mechanism: its name, or a table with `name` and parameters.
    Mechanism,
}

impl Kind {
    /// What it is, to go after "must be".
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Count => "a whole number from 0 to 4294967295".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Text => "a text in quotes".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                words.split_last().map_or_else(String::new, |(last, rest)| match rest {
                    [] => last.clone(),
                    rest => format!("{} or {last}", rest.join(", ")),
                })
            }
            Self::Mechanism => "the name of a mechanism, or a table with `name` and its parameters".to_owned(),
        }
    }
}

/// A key that holds a value.
#[derive(Clone, Debug)]
pub struct Field {
    /// The whole path, as in `sm.l1d.sets`.
    pub path: String,
    /// What it means.
    pub doc: String,
    /// What it may hold.
    pub kind: Kind,
}

impl Field {
    /// The path of the table it is in.
    #[must_use]
    pub fn section(&self) -> &str {
        self.path.rsplit_once('.').map_or("", |(section, _)| section)
    }
}

/// A table of the file.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its path, as in `sm.l1d`.
    pub path: String,
    /// What it is about.
    pub doc: String,
}

/// Every key and table, in the order of the preset files.
#[derive(Debug)]
pub struct Keys {
    /// The keys that hold values.
    pub fields: Vec<Field>,
    /// The tables.
    pub sections: Vec<Section>,
}

impl Keys {
    /// The key with this path.
    #[must_use]
    pub fn field(&self, path: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.path == path)
    }

    /// Whether there is such a table; the whole file counts, as the empty path.
    #[must_use]
    pub fn is_section(&self, path: &str) -> bool {
        path.is_empty() || self.sections.iter().any(|section| section.path == path)
    }

    /// The names a table holds.
    pub fn names_in(&self, section: &str) -> impl Iterator<Item = &str> {
        let paths = self.sections.iter().map(|s| s.path.as_str()).chain(self.fields.iter().map(|f| f.path.as_str()));
        paths.filter_map(move |path| {
            let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
            (parent == section).then_some(name)
        })
    }
}

/// The keys of a machine file.
pub fn keys() -> &'static Keys {
    static KEYS: LazyLock<Keys> = LazyLock::new(|| {
        let schema = schema();
        let mut keys = Keys { fields: Vec::new(), sections: Vec::new() };
        walk(&schema, &schema, "", &mut keys);
        let order = order(PRESETS[0].text);
        let rank = |path: &str| order.iter().position(|known| known == path).unwrap_or(usize::MAX);
        keys.fields.sort_by_key(|field| rank(&field.path));
        keys.sections.sort_by_key(|section| rank(&section.path));
        keys
    });
    &KEYS
}

/// The JSON schema of a complete machine.
#[must_use]
pub fn schema() -> Json {
    schemars::schema_for!(MachineConfig).to_value()
}

/// The JSON schema of a machine file, in which every key may be left out when `base` names a preset.
#[must_use]
pub fn file_schema() -> Json {
    let mut schema = schema();
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        let doc = "The preset whose values hold for all keys that are left out.";
        properties.insert("base".to_owned(), serde_json::json!({ "description": doc, "enum": names }));
    }
    make_optional(&mut schema);
    schema
}

/// Removes every `required`, wherever it stands.
fn make_optional(schema: &mut Json) {
    match schema {
        Json::Object(object) => {
            object.remove("required");
            object.values_mut().for_each(make_optional);
        }
        Json::Array(items) => items.iter_mut().for_each(make_optional),
        _ => {}
    }
}

/// Adds what is below `node`, whose path is `path`.
fn walk(root: &Json, node: &Json, path: &str, keys: &mut Keys) {
    for (name, child) in node.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let doc = text(child, "description");
        let target = resolve(root, child);
        if target.get("properties").is_some() {
            keys.sections.push(Section { path: path.clone(), doc });
            walk(root, target, &path, keys);
        } else {
            keys.fields.push(Field { path, doc, kind: kind(target) });
        }
    }
}

fn resolve<'a>(root: &'a Json, node: &'a Json) -> &'a Json {
    let reference = node.get("$ref").and_then(Json::as_str);
    reference.and_then(|r| root.pointer(r.trim_start_matches('#'))).unwrap_or(node)
}

fn kind(node: &Json) -> Kind {
    if let Some(words) = node.get("oneOf").and_then(Json::as_array) {
        return Kind::Word(words.iter().map(|w| (text(w, "const"), text(w, "description"))).collect());
    }
    match node.get("type").and_then(Json::as_str) {
        Some("integer") => Kind::Count,
        Some("boolean") => Kind::Flag,
        Some("string") => Kind::Text,
        _ => Kind::Mechanism,
    }
}

/// A text of a node on one line.
fn text(node: &Json, key: &str) -> String {
    node.get(key).and_then(Json::as_str).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The paths of all keys and tables of a file, in its order.
fn order(text: &str) -> Vec<String> {
    fn visit(table: &DeTable<'_>, path: &str, found: &mut Vec<(usize, String)>) {
        for (key, value) in table {
            let path = if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
            found.push((key.span().start, path.clone()));
            if let DeValue::Table(inner) = value.get_ref() {
                visit(inner, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        visit(table.get_ref(), "", &mut found);
    }
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented_and_in_order() {
        let keys = keys();
        let paths: Vec<&str> = keys.fields.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths[..3], ["gpu.sms", "gpu.window", "clock.core"]);
        assert_eq!(paths.last(), Some(&"mechanism.logical_blocks"));
        assert!(keys.fields.iter().all(|f| !f.doc.is_empty()));
        assert!(keys.sections.iter().all(|s| !s.doc.is_empty()));
    }

    #[test]
    fn kinds_come_from_the_types() {
        let kind = |path: &str| keys().field(path).unwrap().kind.clone();
        assert_eq!(kind("sm.latency.int_add.interval"), Kind::Count);
        assert_eq!(kind("sm.fetch.ideal"), Kind::Flag);
        assert_eq!(kind("dram.address.fields"), Kind::Text);
        assert_eq!(kind("mechanism.issue"), Kind::Mechanism);
        assert_eq!(kind("sm.l1d.index").expected(), "\"linear\", \"fermi\" or \"polynomial\"");
        assert_eq!(keys().names_in("sm.shared").collect::<Vec<_>>(), ["banks", "latency", "groups"]);
    }
}
