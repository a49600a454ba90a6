//! What differs between the results of a store: the parameters that were swept, by the paths they are set with.

use crate::error::Error;
use crate::export::Kind;
use crate::record::Identity;
use crate::store::Store;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const MECHANISM: &str = "mechanism";
const VIRTUALIZE: &str = "virtualize";
/// Where a mechanism comes from, beside its parameters.
const ORIGIN: &str = "origin";

/// Parameters that do not have the same value in all results, in the order of their paths.
pub struct Varied {
    columns: Vec<(String, Kind)>,
}

/// What has been seen of a parameter.
struct Seen {
    first: Value,
    times: usize,
    differs: bool,
    /// Of which kinds all its values are.
    is_whole: bool,
    is_number: bool,
    is_flag: bool,
}

impl Varied {
    /// Looks at all results of a store, but not at the paths in `except`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(store: &Store, except: &[&str]) -> Result<Self, Error> {
        let (mut machines, mut all) = (BTreeSet::new(), BTreeMap::new());
        for key in store.keys() {
            let Some(record) = store.get(&key)? else { continue };
            let identity = record.identity;
            // Most results share their machine with others.
            if machines.insert((identity.machine.key()?, identity.virtualize.clone())) {
                parameters(&identity).into_iter().for_each(|(path, value)| see(&mut all, path, value));
            }
        }
        let column = |(path, seen): (String, Seen)| {
            let is_everywhere = seen.times == machines.len();
            let kind = match is_everywhere {
                true if seen.is_whole => Kind::Whole,
                true if seen.is_flag => Kind::Flag,
                _ if seen.is_number => Kind::Number,
                _ => Kind::Text,
            };
            let is_wanted = (seen.differs || !is_everywhere) && !except.contains(&path.as_str());
            is_wanted.then_some((path, kind))
        };
        Ok(Self { columns: all.into_iter().filter_map(column).collect() })
    }

    /// Their paths, such as `sm.l1d.sets` or `mechanism.issue.active`.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(path, _)| path.as_str())
    }

    /// Their paths, and what their values are.
    pub(crate) fn columns(&self) -> &[(String, Kind)] {
        &self.columns
    }

    /// The value of each of them, where a result has one.
    pub fn values<'a>(&'a self, identity: &'a Identity) -> impl Iterator<Item = Option<Value>> + 'a {
        self.paths().map(|path| value(identity, path))
    }
}

/// A value in a word; nothing for none.
#[must_use]
pub fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn see(all: &mut BTreeMap<String, Seen>, path: String, value: Value) {
    let [is_whole, is_number, is_flag] = [value.is_i64(), value.is_number(), value.is_boolean()];
    match all.get_mut(&path) {
        None => {
            let seen = Seen { first: value, times: 1, differs: false, is_whole, is_number, is_flag };
            all.insert(path, seen);
        }
        Some(seen) => {
            seen.times += 1;
            seen.differs |= seen.first != value;
            seen.is_whole &= is_whole;
            seen.is_number &= is_number;
            seen.is_flag &= is_flag;
        }
    }
}

/// All parameters of a result, by path.
fn parameters(identity: &Identity) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    leaves("", &identity.machine.config, &mut all);
    for (seam, mechanism) in &identity.machine.mechanisms {
        let path = format!("{MECHANISM}.{seam}");
        all.extend(mechanism.parameters.iter().map(|(name, value)| (format!("{path}.{name}"), value.clone())));
        all.extend(mechanism.origin.iter().map(|origin| (format!("{path}.{ORIGIN}"), origin.clone().into())));
        all.push((path, mechanism.name.clone().into()));
    }
    all.extend(identity.virtualize.iter().map(|form| (VIRTUALIZE.to_owned(), form.clone().into())));
    all
}

fn leaves(path: &str, value: &Value, all: &mut Vec<(String, Value)>) {
    let Value::Object(map) = value else { return all.push((path.to_owned(), value.clone())) };
    let dot = if path.is_empty() { "" } else { "." };
    map.iter().for_each(|(key, value)| leaves(&format!("{path}{dot}{key}"), value, all));
}

fn value(identity: &Identity, path: &str) -> Option<Value> {
    let machine = &identity.machine;
    let parts: Vec<&str> = path.split('.').collect();
    match parts[..] {
        [VIRTUALIZE] => identity.virtualize.clone().map(Value::from),
        [MECHANISM, seam] => machine.mechanisms.get(seam).map(|mechanism| mechanism.name.clone().into()),
        [MECHANISM, seam, ORIGIN] => machine.mechanisms.get(seam)?.origin.clone().map(Value::from),
        [MECHANISM, seam, name] => machine.mechanisms.get(seam)?.parameters.get(name).cloned(),
        _ => parts.iter().try_fold(&machine.config, |value, key| value.get(key)).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{machine, record};
    use std::sync::Arc;

    #[test]
    fn what_differs_is_found_with_its_values() {
        let folder = std::env::temp_dir().join(format!("raddle-varied-{}", std::process::id()));
        let mut store = Store::create(&folder).unwrap();
        store.put(&record(1)).unwrap();
        assert_eq!(Varied::of(&store, &[]).unwrap().paths().count(), 0);
        let mut swept = record(2);
        let set = [
            "sm.l1d.index=linear",
            "sm.l1d.sets=64",
            "gpu.sms=2",
            "mechanism.issue=two-level",
            "mechanism.issue.active=4",
        ];
        swept.identity.machine = Arc::new(machine(&set));
        store.put(&swept).unwrap();
        let mut looped = record(3);
        looped.identity.virtualize = Some("same-lane".to_owned());
        store.put(&looped).unwrap();
        let varied = Varied::of(&store, &["gpu.sms"]).unwrap();
        let paths: Vec<&str> = varied.paths().collect();
        for path in ["sm.l1d.sets", "mechanism.issue", "mechanism.issue.active", "virtualize"] {
            assert!(paths.contains(&path), "{path} is not among {paths:?}");
        }
        assert!(!paths.contains(&"gpu.sms") && !paths.contains(&"sm.warp_width"), "{paths:?}");
        let of = |path: &str, identity: &Identity| {
            let at = paths.iter().position(|other| *other == path).unwrap();
            (varied.columns()[at].1, text(varied.values(identity).nth(at).unwrap().as_ref()))
        };
        assert_eq!(of("sm.l1d.sets", &swept.identity), (Kind::Whole, "64".to_owned()));
        assert_eq!(of("mechanism.issue", &swept.identity), (Kind::Text, "two-level".to_owned()));
        assert_eq!(of("mechanism.issue.active", &swept.identity), (Kind::Number, "4".to_owned()));
        assert_eq!(of("mechanism.issue.active", &looped.identity), (Kind::Number, String::new()));
        assert_eq!(of("virtualize", &looped.identity), (Kind::Text, "same-lane".to_owned()));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
