//! Which versions of Raddle wrote the results that this one cannot read.

use super::{Store, understood};
use crate::error::Error;
use crate::key::Key;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The versions of a record, of whatever schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Versions {
    /// Version of the record's schema.
    pub schema: u32,
    /// Epoch of the model.
    pub epoch: u32,
}

#[derive(Deserialize)]
struct Versioned {
    identity: Versions,
}

impl Versions {
    /// The versions in the body of a record, if it has them.
    pub(super) fn of(body: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Versioned>(body).ok().map(|record| record.identity)
    }
}

impl Store {
    /// How many results cannot be read, by the versions that wrote them; damaged results have none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn unreadable(&self) -> Result<BTreeMap<Option<Versions>, usize>, Error> {
        let mut counts = BTreeMap::new();
        for key in self.keys() {
            if let Some(versions) = self.why_unreadable(&key)? {
                *counts.entry(versions).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// The versions of a result none of whose copies can be read; nothing when one can.
    fn why_unreadable(&self, key: &Key) -> Result<Option<Option<Versions>>, Error> {
        let mut versions = None;
        for place in self.copies(key) {
            let Some(body) = self.body(place)? else { continue };
            if understood(key, &body).is_some() {
                return Ok(None);
            }
            versions = versions.or(Versions::of(&body));
        }
        Ok(Some(versions))
    }
}
