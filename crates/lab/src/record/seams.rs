//! The mechanisms of a machine as they are written in records.
//!
//! A seam that was added later is left out where it holds what all machines had before: their results keep their keys.

use super::MechanismSpec;
use raddle_sim::seam::Seam;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Mechanisms by seam.
type Mechanisms = BTreeMap<String, MechanismSpec>;

/// Seams that were added, and what machines had there before.
const ADDED: [(Seam, &str); 1] = [(Seam::LogicalBlocks, "vtw")];

/// The same as records have it.
fn added() -> impl Iterator<Item = (String, MechanismSpec)> {
    ADDED.into_iter().map(|(seam, name)| {
        let (parameters, counters) = (BTreeMap::new(), BTreeMap::new());
        (seam.key().to_owned(), MechanismSpec { name: name.to_owned(), parameters, origin: None, counters })
    })
}

pub(super) fn serialize<S: Serializer>(mechanisms: &Mechanisms, into: S) -> Result<S::Ok, S::Error> {
    let left_out: Mechanisms = added().collect();
    let written = mechanisms.iter().filter(|(seam, spec)| left_out.get(*seam) != Some(*spec));
    written.collect::<BTreeMap<_, _>>().serialize(into)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Mechanisms, D::Error> {
    let mut mechanisms = Mechanisms::deserialize(from)?;
    for (seam, spec) in added() {
        mechanisms.entry(seam).or_insert(spec);
    }
    Ok(mechanisms)
}
